// Deletes a team: at once it is no team any more; then the indexes in other slots go, and after them, in pieces, what lies in its own.
import { Cluster } from 'ioredis';
import type { Redis } from 'ioredis';
import type { KeyOwner } from '../../domain/api-key.ts';
import { HISTORY_DAYS } from '../../domain/period.ts';
import type { Audited } from '../../domain/audit-entry.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Clock } from '../../ports/clock.ts';
import type { TeamDeletion } from '../../ports/team-registry.ts';
import type { FunctionCall, FunctionReply } from './function-caller.ts';
import { DIGEST_PREFIX, digestKey, ERASURES_KEY, ONLY_USAGE_KEY, ownerKey, teamKeys } from './redis-keys.ts';
import type { RedisAuditLog } from './redis-audit-log.ts';
import type { RedisLink } from './redis-link.ts';
import { digestOfRecord } from './team-codec.ts';
import type { TeamIndex } from './team-index.ts';

/** Keys of the team that are handled at a time. */
const KEYS_PIECE = 250;
/** Digests that are looked through at a time where a key's record does not say its own. */
const SCAN_PIECE = 1000;
/** A deletion that was announced so long ago and has not begun will not: its command was refused, or its process ended. */
const BEGUN_WITHIN_MS = 60_000;
/** Looked after at a time; the rest comes with the next round. */
const UNFINISHED_MAX = 100;

/** Functions that take no more than the team's own key. */
const ONE_KEY: ReadonlySet<string> = new Set(['delete_team', 'tend_kept']);

type Failed = StoreUnavailable | undefined;

export class RedisTeamErasure {
  readonly #link: RedisLink;
  readonly #index: TeamIndex;
  readonly #audit: RedisAuditLog;
  readonly #keptDays: number;
  readonly #clock: Clock;

  /** `clock` says when a deletion was announced, which another process reads. */
  constructor(
    link: RedisLink,
    index: TeamIndex,
    audit: RedisAuditLog,
    keptDays: number = HISTORY_DAYS,
    clock: Clock = { nowMs: () => Date.now() },
  ) {
    this.#link = link;
    this.#index = index;
    this.#audit = audit;
    this.#keptDays = keptDays;
    this.#clock = clock;
  }

