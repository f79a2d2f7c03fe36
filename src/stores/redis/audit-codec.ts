// The encoding of audit entries in Redis: id, JSON and, if only the function knew the team, its records before and after.
import { momentOf, teamDifference } from '../../domain/audit-entry.ts';
import type { AuditDifference, AuditEntry, AuditRecord } from '../../domain/audit-entry.ts';
import { readTeam } from './team-codec.ts';

export const ID_BYTES = 31;
/** Used instead of a length for a member that the team did not have. */
const MISSING = 0xffffffff;
const NO_DIFFERENCE: AuditDifference = { before: {}, after: {} };

export function packEntry(id: string, record: AuditRecord): Buffer {
  const json = Buffer.from(JSON.stringify(record));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  return Buffer.concat([Buffer.from(id), length, json]);
}

export function idOf(member: Buffer): string {
  return member.toString('latin1', 0, ID_BYTES);
}

export function readRecord(teamId: string, member: Buffer): AuditRecord {
  const reader = new Reader(member, ID_BYTES);
  const record = JSON.parse(String(reader.text())) as Omit<AuditRecord, keyof AuditDifference> & Partial<AuditDifference>;
  if (reader.ended) return { ...NO_DIFFERENCE, ...record };
  const [before, after] = [reader.list(), reader.list()];
  const was = before.length === 0 ? undefined : readTeam(teamId, before);
  return { ...record, ...(teamDifference(was, readTeam(teamId, after)) ?? NO_DIFFERENCE) };
}

/** The key of entries that belong to no team. */
export const NO_TEAM = 'all';

export function readEntry(teamId: string, member: Buffer): AuditEntry {
  const { keyId, ...record } = readRecord(teamId, member);
  const id = idOf(member);
  return { id, atMs: momentOf(id), teamId: teamId === NO_TEAM ? undefined : teamId, keyId, ...record };
}

class Reader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get ended(): boolean {
    return this.#at >= this.#bytes.length;
  }

  text(): Buffer | undefined {
    const length = this.#bytes.readUInt32BE(this.#at);
    this.#at += 4;
    if (length === MISSING) return undefined;
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  list(): (Buffer | undefined)[] {
    const count = this.#bytes.readUInt16BE(this.#at);
    this.#at += 2;
    return Array.from({ length: count }, () => this.text());
  }
}
