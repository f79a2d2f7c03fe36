// Tends idle teams: closes periods, moves finished days to the history, deletes old data and forgotten requests, and completes
// interrupted deletions. One gateway at a time runs it.
import { placeOf } from '../../core/error-place.ts';
import { randomBytes } from 'node:crypto';
import { DAY_MS } from '../../domain/period.ts';
import { answering, isUnavailable } from '../../domain/store-unavailable.ts';
import type { IdempotencyRecords } from '../../ports/idempotency-records.ts';
import type { Log } from '../../ports/log.ts';
import { DUE_KEY, JANITOR_KEY, SLOTS, teamKey, teamSlot } from './redis-keys.ts';
import type { RedisAuditLog } from './redis-audit-log.ts';
import type { RedisLink } from './redis-link.ts';
import type { RedisTeamErasure } from './redis-team-erasure.ts';
import type { TeamIndex } from './team-index.ts';

/** The lease of the gateway that runs the janitor; another takes over this long after the last round of a gateway that has stopped. */
const HELD_MS = 5000;
/** Teams of one round, and how many of them are in flight at once; a caller's operation waits behind these. */
const TEAMS_MAX = 200;
const AT_ONCE = 8;
/**
 * If more teams are due than a round takes, the pause before the next one, relative to the round's duration; Redis serves
 * callers meanwhile.
 */
const PAUSE_RATIO = 1;
const PAUSE_MS_MIN = 10;
/** Teams compared with the list of due teams per round, and the pause after all teams have been compared. */
const COMPARED_MAX = 500;
const COMPARE_AGAIN_MS = 60_000;
/** For a team whose data is corrupt, which is logged each time. */
const BROKEN_AGAIN_MS = 3_600_000;
/** How often interrupted deletions are completed and forgotten requests deleted, and kept usage of deleted teams is pruned. */
const ERASE_AGAIN_MS = 10_000;
const TEND_KEPT_AGAIN_MS = 3_600_000;
/** No team is due later than this unless a clock was wrong. */
const DUE_WITHIN_MS = 2 * DAY_MS;
/** Finished days are moved within this time after midnight, spread over the teams. */
const AFTER_MIDNIGHT_MS = 1_800_000;

interface RedisJanitorOptions {
  readonly link: RedisLink;
  readonly index: TeamIndex;
  readonly erasure: Pick<RedisTeamErasure, 'finishAll' | 'tendKept'>;
  readonly idempotency: Pick<IdempotencyRecords, 'sweep'>;
  readonly audit: Pick<RedisAuditLog, 'listTaken'>;
  readonly log: Log;
  readonly keptDays: number;
  readonly everyMs: number;
}

type DueTeam = readonly [teamId: string, wasMs: string];

export class RedisJanitor {
  readonly #options: RedisJanitorOptions;
  readonly #name = randomBytes(8).toString('hex');
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #closed = false;
  /** How many teams have been compared so far, and when to continue, by the monotonic clock. */
  #compared = 0;
  #compareAtMs = 0;
  /** The same for deletions and for kept usage. */
  #eraseAtMs = 0;
  #tendKeptAtMs = 0;

  constructor(options: RedisJanitorOptions) {
    this.#options = options;
    this.#schedule(options.everyMs);
  }

