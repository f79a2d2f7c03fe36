// The audit as shared records: an entry each, and two indexes, of all entries and by team, both newest first.
import { idBefore, momentOf, withoutNames } from '../../domain/audit-entry.ts';
import type { AuditEntry, AuditRecord } from '../../domain/audit-entry.ts';
import { DAY_MS, HISTORY_DAYS } from '../../domain/period.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { answered, answering } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { AuditLog, AuditPage } from '../../ports/audit-log.ts';
import type { IndexEntry, RecordSpace, StoredRecord } from '../../ports/record-space.ts';
import { joined, JsonTable } from './json-table.ts';
import type { Writes } from './json-table.ts';

/** How many entries are read, changed or deleted at a time. */
const PIECE = 250;

interface StoredEntry extends AuditRecord {
  readonly teamId?: string | undefined;
}

const ENTRIES = new JsonTable<StoredEntry>('audit', (id, { teamId }) => {
  const byTime: IndexEntry = { index: 'audit_by_time', id: reversed(id) };
  return teamId === undefined ? [byTime] : [byTime, { index: 'audit_by_team', id: `${teamId} ${reversed(id)}` }];
});

/** The record of an entry, and where it is found: written in the operation of the change, or copied from another store. */
export function auditWrites({ id, atMs: _atMs, ...entry }: AuditEntry): { readonly put: StoredRecord[]; readonly index: IndexEntry[] } {
  const { put, index } = ENTRIES.put(id, entry);
  return { put: [...put], index: [...index] };
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
        await this.#change(ids, (id, entry) => (entry === undefined ? {} : ENTRIES.put(id, nameless(entry), entry)));
        if (ids.length < PIECE) return undefined;
        from = behind(ids.at(-1)!);
      }
    });
  }

  restore(entries: readonly AuditEntry[]): Promise<StoreUnavailable | undefined> {
    return answering(async () => {
      const byId = new Map(entries.map((entry) => [entry.id, entry]));
      await this.#change([...byId.keys()], (id, known) => (known === undefined ? auditWrites(byId.get(id)!) : {}));
      return undefined;
    });
  }

  /** Deletes entries that have expired. */
  prune(): Promise<StoreUnavailable | undefined> {
    return answering(async () => {
      for (;;) {
        const ids = await this.#ids(undefined, behind(idBefore(this.#expiredBeforeMs())), '~', PIECE);
        if (ids.length === 0) return undefined;
        await this.#change(ids, (id, entry) => ENTRIES.remove(id, entry ?? ({} as StoredEntry)));
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
    const values = ids.length === 0 ? [] : answered(await this.#space.read(SHARED_RECORDS, ENTRIES.names(ids)));
    return ids.flatMap((id, i): AuditEntry[] => {
      const stored = ENTRIES.read(values[i]);
      if (stored === undefined) return [];
      const { teamId, keyId, ...entry } = stored;
      return [{ id, atMs: momentOf(id), teamId, keyId, ...entry }];
    });
  }

  async #change(ids: readonly string[], write: (id: string, stored: StoredEntry | undefined) => Writes): Promise<void> {
    const decide = (values: readonly (string | undefined)[]) => joined(...ids.map((id, i) => write(id, ENTRIES.read(values[i]))));
    answered(await this.#space.change(SHARED_RECORDS, ENTRIES.names(ids), (values) => ({ result: true, ...decide(values) })));
  }
}

/** Ids are digits: so they are in the opposite order, and back. */
function reversed(id: string): string {
  return id.replaceAll(/\d/g, (digit) => String(9 - Number(digit)));
}

/** Of an index: where what follows the entry begins. */
function behind(id: string): string {
  return `${reversed(id)} `;
}

function nameless({ teamId, ...record }: StoredEntry): StoredEntry {
  return { teamId, ...withoutNames(record) };
}
