// A journal inside the SQLite file itself: triggers record, in the same transaction, what every operation changes.
import { DatabaseSync } from 'node:sqlite';
import { Slots } from '../../../../src/ledger/rate.ts';
import type { Ended, Operation } from '../../../support/history.ts';

/** Whoever writes to the file from now on, in any process, also writes the journal. */
const TRIGGERS = `
CREATE TABLE journal (
  n INTEGER PRIMARY KEY, what TEXT NOT NULL, team TEXT NOT NULL, key TEXT,
  request_id TEXT, characters INTEGER, requests INTEGER, micro INTEGER, at_ms INTEGER, window BLOB, before BLOB, before_ms INTEGER
) STRICT;
CREATE TRIGGER journal_reserved AFTER INSERT ON operations BEGIN
  INSERT INTO journal (what, team, key, request_id, characters, micro, at_ms) VALUES ('reserved',
    (SELECT team_id FROM teams WHERE no = new.team), (SELECT key_id FROM keys WHERE no = new.key),
    new.request_id, new.characters, new.price_micro, new.until_ms);
END;
CREATE TRIGGER journal_ended AFTER DELETE ON operations BEGIN
  INSERT INTO journal (what, team, key, request_id, characters, at_ms, before_ms) VALUES ('ended',
    (SELECT team_id FROM teams WHERE no = old.team), old.key, old.request_id, old.characters,
    CAST(round(unixepoch('subsec') * 1000) AS INTEGER), old.until_ms);
END;
CREATE TRIGGER journal_charged AFTER INSERT ON usage BEGIN
  INSERT INTO journal (what, team, key, characters, requests) VALUES ('charged', (SELECT team_id FROM teams WHERE no = new.team),
    new.key, new.characters, new.requests);
END;
CREATE TRIGGER journal_charged_more AFTER UPDATE ON usage BEGIN
  INSERT INTO journal (what, team, key, characters, requests) VALUES ('charged', (SELECT team_id FROM teams WHERE no = new.team),
    new.key, new.characters - old.characters, new.requests - old.requests);
END;
CREATE TRIGGER journal_written AFTER UPDATE ON books BEGIN
  INSERT INTO journal (what, team) VALUES ('written', (SELECT team_id FROM teams WHERE no = new.team));
END;
CREATE TRIGGER journal_places AFTER UPDATE OF window ON books WHEN new.window <> old.window OR new.window_newest_ms <> old.window_newest_ms BEGIN
  INSERT INTO journal (what, team, at_ms, window, before, before_ms) VALUES ('places', (SELECT team_id FROM teams WHERE no = new.team),
    new.window_newest_ms, new.window, old.window, old.window_newest_ms);
END;
CREATE TRIGGER journal_stamp AFTER UPDATE OF last_used_at_ms ON key_books WHEN new.last_used_at_ms <> old.last_used_at_ms BEGIN
  INSERT INTO journal (what, team, key, at_ms) VALUES ('stamp', (SELECT team_id FROM teams WHERE no = new.team),
    (SELECT key_id FROM keys WHERE no = new.key), new.last_used_at_ms);
END;
CREATE TRIGGER journal_revoked AFTER UPDATE OF record ON keys
  WHEN old.record ->> 'status' <> 'revoked' AND new.record ->> 'status' = 'revoked' BEGIN
  INSERT INTO journal (what, team, key) VALUES ('revoked', (SELECT team_id FROM teams WHERE no = new.team), new.key_id);
END;`;

/** Call it once the store has created its schema. */
export function keepSqliteJournal(path: string): void {
  const database = new DatabaseSync(path, { timeout: 5000 });
  database.exec(TRIGGERS);
  database.close();
}

/**
 * In the order in which it was written. An operation's effects follow each other, each as an entry of its own.
 *
 * @param delivered - Ids that were answered in full. A transaction that ends several reservations of a key writes only the sum of
 *   its charges, which may fit more than one choice of them (10 and 13 cost what 11 and 12 do): if these ids are such a choice,
 *   it is theirs. If they are not, the store has charged something else, and any choice that fits says so.
 */
