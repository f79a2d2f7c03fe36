// Who tidies dictionaries at engines, and what is said when that fails.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { GlossaryUpkeep, ReplicaTrial } from '../../../src/ports/engine.ts';
import { GlossaryUpkeepTimer } from '../../../src/runtime/glossary-upkeep-timer.ts';

const NOW_MS = Date.UTC(2026, 10, 23);
const FAILED: ReplicaTrial = { url: 'http://deepl.test', failure: { failure: 'status', status: 500 } };

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function scene() {
  const calls: string[] = [];
  const lines: unknown[] = [];
  const state = { failed: [] as readonly ReplicaTrial[] };
  const upkeep: GlossaryUpkeep = {
    async tidy(nowMs) {
      calls.push(`tidy ${nowMs - NOW_MS}`);
      return state.failed;
    },
    async forget(teamId) {
      calls.push(`forget ${teamId}`);
      return state.failed;
    },
  };
  const log = { info: () => undefined, error: () => undefined, warn: (...line: unknown[]) => void lines.push(line) };
  const engines = new Map([
    ['keeps', { upkeep }],
    ['does not', { upkeep: undefined }],
  ]);
  return { calls, lines, state, log, timer: new GlossaryUpkeepTimer({ engines, nowMs: () => NOW_MS, log }) };
}

test('engines that keep dictionaries are tidied ten minutes after the start, and then every hour, until the end', async () => {
  const { calls, timer } = scene();
  await vi.advanceTimersByTimeAsync(599_999);
  expect(calls).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(calls).toEqual(['tidy 0']);
  await vi.advanceTimersByTimeAsync(2 * 3_600_000);
  expect(calls).toHaveLength(3);
  timer.close();
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(calls).toHaveLength(3);
});

test('a failure is logged once until it is over', async () => {
  const { lines, state, timer } = scene();
  state.failed = [FAILED];
  for (let i = 0; i < 3; i++) await timer.tidy();
  expect(lines).toEqual([
    [expect.stringContaining('could not be removed'), { engine: 'keeps', replica: 'http://deepl.test', failure: 'status' }],
  ]);
  state.failed = [];
  await timer.tidy();
  state.failed = [FAILED];
  await timer.tidy();
  expect(lines).toHaveLength(2);
  timer.close();
});

test('a deleted team is forgotten by the engines that keep dictionaries; what fails is reported, and clearing a cache is none of theirs', async () => {
  const { calls, state, timer } = scene();
  const [one, ...others] = timer.forgetful;
  expect([one!.plugin, others]).toEqual(['engine keeps', []]);
  await one!.forget('T');
  await one!.forget(undefined);
  expect(calls).toEqual(['forget T']);
  state.failed = [FAILED];
  await expect(one!.forget('T')).rejects.toThrow('not all replicas');
  timer.close();
});
