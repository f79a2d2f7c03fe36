// Checks that are specific to a database file: its pages, its constraints, and orphaned rows.
import { setTimeout as delay } from 'node:timers/promises';
import type { DatabaseSync } from 'node:sqlite';
import type { ReportFinding, StoreFinding } from '../../ports/store-contents.ts';
import { NOT_ERASED, ONLY_USAGE_LEFT } from './sqlite-schema.ts';
import { asStoreFault, storeName } from './store-fault.ts';

/** Faults reported per query, and rows compared between two looks. */
const FAULTS_MAX = 20;
const ROWS_MAX = 10_000;

/** What a deletion that keeps the usage must have deleted of a team when it has ended (team-erasure.ts). */
const LEFT_BY_DELETION = ['books', 'key_books', 'key_limits', 'records', 'blobs', 'changes', 'told_percents', 'told_refusals'];

/**
 * Each query finds rows that must not exist: with `team_id` and `key_id` if available, and `detail`. The rows of a team that is
 * being deleted, or of which only the usage is left, no longer have to be complete.
 */
const STRAYS: readonly string[] = [
  `SELECT 'key' AS what, t.team_id, k.key_id, 'its row in key_books is missing' AS detail FROM keys k JOIN teams t ON t.no = k.team LEFT JOIN key_books u ON u.key = k.no AND u.team = k.team WHERE u.key IS NULL AND t.erasure = ${NOT_ERASED}`,
  "SELECT 'key' AS what, t.team_id, 'key_books has a row for an unknown key or another team''s key' AS detail FROM key_books u LEFT JOIN keys k ON k.no = u.key AND k.team = u.team LEFT JOIN teams t ON t.no = u.team WHERE k.no IS NULL",
  `SELECT 'key' AS what, t.team_id, k.key_id, 'its guarded flag does not match its limits' AS detail FROM keys k JOIN teams t ON t.no = k.team LEFT JOIN key_limits l ON l.key = k.no AND l.team = k.team WHERE k.guarded <> (l.key IS NOT NULL) AND t.erasure = ${NOT_ERASED}`,
  "SELECT 'team' AS what, 'books has a row for an unknown team' AS detail FROM books b LEFT JOIN teams t ON t.no = b.team WHERE t.no IS NULL",
  "SELECT 'reservation' AS what, 'an open reservation belongs to an unknown team' AS detail FROM operations o LEFT JOIN teams t ON t.no = o.team WHERE o.state = 0 AND t.no IS NULL",
  "SELECT 'dictionary' AS what, t.team_id, 'dictionary ' || b.id || ' has ' || count(p.no) || ' of its ' || b.piece_count || ' pieces' AS detail FROM blobs b JOIN teams t ON t.no = b.team LEFT JOIN pieces p ON p.team = b.team AND p.blob = b.id WHERE b.gone_ms IS NULL GROUP BY b.team, b.id HAVING count(p.no) <> b.piece_count",
  "SELECT 'dictionary' AS what, 'there are entries of dictionary ' || p.blob || ', which no glossary holds' AS detail FROM pieces p WHERE p.place = 0 AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.team = p.team AND b.id = p.blob)",
  "SELECT 'day' AS what, t.team_id, 'there are days of an unknown key' AS detail FROM usage_days d LEFT JOIN keys k ON k.no = d.key AND k.team = d.team LEFT JOIN teams t ON t.no = d.team WHERE k.no IS NULL",
  ...LEFT_BY_DELETION.map(
    (table) =>
      `SELECT 'stray' AS what, t.team_id, 'only its usage was kept, but ${table} has rows of it' AS detail FROM teams t WHERE t.erasure = ${ONLY_USAGE_LEFT} AND EXISTS (SELECT 1 FROM ${table} x WHERE x.team = t.no)`,
  ),
  `SELECT 'stray' AS what, t.team_id, k.key_id, 'only its usage was kept, but its key has a digest, a display or a label' AS detail FROM keys k JOIN teams t ON t.no = k.team WHERE t.erasure = ${ONLY_USAGE_LEFT} AND (k.digest NOT LIKE 'erased %' OR k.display <> '' OR k.label <> '')`,
];

/** Rows that look wrong are looked at again after `settleMs`, because deletions and dictionaries are written in several transactions. */
export async function judgeFile(database: DatabaseSync, path: string, report: ReportFinding, settleMs: number): Promise<void> {
  try {
    judgePages(database, path, report);
    const suspects = strays(database);
    if (suspects.every(({ size }) => size === 0)) return;
    await delay(settleMs);
    for (const [i, found] of strays(database).entries()) {
      const lasting = [...found].filter(([row]) => suspects[i]!.has(row));
      for (const [, finding] of lasting.slice(0, FAULTS_MAX)) report(finding);
    }
  } catch (error) {
    throw asStoreFault(path, error);
  }
}

function judgePages(database: DatabaseSync, path: string, report: ReportFinding): void {
  const pages = database
    .prepare(`PRAGMA integrity_check(${FAULTS_MAX})`)
    .all()
    .map((row) => String(row['integrity_check']));
  for (const line of pages) if (line !== 'ok') report({ what: 'file', detail: `${storeName(path)}: ${line.replaceAll(/\s+/g, ' ')}` });
  for (const row of database.prepare('PRAGMA foreign_key_check').all().slice(0, FAULTS_MAX)) {
    report({ what: 'file', detail: `a row of ${String(row['table'])} refers to a missing row of ${String(row['parent'])}` });
  }
}

/** What each query finds, by its text. */
function strays(database: DatabaseSync): ReadonlyMap<string, StoreFinding>[] {
  // A single snapshot for all queries: a team created between two of them would look like an orphan.
  database.exec('BEGIN');
  try {
    return STRAYS.map((query) => {
      const rows = database.prepare(`${query} LIMIT ${ROWS_MAX}`).all();
      return new Map(rows.map((row) => [JSON.stringify(row), findingOf(row)]));
    });
  } finally {
    database.exec('COMMIT');
  }
}

function findingOf({ what, team_id: team, key_id: key, detail }: Readonly<Record<string, unknown>>): StoreFinding {
  return {
    what: String(what),
    ...(typeof team === 'string' ? { teamId: team } : {}),
    ...(typeof key === 'string' ? { keyId: key } : {}),
    detail: String(detail),
  };
}
