// What the overview shows: outcomes, the state of store and engine in words, columns for the charts.
import { describe, expect, test } from 'vitest';
import { byOutcome, chartDataOf, outcomeOf } from '../../../src/console/overview-figures.ts';
import type { Overview } from '../../../src/console/overview-figures.ts';
import { partsOf } from '../../../src/console/overview-parts.ts';
import { overviewOf } from '../../../src/app/overview-of-processes.ts';
import type { EngineReplica, ProcessState } from '../../../src/app/process-state.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { problems } from '../../../src/core/problem.ts';
import { loaded } from '../../support/written-file.ts';
import { LiveWindow, LIVE_STEP_MS } from '../../../src/runtime/live-window.ts';
import { ACCESS_ENTRY } from '../../support/access-entry.ts';
import { UNUSED_REPLICA } from '../../support/unused-replica.ts';

const NOW_MS = Date.UTC(2026, 10, 22, 12, 0, 2);
/** Of a plugin. */
const PLUGIN_STATUSES = new Map([
  ['blocked_word', 422],
  ['maintenance', 503],
]);
const QUIET: ProcessState = {
  steps: [],
  busy: { teams: [], uncounted: 0 },
  inFlight: 0,
  openSettlements: 0,
  replicas: [UNUSED_REPLICA],
  storeAnswers: true,
  storeTookMs: 0.4,
  draining: false,
};

function overview(states: readonly ProcessState[], expected = states.length, store = 'sqlite:a.db'): Overview {
  return overviewOf({ expected, states }, { ...loadConfig({ env: {} }), store }, NOW_MS, PLUGIN_STATUSES);
}

const NO_NAMES = new Map<string, string>();

const wordsOf = (text: string): string =>
  text
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
const state = (...of: Parameters<typeof overview>): string => wordsOf(partsOf(overview(...of), NO_NAMES).state.text);

test.each(Object.entries(problems))('%s counts as refused or failed, by its status', (code, { status }) => {
  expect(outcomeOf(code, PLUGIN_STATUSES)).toBe(status < 500 ? 'refused' : 'failed');
});

test("an answer, a caller who left, plugins' codes and an unknown one have outcomes as well", () => {
  const outcomes = ['ok', 'client_closed', 'blocked_word', 'maintenance', 'news'].map((code) => outcomeOf(code, PLUGIN_STATUSES));
  expect(outcomes).toEqual(['answered', 'left', 'refused', 'failed', 'failed']);
});

describe('the state', () => {
  test.each<[words: string, replica: EngineReplica]>([
    ['not used yet', UNUSED_REPLICA],
    ['answers', { ...UNUSED_REPLICA, usable: 1, usableAgoMs: 5 }],
    ['fails', { ...UNUSED_REPLICA, failed: 1, lastFailure: { failure: 'connect', agoMs: 5 } }],
    ['fails', { ...UNUSED_REPLICA, usableAgoMs: 6, lastFailure: { failure: 'connect', agoMs: 5 } }],
    ['answers, not always', { ...UNUSED_REPLICA, usableAgoMs: 4, lastFailure: { failure: 'connect', agoMs: 5 } }],
    ['answers', { ...UNUSED_REPLICA, usableAgoMs: 4, lastFailure: { failure: 'connect', agoMs: 61_000 } }],
    ['fails', { ...UNUSED_REPLICA, usableAgoMs: 4, asideMs: 500 }],
  ])('of an engine is shown as: %s', (words, replica) => {
    expect(state([{ ...QUIET, replicas: [replica] }])).toContain(`Engine ${words} native`);
  });

  test('of an engine with several replicas is bad only if none answers; how many fail is shown', () => {
    const [bad, good] = [
      { ...UNUSED_REPLICA, lastFailure: { failure: 'reset', agoMs: 5 } as const },
      { ...UNUSED_REPLICA, url: 'http://other/', usableAgoMs: 5 },
    ];
    expect(state([{ ...QUIET, replicas: [bad, good] }])).toContain('Engine answers, not always native · 2 replicas, 1 of them failing');
    expect(state([{ ...QUIET, replicas: [bad] }])).toContain('Engine fails native · one replica');
  });

  test('of the store is bad if any process reports so, and its credentials are not shown', () => {
    const away = state([QUIET, { ...QUIET, storeAnswers: false, openSettlements: 3 }], 2, 'redis://me:secret@cache:6379');
    expect(away).toContain('Store does not answer redis://***@cache:6379 · 3 open settlements');
    expect(away).not.toContain('secret');
    expect(state([QUIET])).toContain('Store answers in 0.4 ms sqlite:a.db');
  });

  test('of a replica has its latest failure in words, and the word of log and manual', () => {
    const replica = { ...UNUSED_REPLICA, failed: 1, lastFailure: { failure: 'reset', agoMs: 5000 } } as const;
    const shown = wordsOf(partsOf(overview([{ ...QUIET, replicas: [replica] }]), NO_NAMES).engines.text);
    expect(shown).toContain('connection broke ( reset ), 5 s ago');
  });

  test('of the gateway has the number of workers that answer', () => {
    expect(state([QUIET])).toMatch(/^Gateway serving up \d/);
    expect(state([QUIET], 2)).toContain('Gateway short of workers 1 of 2 workers answer');
    expect(state([], 2)).toContain('Gateway no worker answers');
    expect(state([{ ...QUIET, draining: true }])).toContain('Gateway draining');
  });
});

