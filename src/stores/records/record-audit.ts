// The audit as shared records: an entry each, and two indexes, of all entries and by team, both newest first.
import { idBefore, momentOf, withoutNames } from '../../domain/audit-entry.ts';
import type { AuditEntry, AuditRecord } from '../../domain/audit-entry.ts';
import { DAY_MS, HISTORY_DAYS } from '../../domain/period.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { answered, answering } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { AuditLog, AuditPage } from '../../ports/audit-log.ts';
import type { IndexEntry, RecordName, RecordSpace, StoredRecord } from '../../ports/record-space.ts';

/** How many entries are read, changed or deleted at a time. */
const PIECE = 250;

interface StoredEntry extends AuditRecord {
  readonly teamId?: string | undefined;
}

/** The record of an entry, and where it is found: written in the operation of the change, or copied from another store. */
export function auditWrites({ id, atMs: _atMs, ...entry }: AuditEntry): { readonly put: StoredRecord[]; readonly index: IndexEntry[] } {
  return { put: [{ ...nameOf(id), value: JSON.stringify(entry) }], index: placesOf(id, entry.teamId) };
}

export class RecordAudit implements AuditLog {
  readonly #space: RecordSpace;
  readonly #nowMs: () => number | undefined;
  readonly #historyMs: number;

  /** `nowMs`: the store's time, as far as it is known without asking. `historyDays`: how long entries are retained. */
  constructor(space: RecordSpace, nowMs: () => number | undefined, historyDays = HISTORY_DAYS) {
    this.#space = space;
    this.#nowMs = nowMs;
    this.#historyMs = historyDays * DAY_MS;
  }

  page({ teamId, after, sinceMs = 0, limit }: AuditPage): Promise<readonly AuditEntry[] | StoreUnavailable> {
    return answering(async () => {
      const first = idBefore(Math.max(sinceMs, this.#expiredBeforeMs()));
      return this.#entries(await this.#ids(teamId, after === undefined ? '' : behind(after), behind(first), limit));
    });
  }

  forgetNames(teamId: string): Promise<StoreUnavailable | undefined> {
    return answering(async () => {
      for (let from = ''; ;) {
        const ids = await this.#ids(teamId, from, '~', PIECE);
        const names = ids.map(nameOf);
        await this.#change(names, (values) => ({
          put: values.flatMap((value, i) => (value === undefined ? [] : { ...names[i]!, value: JSON.stringify(nameless(value)) })),
        }));
        if (ids.length < PIECE) return undefined;
        from = behind(ids.at(-1)!);
      }
    });
  }

  restore(entries: readonly AuditEntry[]): Promise<StoreUnavailable | undefined> {
    return answering(async () => {
      const names = entries.map(({ id }) => nameOf(id));
      await this.#change(names, (values) => {
        const writes = entries.filter((_, i) => values[i] === undefined).map(auditWrites);
        return { put: writes.flatMap(({ put }) => put), index: writes.flatMap(({ index }) => index) };
      });
      return undefined;
    });
  }

  /** Deletes entries that have expired. */
  prune(): Promise<StoreUnavailable | undefined> {
    return answering(async () => {
      for (;;) {
        const ids = await this.#ids(undefined, behind(idBefore(this.#expiredBeforeMs())), '~', PIECE);
        if (ids.length === 0) return undefined;
        const teams = new Map((await this.#entries(ids)).map(({ id, teamId }) => [id, teamId]));
        await this.#change([], () => ({ remove: ids.map(nameOf), unindex: ids.flatMap((id) => placesOf(id, teams.get(id))) }));
      }
    });
  }

  #expiredBeforeMs(): number {
    return Math.max(0, (this.#nowMs() ?? 0) - this.#historyMs);
  }

  /** Newest first; `from` and `below` as `behind` gives them. */
  async #ids(teamId: string | undefined, from: string, below: string, limit: number): Promise<readonly string[]> {
    const index = teamId === undefined ? 'audit_by_time' : 'audit_by_team';
    const prefix = teamId === undefined ? '' : `${teamId} `;
    const page = { index, from: prefix + from, below: prefix + below, limit } as const;
    return answered(await this.#space.page(SHARED_RECORDS, page)).map((place) => reversed(place.slice(prefix.length)));
  }

  async #entries(ids: readonly string[]): Promise<AuditEntry[]> {
    const values = ids.length === 0 ? [] : answered(await this.#space.read(SHARED_RECORDS, ids.map(nameOf)));
    return ids.flatMap((id, i): AuditEntry[] => {
      const value = values[i];
      if (value === undefined) return [];
      const { teamId, keyId, ...entry } = JSON.parse(value) as StoredEntry;
      return [{ id, atMs: momentOf(id), teamId, keyId, ...entry }];
    });
  }

  async #change(names: readonly RecordName[], decide: (values: readonly (string | undefined)[]) => object): Promise<void> {
    answered(await this.#space.change(SHARED_RECORDS, names, (values) => ({ ...decide(values), result: true })));
  }
}

function nameOf(id: string): RecordName {
  return { table: 'audit', id };
}

function placesOf(id: string, teamId: string | undefined): IndexEntry[] {
  const byTime: IndexEntry = { index: 'audit_by_time', id: reversed(id) };
  return teamId === undefined ? [byTime] : [byTime, { index: 'audit_by_team', id: `${teamId} ${reversed(id)}` }];
}

/** Ids are digits: so they are in the opposite order, and back. */
function reversed(id: string): string {
  return id.replaceAll(/\d/g, (digit) => String(9 - Number(digit)));
}

/** Of an index: where what follows the entry begins. */
function behind(id: string): string {
  return `${reversed(id)} `;
}

function nameless(value: string): StoredEntry {
  const { teamId, ...record } = JSON.parse(value) as StoredEntry;
  return { teamId, ...withoutNames(record) };
}
