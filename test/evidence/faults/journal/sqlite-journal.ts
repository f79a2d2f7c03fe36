// A journal inside the SQLite file itself: triggers record, in the same transaction, what every operation changes.
import { DatabaseSync } from 'node:sqlite';
import { REMEMBER_MS } from '../../../../src/index.ts';
import { Slots } from '../../../../src/ledger/rate.ts';
import type { Ended, Operation } from '../../../support/history.ts';

/** Whoever writes to the file from now on, in any process, also writes the journal. */
const TRIGGERS = `
CREATE TABLE journal (
  n INTEGER PRIMARY KEY, what TEXT NOT NULL, team TEXT NOT NULL, key TEXT,
  request_id TEXT, characters INTEGER, micro INTEGER, at_ms INTEGER, window BLOB, before BLOB, before_ms INTEGER
) STRICT;
CREATE TRIGGER journal_reserved AFTER INSERT ON operations WHEN new.state = 0 BEGIN
  INSERT INTO journal (what, team, key, request_id, characters, micro, at_ms) VALUES ('reserved',
    (SELECT team_id FROM teams WHERE no = new.team), (SELECT key_id FROM keys WHERE no = new.key),
    new.request_id, new.characters, new.price_micro, new.until_ms);
END;
CREATE TRIGGER journal_unreserved AFTER INSERT ON operations WHEN new.state > 0 BEGIN
  INSERT INTO journal (what, team, request_id, at_ms) VALUES (new.state, (SELECT team_id FROM teams WHERE no = new.team), new.request_id, new.until_ms);
END;
CREATE TRIGGER journal_ended AFTER UPDATE OF state ON operations BEGIN
  INSERT INTO journal (what, team, request_id, at_ms) VALUES (new.state, (SELECT team_id FROM teams WHERE no = new.team), new.request_id, new.until_ms);
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

const ENDS: Readonly<Record<string, Ended['as']>> = { 1: 'committed', 2: 'released', 3: 'expired' };

/** Call it once the store has created its schema. */
export function keepSqliteJournal(path: string): void {
  const database = new DatabaseSync(path, { timeout: 5000 });
  database.exec(TRIGGERS);
  database.close();
}

/** In the order in which it was written. An operation's effects follow each other, each as an entry of its own. */
export function sqliteJournal(path: string): Operation[] {
  const database = new DatabaseSync(path, { timeout: 5000 });
  try {
    return database.prepare('SELECT * FROM journal ORDER BY n').all().flatMap(operationsOf);
  } finally {
    database.close();
  }
}

type Row = Readonly<Record<string, unknown>>;

function operationsOf(row: Row): Operation[] {
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
    default:
      return [{ ...base, ended: [{ requestId, as: ENDS[what]!, atMs: atMs - REMEMBER_MS }] }];
  }
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
    const sql = 'SELECT count(*) AS left FROM operations o JOIN teams t ON t.no = o.team WHERE o.state = 0 AND t.team_id = ?';
    return Number(database.prepare(sql).get(teamId)?.['left']);
  } finally {
    database.close();
  }
}
