// What no request does: teams are brought up to date whose period or leases have ended, what was interrupted is completed, and what is no
// longer kept is deleted. One gateway at a time does it.
import { randomBytes } from 'node:crypto';
import { dayOf } from '../../domain/period.ts';
import { answered, answering } from '../../domain/store-unavailable.ts';
import type { IdempotencyRecords } from '../../ports/idempotency-records.ts';
import type { Log } from '../../ports/log.ts';
import type { RecordSpace } from '../../ports/record-space.ts';
import type { RecordAudit } from '../records/record-audit.ts';
import { pruneTags } from '../records/tag-counts.ts';
import type { ChargeRow } from '../../ports/usage-history.ts';
import { UNKNOWN } from '../records/usage-rows.ts';
import type { Postbox } from './postbox.ts';
import { groupKey, JANITOR_KEY, OF_TEAM } from './redis-keys.ts';
import type { Write } from './redis-link.ts';
import { chargesOf } from './redis-usage.ts';
import type { TeamAccounts } from './team-accounts.ts';
import type { RedisTeamErasure } from './redis-team-erasure.ts';
import { chargeFields, FIELD, readPeriod } from './team-fields.ts';
import type { TeamIndex } from './team-index.ts';

interface JanitorOptions {
  readonly accounts: TeamAccounts;
  readonly index: TeamIndex;
  readonly erasure: RedisTeamErasure;
  readonly postbox: Postbox;
  readonly records: RecordSpace;
  readonly audit: RecordAudit;
  readonly idempotency: IdempotencyRecords;
  readonly log: Log;
  /** How many days of usage are kept. */
  readonly keptDays: number;
  readonly everyMs: number;
}

/** Longer than a round with many teams takes between two looks at the lease. */
const LEASE_MS = 10_000;
/** What is no longer kept is looked for this often, in milliseconds. */
const PRUNE_EVERY_MS = 600_000;
/** How many deletions of days are written at a time. */
const DAYS_PIECE = 200;

export class RedisJanitor {
  readonly #options: JanitorOptions;
  readonly #name = randomBytes(8).toString('hex');
  readonly #timer: NodeJS.Timeout;
  #running: Promise<unknown> | undefined = undefined;
  #prunedAtMs = -Infinity;
  /** Teams that were reported. */
  readonly #unreadable = new Set<string>();
  #closed = false;

  constructor(options: JanitorOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#start(), options.everyMs).unref();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  #start(): void {
    this.#running ??= answering(() => this.round())
      .catch((error: unknown) => {
        this.#options.log.error('the store could not be maintained', { error: error instanceof Error ? error.message : 'unknown' });
      })
      .finally(() => (this.#running = undefined));
  }

  async round(): Promise<void> {
    const { accounts, index, erasure, audit, idempotency } = this.#options;
    // Nothing is ended or deleted by a wrong clock.
    if (accounts.link.clocks.step() !== undefined || !(await this.#leads())) return;
    await erasure.resume();
    const prunes = performance.now() - this.#prunedAtMs >= PRUNE_EVERY_MS;
    for await (const ids of index.pieces()) {
      await Promise.all(ids.map((teamId) => this.#readable(teamId, () => this.#visit(teamId))));
      if (prunes) for (const teamId of ids) await this.#readable(teamId, () => this.#prune(teamId));
      if (this.#closed || !(await this.#leads())) return;
    }
    if (!prunes) return;
    answered((await audit.prune()) ?? true);
    answered((await idempotency.sweep()) ?? true);
    this.#prunedAtMs = performance.now();
  }

  /** Whether this process has the lease, which it renews. */
  async #leads(): Promise<boolean> {
    return this.#options.accounts.link.ask(async (redis) => {
      if ((await redis.set(JANITOR_KEY, this.#name, 'PX', LEASE_MS, 'NX')) !== null) return true;
      if ((await redis.get(JANITOR_KEY)) !== this.#name) return false;
      await redis.pexpire(JANITOR_KEY, LEASE_MS);
      return true;
    });
  }

  /** A team that cannot be read must not keep the janitor from the others. */
  async #readable(teamId: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      if (!this.#unreadable.has(teamId))
        this.#options.log.error('a team in the store cannot be read: run "lingate store check"', { team: teamId });
      this.#unreadable.add(teamId);
    }
  }

  async #visit(teamId: string): Promise<void> {
    const { accounts, postbox } = this.#options;
    const { link } = accounts;
    const [[period, lease], outgoing] = await link.ask((redis) =>
      Promise.all([redis.hmget(groupKey(teamId), FIELD.period, FIELD.lease), redis.hlen(groupKey(teamId) + OF_TEAM.outgoing)]),
    );
    if (outgoing > 0) await postbox.empty(teamId);
    const nowMs = await link.now();
    const isDue = period !== null && period !== undefined && (readPeriod(period).endMs <= nowMs || Number(lease ?? Infinity) <= nowMs);
    if (isDue) await accounts.catchUp(teamId);
  }

  /** Days that are no longer kept become sums by period, which stay. */
  async #prune(teamId: string): Promise<void> {
    const { accounts, records, keptDays } = this.#options;
    const nowMs = await accounts.link.now();
    const first = dayOf(nowMs) - keptDays;
    const old = (await chargesOf(accounts, teamId)).filter(({ day }) => day !== UNKNOWN && day < first);
    for (let at = 0; at < old.length; at += DAYS_PIECE) await this.#fold(teamId, old.slice(at, at + DAYS_PIECE));
    await pruneTags(records, teamId, first, nowMs);
  }

  /** Sums that are changed meanwhile only grow by what is added here; if a day has changed, the next round does it. */
  async #fold(teamId: string, old: readonly ChargeRow[]): Promise<void> {
    const read = old.flatMap((charge) => chargeFields(charge));
    const sums = old.flatMap((charge) => chargeFields({ ...charge, day: UNKNOWN }));
    await this.#options.accounts.link.compare(teamId, {
      fields: read.map(([field, text]) => [OF_TEAM.days, field, text] as const),
      write: [
        ['HDEL', OF_TEAM.days, ...read.map(([field]) => field)],
        ...sums.map(([field, value]): Write => ['HINCRBY', OF_TEAM.days, field, value]),
      ],
      frees: true,
    });
  }
}
