// The card: one verdict per row from the results of its jobs, and plain counts below.
import type { JobResult } from './run-job.ts';
import type { Counts } from './report.ts';
import { ROWS } from './rows.ts';
import type { Row } from './rows.ts';

export type Verdict = 'met' | 'not met' | 'not measured';

export interface CardRow extends Row {
  readonly figures: readonly string[];
  readonly verdict: Verdict;
  /** What failed. */
  readonly reasons: readonly string[];
  readonly seconds: number;
}

export interface Card {
  readonly rows: readonly CardRow[];
  readonly counts: Required<Counts>;
  /** Of all jobs together. */
  readonly seconds: number;
}

/** Every row is in it, whatever was run and however it ended. */
export function cardOf(results: readonly JobResult[]): Card {
  const counts = { badInputs: 0, faults: 0, requestsChecked: 0, requestsSimulated: 0 };
  for (const { counts: more = {} } of results.flatMap(({ reports }) => reports)) {
    for (const [name, count] of Object.entries(more)) counts[name as keyof Counts] += count as number;
  }
  return {
    rows: ROWS.map((row) => ({ ...row, ...outcomeOf(row.row, results) })),
    counts,
    seconds: results.reduce((sum, { seconds }) => sum + seconds, 0),
  };
}

function outcomeOf(row: number, results: readonly JobResult[]): Omit<CardRow, keyof Row> {
  const fed = results.find((result) => result.row === row);
  if (fed === undefined) return { figures: [], verdict: 'not measured', reasons: [], seconds: 0 };
  const { reports } = fed;
  const figures = reports.map(({ figure, measured, met }) => `${figure}: ${measured}${met === false ? ' (not outstanding)' : ''}`);
  const reasons = fed.failures;
  const unmet = reasons.length > 0 || reports.some(({ met }) => met === false);
  return { figures, verdict: unmet ? 'not met' : figures.length > 0 ? 'met' : 'not measured', reasons, seconds: fed.seconds };
}
