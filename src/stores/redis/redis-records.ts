// The record space in Redis: a hash for each table of a team, changed by one function if what it depends on is as it was read.
import { isLarge } from '../../domain/entries-text.ts';
import type { EntryPieces } from '../../domain/entries-text.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { answering, storeErrorOf } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type {
  DecideChange,
  GroupChange,
  GroupHead,
  IndexPage,
  NewBlob,
  RecordName,
  RecordSpace,
  RecordTable,
} from '../../ports/record-space.ts';
import type { FunctionAnswer } from './function-caller.ts';
import type { RedisAuditLog } from './redis-audit-log.ts';
import type { RedisBlobs } from './redis-blobs.ts';
import { argumentsOf, eventStep, isUrgent, keySteps, readRawKey } from './key-steps.ts';
import type { RawKey, RecordStep } from './key-steps.ts';
import { ownerKey, tableKey, teamKeys, TEAMS_KEY } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';
import { describedPeriod, readKey, readTeam } from './team-codec.ts';

const LATE: StoreUnavailable = { kind: 'unavailable', cause: 'late' };
const UNSETTLED: StoreUnavailable = { kind: 'unavailable', cause: 'unsettled' };
/** How often a change is decided again; only changes by other processes outdate it. */
const DECISIONS_MAX = 100;
/** Teams searched at a time for a record. */
const TEAMS_PIECE = 100;

interface RedisRecordParts {
  readonly link: RedisLink;
  readonly blobs: RedisBlobs;
  readonly audit: Pick<RedisAuditLog, 'begin' | 'beginUrgent'>;
}

type Values = readonly (string | undefined)[];

/** A group as it was read, and its key as it is stored. */
interface ReadGroup {
  readonly head: GroupHead;
  readonly rawKey?: RawKey | undefined;
}

export class RedisRecords implements RecordSpace {
  readonly #parts: RedisRecordParts;
  /** The last change of each team, or of each key, that this process is making. */
  readonly #changing = new Map<string, Promise<unknown>>();

  constructor(parts: RedisRecordParts) {
    this.#parts = parts;
  }

  /** A deletion of the team begins by deleting its tables. */
  read(teamId: string, names: readonly RecordName[]): Promise<Values | StoreUnavailable> {
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
      const ofKey = change.key === undefined ? [] : keySteps(group.rawKey, change.key);
      const [read, made] = [readSteps(names, values), [...ofKey, ...madeSteps(change)]];
      if (made.length === 0 && change.audit === undefined) return change.result;
      const team = group.head.limits === undefined ? [] : [TEAM_STEP];
      const answer = await this.#write(teamId, keyId, change, [...team, ...read, ...made]);
      if (answer.word === 'changed') return change.result;
      // What was prepared has expired: the server was unavailable, or the writes took far too long.
      if (answer.word === 'incomplete') throw storeErrorOf(LATE);
      known = answer.values.length === 0 ? undefined : readGroup(teamId, keyId, answer);
    }
    throw storeErrorOf(UNSETTLED);
  }

  async #write(
    teamId: string,
    keyId: string | undefined,
    { audit, event, key, remove = [], attach = [] }: GroupChange<unknown>,
    steps: readonly RecordStep[],
  ): Promise<FunctionAnswer> {
    // A key must stop working even while another server of a cluster is unavailable.
    const begin = key !== undefined && isUrgent(key) ? 'beginUrgent' : 'begin';
    const entry = await this.#parts.audit[begin](teamId, audit?.by, audit && { before: audit.before, after: audit.after }, keyId);
    const frees = (remove.length > 0 && attach.length === 0) || (key !== undefined && key.digest === undefined);
    const name = frees ? 'free_records' : 'change_records';
    const args = [...entry, ...argumentsOf(steps)];
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
    return answer.word === 'none' ? undefined : readGroup(teamId, keyId, answer);
  }

  async #values(teamId: string, names: readonly RecordName[]): Promise<Values> {
    const { redis } = this.#parts.link;
    const values = await Promise.all(names.map(({ table, id }) => redis.hget(tableKey(teamId, table), id)));
    return values.map((value) => value ?? undefined);
  }
}

/** From the answer of `read_group`, or of a change that another one of the key has outdated. */
function readGroup(teamId: string, keyId: string | undefined, { values, nowMs }: FunctionAnswer): ReadGroup {
  const [description, ...ofKey] = values;
  const { limits } = readTeam(teamId, description);
  const rawKey = readRawKey(ofKey);
  const key = rawKey && readKey({ keyId: keyId!, teamId }, rawKey.record, rawKey, nowMs);
  return { head: { nowMs, limits, period: describedPeriod(description), key }, rawKey };
}

const TEAM_STEP: RecordStep = ['team'];

/** One for each name that was read. */
function readSteps(names: readonly RecordName[], values: Values): readonly RecordStep[] {
  return names.map(({ table, id }, i): RecordStep => (values[i] === undefined ? ['absent', table, id] : ['same', table, id, values[i]]));
}

function madeSteps({
  put = [],
  remove = [],
  index = [],
  unindex = [],
  attach = [],
  detach = [],
  event,
}: GroupChange<unknown>): readonly RecordStep[] {
  return [
    ...remove.map(({ table, id }): RecordStep => ['remove', table, id]),
    ...unindex.map((entry): RecordStep => ['unindex', entry.index, entry.id]),
    ...put.map(({ table, id, value }): RecordStep => ['put', table, id, value]),
    ...index.map((entry): RecordStep => ['index', entry.index, entry.id]),
    ...attach.map(({ blobId, pieces }): RecordStep => {
      const [piece] = pieces;
      return isLarge(pieces) || piece === undefined ? ['hold', blobId, String(pieces.length)] : ['attach', blobId, Buffer.from(piece)];
    }),
    ...detach.map((blobId): RecordStep => ['detach', blobId]),
    ...(event === undefined ? [] : [eventStep(event)]),
  ];
}
