// How a test passes its figures to the scorecard: one line of JSON each, in the file that the scorecard names; without it nothing is written.
import { appendFileSync } from 'node:fs';
import process from 'node:process';

/** Names the file; the tests of planted bugs run without it. */
export const REPORT_FILE_VARIABLE = 'LINGATE_SCORECARD_FILE';

/** Plain numbers that are added up over all rows. */
export interface Counts {
  /** Requests, or texts to a parser, that are broken, hostile or cut. */
  readonly badInputs?: number;
  /** Processes killed, frozen or drained, replies and connections cut, engines that misbehave, files cut. */
  readonly faults?: number;
  /** Requests of real processes that the auditor has judged. */
  readonly requestsChecked?: number;
  /** The same under virtual time, by the simulation's own checks. */
  readonly requestsSimulated?: number;
}

export interface Report {
  /** Number of the scorecard's row. */
  readonly row: number;
  /** What was tried, and how much of it. */
  readonly figure: string;
  readonly measured: string;
  /** Whether the target was met; left out if passing the test means just that. */
  readonly met?: boolean;
  readonly counts?: Counts;
}

export function report(line: Report): void {
  const file = process.env[REPORT_FILE_VARIABLE] ?? '';
  if (file !== '') appendFileSync(file, `${JSON.stringify(line)}\n`);
}
