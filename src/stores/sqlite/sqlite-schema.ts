// The meaning of rows in code: states by number, and a plan's numbers as columns.
import type { DatabaseSync } from 'node:sqlite';
import { LIMIT_NUMBERS } from '../../domain/plan.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import { columnOf } from './statements.ts';

/** States of a request id; the numbers are stored in files. */
export const OPEN = 0;
export const COMMITTED = 1;
export const RELEASED = 2;
export const EXPIRED = 3;

/** In place of a key's number in `told_refusals`: the whole team, and the allowance for test keys. */
export const WHOLE_TEAM = 0;
export const TEST_KEYS = -1;

/** States of a team's deletion (schema-first.ts); the numbers are stored in files. */
export const NOT_ERASED = 0;
export const ERASING = 1;
export const ERASING_BUT_USAGE = 2;
export const ONLY_USAGE_LEFT = 3;

/** A team's limits, each a column of `teams`. Columns of numbers that a file lacks are added when it is opened. */
export const LIMITS: readonly (keyof TeamLimits)[] = ['billing', ...LIMIT_NUMBERS, 'currency', 'period', 'windows'];

/** Statements that add the missing plan columns to a file's `teams`, with 0 for existing teams. */
export function missingNumbers(database: DatabaseSync, columns: readonly string[] = LIMIT_NUMBERS.map(columnOf)): string[] {
  const there = teamColumns(database);
  return columns
    .filter((column) => !there.includes(column))
    .map(
      (column) =>
        `ALTER TABLE teams ADD COLUMN ${column} INTEGER NOT NULL DEFAULT 0 CHECK (${column} BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER})`,
    );
}

/** Columns of a migrated file's `teams` that this version would not enforce, because a newer version added them. */
export function strangeNumbers(database: DatabaseSync): string[] {
  const known = [
    'no',
    'team_id',
    'name',
    'created_at_ms',
    'plan',
    'erasure',
    'reference',
    'next_plan',
    'next_limits',
    'next_by',
    ...LIMITS.map(columnOf),
  ];
  return teamColumns(database).filter((column) => !known.includes(column));
}

function teamColumns(database: DatabaseSync): string[] {
  const rows = database.prepare('PRAGMA table_info(teams)').all();
  return rows.map(({ name }) => String(name));
}
