// Opens a database file to read or write all of it: for the check, and both ends of a copy.
import type { DatabaseSync } from 'node:sqlite';
import { NoStoreError, StoreError } from '../../domain/store-unavailable.ts';
import type { ReportFinding } from '../../ports/whole-accounts.ts';
import { beginClock, openMachineClock } from '../records/store-clock.ts';
import { openAlone, openDatabase } from './open-database.ts';
import { assertOurs, createTables, ERASING, ERASING_BUT_USAGE, isEmpty, NOT_ERASED, numberOf, SHARED } from './schema.ts';
import { wholeFile } from './sqlite-store.ts';
import type { WholeFile } from './sqlite-store.ts';
import { asStoreFault, storeName } from './store-fault.ts';

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };
const INTERRUPTED = 'a deletion has been interrupted; repeat it, or start a gateway';
const FAULTS_MAX = 20;
/** Other processes may be serving from it. */
const PATIENCE_MS = 5000;

/**
 * Rejects with a `StoreError` if the file cannot be used so. To be read, it is taken as it is; for a copy no other process has it open or
 * can open it.
 */
export async function openWholeFile(path: string, use: 'read' | 'copy from' | 'copy to') {
  const isLocked = use !== 'read';
  const database = isLocked
    ? openAlone(path, { mayCreate: use === 'copy to' })
    : await openDatabase(path, 'full', { mayCreate: false, anyFaults: true });
  try {
    const shown = storeName(path);
    if (isLocked) assertOurs(database, shown);
    if (use === 'copy from') assertSource(database, shown);
    if (use === 'copy to') {
      createTables(database);
      database.exec('PRAGMA synchronous = NORMAL');
    }
    const clock = openMachineClock();
    const store = wholeFile(database, { path, log: SILENT, clock, commandTimeoutMs: PATIENCE_MS, cleansUp: false });
    // What time it is decides what is over. If the file is damaged, the check says so.
    if (!isLocked) await beginClock(store.records, clock, SILENT).catch(() => undefined);
    return { store, shown, ownCheck: ownCheck(store), isLocked };
  } catch (error) {
    database.close();
    throw asStoreFault(path, error);
  }
}

function assertSource(database: DatabaseSync, shown: string): void {
  if (isEmpty(database)) throw new NoStoreError(shown);
  if (numberOf(database, `SELECT count(*) FROM teams WHERE erasure IN (${ERASING}, ${ERASING_BUT_USAGE})`) > 0)
    throw new StoreError(`${shown} holds data that cannot be copied: ${INTERRUPTED}`);
}

/** Rows without what they belong to; their name is put in place of the brackets. */
const LOST_ROWS: readonly (readonly [what: string, detail: string, query: string])[] = [
  [
    'team',
    'it has no counts',
    `SELECT team_id AS teamId FROM teams WHERE erasure = ${NOT_ERASED} AND no NOT IN (SELECT team FROM accounts)`,
  ],
  [
    'key',
    'it has no counts',
    `SELECT t.team_id AS teamId, k.key_id AS keyId FROM keys k JOIN teams t ON t.no = k.team AND t.erasure = ${NOT_ERASED}
     WHERE NOT EXISTS (SELECT 1 FROM key_accounts u WHERE u.team = k.team AND u.key = k.no)`,
  ],
  [
    'dictionary',
    'there are pieces of blob [], which nothing holds',
    `SELECT t.team_id AS teamId, p.blob AS named FROM pieces p JOIN teams t ON t.no = p.team
     WHERE NOT EXISTS (SELECT 1 FROM blobs b WHERE b.team = p.team AND b.id = p.blob) GROUP BY p.team, p.blob`,
  ],
  [
    'reservation',
    'request [] is open for an unknown key',
    `SELECT t.team_id AS teamId, o.request_id AS named FROM operations o JOIN teams t ON t.no = o.team
     WHERE o.key NOT IN (SELECT no FROM keys)`,
  ],
  ...['accounts', 'operations', 'keys', 'key_accounts', 'usage', 'periods', 'records', 'blobs', 'pieces'].map(
    (table) =>
      [
        'stray',
        `table [] has rows of no team`,
        `SELECT '${table}' AS named FROM ${table} WHERE team <> ${SHARED} AND team NOT IN (SELECT no FROM teams) LIMIT 1`,
      ] as const,
  ),
];

/** SQLite's own check of a file, and rows without what they belong to. */
function ownCheck({ database }: WholeFile): (report: ReportFinding) => void {
  return (report) => {
    for (const row of database.prepare(`PRAGMA integrity_check(${FAULTS_MAX})`).all()) {
      const detail = String(row['integrity_check']).replace(/\s+/g, ' ');
      if (detail !== 'ok') report({ what: 'file', detail });
    }
    for (const [what, detail, query] of LOST_ROWS)
      for (const { named, ...whose } of database.prepare(query).all())
        report({ what, ...whose, detail: detail.replace('[]', String(named)) });
  };
}
