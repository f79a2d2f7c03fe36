// The plan of a curve: lines, each with its points, each point with its own contestant or request.
import type { Contestant, Ground, Running } from '../contestants/contestant.ts';
import type { LoadTarget } from '../load/load-job.ts';

export interface CurvePlan {
  readonly name: string;
  readonly title: string;
  readonly axis: string;
  readonly logarithmic: boolean;
  readonly note: string;
  readonly lines: readonly LinePlan[];
}

interface LinePlan {
  readonly contestant: string;
  readonly points: readonly PointPlan[];
}

export interface PointPlan {
  readonly x: number;
  /** Points with the same contestant object share one process. */
  readonly contestant: Contestant;
  readonly ground?: Partial<Ground>;
  readonly engineDelayMs?: number;
  /** Silent connections besides the load; their memory is measured. */
  readonly idle?: number;
  readonly target: (running: Running) => LoadTarget;
}
