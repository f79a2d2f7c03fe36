// The names of Lingate's keys in Redis. Whatever belongs to a team is in its cluster slot, behind `lingate:{TEAM}` (lua/ledger.lua says
// what a team's hash has); indexes are in slots of their own.
import type { RecordIndex, RecordTable } from '../../ports/record-space.ts';

const PREFIX = 'lingate:';

/** A team's hash, with which the names of all its other keys begin; of the shared records, only the beginning. */
export function groupKey(group: string): string {
  return `${PREFIX}{${group}}`;
}

/** What follows `groupKey` in the names of a team's other keys. */
export const OF_TEAM = {
  /** Hash: what was charged, a number for each `DAY PERIOD KEY characters` and so on (`readCharges`, team-fields.ts). */
  days: ':days',
  /** Hash: periods that have ended, by number. */
  periods: ':periods',
  /** Hash: events and audit entries on their way to the shared records (postbox.ts). */
  outgoing: ':outgoing',
  /** Hash: of each attached blob, the number of its pieces. */
  blobs: ':blobs',
} as const;

/** When a subject's last requests took a slot: a list. */
export function slotsOf(subject: string): string {
  return `:slots:${subject}`;
}

/** A table of the record space is a hash, an index a sorted set whose scores are all 0. */
export function tableOf(table: RecordTable | RecordIndex): string {
  return `:${table}`;
}

/** A blob's pieces: a list. */
export function blobOf(blobId: string): string {
  return `:blob:${blobId}`;
}

/** The pieces of a blob that is not attached yet; expires. */
export function preparedOf(blobId: string): string {
  return `:prepared:${blobId}`;
}

/** Sorted set: all teams in order of creation, also those of which only the usage is left. */
export const TEAMS_KEY = `${PREFIX}teams`;
/** The version of the data's layout (server-health.ts). */
export const LAYOUT_KEY = `${PREFIX}layout`;
/** The lease of the gateway that runs the janitor, for some seconds. */
export const JANITOR_KEY = `${PREFIX}janitor`;

/** The owner of the key with this digest, as JSON. */
export function digestKey(digest: string): string {
  return `${PREFIX}digest:${digest}`;
}

/** The team of a key id. */
export function ownerKey(keyId: string): string {
  return `${PREFIX}key:${keyId}`;
}

/** Written by a gateway's probe; the hash tag selects the cluster's master. */
export function probeKey(tag: string, gateway: string): string {
  return `${PREFIX}{${tag}}:probe:${gateway}`;
}

/** Written after a change that a replica must have (server-health.ts). */
export function markKey(teamId: string): string {
  return `${PREFIX}{${teamId}}:mark`;
}

/** The number of a cluster's slots. */
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
