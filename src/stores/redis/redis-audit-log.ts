// The audit in Redis: each entry is stored with its team, by the function that makes the change; a list over all teams refers
// to it.
import { randomInt } from 'node:crypto';
import { idBefore, momentOf, withoutNames } from '../../domain/audit-entry.ts';
import type { AuditDifference, AuditEntry, Audited } from '../../domain/audit-entry.ts';
import { answering, isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { AuditLog, AuditPage } from '../../ports/audit-log.ts';
import { NO_TEAM, ID_BYTES, idOf, packEntry, readEntry, readRecord } from './audit-codec.ts';
import type { RedisConnection } from './redis-connection.ts';
import { AUDIT_KEY, teamKeys } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';

/** Entries read, changed or deleted at a time. */
const PIECE = 256;
/** A list entry that refers to nothing after this time never will: every change has a deadline of seconds. */
const BEGUN_MS = 60_000;
const PRUNE_EVERY_MS = 60_000;
/** Serial numbers of entries written while the list is unavailable: greater than any number that the list assigns. */
const UNLISTED = 500_000_000_000_000;
/**
 * Sorts after every member that begins with an id: an id is followed by the first byte of a length, or by a letter or digit of
 * a team's id.
 */
const BEHIND = 'ÿ';

/** Arguments of the functions: the entry's id, or '' for none; what the driver knows of it; how long entries are kept. */
type AuditArguments = readonly [id: string, record: string, keptMs: string];
export const UNAUDITED: AuditArguments = ['', '', '0'];

interface RedisAuditOptions {
  readonly link: RedisLink;
  readonly keptMs: number;
  /** Whether this process deletes old entries, as gateways do. */
  readonly prunes: boolean;
}

export class RedisAuditLog implements AuditLog {
  readonly #link: RedisLink;
  readonly #keptMs: number;
  readonly #pruning: NodeJS.Timeout | undefined;

  constructor({ link, keptMs, prunes }: RedisAuditOptions) {
    this.#link = link;
    this.#keptMs = keptMs;
    this.#pruning = prunes ? setInterval(() => void this.prune(), PRUNE_EVERY_MS).unref() : undefined;
  }

  close(): void {
    clearInterval(this.#pruning);
  }

  /**
   * Must be called before a change of the team: adds the entry's id to the list over all teams. If the change is not made, or
   * the process stops, the id refers to nothing, and readers skip it; in the reverse order an entry could be missing from the
   * list for ever.
   */
  async begin(teamId: string, by: Audited | undefined, known?: AuditDifference, keyId?: string): Promise<AuditArguments> {
    if (by === undefined) return UNAUDITED;
    const args = [this.#link.clockWord, teamId];
    const reply = await this.#link.ask(({ run }) => run('begin_audit', { keys: [AUDIT_KEY], args }));
    const [, id] = reply as readonly [number, Buffer];
    return this.#arguments(String(id), by, known, keyId);
  }

  /**
   * The same for changes that must not wait while the list is unavailable: the entry is then listed when its team's audit is
   * next read.
   */
  async beginUrgent(teamId: string, by: Audited | undefined, known?: AuditDifference, keyId?: string): Promise<AuditArguments> {
    const begun = await answering(() => this.begin(teamId, by, known, keyId));
    if (!isUnavailable(begun)) return begun;
    return this.#arguments(String(UNLISTED + randomInt(2 ** 47)).padStart(16, '0'), by!, known, keyId);
  }

  #arguments(id: string, { actor, action, reason }: Audited, known?: AuditDifference, keyId?: string): AuditArguments {
    const record = { actor, action, ...(reason === undefined ? {} : { reason }), keyId, ...known };
    return [id, JSON.stringify(record), String(this.#keptMs)];
  }

  page({ teamId, after, sinceMs, limit }: AuditPage): Promise<readonly AuditEntry[] | StoreUnavailable> {
    return answering(async () => {
      const nowMs = await this.#link.now();
      const from = idBefore(Math.max(sinceMs ?? 0, nowMs - this.#keptMs));
      return teamId === undefined ? this.#pageOfAll(after, from, limit, nowMs) : this.#pageOfTeam(teamId, after, from, limit);
    });
  }

  async #pageOfTeam(teamId: string, after: string | undefined, from: string, limit: number): Promise<readonly AuditEntry[]> {
    const key = teamKeys(teamId).audit;
    const members = await this.#link.ask(({ redis }) => redis.zrevrangebylexBuffer(key, below(after), `[${from}`, 'LIMIT', 0, limit));
    const entries = members.map((member) => readEntry(teamId, member));
    const unlisted = entries.filter(({ id }) => Number(id.slice(-16)) >= UNLISTED);
    if (unlisted.length > 0) await answering(() => this.#list(unlisted));
    return entries;
  }

  async #pageOfAll(after: string | undefined, from: string, limit: number, nowMs: number): Promise<readonly AuditEntry[]> {
    const entries: AuditEntry[] = [];
    let last = after;
    for (;;) {
      const count = Math.min(PIECE, Math.max(limit - entries.length, 16));
      const upTo = below(last);
      const listed = await this.#link.ask(({ redis }) => redis.zrevrangebylex(AUDIT_KEY, upTo, `[${from}`, 'LIMIT', 0, count));
      const found = await this.#link.ask(() => Promise.all(listed.map((member) => this.#entryOf(member))));
      entries.push(...found.filter((entry) => entry !== undefined));
      await this.#forgetBegun(
        listed.filter((_, index) => found[index] === undefined),
        nowMs,
      );
      if (entries.length >= limit || listed.length < count) return entries.slice(0, limit);
      last = listed.at(-1)!.slice(0, ID_BYTES);
    }
  }

  async #entryOf(listed: string): Promise<AuditEntry | undefined> {
    const [id, teamId] = [listed.slice(0, ID_BYTES), listed.slice(ID_BYTES)];
    const member = await memberOf(this.#link.redis, teamId, id);
    return member === undefined ? undefined : readEntry(teamId, member);
  }

  /** Removes list entries that refer to nothing and are older than any change in flight. */
  async #forgetBegun(listed: readonly string[], nowMs: number): Promise<void> {
    const gone = listed.filter((member) => momentOf(member) < nowMs - BEGUN_MS);
    // On failure the next reader tries again.
    if (gone.length > 0) await answering(() => this.#link.ask(({ redis }) => redis.zrem(AUDIT_KEY, ...gone)));
  }

  forgetNames(teamId: string): Promise<StoreUnavailable | undefined> {
    const key = teamKeys(teamId).audit;
    return answering(async () => {
      for (let from = '-'; ;) {
        const after = from;
        const members = await this.#link.ask(({ redis }) => redis.zrangebylexBuffer(key, after, '+', 'LIMIT', 0, PIECE));
        await this.#link.ask(({ redis }) => {
          const both = redis.multi();
          // An entry that cannot be read fails this team's erasure, and no other's.
          for (const member of members) {
            both.zrem(key, member).zadd(key, 0, packEntry(idOf(member), withoutNames(readRecord(teamId, member))));
          }
          return both.exec();
        });
        if (members.length < PIECE) return undefined;
        from = `(${idOf(members.at(-1)!)}${BEHIND}`;
      }
    });
  }

  restore(entries: readonly AuditEntry[]): Promise<StoreUnavailable | undefined> {
    return answering(async () => {
      await this.#link.ask(({ redis }) =>
        Promise.all(
          entries.map(async ({ id, atMs: _atMs, teamId = NO_TEAM, ...record }) => {
            const key = teamKeys(teamId).audit;
            if ((await memberOf(redis, teamId, id)) === undefined) await redis.zadd(key, 0, packEntry(id, record));
          }),
        ),
      );
      return this.#list(entries);
    });
  }

  /** Lists the entry of a plan that took effect at the end of a period. If this is interrupted, the janitor repeats it. */
  async listTaken(teamId: string, id: string): Promise<undefined> {
    await this.#list([{ id, teamId }]);
    const { team } = teamKeys(teamId);
    await this.#link.ask(async ({ redis }) => {
      // Another one may have taken effect meanwhile.
      if ((await redis.hget(team, 'unlisted')) === id) await redis.hdel(team, 'unlisted');
    });
  }

  async #list(entries: readonly Pick<AuditEntry, 'id' | 'teamId'>[]): Promise<undefined> {
    if (entries.length === 0) return undefined;
    await this.#link.ask(({ redis }) => redis.zadd(AUDIT_KEY, ...entries.flatMap(({ id, teamId = NO_TEAM }) => [0, id + teamId])));
  }

  /** Deletes old entries in batches: first from the teams that the oldest list entries refer to, then from the list. */
  prune(): Promise<StoreUnavailable | undefined> {
    return answering(async () => {
      const until = `(${idBefore((await this.#link.now()) - this.#keptMs)}`;
      const prunedTeams = async (listed: readonly string[]): Promise<void> => {
        for (const teamId of new Set(listed.map((member) => member.slice(ID_BYTES)))) await this.#prune(teamKeys(teamId).audit, until);
      };
      return this.#prune(AUDIT_KEY, until, prunedTeams);
    });
  }

  /** `before` is called with each batch before it is deleted. */
  async #prune(key: string, until: string, before?: (members: readonly string[]) => Promise<void>): Promise<undefined> {
    for (;;) {
      const old = await this.#link.ask(({ redis }) => redis.zrangebylexBuffer(key, '-', until, 'LIMIT', 0, PIECE));
      await before?.(old.map(String));
      if (old.length > 0) await this.#link.ask(({ redis }) => redis.zrem(key, ...old));
      if (old.length < PIECE) return undefined;
    }
  }
}

/** A team's entry with this id. */
async function memberOf(redis: RedisConnection, teamId: string, id: string): Promise<Buffer | undefined> {
  return (await redis.zrangebylexBuffer(teamKeys(teamId).audit, `[${id}`, `(${id}${BEHIND}`, 'LIMIT', 0, 1))[0];
}

function below(id: string | undefined): string {
  return id === undefined ? '+' : `(${id}`;
}