  /** Waits for the current round, and releases the lease. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#round;
    await answering(() =>
      this.#options.link.ask(async ({ redis }) => {
        if ((await redis.get(JANITOR_KEY)) === this.#name) await redis.del(JANITOR_KEY);
      }),
    );
  }

  #schedule(delayMs: number): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#round = this.#run().then((nextMs) => this.#schedule(nextMs));
    }, delayMs);
    this.#timer.unref();
  }

  /** Returns how long to wait for the next round. */
  async #run(): Promise<number> {
    const { everyMs, log } = this.#options;
    try {
      if ((await answering(() => this.#holds())) !== true) return 2 * everyMs;
      const startedAtMs = performance.now();
      // If the store is unavailable, the next round tries again.
      const isMore = (await answering(() => this.#tendDue())) === true;
      await answering(() => this.#compare());
      await this.#erase();
      return isMore ? Math.max(PAUSE_MS_MIN, PAUSE_RATIO * (performance.now() - startedAtMs)) : everyMs;
    } catch (error) {
      log.error('cleaning up after idle teams failed and will be retried', { reason: placeOf(error) });
      return everyMs;
    }
  }

  /** Two gateways may both hold the lease for a moment: doing the work twice has no further effect. */
  async #holds(): Promise<boolean> {
    return this.#options.link.ask(async ({ redis }) => {
      if ((await redis.set(JANITOR_KEY, this.#name, 'PX', HELD_MS, 'NX')) === 'OK') return true;
      return (await redis.get(JANITOR_KEY)) === this.#name && (await redis.pexpire(JANITOR_KEY, HELD_MS)) === 1;
    });
  }

  /** Returns whether more teams may be due. */
  async #tendDue(): Promise<boolean> {
    const { link } = this.#options;
    const nowMs = await link.now();
    const found = await link.ask(({ redis }) => redis.zrangebyscore(DUE_KEY, '-inf', nowMs, 'WITHSCORES', 'LIMIT', 0, TEAMS_MAX));
    const due = Array.from({ length: found.length / 2 }, (_, i): DueTeam => [found[2 * i]!, found[2 * i + 1]!]);
    const next: string[] = [];
    for (let first = 0; first < due.length && !this.#closed; first += AT_ONCE) {
      const tended = await Promise.all(due.slice(first, first + AT_ONCE).map((team) => this.#tend(team, nowMs)));
      next.push(...tended.flat());
      // The store is unavailable: the other teams stay due.
      if (tended.every(({ length }) => length === 0)) break;
    }
    if (next.length > 0) await link.ask(({ run }) => run('put_off', { keys: [DUE_KEY], args: next }));
    return next.length === 3 * TEAMS_MAX;
  }

  /** The arguments that postpone the team; none if it stays due. */
  async #tend([teamId, wasMs]: DueTeam, nowMs: number): Promise<readonly string[]> {
    const { link, keptDays } = this.#options;
    const afterMidnightMs = Math.floor((teamSlot(teamId) * AFTER_MIDNIGHT_MS) / SLOTS);
    const args = [String(keptDays), String(afterMidnightMs)];
    const tended = answering(() => link.call({ name: 'tend', teamId, keys: [teamKey(teamId)], args }));
    const reply = await tended.catch(() => undefined);
    if (reply === undefined || (isUnavailable(reply) && reply.cause === 'refused')) {
      return [teamId, wasMs, String(nowMs + BROKEN_AGAIN_MS)];
    }
    if (isUnavailable(reply)) return [];
    const [, unlisted, tags] = reply.values;
    if (unlisted instanceof Buffer) await answering(() => this.#options.audit.listTaken(teamId, String(unlisted)));
    if (String(tags) === 'tags') await answering(() => this.#dropTags(teamId));
    return [teamId, wasMs, reply.word === 'none' ? '' : String(reply.values[0])];
  }

  /** What is not reached is dropped the next day. */
  async #dropTags(teamId: string): Promise<void> {
    const { link, keptDays } = this.#options;
    for (const table of ['tag_counts', 'tag_uses']) {
      let at = '0';
      do {
        const args = [String(keptDays), table, at];
        const { values } = await link.call({ name: 'drop_tags', teamId, keys: [teamKey(teamId)], args });
        at = String(values[0]);
      } while (at !== '0' && !this.#closed);
    }
  }

  /**
   * Adds teams that are missing from the due list, because their creation was interrupted. Corrects
   * names in the search index after an interrupted renaming. Some per round.
   */
  async #compare(): Promise<void> {
    const { link, index } = this.#options;
    if (performance.now() < this.#compareAtMs) return;
    const ids = await index.ids(this.#compared, COMPARED_MAX);
    const nowMs = await link.now();
    if (ids.length > 0) {
      const due = await link.ask(({ redis }) => redis.zmscore(DUE_KEY, ...ids));
      const lost = ids.filter((_, i) => due[i] === null || Number(due[i]) > nowMs + DUE_WITHIN_MS);
      if (lost.length > 0) await link.ask(({ redis }) => redis.zadd(DUE_KEY, ...lost.flatMap((teamId) => [0, teamId])));
      await index.mend(ids);
    }
    this.#compared += ids.length;
    if (ids.length === COMPARED_MAX) return;
    this.#compared = 0;
    this.#compareAtMs = performance.now() + COMPARE_AGAIN_MS;
  }

  /** Completes interrupted deletions, deletes forgotten requests, and prunes kept usage of deleted teams. */
  async #erase(): Promise<void> {
    const { erasure, idempotency } = this.#options;
    const nowMs = performance.now();
    if (nowMs < this.#eraseAtMs) return;
    this.#eraseAtMs = nowMs + ERASE_AGAIN_MS;
    await erasure.finishAll();
    await idempotency.sweep();
    if (nowMs < this.#tendKeptAtMs) return;
    this.#tendKeptAtMs = nowMs + TEND_KEPT_AGAIN_MS;
    await erasure.tendKept();
  }
}
