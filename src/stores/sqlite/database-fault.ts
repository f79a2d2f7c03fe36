// Distinguishes what SQLite could not do (a fault of file, disk or lock) from what was asked wrongly (a bug or a refused value).

/** A short word for logs and metrics. `busy` passes by itself; the others need an operator. */
export type DatabaseFault = 'busy' | 'io' | 'full' | 'corrupt' | 'not_a_database' | 'read_only' | 'cannot_open' | 'memory' | 'closed';

const BUSY = 5;
const LOCKED = 6;
const PROTOCOL = 15;
const CONSTRAINT = 19;

/** By primary result code (the low byte of the extended one). */
const FAULTS: ReadonlyMap<number, DatabaseFault> = new Map([
  [BUSY, 'busy'],
  [LOCKED, 'busy'],
  // Another connection took the WAL's locks first; the next try gets them.
  [PROTOCOL, 'busy'],
  [3, 'cannot_open'],
  [7, 'memory'],
  [8, 'read_only'],
  [10, 'io'],
  [11, 'corrupt'],
  [13, 'full'],
  [14, 'cannot_open'],
  [26, 'not_a_database'],
]);
const UNIQUE_CODES: ReadonlySet<number> = new Set([1555, 2067]);

/** `undefined` when the error is no fault of the database's: a violated constraint, a bug. */
export function databaseFaultOf(error: unknown): DatabaseFault | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && error.code === 'ERR_INVALID_STATE') return 'closed';
  const code = resultCode(error);
  return code === undefined ? undefined : FAULTS.get(code & 0xff);
}

export type ConstraintViolation = 'exists' | 'out_of_bounds';

/** Why the schema refused a row, when that is what happened. */
export function constraintViolationOf(error: unknown): ConstraintViolation | undefined {
  const code = resultCode(error);
  if (code === undefined || (code & 0xff) !== CONSTRAINT) return undefined;
  return UNIQUE_CODES.has(code) ? 'exists' : 'out_of_bounds';
}

function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}
