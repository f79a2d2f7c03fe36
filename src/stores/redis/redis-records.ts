// The record space in Redis: a hash for each table of a group, a sorted set for each index. A change reads, decides, and writes if what it
// depends on is still so. What admissions read of tags and keys is in the team's own hash.
import { answering, storeErrorOf } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { shownKey } from '../../ledger/key-account.ts';
import { keySubject, tagSubject } from '../../domain/window-limits.ts';
import type { EntryPieces } from '../../domain/entries-text.ts';
import type {
  DecideChange,
  GroupChange,
  GroupHead,
  IndexPage,
  KeyWrite,
  NewBlob,
  RecordName,
  RecordSpace,
  RecordTable,
} from '../../ports/record-space.ts';
import type { KeyRecord } from '../../ports/team-registry.ts';
import type { Postbox } from './postbox.ts';
import type { RedisBlobs } from './redis-blobs.ts';
import { blobOf, groupKey, OF_TEAM, ownerKey, preparedOf, slotsOf, tableOf } from './redis-keys.ts';
import { InTurn } from './in-turn.ts';
import type { RedisLink, Write } from './redis-link.ts';
import { DECISIONS_MAX, manyWrites, HashDraft, HashRows, UNSETTLED } from './team-accounts.ts';
import { FIELD, idIn, keyText, readCounter, readKey, readOpen, readPeriod, readTagPieces, readTeam, tagPieces } from './team-fields.ts';
import type { PeriodCounter } from './team-fields.ts';
import { TeamIndex } from './team-index.ts';

const LATE: StoreUnavailable = { kind: 'unavailable', cause: 'late' };

type Values = readonly (string | undefined)[];

/** Of a group as it was read at one moment. */
interface ReadGroup {
  readonly values: Values;
  /** The team's hash, as far as it was read. */
  readonly fields: ReadonlyMap<string, string>;
  /** What the values are. */
  readonly expected: readonly (readonly [suffix: string, field: string, text: string | undefined])[];
}

interface RedisRecordParts {
  readonly link: RedisLink;
  readonly blobs: RedisBlobs;
  readonly postbox: Postbox;
}

export class RedisRecords implements RecordSpace {
  readonly #parts: RedisRecordParts;
  readonly #link: RedisLink;
  readonly #changes = new InTurn();

  constructor(parts: RedisRecordParts) {
    this.#parts = parts;
    this.#link = parts.link;
  }

