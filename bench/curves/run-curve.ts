// Measures one curve: every point a few times, the lines of a point in turn.
import type { Contestant, Running } from '../contestants/contestant.ts';
import { scriptCalls } from '../contestants/redis.ts';
import { memoryKib } from '../machine/process-tree.ts';
import type { Arena } from '../run/arena.ts';
import { ROUNDS_OF_TEAMS, WARM_TEAMS_MS_MAX } from '../run/entrant.ts';
import { measureClosed } from '../run/measure.ts';
import { median, spread } from '../run/median.ts';
import type { ClosedFigures } from '../run/measure.ts';
import type { Curve, CurvePoint } from './curve.ts';
import type { CurvePlan, PointPlan } from './curve-plan.ts';

export interface CurveLengths {
  readonly rounds: number;
  readonly durationMs: number;
  readonly warmRequests: number;
  readonly warmMsMax: number;
}

const WARM_STEP_MS = 500;

export async function runCurve(arena: Arena, plan: CurvePlan, lengths: CurveLengths, progress: (line: string) => void): Promise<Curve> {
  const running = new Map<Contestant, Running>();
  const lines = plan.lines.map(({ contestant }) => ({ contestant, points: [] as CurvePoint[] }));
  const places = plan.lines[0]?.points.length ?? 0;
  for (let place = 0; place < places; place++) {
    for (const [index, line] of plan.lines.entries()) {
      const point = await measurePoint(arena, line.points[place]!, running, lengths, progress);
      lines[index]!.points.push(point);
      progress(`${plan.title} ${point.x}: ${line.contestant} ${point.cpuUsPerRequest.toFixed(1)} µs`);
    }
  }
  await Promise.all([...running.values()].map((each) => each.stop()));
  const { title, axis, logarithmic, note } = plan;
  return { title, axis, logarithmic, note, lines };
}

async function measurePoint(
  arena: Arena,
  plan: PointPlan,
  running: Map<Contestant, Running>,
  lengths: CurveLengths,
  progress: (line: string) => void,
): Promise<CurvePoint> {
  const place = running.get(plan.contestant) ?? (await startPlace(arena, plan));
  running.set(plan.contestant, place);
  const target = plan.target(place);
  const samples: ClosedFigures[] = [];
  let fault: string | undefined = undefined;
  // Each team must have sent a request: its key is looked up then.
  const forTeams = place.authorizations.length * ROUNDS_OF_TEAMS;
  const [wanted, warmMs] = forTeams > lengths.warmRequests ? [forTeams, WARM_TEAMS_MS_MAX] : [lengths.warmRequests, lengths.warmMsMax];
  const until = performance.now() + warmMs;
  for (let requests = 0; requests < wanted && performance.now() < until;) {
    requests += (await measureClosed(arena.load, place, target, { durationMs: WARM_STEP_MS, by: 'own' })).answers;
  }
  const callsBefore = await scriptCalls(place.redis);
  let answers = 0;
  const idle = plan.idle === undefined ? undefined : await openIdle(arena, place, plan.idle);
  for (let round = 0; round < lengths.rounds; round++) {
    const {
      sample,
      fault: seen,
      answers: all,
    } = await measureClosed(arena.load, place, target, {
      durationMs: lengths.durationMs,
      by: 'own',
      keepIdle: idle !== undefined,
    });
    samples.push(sample);
    answers += all;
    fault ??= seen;
  }
  await arena.load.leave();
  const calls = (await scriptCalls(place.redis)) - callsBefore;
  if (fault !== undefined) progress(`WRONG: ${plan.contestant.name} at ${plan.x}: ${fault}`);
  return {
    ...pointOf(plan.x, samples),
    requestsPerCall: calls === 0 ? undefined : answers / calls,
    ...(idle === undefined ? {} : { bytesPerConnection: idle }),
  };
}

async function startPlace(arena: Arena, { contestant, ground, engineDelayMs }: PointPlan): Promise<Running> {
  const engine = engineDelayMs === undefined ? undefined : await arena.startEngine(engineDelayMs);
  const started = await arena.start(contestant, { ...ground, ...(engine === undefined ? {} : { enginePort: engine.port }) });
  if (typeof started === 'string') throw new Error(`${contestant.name}: ${started}`);
  return started;
}

/** Resident memory per silent connection. */
async function openIdle({ load }: Arena, { port, gatewayPid }: Running, connections: number): Promise<number> {
  const before = memoryKib(gatewayPid, 'VmRSS');
  await load.idle(port, connections);
  return Math.max(0, ((memoryKib(gatewayPid, 'VmRSS') - before) * 1024) / connections);
}

function pointOf(x: number, samples: readonly ClosedFigures[]): Omit<CurvePoint, 'requestsPerCall'> {
  const { median: cpuUsPerRequest, low: least, high: most } = spread(samples.map((sample) => sample.cpuUsPerRequest));
  const redis = samples.map(({ redisUsPerRequest }) => redisUsPerRequest).filter((value) => value !== undefined);
  return {
    x,
    cpuUsPerRequest,
    least,
    most,
    perSecond: median(samples.map(({ perSecond }) => perSecond)),
    p50Ms: median(samples.map(({ latency }) => latency.p50Ms)),
    p99Ms: median(samples.map(({ latency }) => latency.p99Ms)),
    faults: samples.reduce((sum, { faults }) => sum + faults, 0),
    redisUsPerRequest: redis.length === 0 ? undefined : median(redis),
  };
}
