// The names of all keys in Redis; a team's keys share a cluster slot through their hash tag.
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import type { RecordIndex, RecordTable } from '../../ports/record-space.ts';
import { COPIED_SHARED_TABLES, UNCOPIED_SHARED_TABLES } from '../records/record-tables.ts';

/**
 * The keys of a team, besides those that functions derive from `:team` (lua/layout.lua: `:ids`, `:places`, `:late`):
 *
 * - `:team` hash: the team's record, its plan, counters and its keys' states
 * - `:use:<number>` hash of a period that has ended but is not closed: the characters charged in it (`characters`), its bounds
 *   (`starts`, `ends`), its last plan (`plan`, `p`, `currency`, `length`), the characters still reserved in it (`open`), and
 *   when these reservations expire at the latest (`over`). The team's field `left` is the lowest number that may have one
 * - `:periods` hash of closed periods by number (lua/tend.lua)
 * - `:once:<id>` the change of the team requested with this idempotency id, kept for a day; `:changes` sorted set of these ids
 * - `:keys` hash of the keys' records
 * - `:days` hash of each key's usage by day (lua/days.lua)
 * - `:audit` sorted set of audit entries (lua/audit.lua)
 * - a hash for each table of the record space (ports/record-space.ts), changed by one function (lua/records.lua): `:glossaries`,
 *   `:pairs`, `:totals`, `:refusals`, `:tag_counts`, `:tag_days`, `:tag_limits`, `:tag_uses`, `:documents`; its blobs in lists, `:blob:<id>` and
 *   `:prepared:<id>`, and `:blobs` from each to the number of its pieces
 */
export function teamKeys(teamId: string) {
  const base = `lingate:{${teamId}}:`;
  return {
    team: teamKey(teamId),
    ids: `${base}ids`,
    places: `${base}places`,
    late: `${base}late`,
    keys: `${base}keys`,
    days: `${base}days`,
    periods: `${base}periods`,
    glossaries: tableKey(teamId, 'glossaries'),
    pairs: tableKey(teamId, 'pairs'),
    totals: tableKey(teamId, 'totals'),
    refusals: tableKey(teamId, 'refusals'),
    tag_counts: tableKey(teamId, 'tag_counts'),
    tag_days: tableKey(teamId, 'tag_days'),
    tag_limits: tableKey(teamId, 'tag_limits'),
    tag_uses: tableKey(teamId, 'tag_uses'),
    documents: tableKey(teamId, 'documents'),
    blobs: `${base}blobs`,
    audit: `${base}audit`,
    changes: `${base}changes`,
    /** Prefixes of the keys of ended periods and of remembered changes. */
    use: `${base}use:`,
    once: `${base}once:`,
  };
}

export function teamKey(teamId: string): string {
  return `lingate:{${teamId}}:team`;
}

/** A table of the record space: a hash, or the sorted set of an index. */
export function tableKey(teamId: string, table: RecordTable | RecordIndex): string {
  return `lingate:{${teamId}}:${table}`;
}

/** The number of a blob's pieces, and the pieces, in a separate key so that listing records does not read them. */
export function blobKey(teamId: string, blobId: string): string {
  return `lingate:{${teamId}}:blob:${blobId}`;
}

/** The pieces of a blob that is not attached yet; expires. */
export function preparedKey(teamId: string, blobId: string): string {
  return `lingate:{${teamId}}:prepared:${blobId}`;
}

/** All teams in order of creation. */
export const TEAMS_KEY = 'lingate:teams';

/** The teams' names, for searching (lua/search.lua), in the cluster slot of the list itself. `teams` is their number. */
export const SEARCHED_KEY = 'lingate:{lingate:teams}:searched';

/** Sorted set of all teams by the time of the janitor's next visit, in the cluster slot of their list. */
export const DUE_KEY = 'lingate:{lingate:teams}:due';

/** The lease of the gateway that runs the janitor, for some seconds. */
export const JANITOR_KEY = 'lingate:{lingate:teams}:janitor';

/** Sorted set of teams being deleted, by when the deletion was requested, until it is complete. */
export const ERASURES_KEY = 'lingate:erasures';

