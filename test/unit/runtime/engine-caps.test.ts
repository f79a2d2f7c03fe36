// An engine with a limit is used up by what all processes report and what this one has not reported yet; every report counts once.
import { expect, test } from 'vitest';
import type { EngineUsed, SentCharacters } from '../../../src/ports/engine-use.ts';
import type { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import { EngineCaps } from '../../../src/runtime/engine-caps.ts';

function scene(most = 100) {
  const clock = { ms: 1000 };
  const sent: SentCharacters[] = [];
  const warned: unknown[] = [];
  const answers: (Partial<EngineUsed> | StoreUnavailable)[] = [];
  const log = { info: () => undefined, error: () => undefined, warn: (_message: string, fields?: object) => void warned.push(fields) };
  const caps = new EngineCaps({ caps: new Map([['small', { per: 'hour', most }]]), tells: true, log, now: () => clock.ms });
  const use = {
    add: async (one: SentCharacters) => {
      sent.push(one);
      const answer = answers.shift() ?? {};
      if ('kind' in answer) return answer;
      return { startMs: 0, endMs: 3_600_000, nowMs: 3_590_000, characters: 0, reachesNow: false, ...answer };
    },
  };
  return { clock, sent, warned, answers, caps, use };
}

test('nothing is counted for engines without a limit', async () => {
  const { caps, use, sent } = scene();
  caps.count('large', 1000);
  expect([caps.isSpent('large'), caps.isSpent('small'), caps.isEmpty]).toEqual([false, false, false]);
  await caps.start(use);
  await caps.close();
  expect(sent.every(({ engine, characters }) => engine === 'small' && characters === 0)).toBe(true);
});

test('what this process sends counts at once, what others send when it is read, until the window ends', async () => {
  const { caps, use, answers, clock } = scene();
  answers.push({ characters: 60 });
  await caps.start(use);
  caps.count('small', 39);
  expect(caps.isSpent('small')).toBe(false);
  caps.count('small', 1);
  expect([caps.isSpent('small'), caps.states()]).toEqual([true, [{ engine: 'small', reached: true }]]);
  answers.push({ characters: 100 });
  await caps.report();
  clock.ms += 9999;
  expect(caps.isSpent('small')).toBe(true);
  clock.ms += 1;
  expect(caps.isSpent('small')).toBe(false);
  await caps.close();
});

test('while the store is away the same report is repeated, and what comes meanwhile goes into the next', async () => {
  const { caps, use, answers, sent } = scene();
  await caps.start(use);
  caps.count('small', 5);
  answers.push({ kind: 'unavailable', cause: 'timeout' }, { characters: 5 }, { characters: 12 });
  await caps.report();
  caps.count('small', 7);
  await caps.report();
  await caps.report();
  expect(sent.slice(1).map(({ report, characters }) => [report, characters])).toEqual([
    [2, 5],
    [2, 5],
    [3, 7],
  ]);
  await caps.close();
});

test('the process whose report reaches the limit says so, once', async () => {
  const { caps, use, answers, warned } = scene();
  answers.push({ characters: 101, reachesNow: true }, { characters: 101 });
  await caps.start(use);
  await caps.report();
  expect(warned).toEqual([{ engine: 'small', per: 'hour', most: 100, characters: 101, until: '1970-01-01T01:00:00Z' }]);
  await caps.close();
});

test('a file counts with what is known of it, then with what was billed; nothing is taken back in the next window', async () => {
  const { caps, use, answers, sent } = scene();
  await caps.start(use);
  const [billed, other, late] = [40, 30, 20].map((characters) => caps.countFile('small', characters));
  await caps.report();
  billed!(60);
  other!(0);
  await caps.report();
  answers.push({ endMs: 7_200_000 });
  await caps.report();
  late!(0);
  caps.countFile('small', 5)(55);
  caps.countFile('large', 5)(55);
  await caps.report();
  expect(sent.map(({ characters }) => characters)).toEqual([0, 90, -10, 0, 55]);
  expect(caps.isSpent('small')).toBe(false);
  await caps.close();
});
