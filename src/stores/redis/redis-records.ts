// The record space in Redis: a hash for each table of a group, a sorted set for each index. A change reads, decides, and writes if what it
// depends on is still so. What admissions read of tags and keys is in the team's own hash.
import { answered, answeringAll } from '../../domain/store-unavailable.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { keySubject, tagSubject } from '../../domain/window-limits.ts';
import type { DecideChange, GroupChange, GroupHead, KeyWrite } from '../../ports/record-space.ts';
import type { NewBlob, RecordName, RecordSpace, RecordTable } from '../../ports/record-space.ts';
import type { RedisBlobs } from './redis-blobs.ts';
import { HashDraft, manyWrites } from './redis-groups.ts';
import type { RedisGroups } from './redis-groups.ts';
import { blobOf, groupKey, OF_TEAM, ownerKey, preparedOf, slotsOf, tableOf } from './redis-keys.ts';
import { InTurn } from './redis-link.ts';
import { HashRows } from './team-accounts.ts';
import type { TeamAccounts } from './team-accounts.ts';
import { FIELD, fieldKey, fieldsWith, keyText, readKey, readPeriod, readTagUses, readTeam, tagUsesText } from './team-fields.ts';
import type { TeamIndex } from './team-index.ts';

export function redisRecords(accounts: TeamAccounts, blobs: RedisBlobs, index: TeamIndex): RecordSpace {
  const { groups } = accounts;
  const { link } = groups;
  const changes = new InTurn();

  /** What is used of a tag is not what a lease that has ended held. */
  const endLeases = async (group: string): Promise<void> => {
    const lease = await link.ask((redis) => redis.hget(groupKey(group), FIELD.lease));
    if (Number(lease ?? Infinity) <= (await link.time(group))) answered(await accounts.catchUp(group));
  };

  /** All at one moment. A team that is being deleted has no records. */
  const draftOf = async (group: string, names: readonly RecordName[], keyId?: string): Promise<HashDraft> => {
    const fields = names.map((name) => fieldOf(group, name));
    if (names.some(({ table }) => table === 'tag_uses')) await endLeases(group);
    if (group === SHARED_RECORDS) return new HashDraft(await groups.fields(group, fields));
    const ofKey = keyId === undefined ? [] : [FIELD.key(keyId), FIELD.usedBy(keyId), FIELD.keys];
    const read = await groups.fields(group, [...new Set([FIELD.team, FIELD.period, ...ofKey, ...fields])]);
    return new HashDraft(read.has(FIELD.team) ? read : new Map());
  };

  return answeringAll<RecordSpace>({
    async read(group, names) {
      const draft = await draftOf(group, names);
      return names.map((name) => recordIn(draft, group, name));
    },
    async list(group, table) {
      if (table === 'tag_uses') await endLeases(group);
      return isOfHash(group, table) ? tagTable(groups, group, table, await groups.hash(group)) : groups.hash(group, tableOf(table));
    },
    page(group, { index: name, from, below, limit }) {
      const key = groupKey(group) + tableOf(name);
      return link.ask((redis) => redis.zrangebylex(key, `[${from}`, `(${below}`, 'LIMIT', 0, limit));
    },
    change<Result>(group: string, names: readonly RecordName[], decide: DecideChange<Result>, keyId?: string) {
      const decided = async (draft: HashDraft, nowMs: number): Promise<Result | undefined> => {
        if (group !== SHARED_RECORDS && draft.get(FIELD.team) === undefined) return undefined;
        const values = names.map((name) => recordIn(draft, group, name));
        const change = decide(values, headOf(draft.read, nowMs, keyId));
        writeChange(draft, group, keyId, change, nowMs);
        for (const blob of change.attach ?? []) await blobs.writeSmall(group, blob);
        return change.result;
      };
      // A key is changed beside all else of its team.
      return changes.run(keyId ?? group, () => groups.decide(group, () => draftOf(group, names, keyId), decided));
    },
    teamOf: async (keyId) => (await link.ask((redis) => redis.get(ownerKey(keyId)))) ?? undefined,
    /** Looks at all teams: an index would cost memory for every record to save operators about a second. */
    async groupOf({ table, id }) {
      for await (const ids of index.pieces()) {
        const all = ids.map((teamId) => groupKey(teamId) + tableOf(table));
        const at = (await link.ask((redis) => Promise.all(all.map((key) => redis.hexists(key, id))))).indexOf(1);
        if (at !== -1) return ids[at];
      }
      return undefined;
    },
    prepare: (group, all) => blobs.write(group, all),
    abandon: (group, all) => blobs.drop(group, all),
    readBlob: (group, blobId) => blobs.read(group, blobId),
  });
}

