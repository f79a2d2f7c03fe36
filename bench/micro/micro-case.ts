// One part of a request's path, timed alone: checked first, and compared with a floor that does the bare minimum.

export interface MicroCase {
  readonly name: string;
  /** What the floor does instead. */
  readonly floorDoes: string;
  readonly run: () => unknown;
  readonly floor: () => unknown;
  /** Throws if the part does not do what it is timed for. */
  readonly check: () => void;
}

interface MicroFigures {
  readonly name: string;
  readonly floorDoes: string;
  readonly nsEach: readonly number[];
  readonly floorNsEach: readonly number[];
}

const BATCH_MS = 40;
const BATCHES = 15;
const WARM_MS = 300;

/** Results must look used, or the compiler removes the computation. */
let sink: unknown = undefined;

/** Part and floor take turns, batch by batch, so that noise affects both. */
export function timeCase({ name, floorDoes, run, floor, check }: MicroCase): MicroFigures {
  check();
  const [times, floorTimes] = [countFor(run, WARM_MS), countFor(floor, WARM_MS)].map((count) =>
    Math.ceil((count * BATCH_MS) / WARM_MS),
  ) as [number, number];
  const nsEach: number[] = [];
  const floorNsEach: number[] = [];
  for (let batch = 0; batch < BATCHES; batch++) {
    nsEach.push(nsOf(run, times));
    floorNsEach.push(nsOf(floor, floorTimes));
  }
  check();
  if (sink === timeCase) throw new Error('unreachable');
  return { name, floorDoes, nsEach, floorNsEach };
}

function countFor(work: () => unknown, ms: number): number {
  const until = performance.now() + ms;
  let count = 0;
  while (performance.now() < until) {
    for (let i = 0; i < 100; i++) sink = work();
    count += 100;
  }
  return count;
}

function nsOf(work: () => unknown, times: number): number {
  const startedMs = performance.now();
  for (let i = 0; i < times; i++) sink = work();
  return ((performance.now() - startedMs) * 1e6) / times;
}
