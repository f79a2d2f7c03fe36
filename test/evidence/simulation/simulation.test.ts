// Simulated runs of the whole chain, with everything going wrong: no guarantee breaks, and every run is reproducible.
import process from 'node:process';
import { describe, expect, test } from 'vitest';
import { LIMITS, WINDOWS } from '../../../src/domain/window-limits.ts';
import { SEED, wholeNumber } from '../../support/seed.ts';
import { report } from '../scorecard/report.ts';
import { runSeed } from './run.ts';
import type { RunResult } from './run.ts';

/** A count, not a time: a fast machine and a slow one judge the same runs. */
const SEEDS = wholeNumber('LINGATE_SIMULATION_SEEDS') ?? 150;
const FROM = wholeNumber('LINGATE_SIMULATION_FROM') ?? SEED;
/** With so many, every kind of fault and of ending occurs at least `SEEN_MIN` times. */
const SEEDS_MIN = 150;
/** Refusals by some windows are rarer. */
const SEEDS_FOR_WINDOWS = 300;
const SEEN_MIN = Math.floor(SEEDS / 30);
const TIMEOUT_MS = 300_000 + SEEDS * 50;

/** All the ways a request may end here. `none`: its gateway died. */
const OUTCOMES = `ok forbidden left none unauthorized key_revoked rate_limited validation_error invalid_target_lang text_too_long
  quota_exceeded credit_exhausted engine_unavailable service_unavailable internal_error`.split(/\s+/);
/** Refusals due to keys' own limits. */
const OF_KEYS = [
  'disabled',
  'expired',
  'address_required',
  'address_refused',
  'scope_required',
  'scope_missing',
  'rate_limited',
  'quota_exceeded',
  'test_keys',
];
/** Refusals due to settings of tags. */
const OF_TAGS = ['tag_disabled', 'rate_limited', 'quota_exceeded'];
/** Refusals by each limit by minute to month, by its name. */
const OF_WINDOWS = LIMITS.flatMap(({ name, per, counts }) => {
  if (!WINDOWS.some((window) => window === per)) return [];
  return counts === 'characters' ? [name, `${name} at any time`] : [name];
});
const FAULTS = `noise gateway_crash gateway_restart gateway_freeze gateway_clock connection_break
  store_freeze store_restart store_failover store_clock store_clock_wrong`.split(/\s+/);

describe('simulated runs', () => {
  test('one seed gives one run, identical to the byte', async () => {
    for (const seed of [1, 2, 40, 41]) {
      const first = await runSeed(seed, { keepsTrace: true });
      const second = await runSeed(seed, { keepsTrace: true });
      expect(second.trace).toBe(first.trace);
      expect(second.fingerprint).toBe(first.fingerprint);
      expect((await runSeed(seed + 1000)).fingerprint).not.toBe(first.fingerprint);
    }
  });

  test(
    'whatever is lost, late, doubled, killed or turned back: no guarantee breaks',
    async () => {
      const seen: Seen = {
        requests: 0,
        batches: 0,
        repetitions: 0,
        struck: countsOf(FAULTS),
        outcomes: countsOf(OUTCOMES),
        ofKeys: countsOf(OF_KEYS),
        ofTags: countsOf(OF_TAGS),
        ofWindows: countsOf(OF_WINDOWS),
      };
      for (let seed = FROM; seed < FROM + SEEDS; seed++) {
        const result = await runSeed(seed);
        expect(result.violations, `replay it: npm run task -- simulate --seed ${result.seed}`).toEqual([]);
        note(result, seen);
      }
      process.stdout.write(`${SEEDS} seeds with ${seen.requests} requests simulated, from seed ${FROM}\n`);
      if (SEEDS < SEEDS_MIN) return;
      // A simulation in which nothing happens would find nothing either.
      expect([...seen.struck.keys()].toSorted()).toEqual(FAULTS.toSorted());
      expect([...seen.outcomes.keys()].toSorted()).toEqual(OUTCOMES.toSorted());
      expect([...seen.ofKeys.keys()].toSorted()).toEqual(OF_KEYS.toSorted());
      expect([...seen.ofTags.keys()].toSorted()).toEqual(OF_TAGS.toSorted());
      expect([...seen.ofWindows.keys()].toSorted()).toEqual(OF_WINDOWS.toSorted());
      expect([...seen.struck, ...seen.outcomes, ...seen.ofKeys, ...seen.ofTags].filter(([, times]) => times < SEEN_MIN)).toEqual([]);
      if (SEEDS >= SEEDS_FOR_WINDOWS) expect([...seen.ofWindows].filter(([, times]) => times === 0)).toEqual([]);
      expect(seen.batches).toBeGreaterThan(SEEN_MIN);
      expect(seen.repetitions).toBeGreaterThan(SEEN_MIN);
      report({
        row: 10,
        figure: `${seen.struck.size} kinds of faults, ${seen.outcomes.size} ways for a request to end`,
        measured: `0 violations in ${SEEDS} seeds from ${FROM}, ${seen.requests} requests; four seeds played twice, the same to the byte`,
        met: SEEDS >= 10_000,
        counts: { requestsSimulated: seen.requests },
      });
    },
    TIMEOUT_MS,
  );
});

interface Seen {
  requests: number;
  batches: number;
  repetitions: number;
  readonly struck: Map<string, number>;
  readonly outcomes: Map<string, number>;
  readonly ofKeys: Map<string, number>;
  readonly ofTags: Map<string, number>;
  readonly ofWindows: Map<string, number>;
}

function note(result: RunResult, seen: Seen): void {
  for (const name of ['requests', 'batches', 'repetitions'] as const) seen[name] += result[name];
  for (const name of ['struck', 'outcomes', 'ofKeys', 'ofTags', 'ofWindows'] as const)
    for (const [what, times] of result[name]) seen[name].set(what, (seen[name].get(what) ?? 0) + times);
}

function countsOf(kinds: readonly string[]): Map<string, number> {
  return new Map(kinds.map((kind) => [kind, 0]));
}