  /** As `TeamRegistry.deleteTeam`. */
  async delete(teamId: string, { keepUsage }: TeamDeletion, by?: Audited): Promise<boolean | StoreUnavailable> {
    const audit = await this.#audit.begin(teamId, by, { before: {}, after: {} });
    if (isUnavailable(audit)) return audit;
    // Announced before: whoever finds it unfinished goes on.
    const announced = await this.#note(ERASURES_KEY, teamId, this.#clock.nowMs());
    if (isUnavailable(announced)) return announced;
    const begun = await this.#run('delete_team', teamId, [keepUsage ? '1' : '', ...audit]);
    if (begun.kind === 'unavailable') return begun;
    if (begun.word === 'none' && announced === 'added') {
      const taken = await this.#link.ask(({ redis }) => redis.zrem(ERASURES_KEY, teamId));
      return isUnavailable(taken) ? taken : false;
    }
    return (await this.#finish(teamId)) ?? (keepUsage ? ((await this.#tend(teamId)) ?? true) : true);
  }

  /** Usage that deleted teams have left is kept as long as any other. */
  async tendKept(): Promise<void> {
    for (let from = '-'; ;) {
      const ids = await this.#link.ask(({ redis }) => redis.zrangebylex(ONLY_USAGE_KEY, from, '+', 'LIMIT', 0, UNFINISHED_MAX));
      if (isUnavailable(ids)) return;
      for (const teamId of ids) if ((await this.#tend(teamId)) !== undefined) return;
      if (ids.length < UNFINISHED_MAX) return;
      from = `(${ids.at(-1)!}`;
    }
  }

  /** Removes what is too old; where nothing is left, the rest as well. */
  async #tend(teamId: string): Promise<Failed> {
    const reply = await this.#run('tend_kept', teamId, [String(this.#keptDays)]);
    if (reply.kind === 'unavailable') return reply;
    if (reply.word !== 'useless') return undefined;
    const deleted = await this.delete(teamId, { keepUsage: false });
    return isUnavailable(deleted) ? deleted : undefined;
  }

  /** Ends what was interrupted. */
  async finishAll(): Promise<void> {
    const teams = await this.#link.ask(({ redis }) => redis.zrange(ERASURES_KEY, '0', String(UNFINISHED_MAX - 1), 'WITHSCORES'));
    if (isUnavailable(teams)) return;
    for (let i = 0; i < teams.length; i += 2) {
      const [teamId, atMs] = [teams[i]!, Number(teams[i + 1])];
      const isTeam = await this.#link.ask(({ redis }) => redis.hexists(teamKeys(teamId).team, 'b'));
      if (isUnavailable(isTeam)) return;
      if (isTeam === 0) await this.#finish(teamId);
      else if (this.#clock.nowMs() - atMs > BEGUN_WITHIN_MS) await this.#link.ask(({ redis }) => redis.zrem(ERASURES_KEY, teamId));
    }
  }

  /** Of a team that is none any more. Each step may be done again; the next is begun only when it was done whole. */
  async #finish(teamId: string): Promise<Failed> {
    const keeps = await this.#link.ask(({ redis }) => redis.hget(teamKeys(teamId).team, 'erasure'));
    if (isUnavailable(keeps)) return keeps;
    const staysKnown = keeps !== null && keeps !== '1';
    const failed =
      (await this.#removeKeys(teamId)) ??
      (await this.#index.remove(teamId)) ??
      (await this.#audit.forgetNames(teamId)) ??
      (staysKnown ? await this.#keepUsage(teamId) : await this.#forgetUsage(teamId)) ??
      (await this.#eraseSlot(teamId));
    if (failed !== undefined) return failed;
    const ended = await this.#link.ask(({ redis }) => redis.zrem(ERASURES_KEY, teamId));
    return isUnavailable(ended) ? ended : undefined;
  }

  /** What leads to the team from its keys' digests and ids. */
  async #removeKeys(teamId: string): Promise<Failed> {
    let isOld = false;
    const failed = await this.#eachKey(teamId, async (keys) => {
      const digests = keys.map(([, record]) => digestOfRecord(record));
      isOld ||= digests.includes(undefined);
      const names = [...keys.map(([keyId]) => ownerKey(keyId)), ...digests.filter((one) => one !== undefined).map(digestKey)];
      return this.#remove(names);
    });
    return failed ?? (isOld ? this.#removeDigests(teamId) : undefined);
  }

  /** Keys of older versions do not say their digest: all digests there are are looked through. */
  async #removeDigests(teamId: string): Promise<Failed> {
    const { redis } = this.#link;
    for (const server of redis instanceof Cluster ? redis.nodes('master') : [redis]) {
      const failed = await this.#removeDigestsOf(server, teamId);
      if (failed !== undefined) return failed;
    }
    return undefined;
  }

  async #removeDigestsOf(server: Redis, teamId: string): Promise<Failed> {
    for (let cursor = '0', first = true; first || cursor !== '0'; first = false) {
      const page = await this.#link.ask(() => server.scan(cursor, 'MATCH', `${DIGEST_PREFIX}*`, 'COUNT', SCAN_PIECE));
      if (isUnavailable(page)) return page;
      const [next, names] = page;
      const owners = await this.#link.ask(() => Promise.all(names.map((name) => server.get(name))));
      if (isUnavailable(owners)) return owners;
      const failed = await this.#remove(names.filter((_, i) => isOwner(owners[i], teamId)));
      if (failed !== undefined) return failed;
      cursor = next;
    }
    return undefined;
  }

  async #keepUsage(teamId: string): Promise<Failed> {
    const noted = await this.#note(ONLY_USAGE_KEY, teamId, 0);
    if (isUnavailable(noted)) return noted;
    return this.#eachKey(teamId, async (keys) => {
      const reply = await this.#run(
        'erase_keys',
        teamId,
        keys.map(([keyId]) => keyId),
      );
      return reply.kind === 'unavailable' ? reply : undefined;
    });
  }

  async #forgetUsage(teamId: string): Promise<Failed> {
    const forgotten = await this.#link.ask(({ redis }) => redis.zrem(ONLY_USAGE_KEY, teamId));
    return isUnavailable(forgotten) ? forgotten : undefined;
  }

  async #eraseSlot(teamId: string): Promise<Failed> {
    for (;;) {
      const reply = await this.#run('erase_some', teamId, []);
      if (reply.kind === 'unavailable') return reply;
      if (reply.word !== 'more') return undefined;
    }
  }

  async #eachKey(teamId: string, use: (keys: readonly (readonly [keyId: string, record: string])[]) => Promise<Failed>): Promise<Failed> {
    const { keys } = teamKeys(teamId);
    for (let cursor = '0', first = true; first || cursor !== '0'; first = false) {
      const page = await this.#link.ask(({ redis }) => redis.hscan(keys, cursor, 'COUNT', KEYS_PIECE));
      if (isUnavailable(page)) return page;
      const [next, flat] = page;
      const found = flat.filter((_, i) => i % 2 === 0).map((keyId, i) => [keyId, flat[2 * i + 1]!] as const);
      const failed = found.length === 0 ? undefined : await use(found);
      if (failed !== undefined) return failed;
      cursor = next;
    }
    return undefined;
  }

  /** Each by itself: on a cluster they lie in different slots. */
  async #remove(names: readonly string[]): Promise<Failed> {
    const removed = await this.#link.ask(({ redis }) => Promise.all(names.map((name) => redis.unlink(name))));
    return isUnavailable(removed) ? removed : undefined;
  }

  async #note(list: string, teamId: string, score: number): Promise<string | StoreUnavailable> {
    const reply = await this.#link.ask(({ run }) => run('note_team', { keys: [list], args: [teamId, String(score)] }));
    return isUnavailable(reply) ? reply : String((reply as readonly unknown[])[1]);
  }

  #run(name: FunctionCall['name'], teamId: string, args: readonly string[]): Promise<FunctionReply> {
    const { team, keys, pairs } = teamKeys(teamId);
    return this.#link.call({ name, teamId, keys: ONE_KEY.has(name) ? [team] : [team, keys, pairs], args });
  }
}

function isOwner(json: string | null | undefined, teamId: string): boolean {
  return typeof json === 'string' && (JSON.parse(json) as KeyOwner).teamId === teamId;
}