  read(group: string, names: readonly RecordName[]): Promise<Values | StoreUnavailable> {
    return answering(async () => (await this.#read(group, names)).values);
  }

  list(group: string, table: RecordTable): Promise<ReadonlyMap<string, string> | StoreUnavailable> {
    return answering(async () => {
      if (group !== SHARED_RECORDS && (table === 'tag_limits' || table === 'tag_uses')) return this.tagTable(group, table);
      return new Map(Object.entries(await this.#link.ask((redis) => redis.hgetall(groupKey(group) + tableOf(table)))));
    });
  }

  /** One of the two that are in the team's hash. */
  async tagTable(group: string, table: 'tag_limits' | 'tag_uses'): Promise<Map<string, string>> {
    const fields = new Map(Object.entries(await this.#link.ask((redis) => redis.hgetall(groupKey(group)))));
    const found = new Map<string, string>();
    for (const [field, text] of fields) {
      const limited = table === 'tag_limits' ? idIn(field, 'tag:') : undefined;
      if (limited !== undefined) found.set(limited, text);
      const counted = table === 'tag_uses' ? /^count:tag:(.*):windows$/.exec(field)?.[1] : undefined;
      if (counted === undefined) continue;
      const slots = await this.#link.ask((redis) => redis.lrange(groupKey(group) + slotsOf(tagSubject(counted)), 0, -1));
      found.set(
        counted,
        readTagPieces(counted, (name) => fields.get(name), slots)!,
      );
    }
    return found;
  }

  page(group: string, { index, from, below, limit }: IndexPage): Promise<readonly string[] | StoreUnavailable> {
    const key = groupKey(group) + tableOf(index);
    return answering(() => this.#link.ask((redis) => redis.zrangebylex(key, `[${from}`, `(${below}`, 'LIMIT', 0, limit)));
  }

  change<Result>(
    group: string,
    names: readonly RecordName[],
    decide: DecideChange<Result>,
    keyId?: string,
  ): Promise<Result | undefined | StoreUnavailable> {
    // A key is changed beside all else of its team.
    return this.#changes.run(keyId ?? group, () => answering(() => this.#change(group, names, decide, keyId)));
  }

  async #change<Result>(
    group: string,
    names: readonly RecordName[],
    decide: DecideChange<Result>,
    keyId?: string,
  ): Promise<Result | undefined> {
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions++) {
      const [read, nowMs] = await Promise.all([this.#read(group, names, keyId), this.#link.now()]);
      const isTeam = group !== SHARED_RECORDS;
      if (isTeam && !read.fields.has(FIELD.team)) return undefined;
      const change = decide(read.values, headOf(read.fields, nowMs, keyId));
      const draft = new HashDraft(read.fields);
      if (isTeam) draft.get(FIELD.team);
      await this.#write(group, keyId, change, draft, nowMs);
      if (!draft.isChanged) return change.result;
      for (const blob of change.attach ?? []) await this.#parts.blobs.writeSmall(group, blob);
      const answer = await this.#link.compare(group, {
        fields: [...read.expected, ...draft.expected],
        present: (change.attach ?? []).map(({ blobId }) => preparedOf(blobId)),
        write: draft.writes,
        frees: freesMemory(change),
      });
      // What was prepared has expired: the server was unavailable, or the writes took far too long.
      if (answer === 'incomplete') throw storeErrorOf(LATE);
      if (answer !== 'changed') continue;
      if (change.audit !== undefined || change.event !== undefined) await this.#parts.postbox.empty(group);
      return change.result;
    }
    throw storeErrorOf(UNSETTLED);
  }

  async #write(group: string, keyId: string | undefined, change: GroupChange<unknown>, draft: HashDraft, nowMs: number): Promise<void> {
    const { remove = [], unindex = [], put = [], index = [], attach = [], detach = [], key, audit, event } = change;
    for (const name of remove) removeRecord(group, name, draft);
    for (const { table, id, value } of put) putRecord(group, { table, id }, value, draft);
    const { further } = draft;
    for (const { index: name, id } of unindex) further.push(['ZREM', tableOf(name), id]);
    for (const { index: name, id } of index) further.push(['ZADD', tableOf(name), '0', id]);
    further.push(...attach.flatMap(attachment));
    for (const blobId of detach) further.push(['UNLINK', blobOf(blobId)], ['HDEL', OF_TEAM.blobs, blobId]);
    if (key !== undefined) {
      if (isNewlyLimited(key, draft)) await this.#countHeld(group, key.record.keyId, draft);
      writeKey(key, draft);
    }
    const rows = new HashRows(group, draft, nowMs, await this.#parts.postbox.serial(audit?.by));
    if (audit !== undefined) rows.report(audit.by, { before: audit.before, after: audit.after }, undefined, keyId);
    if (event !== undefined) rows.keepEvent(event);
  }

  /**
   * What a key holds is counted only while its characters are limited (lua/admit.lua). Whatever changes it changes what the team has in
   * the period, too.
   */
  async #countHeld(group: string, keyId: string, draft: HashDraft): Promise<void> {
    const fields = new Map(Object.entries(await this.#link.ask((redis) => redis.hgetall(groupKey(group)))));
    draft.know(fields);
    const { number } = readPeriod(draft.get(FIELD.period)!);
    draft.get(FIELD.ofPeriod('team'));
    const open = [...fields].flatMap(([field, text]) => (idIn(field, 'open:') === undefined ? [] : readOpen(text)));
    const own = open.filter((one) => one.keyId === keyId && one.period === number);
    const held = own.reduce((sum, { characters }) => sum + characters, 0);
    const field = FIELD.ofPeriod(keySubject(keyId));
    draft.put(field, JSON.stringify({ ...readCounter(draft.peek(field), number), held } satisfies PeriodCounter));
  }

  teamOf(keyId: string): Promise<string | undefined | StoreUnavailable> {
    return answering(async () => (await this.#link.ask((redis) => redis.get(ownerKey(keyId)))) ?? undefined);
  }

  /** Looks at all teams: an index would cost memory for every record to save operators about a second. */
  groupOf({ table, id }: RecordName): Promise<string | undefined | StoreUnavailable> {
    return answering(async () => {
      for await (const ids of new TeamIndex(this.#link).pieces()) {
        const found = await this.#link.ask((redis) =>
          Promise.all(ids.map((teamId) => redis.hexists(groupKey(teamId) + tableOf(table), id))),
        );
        const at = found.indexOf(1);
        if (at !== -1) return ids[at];
      }
      return undefined;
    });
  }

  prepare(group: string, blobs: readonly NewBlob[]): Promise<StoreUnavailable | undefined> {
    return answering(async () => {
      await this.#parts.blobs.write(group, blobs);
      return undefined;
    });
  }

  abandon(group: string, blobs: readonly NewBlob[]): Promise<void> {
    return this.#parts.blobs.drop(group, blobs);
  }

  readBlob(group: string, blobId: string): Promise<EntryPieces | undefined | StoreUnavailable> {
    return answering(() => this.#parts.blobs.read(group, blobId));
  }

  /** All at one moment. */
  async #read(group: string, names: readonly RecordName[], keyId?: string): Promise<ReadGroup> {
    const ofTeam = group === SHARED_RECORDS ? [] : teamFields(names, keyId);
    const args = [...ofTeam.flatMap((field) => ['', field]), ...names.flatMap(({ table, id }) => [tableOf(table), id])];
    const replies = (args.length === 0 ? [] : await this.#link.ask(() => this.#link.run('read', [groupKey(group)], args))) as (
      | string
      | null
    )[];
    const fields = new Map(ofTeam.flatMap((field, i) => (replies[i] === null ? [] : [[field, replies[i]!] as const])));
    const values: (string | undefined)[] = [];
    const expected: [string, string, string | undefined][] = [];
    for (const [i, { table, id }] of names.entries()) {
      if (!isOfTag(group, { table, id })) {
        values.push(replies[ofTeam.length + i] ?? undefined);
        expected.push([tableOf(table), id, values[i]]);
      } else {
        values.push(tagValue({ table, id }, fields));
        expected.push(...tagFields({ table, id }).map((field): [string, string, string | undefined] => ['', field, fields.get(field)]));
      }
    }
    // A team that is being deleted has no records.
    if (group !== SHARED_RECORDS && !fields.has(FIELD.team)) return { values: names.map(() => undefined), fields, expected };
    return { values, fields, expected };
  }
}

function isOfTag(group: string, { table }: RecordName): boolean {
  return group !== SHARED_RECORDS && (table === 'tag_limits' || table === 'tag_uses');
}

function tagFields({ table, id }: RecordName): readonly string[] {
  return table === 'tag_limits' ? [FIELD.tag(id)] : [FIELD.ofWindows(`tag:${id}`), FIELD.ofPeriod(`tag:${id}`)];
}

function tagValue({ table, id }: RecordName, fields: ReadonlyMap<string, string>): string | undefined {
  return table === 'tag_uses' ? readTagPieces(id, (field) => fields.get(field), []) : fields.get(FIELD.tag(id));
}

function teamFields(names: readonly RecordName[], keyId: string | undefined): readonly string[] {
  const ofKey = keyId === undefined ? [] : [FIELD.key(keyId), FIELD.used(keyId), FIELD.keys];
  const ofTags = names.filter((name) => isOfTag('', name)).flatMap(tagFields);
  return [...new Set([FIELD.team, FIELD.period, FIELD.balance, FIELD.events, ...ofKey, ...ofTags])];
}

function headOf(fields: ReadonlyMap<string, string>, nowMs: number, keyId: string | undefined): GroupHead {
  const [team, period] = [fields.get(FIELD.team), fields.get(FIELD.period)];
  if (team === undefined || period === undefined) return { nowMs, limits: undefined, period: undefined };
  const { number, startMs, endMs } = readPeriod(period);
  const key = keyId === undefined ? undefined : fields.get(FIELD.key(keyId));
  return {
    nowMs,
    limits: readTeam(team, undefined).limits,
    period: { number, startMs, endMs },
    key: key === undefined ? undefined : fieldKey(key, fields, nowMs),
  };
}

/** A key's record as lists show it at a moment. */
export function fieldKey(text: string, fields: Pick<ReadonlyMap<string, string>, 'get'>, nowMs: number): KeyRecord {
  const { record } = readKey(text);
  const used = fields.get(FIELD.used(record.keyId));
  return shownKey(record, used === undefined ? undefined : Number(used), nowMs);
}

function isNewlyLimited({ record }: KeyWrite, draft: HashDraft): boolean {
  const known = draft.peek(FIELD.key(record.keyId));
  if (record.limits.characters === undefined || known === undefined) return false;
  return readKey(known).record.limits.characters === undefined;
}

function writeKey({ record, digest }: KeyWrite, draft: HashDraft): void {
  const field = FIELD.key(record.keyId);
  const known = draft.get(field);
  const before = known === undefined ? undefined : readKey(known);
  // Keys that are made at the same moment have no order.
  const order = before?.order ?? Number(draft.peek(FIELD.keys) ?? 0) + 1;
  if (before === undefined) draft.further.push(['HINCRBY', '', FIELD.keys, '1']);
  const { lastUsedAtMs: _used, ...key } = record;
  draft.put(field, keyText({ record: key, digest: digest ?? before?.digest, order }));
  if (record.limits.requestsPerSecond === undefined) draft.further.push(['UNLINK', slotsOf(keySubject(record.keyId))]);
}

export function putRecord(group: string, { table, id }: RecordName, value: string, draft: HashDraft): void {
  if (!isOfTag(group, { table, id })) draft.further.push(['HSET', tableOf(table), id, value]);
  else if (table === 'tag_limits') draft.put(FIELD.tag(id), value);
  else {
    const { fields, slots } = tagPieces(id, value);
    for (const [field, text] of fields) draft.put(field, text);
    const list = slotsOf(tagSubject(id));
    draft.further.push(['DEL', list], ...manyWrites('RPUSH', list, slots));
  }
}

/** Of a blob that is prepared. */
export function attachment({ blobId, pieces }: NewBlob): Write[] {
  return [
    ['RENAME', preparedOf(blobId), blobOf(blobId)],
    ['HSET', OF_TEAM.blobs, blobId, String(pieces.length)],
  ];
}

function removeRecord(group: string, { table, id }: RecordName, draft: HashDraft): void {
  if (!isOfTag(group, { table, id })) draft.further.push(['HDEL', tableOf(table), id]);
  else {
    for (const field of tagFields({ table, id })) draft.remove(field);
    draft.further.push(['UNLINK', slotsOf(tagSubject(id))]);
  }
}

/** An entry of the audit belongs to a change that a full server has made. */
function freesMemory({ remove = [], attach = [], put = [], key }: GroupChange<unknown>): boolean {
  if (put.length > 0 && put.every(({ table }) => table === 'audit')) return true;
  return (remove.length > 0 && attach.length === 0) || (key !== undefined && key.digest === undefined);
}
