// The audit as shared records: an entry each, and two indexes, of all entries and by team, both newest first.
import { idBefore, momentOf, withoutNames } from '../../domain/audit-entry.ts';
import type { AuditEntry, AuditRecord } from '../../domain/audit-entry.ts';
import { DAY_MS, HISTORY_DAYS } from '../../domain/period.ts';
import { answeringAll } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { AuditLog } from '../../ports/audit-log.ts';
import type { IndexEntry, RecordSpace, StoredRecord } from '../../ports/record-space.ts';
import { RecordGroup, joined, JsonTable } from './json-table.ts';
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

export interface RecordAudit extends AuditLog {
  /** Deletes entries that have expired. */
  prune(): Promise<StoreUnavailable | undefined>;
}

/** `nowMs`: the store's time, as far as it is known without asking. `historyDays`: how long entries are retained. */
export function recordAudit(space: RecordSpace, nowMs: () => number | undefined, historyDays = HISTORY_DAYS): RecordAudit {
  const shared = new RecordGroup(space);
  const expiredBeforeMs = (): number => Math.max(0, (nowMs() ?? 0) - historyDays * DAY_MS);

  /** Newest first; `from` and `below` as `behind` gives them. */
  const idsOf = async (teamId: string | undefined, from: string, below: string, limit: number): Promise<readonly string[]> => {
    const index = teamId === undefined ? 'audit_by_time' : 'audit_by_team';
    const prefix = teamId === undefined ? '' : `${teamId} `;
    const page = { index, from: prefix + from, below: prefix + below, limit } as const;
    return (await shared.page(page)).map((place) => reversed(place.slice(prefix.length)));
  };

  const change = async (ids: readonly string[], write: (id: string, stored: StoredEntry | undefined) => Writes): Promise<void> => {
    await shared.change(ENTRIES.names(ids), (values) => {
      return { result: true, ...joined(...ids.map((id, i) => write(id, ENTRIES.read(values[i])))) };
    });
  };

  return answeringAll<RecordAudit>({
    async page({ teamId, after, sinceMs = 0, limit }) {
      const first = idBefore(Math.max(sinceMs, expiredBeforeMs()));
      const ids = await idsOf(teamId, after === undefined ? '' : behind(after), behind(first), limit);
      const values = ids.length === 0 ? [] : await shared.read(ENTRIES.names(ids));
      return ids.flatMap((id, i): AuditEntry[] => {
        const stored = ENTRIES.read(values[i]);
        return stored === undefined ? [] : [{ id, atMs: momentOf(id), teamId: stored.teamId, ...stored }];
      });
    },
    async forgetNames(teamId) {
      for (let from = ''; ;) {
        const ids = await idsOf(teamId, from, '~', PIECE);
        await change(ids, (id, entry) => (entry === undefined ? {} : ENTRIES.put(id, nameless(entry), entry)));
        if (ids.length < PIECE) return;
        from = behind(ids.at(-1)!);
      }
    },
    async restore(entries) {
      const byId = new Map(entries.map((entry) => [entry.id, entry]));
      await change([...byId.keys()], (id, known) => (known === undefined ? auditWrites(byId.get(id)!) : {}));
    },
    async prune() {
      for (;;) {
        const ids = await idsOf(undefined, behind(idBefore(expiredBeforeMs())), '~', PIECE);
        if (ids.length === 0) return;
        await change(ids, (id, entry) => ENTRIES.remove(id, entry ?? ({} as StoredEntry)));
      }
    },
  });
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
