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
import type { RedisLink } from './redis-link.ts';
import { HashDraft, manyWrites, readFields } from './hash-draft.ts';
import { DECISIONS_MAX, HashRows, UNSETTLED } from './team-accounts.ts';
import {
  countedTag,
  FIELD,
  idIn,
  keyText,
  readCounter,
  readKey,
  readOpen,
  readPeriod,
  readTagPieces,
  readTeam,
  tagPieces,
} from './team-fields.ts';
import type { PeriodCounter } from './team-fields.ts';
import { TeamIndex } from './team-index.ts';

/** What was prepared has expired: the server was unavailable, or the writes took far too long. */
export const OVERDUE: StoreUnavailable = { kind: 'unavailable', cause: 'overdue' };

type Values = readonly (string | undefined)[];

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
    return answering(async () => {
      const draft = await this.#read(group, names);
      return names.map((name) => recordIn(draft, group, name));
    });
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
      const counted = table === 'tag_uses' ? countedTag(field) : undefined;
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
      const [draft, nowMs] = await Promise.all([this.#read(group, names, keyId), this.#link.now()]);
      if (group !== SHARED_RECORDS && draft.get(FIELD.team) === undefined) return undefined;
      const values = names.map((name) => recordIn(draft, group, name));
      const change = decide(values, headOf(draft.read, nowMs, keyId));
      await this.#write(group, keyId, change, draft, nowMs);
      if (!draft.isChanged) return change.result;
      for (const blob of change.attach ?? []) await this.#parts.blobs.writeSmall(group, blob);
      const answer = await this.#link.compare(group, {
        fields: draft.expected,
        present: (change.attach ?? []).map(({ blobId }) => preparedOf(blobId)),
        write: draft.writes,
        frees: freesMemory(change),
      });
      if (answer === 'incomplete') throw storeErrorOf(OVERDUE);
      if (answer !== 'changed') continue;
      if (change.audit !== undefined || change.event !== undefined) await this.#parts.postbox.empty(group);
      return change.result;
    }
    throw storeErrorOf(UNSETTLED);
  }

  async #write(group: string, keyId: string | undefined, change: GroupChange<unknown>, draft: HashDraft, nowMs: number): Promise<void> {
    const { remove = [], unindex = [], put = [], index = [], attach = [], detach = [], key, audit, event } = change;
    for (const name of remove) setRecord(draft, group, name, undefined);
    for (const { table, id, value } of put) setRecord(draft, group, { table, id }, value);
    const { further } = draft;
    for (const { index: name, id } of unindex) further.push(['ZREM', tableOf(name), id]);
    for (const { index: name, id } of index) further.push(['ZADD', tableOf(name), '0', id]);
    for (const blob of attach) attachBlob(draft, blob);
    for (const blobId of detach) {
      further.push(['UNLINK', blobOf(blobId)]);
      draft.set(`${OF_TEAM.blobs} ${blobId}`, undefined);
    }
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
   * the period, too; unless as much is given back and reserved meanwhile: then one of the key's reservations has gone, or it was used.
   */
  async #countHeld(group: string, keyId: string, draft: HashDraft): Promise<void> {
    const fields = new Map(Object.entries(await this.#link.ask((redis) => redis.hgetall(groupKey(group)))));
    draft.know(fields);
    const { number } = readPeriod(draft.get(FIELD.period)!);
    draft.get(FIELD.ofPeriod('team'));
    draft.get(FIELD.used(keyId));
    let held = 0;
    for (const [name, text] of fields) {
      const one = idIn(name, FIELD.open('')) === undefined ? undefined : readOpen(text);
      if (one?.keyId !== keyId || one.period !== number) continue;
      draft.get(name);
      held += one.characters;
    }
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

  /** All at one moment. A team that is being deleted has no records. */
  async #read(group: string, names: readonly RecordName[], keyId?: string): Promise<HashDraft> {
    const fields = names.flatMap((name) => fieldsOf(group, name));
    if (group === SHARED_RECORDS) return new HashDraft(await readFields(this.#link, group, fields));
    const read = await readFields(this.#link, group, [...new Set([...teamFields(keyId), ...fields])]);
    return new HashDraft(read.has(FIELD.team) ? read : new Map());
  }
}

/** What admissions read of tags is in the team's own hash. */
function isOfTag(group: string, { table }: RecordName): boolean {
  return group !== SHARED_RECORDS && (table === 'tag_limits' || table === 'tag_uses');
}

/** Where a record is. */
function fieldsOf(group: string, { table, id }: RecordName): readonly string[] {
  if (!isOfTag(group, { table, id })) return [`${tableOf(table)} ${id}`];
  return table === 'tag_limits' ? [FIELD.tag(id)] : [FIELD.ofWindows(tagSubject(id)), FIELD.ofPeriod(tagSubject(id))];
}

function recordIn(draft: HashDraft, group: string, name: RecordName): string | undefined {
  const [first, ...more] = fieldsOf(group, name);
  return more.length === 0 ? draft.get(first!) : readTagPieces(name.id, (field) => draft.get(field), []);
}

export function setRecord(draft: HashDraft, group: string, name: RecordName, value: string | undefined): void {
  const fields = fieldsOf(group, name);
  if (value !== undefined && fields.length > 1) {
    const { fields: pieces, slots } = tagPieces(name.id, value);
    for (const [field, text] of pieces) draft.set(field, text);
    draft.further.push(['DEL', slotsOf(tagSubject(name.id))], ...manyWrites('RPUSH', slotsOf(tagSubject(name.id)), slots));
    return;
  }
  for (const field of fields) draft.set(field, value);
  if (value === undefined && isOfTag(group, name)) draft.further.push(['UNLINK', slotsOf(tagSubject(name.id))]);
}

/** Of a blob that is prepared. */
export function attachBlob(draft: HashDraft, { blobId, pieces }: NewBlob): void {
  draft.further.push(['RENAME', preparedOf(blobId), blobOf(blobId)]);
  draft.set(`${OF_TEAM.blobs} ${blobId}`, String(pieces.length));
}

function teamFields(keyId: string | undefined): readonly string[] {
  const ofKey = keyId === undefined ? [] : [FIELD.key(keyId), FIELD.used(keyId), FIELD.keys];
  return [FIELD.team, FIELD.period, FIELD.balance, FIELD.events, ...ofKey];
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

/** An entry of the audit belongs to a change that a full server has made. */
function freesMemory({ remove = [], attach = [], put = [], key }: GroupChange<unknown>): boolean {
  if (put.length > 0 && put.every(({ table }) => table === 'audit')) return true;
  return (remove.length > 0 && attach.length === 0) || (key !== undefined && key.digest === undefined);
}
