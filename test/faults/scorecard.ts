// The scorecard: how big a run is, and one line per row of what was measured.
import { appendFileSync } from 'node:fs';
import process from 'node:process';

/** The long variant is asked for by `npm run faults -- --long`; the short one is part of every `npm test`. */
export const LONG = process.env['LINGATE_FAULTS'] === 'long';

/** A size or count, of the short variant and the long one. */
export function sized(short: number, long: number): number {
  return LONG ? long : short;
}

/** How long a run may take before the test counts as hanging. */
export const RUN_MS_MAX = sized(60_000, 600_000);

export interface Row {
  /** Number of the scorecard's row. */
  readonly row: number;
  readonly figure: string;
  readonly measured: string;
  /** What would be outstanding. */
  readonly outstanding: string;
}

/** Hands a row to `npm run faults`, which prints it; nothing happens in `npm test`. */
export function report(row: Row): void {
  const file = process.env['LINGATE_FAULTS_REPORT'];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(row)}\n`);
}
