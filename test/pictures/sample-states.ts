// Fifteen minutes of a gateway's life, made up: traffic that comes and goes, an engine that stumbles once. The same every time.
import type { ProcessStates } from '../../src/app/processes.ts';
import { ulid } from 'ulid';
import type { RecentRequest } from '../../src/ports/access-entry.ts';
import type { BusyTeamsSnapshot, LiveStep } from '../../src/runtime/recent-traffic.ts';
import { RecentTraffic, LIVE_STEP_MS, LIVE_STEPS } from '../../src/runtime/recent-traffic.ts';

/** `nowMs` is the wall clock. The teams have the traffic. */
export function sampleStates(nowMs: number, teamIds: readonly string[]): ProcessStates {
  const replicas = [
    {
      engine: 'default',
      url: 'http://10.0.4.21:7001',
      usable: 1_284_220,
      failed: 37,
      usableAgoMs: 40,
      lastFailure: { failure: 'timeout', agoMs: 251_000 },
      asideMs: undefined,
      reached: true,
    },
    {
      engine: 'default',
      url: 'http://10.0.4.22:7001',
      usable: 1_279_903,
      failed: 412,
      usableAgoMs: 55,
      lastFailure: { failure: 'reset', agoMs: 24_000 },
      asideMs: undefined,
      reached: true,
    },
  ] as const;
  const rest = { openSettlements: 1, replicas, storeAnswers: true, storeTookMs: 0.42, draining: false };
  return {
    expected: 2,
    states: [
      { ...rest, steps: sampleSteps(nowMs), busy: sampleBusy(teamIds), inFlight: 7 },
      { ...rest, steps: [], busy: { teams: [], uncounted: 0 }, inFlight: 5 },
    ],
  };
}

function sampleBusy(teamIds: readonly string[]): BusyTeamsSnapshot {
  const random = dice(3);
  const teams = teamIds.map((teamId, index) => {
    const requests = Math.round(9000 * 0.6 ** index + 20 * random());
    return { teamId, requests, unanswered: Math.round(requests * 0.08 * random()), characters: Math.round(requests * 900 * random()) };
  });
  return { teams, uncounted: 0 };
}

/** One of each kind, the newest just now. */
export function sampleRequests(nowMs: number, teamIds: readonly string[]): readonly RecentRequest[] {
  const rest = { keyId: undefined, engine: undefined, failures: undefined, parameter: undefined, limitOf: undefined };
  const route = 'POST /v1/translate';
  const kinds: readonly (Partial<RecentRequest> & Pick<RecentRequest, 'status' | 'code'>)[] = [
    { status: 503, code: 'engine_unavailable', failures: ['connect:refused', 'timeout'], engine: 'default' },
    { status: 429, code: 'rate_limited', limitOf: 'team' },
    { status: 400, code: 'invalid_target_lang', parameter: 'target_lang' },
    { status: 200, code: 'ok', failures: ['reset'], engine: 'default', route: 'POST /translator/text/v3.0/translate' },
    { status: 402, code: 'quota_exceeded', limitOf: 'team', route: 'POST /v2/translate' },
    { status: 401, code: 'unauthorized', teamId: undefined },
    { status: 400, code: 'validation_error', parameter: 'glossary_id' },
  ];
  return Array.from({ length: 21 }, (_, index) => {
    const atMs = nowMs - index * 41_000;
    return { ...rest, route, teamId: teamIds[index % teamIds.length], requestId: ulid(atMs), atMs, ...kinds[index % kinds.length]! };
  });
}

function sampleSteps(nowMs: number): readonly LiveStep[] {
  let atMs = nowMs - (LIVE_STEPS - 1) * LIVE_STEP_MS;
  let inFlight = 0;
  const window = new RecentTraffic(() => atMs);
  window.watch(
    {
      get size() {
        return inFlight;
      },
    },
    new Set(),
  );
  const random = dice(7);
  for (let step = 0; step < LIVE_STEPS; step++, atMs += LIVE_STEP_MS) {
    const troubled = step > 118 && step < 130;
    const wave = 26 + 9 * Math.sin(step / 17) + 5 * Math.sin(step / 5) + 4 * random();
    const requests = Math.round(wave * (step === LIVE_STEPS - 1 ? 2 : 5));
    inFlight = Math.round(wave / (troubled ? 1.2 : 3));
    for (let i = 0; i < requests; i++) {
      const slow = random() < 0.02 ? 6 : 1;
      const durationMs = (18 + 40 * random() ** 3) * slow * (troubled ? 3 : 1);
      const [code, characters] = outcome(random(), troubled, Math.round(20 + 400 * random() ** 2));
      window.record({ ...ENTRY, code, characters, durationMs });
    }
    if (troubled) window.engineFailures(Math.round(6 * random()));
  }
  atMs = nowMs;
  return window.steps();
}

type Entry = Parameters<RecentTraffic['record']>[0];

const ENTRY = {} as Entry;

function outcome(chance: number, troubled: boolean, characters: number): [code: string, characters: number] {
  if (troubled && chance < 0.06) return ['engine_unavailable', 0];
  if (chance < 0.075) return ['rate_limited', 0];
  if (chance < 0.085) return ['validation_error', 0];
  if (chance < 0.09) return ['quota_exceeded', 0];
  if (chance < 0.092) return ['unauthorized', 0];
  return chance < 0.096 ? ['client_closed', 0] : ['ok', characters];
}

/** Between 0 and 1, the same row of numbers every time (mulberry32). */
export function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
