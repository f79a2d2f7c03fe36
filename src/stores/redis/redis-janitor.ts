// What no request does: teams are brought up to date whose period or leases have ended, what was interrupted is completed, and what is no
// longer retained is deleted. One gateway at a time does it.
import { randomBytes } from 'node:crypto';
import { DAY_MS, dayOf } from '../../domain/period.ts';
import { answered, answering } from '../../domain/store-unavailable.ts';
import type { Log } from '../../ports/log.ts';
import { pruneTags } from '../records/record-tags.ts';
import type { ChargeRow, EndedPeriod } from '../../ports/usage-history.ts';
import { groupKey, JANITOR_KEY, OF_TEAM } from './redis-keys.ts';
import { chargesOf, deletedTeam, endedOf, usageRows } from './redis-usage.ts';
import type { DeletedTeam, ErasureParts, RedisTeamErasure } from './redis-team-erasure.ts';
import { chargeFields, FIELD, readPeriod } from './team-fields.ts';

interface JanitorOptions extends ErasureParts {
  readonly erasure: RedisTeamErasure;
  readonly log: Log;
  /** How many days of usage are retained. */
  readonly retainedDays: number;
  readonly everyMs: number;
}

/** Longer than a round with many teams takes between two looks at the lease. */
const LEASE_MS = 10_000;
/** What is no longer retained is looked for this often, in milliseconds. */
const PRUNE_EVERY_MS = 600_000;
/** How many fields are deleted at a time. */
const PIECE = 200;

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
    this.#running ??= answering(() => this.#round())
      .catch((error: unknown) => {
        this.#options.log.error('the store could not be maintained', { error: error instanceof Error ? error.message : 'unknown' });
      })
      .finally(() => (this.#running = undefined));
  }

  async #round(): Promise<void> {
    const { accounts, index, audit, idempotency } = this.#options;
    // Nothing is ended or deleted by a wrong clock.
    if (accounts.groups.link.clocks.step() !== undefined || !(await this.#leads())) return;
    const prunes = performance.now() - this.#prunedAtMs >= PRUNE_EVERY_MS;
    for await (const ids of index.pieces()) {
      await Promise.all(ids.map((teamId) => this.#readable(teamId, () => this.#visit(teamId))));
      if (prunes) for (const teamId of ids) await this.#readable(teamId, () => this.#prune(teamId));
      if (this.#closed || !(await this.#leads())) return;
    }
    if (!prunes) return;
    answered(await audit.prune());
    answered(await idempotency.sweep());
    this.#prunedAtMs = performance.now();
  }

  /** Whether this process has the lease, which it renews. */
  async #leads(): Promise<boolean> {
    return this.#options.accounts.groups.link.ask(async (redis) => {
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
    const { accounts, index, erasure, postbox } = this.#options;
    const { link } = accounts.groups;
    const base = groupKey(teamId);
    const [[period, lease, deleted], outgoing] = await link.ask((redis) =>
      Promise.all([redis.hmget(base, FIELD.period, FIELD.lease, FIELD.deleted), redis.hlen(base + OF_TEAM.outgoing)]),
    );
    if (outgoing > 0) await postbox.empty(teamId);
    if (period) {
      const nowMs = link.nowMs(teamId);
      if (readPeriod(period).endMs <= nowMs || Number(lease ?? Infinity) <= nowMs) await accounts.catchUp(teamId);
      return;
    }
    // What an interrupted deletion has left to do, at last in the list of all teams.
    if (deleted && (JSON.parse(deleted) as DeletedTeam).erased !== true) await erasure.erase(teamId);
    else if (!deleted && (await link.ask((redis) => redis.exists(base))) === 0) await index.remove(teamId);
  }

  /** Periods that are no longer retained go, and what was charged in them; of a deleted team that has nothing else, all that is left. */
  async #prune(teamId: string): Promise<void> {
    const { accounts, index, records, retainedDays } = this.#options;
    const { groups } = accounts;
    const { link } = groups;
    const base = groupKey(teamId);
    const nowMs = link.nowMs(teamId);
    const [{ read }, charges, ended] = [await accounts.read(teamId), await chargesOf(groups, teamId), await endedOf(groups, teamId)];
    const rows = usageRows(read, charges, ended, nowMs);
    if (rows === undefined) return;
    const isOld = ({ number, endMs }: EndedPeriod): boolean => endMs < nowMs - retainedDays * DAY_MS && number < rows.firstOpen;
    const [old, retained] = [ended.filter(isOld), ended.filter((one) => !isOld(one))];
    if (old.length > 0) await link.ask((redis) => redis.hdel(base + OF_TEAM.periods, ...old.map(({ number }) => String(number))));
    const numbers = new Set([...retained, ...(rows.period === undefined ? [] : [rows.period])].map(({ number }) => number));
    // A period may have begun since the team was read, and be charged already.
    const running = rows.period?.number ?? Infinity;
    const isGone = ({ period }: ChargeRow): boolean => period < running && !numbers.has(period);
    const gone = charges.filter(isGone).flatMap((charge) => chargeFields(charge).map(([field]) => field));
    for (let at = 0; at < gone.length; at += PIECE)
      await link.ask((redis) => redis.hdel(base + OF_TEAM.days, ...gone.slice(at, at + PIECE)));
    await pruneTags(records, teamId, dayOf(nowMs) - retainedDays, nowMs);
    if (numbers.size > 0 || deletedTeam(read)?.erased !== true) return;
    await link.ask((redis) => redis.unlink(base));
    await index.remove(teamId);
  }
}
