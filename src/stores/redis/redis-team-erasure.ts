// Deletes a team: first its record, so that it no longer exists; then the indexes in other cluster slots; then, in batches, the
// rest of its data.
import type { Audited } from '../../domain/audit-entry.ts';
import { answered, answering } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { IdempotencyRecords } from '../../ports/idempotency-records.ts';
import type { TeamDeletion } from '../../ports/team-registry.ts';
import type { FunctionAnswer, FunctionCall } from './function-caller.ts';
import type { RedisAuditLog } from './redis-audit-log.ts';
import { digestKey, ERASURES_KEY, ONLY_USAGE_KEY, ownerKey, teamKeys } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';
import { digestOfRecord } from './team-codec.ts';
import type { TeamIndex } from './team-index.ts';

/** Keys of the team handled at a time. */
const KEYS_PIECE = 250;
/** A deletion that was announced this long ago and has not begun will never begin: its command was refused, or its process stopped. */
const BEGUN_WITHIN_MS = 60_000;
/** Deletions completed per round; the others are left for the next round. */
const UNFINISHED_MAX = 100;

/** Functions that take only the team's own key. */
const ONE_KEY: ReadonlySet<string> = new Set(['delete_team', 'tend_kept']);

interface Parts {
  readonly link: RedisLink;
  readonly index: TeamIndex;
  readonly audit: RedisAuditLog;
  readonly requests: Pick<IdempotencyRecords, 'forgetTeam'>;
  readonly keptDays: number;
}

export class RedisTeamErasure {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** As `TeamRegistry.deleteTeam`. */
  delete(teamId: string, deletion: TeamDeletion, by?: Audited): Promise<boolean | StoreUnavailable> {
    return answering(() => this.#delete(teamId, deletion, by));
  }

  async #delete(teamId: string, { keepUsage }: TeamDeletion, by?: Audited): Promise<boolean> {
    const audit = await this.#parts.audit.begin(teamId, by, { before: {}, after: {} });
    // Announced first, so that any gateway that finds the deletion unfinished completes it.
    const announced = await this.#note(ERASURES_KEY, teamId, await this.#parts.link.now());
    const begun = await this.#run('delete_team', teamId, [keepUsage ? '1' : '', ...audit]);
    if (begun.word === 'none' && announced === 'added') {
      await this.#parts.link.ask(({ redis }) => redis.zrem(ERASURES_KEY, teamId));
      return false;
    }
    await this.#finish(teamId);
    if (keepUsage) await this.#tend(teamId);
    return true;
  }

  /** Kept usage of deleted teams is pruned at the same age as any other. */
  async tendKept(): Promise<void> {
    await answering(async () => {
      for (let from = '-'; ;) {
        const ids = await this.#parts.link.ask(({ redis }) => redis.zrangebylex(ONLY_USAGE_KEY, from, '+', 'LIMIT', 0, UNFINISHED_MAX));
        for (const teamId of ids) await this.#tend(teamId);
        if (ids.length < UNFINISHED_MAX) return;
        from = `(${ids.at(-1)!}`;
      }
    });
  }

  /** Prunes what is too old; if nothing is left, deletes the rest as well. */
  async #tend(teamId: string): Promise<void> {
    const { word } = await this.#run('tend_kept', teamId, [String(this.#parts.keptDays)]);
    if (word === 'useless') await this.#delete(teamId, { keepUsage: false });
  }

  /** Completes interrupted deletions. A deletion that fails again is left for the next round. */
  async finishAll(): Promise<void> {
    await answering(async () => {
      const teams = await this.#parts.link.ask(({ redis }) => redis.zrange(ERASURES_KEY, '0', String(UNFINISHED_MAX - 1), 'WITHSCORES'));
      for (let i = 0; i < teams.length; i += 2) {
        const [teamId, atMs] = [teams[i]!, Number(teams[i + 1])];
        const isTeam = await this.#parts.link.ask(({ redis }) => redis.hexists(teamKeys(teamId).team, 'b'));
        if (isTeam === 0) await answering(() => this.#finish(teamId));
        else if ((await this.#parts.link.now()) - atMs > BEGUN_WITHIN_MS)
          await this.#parts.link.ask(({ redis }) => redis.zrem(ERASURES_KEY, teamId));
      }
    });
  }

  /** For a team that no longer exists. Each step can be repeated; the next one starts only after it has succeeded. */
  async #finish(teamId: string): Promise<void> {
    const keeps = await this.#parts.link.ask(({ redis }) => redis.hget(teamKeys(teamId).team, 'erasure'));
    await this.#removeKeys(teamId);
    await this.#parts.index.remove(teamId);
    answered(await this.#parts.audit.forgetNames(teamId));
    answered(await this.#parts.requests.forgetTeam(teamId));
    if (keeps !== null && keeps !== '1') await this.#keepUsage(teamId);
    else await this.#parts.link.ask(({ redis }) => redis.zrem(ONLY_USAGE_KEY, teamId));
    while ((await this.#run('erase_some', teamId, [])).word === 'more');
    await this.#parts.link.ask(({ redis }) => redis.zrem(ERASURES_KEY, teamId));
  }

  /** Removes the indexes from the digests and ids of the team's keys. */
  async #removeKeys(teamId: string): Promise<void> {
    await this.#eachKey(teamId, async (keys) => {
      const digests = keys.map(([, record]) => digestOfRecord(record));
      await this.#remove([...keys.map(([keyId]) => ownerKey(keyId)), ...digests.filter((one) => one !== undefined).map(digestKey)]);
    });
  }

  async #keepUsage(teamId: string): Promise<void> {
    await this.#note(ONLY_USAGE_KEY, teamId, 0);
    await this.#eachKey(teamId, async (keys) => {
      const ids = keys.map(([keyId]) => keyId);
      await this.#run('erase_keys', teamId, ids);
    });
  }

  async #eachKey(teamId: string, use: (keys: readonly (readonly [keyId: string, record: string])[]) => Promise<void>): Promise<void> {
    const { keys } = teamKeys(teamId);
    for (let cursor = '0', first = true; first || cursor !== '0'; first = false) {
      const [next, flat] = await this.#parts.link.ask(({ redis }) => redis.hscan(keys, cursor, 'COUNT', KEYS_PIECE));
      const found = flat.filter((_, i) => i % 2 === 0).map((keyId, i) => [keyId, flat[2 * i + 1]!] as const);
      if (found.length > 0) await use(found);
      cursor = next;
    }
  }

  /** Separate commands, because on a cluster the keys are in different slots. */
  async #remove(names: readonly string[]): Promise<void> {
    await this.#parts.link.ask(({ redis }) => Promise.all(names.map((name) => redis.unlink(name))));
  }

  async #note(list: string, teamId: string, score: number): Promise<string> {
    const reply = await this.#parts.link.ask(({ run }) => run('note_team', { keys: [list], args: [teamId, String(score)] }));
    return String((reply as readonly unknown[])[1]);
  }

  #run(name: FunctionCall['name'], teamId: string, args: readonly string[]): Promise<FunctionAnswer> {
    const { team, keys } = teamKeys(teamId);
    return this.#parts.link.call({ name, teamId, keys: ONE_KEY.has(name) ? [team] : [team, keys], args });
  }
}
