// Part of the store contract: what engines with a limit have used, counted over all processes.
import type { EngineCap } from '../../ports/engine-use.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { EngineUsed, SentCharacters } from '../../ports/engine-use.ts';
import { expect } from '../expect.ts';
import { newId } from './team-under-test.ts';
import type { AddStoreCase, Subject } from './team-under-test.ts';

const CAP: EngineCap = { per: 'hour', most: 100 };
const HOUR_MS = 3_600_000;

export function engineUseContract(it: AddStoreCase, subject: Subject): void {
  const engineOf = (cap = CAP) => {
    const engine = `e-${newId()}`;
    const add = async (process: string, report: number, characters: number, more: Partial<SentCharacters> = {}): Promise<EngineUsed> => {
      const store = process === 'a' ? subject.store : subject.again;
      return answered(await store.engineUse.add({ engine, cap, process, report, characters, reports: false, ...more }));
    };
    return { engine, add };
  };

  it('what all processes have sent adds up, and a report that is repeated counts once', async ({ clock }) => {
    const { add } = engineOf();
    const startMs = Math.floor(clock.nowMs() / HOUR_MS) * HOUR_MS;
    expect(await add('a', 1, 30)).toEqual({ startMs, endMs: startMs + HOUR_MS, nowMs: clock.nowMs(), characters: 30, reachesNow: false });
    expect(await add('b', 1, 20)).toMatchObject({ characters: 50 });
    expect(await add('a', 1, 30)).toMatchObject({ characters: 50 });
    expect(await add('a', 2, 0)).toMatchObject({ characters: 50 });
    expect(await add('b', 1, 20)).toMatchObject({ characters: 50 });
    expect(await add('b', 2, 7)).toMatchObject({ characters: 57 });
    // A file was billed with less than it was counted with.
    expect(await add('a', 3, -25)).toMatchObject({ characters: 32 });
  });

  it('concurrent reports are all counted, and exactly one of them reaches the limit', async () => {
    const { add } = engineOf();
    const results = await Promise.all(Array.from({ length: 12 }, (_, i) => add(`${i % 2 === 0 ? 'a' : 'b'}${i}`, 1, 10)));
    expect(Math.max(...results.map(({ characters }) => characters))).toBe(120);
    expect(results.filter(({ reachesNow }) => reachesNow).map(({ characters }) => characters)).toEqual([100]);
    expect((await add('a', 1, 5)).reachesNow).toBe(false);
  });

  it('a window ends to the millisecond, and the next begins empty', async ({ clock }) => {
    const { add } = engineOf();
    const { endMs } = await add('a', 1, 100);
    clock.step(endMs - clock.nowMs() - 1);
    expect(await add('a', 2, 1)).toMatchObject({ characters: 101, reachesNow: false });
    clock.step(1);
    expect(await add('b', 1, 0)).toMatchObject({ startMs: endMs, characters: 0, reachesNow: false });
    expect(await add('a', 3, 100)).toMatchObject({ characters: 100, reachesNow: true });
  });

  it('what a process sent stays counted when it reports no longer', async ({ clock }) => {
    const { add } = engineOf({ per: 'week', most: 1000 });
    await add('a', 1, 40);
    clock.step(HOUR_MS);
    expect(await add('b', 1, 2)).toMatchObject({ characters: 42 });
    clock.step(HOUR_MS);
    expect(await add('c', 1, 1)).toMatchObject({ characters: 43 });
  });
}