/** Sorted set of deleted teams whose usage was kept, all with score 0, so that they are ordered by id. */
export const ONLY_USAGE_KEY = 'lingate:only-usage';

/** Sorted set of the events to send, `<team> <event>`, by due time; and a hash of their failed attempts. */
export const EVENTS_KEY = 'lingate:{lingate:outbox}:events';
export const TRIES_KEY = 'lingate:{lingate:outbox}:tries';

/** The lease of the process that sends events, and the rules for storing them (lua/lists.lua). */
export const SENDER_KEY = 'lingate:{lingate:outbox}:sender';

/** A team's events that have not been sent yet (lua/outbox.lua). */
export function outboxKey(teamId: string): string {
  return `lingate:{${teamId}}:outbox`;
}

/** The version of the data's formats (layout-version.ts). */
export const LAYOUT_KEY = 'lingate:layout';

/**
 * Set of the plan numbers that teams here may have, in the cluster slot of the version. A gateway that does not know one must
 * not use the data.
 */
export const PLAN_NUMBERS_KEY = 'lingate:{lingate:layout}:plan-numbers';

/** The records that gateways keep about themselves. */
export const GATEWAYS_KEY = tableKey(SHARED_RECORDS, 'gateways');

/** The latest time that a gateway has believed, in milliseconds (redis-clock.ts). */
export const CLOCK_KEY = 'lingate:clock';

/** All audit entries in order of time, as `<id><team>`; the entries themselves are stored with their teams (lua/lists.lua). */
export const AUDIT_KEY = 'lingate:audit';

/** The list of all teams and what is kept beside it, as functions take them. */
export const INDEX_KEYS: readonly string[] = [TEAMS_KEY, SEARCHED_KEY, DUE_KEY];

/** Keys that an empty store may contain. */
export const LEFT_BY_GATEWAYS: readonly string[] = [
  LAYOUT_KEY,
  PLAN_NUMBERS_KEY,
  CLOCK_KEY,
  DUE_KEY,
  ...UNCOPIED_SHARED_TABLES.map((table) => tableKey(SHARED_RECORDS, table)),
];

/** The shared records that a copy has. */
export const COPIED_SHARED_KEYS: ReadonlyMap<string, RecordTable | RecordIndex> = new Map(
  COPIED_SHARED_TABLES.map((table) => [tableKey(SHARED_RECORDS, table), table]),
);

const LISTS: readonly string[] = [ERASURES_KEY, ONLY_USAGE_KEY, AUDIT_KEY, EVENTS_KEY, TRIES_KEY];
/** Keys that belong to no team. */
export const SINGLE_KEYS: ReadonlySet<string> = new Set([...INDEX_KEYS, ...LEFT_BY_GATEWAYS, ...COPIED_SHARED_KEYS.keys(), ...LISTS]);

/** The prefix of the keys that map digests to owners. */
export const DIGEST_PREFIX = 'lingate:digest:';

/** The owner of the key with this digest. */
export function digestKey(digest: string): string {
  return `${DIGEST_PREFIX}${digest}`;
}

/** The prefix of the keys that map key ids to teams. */
export const OWNER_PREFIX = 'lingate:key:';

/** The team of a key id. */
export function ownerKey(keyId: string): string {
  return `${OWNER_PREFIX}${keyId}`;
}

/** Written by a gateway's probe; the hash tag selects the cluster's master. */
export function probeKey(tag: string, gateway: string): string {
  return `lingate:{${tag}}:probe:${gateway}`;
}

/** Written after a change that a replica must have (replication.ts). */
export function markKey(teamId: string): string {
  return `lingate:{${teamId}}:mark`;
}

/** The number of a cluster's slots. */
export const SLOTS = 16_384;

/** The cluster slot of a team's keys: CRC-16 (XMODEM) of the hash tag. */
export function teamSlot(teamId: string): number {
  let crc = 0;
  for (const byte of Buffer.from(teamId)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    crc &= 0xffff;
  }
  return crc % SLOTS;
}
