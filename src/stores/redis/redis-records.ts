// The record space in Redis: a hash for each table of a team, changed by one function if what it depends on is as it was read.
import type { EntryPieces } from '../../domain/entries-text.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { answering, storeErrorOf } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { DecideChange, GroupChange, IndexPage, NewBlob, RecordName, RecordSpace, RecordTable } from '../../ports/record-space.ts';
import type { FunctionAnswer } from './function-caller.ts';
import type { RedisAuditLog } from './redis-audit-log.ts';
import type { RedisBlobs } from './redis-blobs.ts';
import { changeArguments, DECISIONS_MAX, isUrgent, madeSteps, readGroup, UNSETTLED } from './record-steps.ts';
import type { ReadGroup, RecordValues } from './record-steps.ts';
import { ownerKey, tableKey, teamKeys, TEAMS_KEY } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';

const LATE: StoreUnavailable = { kind: 'unavailable', cause: 'late' };
/** Teams searched at a time for a record. */
const TEAMS_PIECE = 100;

interface RedisRecordParts {
  readonly link: RedisLink;
  readonly blobs: RedisBlobs;
  readonly audit: Pick<RedisAuditLog, 'begin' | 'beginUrgent'>;
}

export class RedisRecords implements RecordSpace {
  readonly #parts: RedisRecordParts;
  /** The last change of each team, or of each key, that this process is making. */
  readonly #changing = new Map<string, Promise<unknown>>();

  constructor(parts: RedisRecordParts) {
    this.#parts = parts;
  }

  /** A deletion of the team begins by deleting its tables. */
  read(teamId: string, names: readonly RecordName[]): Promise<RecordValues | StoreUnavailable> {
    return answering(() => this.#parts.link.ask(() => this.#values(teamId, names)));
  }

  list(teamId: string, table: RecordTable): Promise<ReadonlyMap<string, string> | StoreUnavailable> {
    return answering(async () => {
      const records = await this.#parts.link.ask(({ redis }) => redis.hgetall(tableKey(teamId, table)));
      return new Map(Object.entries(records));
    });
  }

  page(teamId: string, { index, from, below, limit }: IndexPage): Promise<readonly string[] | StoreUnavailable> {
    const key = tableKey(teamId, index);
    return answering(() => this.#parts.link.ask(({ redis }) => redis.zrangebylex(key, `[${from}`, `(${below}`, 'LIMIT', 0, limit)));
  }

  /** One after the other, so that changes by this process never outdate each other. */
  change<Result>(
    teamId: string,
    names: readonly RecordName[],
    decide: DecideChange<Result>,
    keyId?: string,
  ): Promise<Result | undefined | StoreUnavailable> {
    // A key is changed beside all else of its team.
    const subject = keyId ?? teamId;
    const before = this.#changing.get(subject) ?? Promise.resolve();
    const changed = before.then(() => answering(() => this.#change(teamId, names, decide, keyId)));
    const ended = changed.then(
      () => undefined,
      () => undefined,
    );
    this.#changing.set(subject, ended);
    void ended.then(() => {
      if (this.#changing.get(subject) === ended) this.#changing.delete(subject);
    });
    return changed;
  }

  async #change<Result>(
    teamId: string,
    names: readonly RecordName[],
    decide: DecideChange<Result>,
    keyId?: string,
  ): Promise<Result | undefined> {
    let known: ReadGroup | undefined;
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions++) {
      const [group, values] = await Promise.all([
        known ?? this.#group(teamId, keyId),
        this.#parts.link.ask(() => this.#values(teamId, names)),
      ]);
      if (group === undefined) return undefined;
      const change = decide(values, group.head);
      const made = madeSteps(group, change);
      if (made.length === 0 && change.audit === undefined) return change.result;
      const answer = await this.#write(teamId, keyId, change, changeArguments(group, made, names, values));
      if (answer.word === 'changed') return change.result;
      // What was prepared has expired: the server was unavailable, or the writes took far too long.
      if (answer.word === 'incomplete') throw storeErrorOf(LATE);
      known = readGroup(teamId, keyId, answer);
    }
    throw storeErrorOf(UNSETTLED);
  }

  async #write(
    teamId: string,
    keyId: string | undefined,
    { audit, event, key, remove = [], attach = [] }: GroupChange<unknown>,
    steps: readonly (string | Buffer)[],
  ): Promise<FunctionAnswer> {
    // A key must stop working even while another server of a cluster is unavailable.
    const begin = key !== undefined && isUrgent(key) ? 'beginUrgent' : 'begin';
    const entry = await this.#parts.audit[begin](teamId, audit?.by, audit && { before: audit.before, after: audit.after }, keyId);
    const frees = (remove.length > 0 && attach.length === 0) || (key !== undefined && key.digest === undefined);
    const name = frees ? 'free_records' : 'change_records';
    const args = [...entry, ...steps];
    return this.#parts.link.call({ name, teamId, keys: [teamKeys(teamId).team], args, keepsEvent: event !== undefined });
  }

  teamOf(keyId: string): Promise<string | undefined | StoreUnavailable> {
    return answering(async () => (await this.#parts.link.ask(({ redis }) => redis.get(ownerKey(keyId)))) ?? undefined);
  }

  /** Looks at all teams: an index would cost memory for every record to save operators about a second. */
  groupOf({ table, id }: RecordName): Promise<string | undefined | StoreUnavailable> {
    return answering(async () => {
      for (let first = 0; ; first += TEAMS_PIECE) {
        const ids = await this.#parts.link.ask(({ redis }) => redis.zrange(TEAMS_KEY, String(first), String(first + TEAMS_PIECE - 1)));
        const found = await this.#parts.link.ask(({ redis }) =>
          Promise.all(ids.map((teamId) => redis.hexists(tableKey(teamId, table), id))),
        );
        const at = found.indexOf(1);
        if (at !== -1) return ids[at];
        if (ids.length < TEAMS_PIECE) return undefined;
      }
    });
  }

  prepare(teamId: string, blobs: readonly NewBlob[]): Promise<StoreUnavailable | undefined> {
    return answering(async () => {
      await this.#parts.blobs.write(teamId, blobs);
      return undefined;
    });
  }

  abandon(teamId: string, blobs: readonly NewBlob[]): Promise<void> {
    return this.#parts.blobs.drop(teamId, blobs);
  }

  readBlob(teamId: string, blobId: string): Promise<EntryPieces | undefined | StoreUnavailable> {
    return answering(() => this.#parts.blobs.read(teamId, blobId));
  }

  async #group(teamId: string, keyId: string | undefined): Promise<ReadGroup | undefined> {
    const { link } = this.#parts;
    if (teamId === SHARED_RECORDS) return { head: { nowMs: await link.now(), limits: undefined, period: undefined } };
    const answer = await link.call({ name: 'read_group', teamId, keys: [teamKeys(teamId).team], args: [keyId ?? ''] });
    return readGroup(teamId, keyId, answer);
  }

  async #values(teamId: string, names: readonly RecordName[]): Promise<RecordValues> {
    const { redis } = this.#parts.link;
    const values = await Promise.all(names.map(({ table, id }) => redis.hget(tableKey(teamId, table), id)));
    return values.map((value) => value ?? undefined);
  }
}
