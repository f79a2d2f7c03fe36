// One measurement: load on one contestant, and what its processes used meanwhile.
import type { Running } from '../contestants/contestant.ts';
import { bodyOf, NUMBERED_TEXT, SAMPLE_TEXT } from '../contestants/sample.ts';
import type { LoadGenerator, Loaded } from '../load/load-generator.ts';
import type { LoadTarget } from '../load/load-job.ts';
import { usageOf } from '../machine/process-tree.ts';
import type { ClosedSample, OpenSample } from './results.ts';

/** Caches and connections are warm again after this. */
const SETTLE_MS = 150;

interface ClosedOptions {
  readonly durationMs: number;
  readonly by: 'own' | 'autocannon';
  /** Leaves silent connections open. */
  readonly keepIdle?: boolean;
}

/** What one measurement contributes to a round. */
export type ClosedFigures = Omit<ClosedSample, 'round' | 'calmness'>;

export interface Measured<Sample> {
  readonly sample: Sample;
  /** All right answers, including those before the measurement. */
  readonly answers: number;
  readonly fault: string | undefined;
}

interface MeasuredClosed extends Measured<ClosedFigures> {
  /** Share of the time in which the gateway could have run but another process had its core. */
  readonly waited: number;
}

export function sampleTarget(running: Running, connections: number): LoadTarget {
  const { port, path, authorizations, variety } = running;
  const texts = [variety === undefined ? SAMPLE_TEXT : NUMBERED_TEXT];
  return { port, path, connections, authorizations, body: bodyOf(texts), expected: running.expect(texts), variety };
}

export async function measureClosed(
  load: LoadGenerator,
  running: Running,
  target: LoadTarget,
  { durationMs, by, keepIdle = false }: ClosedOptions,
): Promise<MeasuredClosed> {
  await load.connect(target);
  const before = await load.closed(SETTLE_MS);
  const [gateway, redis] = [usageOf(running.gatewayPid), redisCpuUs(running)];
  const startedMs = performance.now();
  const loaded = by === 'own' ? await load.closed(durationMs) : await load.autocannon(target, durationMs);
  const elapsedUs = (performance.now() - startedMs) * 1000;
  const [gatewayAfter, redisAfter] = [usageOf(running.gatewayPid), redisCpuUs(running)];
  await load.leave(keepIdle);
  const cpuUs = gatewayAfter.cpuUs - gateway.cpuUs;
  const { answers, faults, perSecond, latency } = loaded;
  const sample: ClosedFigures = {
    answers,
    faults: faults + before.faults,
    perSecond,
    cpuUsPerRequest: cpuUs / answers,
    redisUsPerRequest: redis === undefined || redisAfter === undefined ? undefined : (redisAfter - redis) / answers,
    latency,
    busy: cpuUs / elapsedUs,
  };
  const waited = (gatewayAfter.waitedUs - gateway.waitedUs) / elapsedUs;
  return { sample, answers: answers + before.answers, fault: before.fault ?? loaded.fault, waited };
}

export async function measureOpen(
  load: LoadGenerator,
  target: LoadTarget,
  durationMs: number,
  perSecond: number,
): Promise<Measured<OpenSample>> {
  await load.connect(target);
  const before = await load.open(SETTLE_MS, perSecond);
  const loaded = await load.open(durationMs, perSecond);
  await load.leave();
  const fault = before.fault ?? loaded.fault;
  return { sample: openSample(loaded, perSecond), answers: before.answers + loaded.answers, fault };
}

/** Requests in sequence on each of `target`'s connections. */
export async function measureSingle(load: LoadGenerator, target: LoadTarget, durationMs: number): Promise<Measured<Loaded>> {
  await load.connect(target);
  const before = await load.closed(SETTLE_MS);
  const loaded = await load.closed(durationMs);
  await load.leave();
  return { sample: loaded, answers: before.answers + loaded.answers, fault: before.fault ?? loaded.fault };
}

function openSample({ answers, faults, latency, latenessP99Ms }: Loaded, wantedPerSecond: number): OpenSample {
  return { wantedPerSecond, answers, faults, latency, latenessP99Ms };
}

function redisCpuUs({ redis }: Running): number | undefined {
  return redis.length === 0 ? undefined : redis.reduce((sum, { pid }) => sum + usageOf(pid).cpuUs, 0);
}