/** One of the two that are in the team's hash. */
export async function tagTable(groups: RedisGroups, group: string, table: HashTable, fields: ReadonlyMap<string, string>) {
  if (table === 'tag_limits') return new Map(fieldsWith(fields, FIELD.tag('')));
  const found = new Map<string, string>();
  for (const [tag, text] of fieldsWith(fields, FIELD.windows(tagSubject('')))) {
    const slots = await groups.link.ask((redis) => redis.lrange(groupKey(group) + slotsOf(tagSubject(tag)), 0, -1));
    found.set(tag, readTagUses(text, slots));
  }
  return found;
}

/** What admissions read of tags is in the team's own hash. */
type HashTable = 'tag_limits' | 'tag_uses';

function isOfHash(group: string, table: RecordTable): table is HashTable {
  return group !== SHARED_RECORDS && (table === 'tag_limits' || table === 'tag_uses');
}

/** Where a record is. */
function fieldOf(group: string, { table, id }: RecordName): string {
  if (!isOfHash(group, table)) return `${tableOf(table)} ${id}`;
  return table === 'tag_limits' ? FIELD.tag(id) : FIELD.windows(tagSubject(id));
}

function recordIn(draft: HashDraft, group: string, name: RecordName): string | undefined {
  const text = draft.get(fieldOf(group, name));
  return text !== undefined && isOfHash(group, name.table) && name.table === 'tag_uses' ? readTagUses(text) : text;
}

export function setRecord(draft: HashDraft, group: string, name: RecordName, value: string | undefined): void {
  const field = fieldOf(group, name);
  if (!isOfHash(group, name.table)) return draft.set(field, value);
  const slots = slotsOf(tagSubject(name.id));
  if (value === undefined) draft.further.push(['UNLINK', slots]);
  if (value === undefined || name.table === 'tag_limits') return draft.set(field, value);
  const { text, times } = tagUsesText(value);
  draft.set(field, text);
  draft.further.push(['DEL', slots], ...manyWrites('RPUSH', slots, times));
}

/** Of a blob that is prepared. */
export function attachBlob(draft: HashDraft, { blobId, pieces }: NewBlob): void {
  draft.present.push(preparedOf(blobId));
  draft.further.push(['RENAME', preparedOf(blobId), blobOf(blobId)]);
  draft.set(`${OF_TEAM.blobs} ${blobId}`, String(pieces.length));
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

function writeChange(draft: HashDraft, group: string, keyId: string | undefined, change: GroupChange<unknown>, nowMs: number): void {
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
  if (key !== undefined) writeKey(key, draft);
  const rows = new HashRows(draft, nowMs);
  if (audit !== undefined) rows.report(audit.by, { before: audit.before, after: audit.after }, undefined, keyId);
  if (event !== undefined) rows.leaveEvent(event);
  // An entry of the audit belongs to a change that a full server has made.
  const isAudit = put.length > 0 && put.every(({ table }) => table === 'audit');
  draft.frees = isAudit || (remove.length > 0 && attach.length === 0) || (key !== undefined && key.digest === undefined);
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
