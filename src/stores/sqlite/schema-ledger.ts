// The second step of the schema: what an admission changes, in two narrow rows, one for its team and one for its key.
import type { DatabaseSync } from 'node:sqlite';
import { RATE_WINDOW_MS } from '../../domain/reservation.ts';
import { RateWindow } from './rate-window.ts';

const WHOLE = 'BETWEEN 0 AND 9007199254740991';

/** Before and after the window's places are packed. */
export const LEDGER_SHAPE = {
  before: `
-- What operations change of a team. Narrow, so that many teams share a page: a transaction writes whole pages.
CREATE TABLE books (
  team INTEGER PRIMARY KEY,
  balance_micro INTEGER NOT NULL CHECK (balance_micro ${WHOLE}),
  held_micro INTEGER NOT NULL DEFAULT 0 CHECK (held_micro BETWEEN 0 AND balance_micro),
  -- The period that counts now; the one with this number in periods, whose end is copied for the admission to compare.
  period_no INTEGER NOT NULL DEFAULT 0 CHECK (period_no >= 0),
  period_end_ms INTEGER NOT NULL DEFAULT 0,
  used_characters INTEGER NOT NULL DEFAULT 0 CHECK (used_characters ${WHOLE}),
  held_characters INTEGER NOT NULL DEFAULT 0 CHECK (held_characters ${WHOLE}),
  -- The places of the last second: counts by millisecond, oldest first, and when the newest was taken.
  window_newest_ms INTEGER NOT NULL DEFAULT 0,
  window BLOB NOT NULL DEFAULT x'' CHECK (length(window) <= 16384),
  FOREIGN KEY (team, period_no) REFERENCES periods (team, no) DEFERRABLE INITIALLY DEFERRED
) STRICT;
INSERT INTO books (team, balance_micro, held_micro, period_no, period_end_ms, used_characters, held_characters)
  SELECT no, balance_micro, held_micro, period_no, period_end_ms, used_characters, held_characters FROM teams;

-- What operations change of a key. Counts are of the period that it was last charged in; usage keeps the earlier ones.
CREATE TABLE key_books (
  team INTEGER NOT NULL,
  key INTEGER NOT NULL REFERENCES keys (no),
  last_used_at_ms INTEGER NOT NULL DEFAULT 0,
  period_no INTEGER NOT NULL DEFAULT 0 CHECK (period_no >= 0),
  characters INTEGER NOT NULL DEFAULT 0 CHECK (characters ${WHOLE}),
  requests INTEGER NOT NULL DEFAULT 0 CHECK (requests ${WHOLE}),
  PRIMARY KEY (team, key)
) STRICT, WITHOUT ROWID;
INSERT INTO key_books (team, key, last_used_at_ms, period_no, characters, requests)
  SELECT k.team, k.no, coalesce(k.last_used_at_ms, 0), coalesce(u.period_no, 0), coalesce(u.characters, 0), coalesce(u.requests, 0)
  FROM keys k JOIN teams t ON t.no = k.team
  LEFT JOIN usage u ON u.team = k.team AND u.key = k.no AND u.period_no = t.period_no;
DELETE FROM usage WHERE EXISTS
  (SELECT 1 FROM key_books b WHERE b.team = usage.team AND b.key = usage.key AND b.period_no = usage.period_no);

-- Ids lie in the order of time: clearing begins in front and needs no index.
DROP INDEX forgettable_ids;
`,
  after: `
DROP TABLE places;
ALTER TABLE keys DROP COLUMN last_used_at_ms;
ALTER TABLE teams DROP COLUMN held_micro;
ALTER TABLE teams DROP COLUMN balance_micro;
ALTER TABLE teams DROP COLUMN period_no;
ALTER TABLE teams DROP COLUMN period_end_ms;
ALTER TABLE teams DROP COLUMN used_characters;
ALTER TABLE teams DROP COLUMN held_characters;
ALTER TABLE teams DROP COLUMN place_next;
ALTER TABLE teams DROP COLUMN place_newest_ms;
`,
} as const;

/** The places that still count when the newest was taken, from a row each into a window per team. */
export function packPlaces(database: DatabaseSync): void {
  const places = database.prepare(`SELECT p.team, p.at_ms, t.place_newest_ms FROM places p JOIN teams t ON t.no = p.team
    WHERE p.at_ms > t.place_newest_ms - ${RATE_WINDOW_MS} ORDER BY p.team, p.seq`);
  places.setReturnArrays(true);
  const write = database.prepare('UPDATE books SET window_newest_ms = ?, window = ? WHERE team = ?');
  const windows = new Map<number, RateWindow>();
  for (const [team, atMs] of places.all() as unknown as [team: number, atMs: number][]) {
    const window = windows.get(team) ?? new RateWindow(new Uint8Array(), 0);
    window.take(atMs);
    windows.set(team, window);
  }
  for (const [team, window] of windows) write.run(window.newestMs, window.packed(), team);
}
