// Judges the clock of a machine by a database file, before anything else reads it.
import type { DatabaseSync } from 'node:sqlite';
import { JudgedClock } from '../../domain/judged-clock.ts';
import type { Clock } from '../../ports/clock.ts';
import { LATEST, readMark } from '../records/record-clock.ts';
import { prepared, tuples } from './statements.ts';

const SQL = { latest: tuples<[value: string]>('SELECT value FROM shared_records WHERE kind = ? AND id = ?') };

/** A clock that tests move freely is not judged. */
export function compareAtOpen(database: DatabaseSync, clock: Clock): void {
  if (clock instanceof JudgedClock) clock.compare(readMark(prepared(database, SQL).latest.get(LATEST.table, LATEST.id)?.[0]));
}