test('a chart leaves out the current interval, and is described in words', () => {
  let nowMs = NOW_MS - LIVE_STEP_MS;
  const window = new LiveWindow(() => nowMs);
  for (const code of ['ok', 'ok', 'rate_limited']) window.record({ ...ACCESS_ENTRY, code, durationMs: 10, characters: 20 });
  nowMs = NOW_MS;
  window.record({ ...ACCESS_ENTRY, durationMs: 10, characters: 1 });
  const now = overview([{ ...QUIET, steps: window.snapshot() }]);
  const { from, step, charts } = chartDataOf(now);
  const last = charts.flatMap(({ series }) => series.map(({ id, values }) => [id, values.at(-1)] as const));
  expect(from + step * charts[0]!.series[0]!.values.length).toBe(Math.floor(NOW_MS / LIVE_STEP_MS) * (LIVE_STEP_MS / 1000));
  expect(Object.fromEntries(last)).toMatchObject({ answered: 0.4, refused: 0.2, failed: 0, left: 0, characters: 12, 'engine-failures': 0 });
  expect(charts[0]!.words).toContain('Requests per second, the last 15 minutes. Answered: latest 0.4, highest 0.4.');
  // The figures beside it include that interval.
  expect(byOutcome(now.whole, PLUGIN_STATUSES)).toEqual({ answered: 3, refused: 1, failed: 0, left: 0 });
  const figures = wordsOf(partsOf(now, NO_NAMES).figures.text);
  expect(figures).toContain('Characters 61 per minute');
  expect(figures).toContain('Answered 75.0 % in 1 min 1 refused, 0 failed');
});

describe('the rules of routing', () => {
  const engines = (routing?: readonly object[], names = ['a', 'b']): string => {
    const config = loaded(
      JSON.stringify({
        engines: Object.fromEntries(names.map((name) => [name, { urls: ['http://127.0.0.1:1'] }])),
        ...(routing && { routing }),
      }),
    );
    const shown = overviewOf({ expected: 1, states: [QUIET] }, config, NOW_MS, PLUGIN_STATUSES);
    return wordsOf(partsOf(shown, NO_NAMES).engines.text);
  };

  test('several engines, without rules and with them', () => {
    expect(engines()).toContain('Engines, in their order all all a, b');
    expect(engines([{ pairs: ['*-DE'], engines: ['b', 'a'] }, { engines: ['a'] }])).toContain('all *-DE b, a all all a');
  });

  test('one engine with rules, which decide who may use it', () => {
    expect(engines([{ plans: ['free'], pairs: ['*-DE'], engines: ['a'] }], ['a'])).toContain('Engines, in their order free *-DE a');
    expect(engines(undefined, ['a'])).not.toContain('Engines, in their order');
  });
});