export function sqliteJournal(path: string, delivered: ReadonlySet<string> = new Set()): Operation[] {
  const database = new DatabaseSync(path, { timeout: 5000 });
  try {
    const unfinished: Unfinished = new Map();
    const rows = database.prepare('SELECT * FROM journal ORDER BY n').all();
    return rows.flatMap((row) => operationsOf(row, unfinished, delivered));
  } finally {
    database.close();
  }
}

type Row = Readonly<Record<string, unknown>>;
/** What a transaction has ended and charged so far, by team; it writes the team's own row last. */
type Unfinished = Map<string, Row[]>;

function operationsOf(row: Row, unfinished: Unfinished, delivered: ReadonlySet<string>): Operation[] {
  const [what, requestId, keyId] = [String(row['what']), String(row['request_id']), String(row['key'])];
  const atMs = Number(row['at_ms']);
  const base = { teamId: String(row['team']), reserved: [], ended: [], counters: {} };
  switch (what) {
    case 'reserved': {
      const [characters, micro] = [Number(row['characters']), Number(row['micro'])];
      return [{ ...base, reserved: [{ requestId, keyId, characters, micro, leaseUntilMs: atMs }] }];
    }
    case 'places':
      return placesTaken(row).map((placedAtMs) => ({ ...base, placedAtMs }));
    case 'stamp':
      return [{ ...base, lastUse: { keyId, atMs } }];
    case 'revoked':
      return [{ ...base, revokedKeyId: keyId }];
    case 'written': {
      const rows = unfinished.get(base.teamId) ?? [];
      unfinished.delete(base.teamId);
      return [...Map.groupBy(rows, ({ key }) => key).values()].map((ofKey) => ({ ...base, ended: endsOf(ofKey, delivered) }));
    }
    default:
      unfinished.set(base.teamId, [...(unfinished.get(base.teamId) ?? []), row]);
      return [];
  }
}

/** Charges are written as a sum: those that were committed are ones that add up to it. */
function endsOf(rows: readonly Row[], delivered: ReadonlySet<string>): Ended[] {
  const [ended, charged] = ['ended', 'charged'].map((what) => rows.filter((row) => row['what'] === what));
  const [requests, characters] = ['requests', 'characters'].map((name) => charged!.reduce((sum, row) => sum + Number(row[name]), 0));
  const known = ended!.filter((row) => delivered.has(String(row['request_id'])));
  const isKnown = chosen(known, known.length, characters!) !== undefined && known.length === requests;
  const committed = isKnown ? known : chosen(ended!, requests!, characters!);
  if (committed === undefined) throw new Error(`what was charged, ${characters} for ${requests} requests, is none of what has ended`);
  return ended!.map((row) => {
    const [atMs, untilMs] = [Number(row['at_ms']), Number(row['before_ms'])];
    const requestId = String(row['request_id']);
    if (committed.includes(row)) return { requestId, as: 'committed', atMs };
    return atMs < untilMs ? { requestId, as: 'released', atMs } : { requestId, as: 'expired', atMs: untilMs };
  });
}

/** So many rows with so many characters in all. */
function chosen(rows: readonly Row[], count: number, characters: number): readonly Row[] | undefined {
  if (count === 0) return characters === 0 ? [] : undefined;
  const [first, ...rest] = rows;
  if (first === undefined || characters < 0) return undefined;
  const others = chosen(rest, count - 1, characters - Number(first['characters']));
  return others === undefined ? chosen(rest, count, characters) : [first, ...others];
}

/** What a transaction added to a team's window: everything newer than before, and the additions in its newest millisecond. */
function placesTaken(row: Row): number[] {
  const beforeMs = Number(row['before_ms']);
  const before = new Slots(row['before'] as Uint8Array, beforeMs).entries().at(-1)?.count ?? 0;
  return new Slots(row['window'] as Uint8Array, Number(row['at_ms'])).entries().flatMap(({ atMs, count }) => {
    if (atMs < beforeMs) return [];
    return Array.from({ length: atMs === beforeMs ? count - before : count }, () => atMs);
  });
}

/** Reservations of a team that are open in the file. */
export function openRows(path: string, teamId: string): number {
  const database = new DatabaseSync(path, { timeout: 5000 });
  try {
    const sql = 'SELECT count(*) AS left FROM operations o JOIN teams t ON t.no = o.team WHERE t.team_id = ?';
    return Number(database.prepare(sql).get(teamId)?.['left']);
  } finally {
    database.close();
  }
}
