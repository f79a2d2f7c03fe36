// The names of everything that is kept in Redis; a team's keys share a slot by their hash tag.

/**
 * What each holds, besides what functions find beside `:team` (lua/layout.lua: `:ids`, `:places`, `:late`):
 *
 * - `:team` hash: the team's record, its plan, books and keys' states
 * - `:use:<number>` hash of a period that was left and is not closed: what was charged in it (`characters`), its bounds (`starts`,
 *   `ends`), the plan that held in it (`plan`, `p`, `currency`, `length`), characters still reserved in it (`open`), and when these
 *   have ended at the latest (`over`). The team's field `left` is the lowest number that may have one
 * - `:periods` hash of closed periods by number (lua/tend.lua)
 * - `:once:<id>` what was asked for by the change of the team with this id, for a day; `:changes` sorted set of these ids
 * - `:keys` hash of the keys' records
 * - `:days` hash of what each key was used for by day (lua/days.lua)
 * - `:audit` sorted set of the entries of the audit (lua/audit.lua)
 * - `:glossaries` hash of the glossaries' records, `:entries:<dictionary>` the entries of each dictionary as JSON
 * - `:bytes` hash from dictionary to the UTF-8 bytes of its terms and translations; the team's record has their sum
 * - `:pairs` hash from glossary to what it holds (glossary-record.ts), apart from the records so that an admission reads a
 *   few bytes whatever their size; whoever creates, changes or deletes a glossary writes all of these in one function
 */
export interface TeamKeys {
  readonly team: string;
  readonly ids: string;
  readonly places: string;
  readonly late: string;
  readonly keys: string;
  readonly days: string;
  readonly periods: string;
  readonly glossaries: string;
  readonly pairs: string;
  readonly bytes: string;
  /** What the names of periods that were left begin with, and of changes that are remembered. */
  readonly use: string;
  readonly once: string;
  readonly audit: string;
  readonly changes: string;
}

export function teamKeys(teamId: string): TeamKeys {
  const base = `lingate:{${teamId}}:`;
  return {
    team: teamKey(teamId),
    ids: `${base}ids`,
    places: `${base}places`,
    late: `${base}late`,
    keys: `${base}keys`,
    days: `${base}days`,
    periods: `${base}periods`,
    glossaries: `${base}glossaries`,
    pairs: `${base}pairs`,
    bytes: `${base}bytes`,
    use: `${base}use:`,
    once: `${base}once:`,
    audit: `${base}audit`,
    changes: `${base}changes`,
  };
}

export function teamKey(teamId: string): string {
  return `lingate:{${teamId}}:team`;
}

/** A dictionary's entries: a key of their own, so that listing glossaries does not read them. */
export function entriesKey(teamId: string, dictionaryId: string): string {
  return `lingate:{${teamId}}:entries:${dictionaryId}`;
}

/** All teams in order of creation. */
export const TEAMS_KEY = 'lingate:teams';

/** Their names, for searching (lua/searched.lua); in the slot of the list itself. `teams` tells how many are in it. */
export const SEARCHED_KEY = 'lingate:{lingate:teams}:searched';

/** Sorted set of all teams by when the janitor looks at them next; in the slot of their list. */
export const DUE_KEY = 'lingate:{lingate:teams}:due';

/** The gateway whose janitor it is, for some seconds. */
export const JANITOR_KEY = 'lingate:{lingate:teams}:janitor';

/** Sorted set: teams that are being deleted, by when that was asked for, until nothing of them is left. */
export const ERASURES_KEY = 'lingate:erasures';

/** Sorted set: deleted teams whose usage has stayed, all with the score 0, so that they lie in the order of their ids. */
export const ONLY_USAGE_KEY = 'lingate:only-usage';

/** Sorted set of the events that are to be sent, `<team> <event>`, by when; and how often each was sent in vain, a hash. */
export const EVENTS_KEY = 'lingate:{lingate:outbox}:events';
export const TRIES_KEY = 'lingate:{lingate:outbox}:tries';

/** Who sends them, and by which rules they are kept (lua/outbox-lease.lua). */
export const SENDER_KEY = 'lingate:{lingate:outbox}:sender';

/** A team's events that are still to be told (lua/outbox.lua). */
export function outboxKey(teamId: string): string {
  return `lingate:{${teamId}}:outbox`;
}

/** The version of all these forms (layout-version.ts). */
export const LAYOUT_KEY = 'lingate:layout';

/** Set of the plan numbers that teams here may have, in the slot of the version: a gateway that does not know one must not use the data. */
export const PLAN_NUMBERS_KEY = 'lingate:{lingate:layout}:plan-numbers';

/** Hash of the records that gateways leave about themselves, by host and configuration file. */
export const GATEWAYS_KEY = 'lingate:gateways';

/** All entries of the audit in order of time, as `<id><team>`: the entry itself lies with its team (lua/begin-audit.lua). */
export const AUDIT_KEY = 'lingate:audit';

/** What the owners of digests are found under. */
export const DIGEST_PREFIX = 'lingate:digest:';

/** The owner of the key with this digest. */
export function digestKey(digest: string): string {
  return `${DIGEST_PREFIX}${digest}`;
}

/** What the names of key ids begin with. */
export const OWNER_PREFIX = 'lingate:key:';

/** The team of a key id. */
export function ownerKey(keyId: string): string {
  return `${OWNER_PREFIX}${keyId}`;
}

/** Written by a gateway's probe; the tag says on which of a cluster's masters. */
export function probeKey(tag: string, gateway: string): string {
  return `lingate:{${tag}}:probe:${gateway}`;
}

/** Written behind a change that a replica is to have (replication.ts). */
export function markKey(teamId: string): string {
  return `lingate:{${teamId}}:mark`;
}

const SLOTS = 16_384;

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
