// What is reported of engines with limited characters, when a store was away before the end.
import { expect, test } from 'vitest';
import { EngineCaps } from '../../../src/runtime/engine-caps.ts';
import type { EngineUse, SentCharacters } from '../../../src/ports/engine-use.ts';
import { SILENT } from '../../support/silent-log.ts';

test('all that is left is reported at the end, also behind a report that the store has not confirmed', async () => {
  const cap = { per: 'month', most: 1000 } as const;
  const caps = new EngineCaps({ caps: new Map([['one', cap]]), reports: false, log: SILENT, now: () => 0 });
  let away = true;
  const confirmed: SentCharacters[] = [];
  const use: EngineUse = {
    async add(sent) {
      if (away) return { kind: 'unavailable', cause: 'timeout' };
      confirmed.push(sent);
      return { characters: 0, startMs: 0, endMs: 1, nowMs: 0, reachesNow: false };
    },
  };
  caps.count('one', 3);
  await caps.start(use);
  caps.count('one', 40);
  away = false;
  await caps.close();
  expect(confirmed.map(({ report, characters }) => [report, characters])).toEqual([
    [1, 3],
    [2, 40],
  ]);
});
