// One measurement: load on one contestant, and what its processes used meanwhile.
import type { Running } from '../contestants/contestant.ts';
import { SAMPLE_BODY, SAMPLE_TEXT } from '../contestants/sample.ts';
import type { LoadGenerator, Loaded } from '../load/load-generator.ts';
import type { LoadTarget } from '../load/load-job.ts';
import { usageOf } from '../machine/process-tree.ts';
import type { ClosedSample, OpenSample } from './results.ts';

/** Caches and connections are warm again after this. */
const SETTLE_MS = 200;

export interface ClosedOptions {
  readonly durationMs: number;
  readonly by: 'own' | 'autocannon';
  /** Leaves silent connections open. */
  readonly keepIdle?: boolean;
}

export interface Measured<Sample> {
  readonly sample: Sample;
  /** All right answers, those before the measurement included. */
  readonly answers: number;
  readonly fault: string | undefined;
}

export function sampleTarget(running: Running, connections: number): LoadTarget {
  const { port, path, authorizations } = running;
  return { port, path, connections, authorizations, body: SAMPLE_BODY, expected: running.expect([SAMPLE_TEXT]) };
}

export async function measureClosed(
  load: LoadGenerator,
  running: Running,
  target: LoadTarget,
  { durationMs, by, keepIdle = false }: ClosedOptions,
): Promise<Measured<ClosedSample>> {
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
  const sample: ClosedSample = {
    answers,
    faults: faults + before.faults,
    perSecond,
    cpuUsPerRequest: cpuUs / answers,
    redisUsPerRequest: redis === undefined || redisAfter === undefined ? undefined : (redisAfter - redis) / answers,
    latency,
    busy: cpuUs / elapsedUs,
    disturbed: (gatewayAfter.waitedUs - gateway.waitedUs) / elapsedUs,
  };
  return { sample, answers: answers + before.answers, fault: before.fault ?? loaded.fault };
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

function openSample({ answers, faults, latency, latenessP99Ms }: Loaded, wantedPerSecond: number): OpenSample {
  return { wantedPerSecond, answers, faults, latency, latenessP99Ms };
}

function redisCpuUs({ redisPid }: Running): number | undefined {
  return redisPid === undefined ? undefined : usageOf(redisPid).cpuUs;
}
