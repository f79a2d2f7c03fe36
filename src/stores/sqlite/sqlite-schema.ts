// What the rows of the file mean in code: states by their numbers, and a plan's numbers as columns.
import type { DatabaseSync } from 'node:sqlite';
import { LIMIT_NUMBERS } from '../../domain/plan.ts';
import type { LimitNumber, TeamLimits } from '../../domain/plan.ts';
import { columnOf } from './statements.ts';

/** How an id of a request stands; the numbers are in the files. */
export const OPEN = 0;
export const COMMITTED = 1;
export const RELEASED = 2;
export const EXPIRED = 3;

/** How far the deletion of a team is (schema-steps.ts); the numbers are in the files. */
export const NOT_ERASED = 0;
export const ERASING = 1;
export const ERASING_BUT_USAGE = 2;
export const ONLY_USAGE_LEFT = 3;

/** A plan's numbers as columns of `teams`. Those that are newer than a file are added to it when it is opened. */
const NUMBERS = Object.fromEntries(LIMIT_NUMBERS.map((name) => [name, columnOf(name)])) as Readonly<Record<LimitNumber, string>>;

/** What a team is held to, as columns of `teams`. */
export const LIMITS: Readonly<Record<keyof TeamLimits, string>> = {
  billing: 'billing',
  ...NUMBERS,
  currency: 'currency',
  period: 'period',
};

/** Statements for the columns of a plan's numbers that a file's `teams` lacks: 0 for the teams that are there. */
export function missingNumbers(database: DatabaseSync, columns: readonly string[] = Object.values(NUMBERS)): string[] {
  const there = teamColumns(database);
  return columns
    .filter((column) => !there.includes(column))
    .map(
      (column) =>
        `ALTER TABLE teams ADD COLUMN ${column} INTEGER NOT NULL DEFAULT 0 CHECK (${column} BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER})`,
    );
}

/** Columns of a migrated file's `teams` that this version would not hold a team to: a newer one has added them. */
export function strangeNumbers(database: DatabaseSync): string[] {
  const known = ['no', 'team_id', 'name', 'created_at_ms', 'plan', 'erasure', ...Object.values(LIMITS)];
  return teamColumns(database).filter((column) => !known.includes(column));
}

function teamColumns(database: DatabaseSync): string[] {
  const rows = database.prepare('PRAGMA table_info(teams)').all();
  return rows.map(({ name }) => String(name));
}
