// Part of the store contract: periods by the UTC calendar, and transitions to them without gaps or overlaps.
import { rfc3339 } from '../../domain/period.ts';
import { expect } from '../expect.ts';
import { teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest } from './team-under-test.ts';

export function calendarContract(it: AddStoreCase, subject: Subject): void {
  /** Moves to this date of the next year that has not begun. Returns a function that formats dates relative to that year. */
  const goTo = (moment: string): ((text: string) => string) => {
    const year = new Date(subject.clock.nowMs()).getUTCFullYear() + 1;
    const written = (text: string): string => text.replace(/^\d/, (years) => String(year + Number(years)));
    subject.clock.set(Date.parse(written(moment)));
    return written;
  };
  const boundsOf = async (team: TeamUnderTest): Promise<readonly string[]> => {
    const { periodStartMs, periodEndMs } = await team.usage(subject.again);
    return [rfc3339(periodStartMs), rfc3339(periodEndMs)];
  };

  it('a new team starts in the current calendar month, day or year', async () => {
    const at = goTo('0-11-22T15:30:00Z');
    for (const [length, start, end] of [
      ['P1M', '0-11-01T00:00:00Z', '0-12-01T00:00:00Z'],
      ['P1D', '0-11-22T00:00:00Z', '0-11-23T00:00:00Z'],
      ['P1Y', '0-01-01T00:00:00Z', '1-01-01T00:00:00Z'],
    ] as const) {
      const team = await teamUnderTest(subject.store, { characterLimit: 10, period: `${length}@calendar` });
      expect(await boundsOf(team)).toEqual([at(start), at(end)]);
      await team.use(10);
      expect(await team.admit({ characters: 1 })).toMatchObject({ kind: 'quota_exceeded', periodEndMs: Date.parse(at(end)) });
      expect((await team.usage()).team.limits.period).toBe(`${length}@calendar`);
    }
  });

  it('a week begins on Monday, however its length is written', async () => {
    goTo('0-11-22T15:30:00Z');
    for (const length of ['P7D', 'P1W']) {
      const team = await teamUnderTest(subject.store, { period: `${length}@calendar` });
      const { periodStartMs, periodEndMs } = await team.usage();
      expect([new Date(periodStartMs).getUTCDay(), periodStartMs % 86_400_000, periodEndMs - periodStartMs]).toEqual([1, 0, 604_800_000]);
      expect(periodStartMs <= subject.clock.nowMs() && subject.clock.nowMs() < periodEndMs).toBe(true);
    }
  });

  it('periods follow without gaps, also after a long idle time', async () => {
    const at = goTo('0-01-31T23:59:59Z');
    const team = await teamUnderTest(subject.store, { characterLimit: 10, period: 'P1M@calendar' });
    await team.use(10);
    subject.clock.set(Date.parse(at('0-02-01T00:00:00Z')));
    await team.use(10);
    expect(await boundsOf(team)).toEqual([at('0-02-01T00:00:00Z'), at('0-03-01T00:00:00Z')]);
    subject.clock.set(Date.parse(at('1-05-31T12:00:00Z')));
    expect((await team.usage()).characters).toBe(0);
    expect(await boundsOf(team)).toEqual([at('1-05-01T00:00:00Z'), at('1-06-01T00:00:00Z')]);
  });

  it('switching to the calendar leaves the current period unchanged; the next one ends at a calendar boundary', async () => {
    const at = goTo('0-01-15T10:00:00Z');
    const team = await teamUnderTest(subject.store, { characterLimit: 10, period: 'P1M' });
    await team.use(7);
    await team.setLimits({ period: 'P1M@calendar' });
    expect(await boundsOf(team)).toEqual([at('0-01-15T10:00:00Z'), at('0-02-15T10:00:00Z')]);
    expect((await team.usage()).characters).toBe(7);
    expect((await team.admit({ characters: 4 })).kind).toBe('quota_exceeded');
    for (const [start, end] of [
      ['0-02-15T10:00:00Z', '0-03-01T00:00:00Z'],
      ['0-03-01T00:00:00Z', '0-04-01T00:00:00Z'],
      ['0-04-01T00:00:00Z', '0-05-01T00:00:00Z'],
    ] as const) {
      subject.clock.set(Date.parse(at(start)));
      await team.use(10);
      expect(await boundsOf(team)).toEqual([at(start), at(end)]);
    }
    expect((await team.admit({ characters: 1 })).kind).toBe('quota_exceeded');
  });

  it('a team that is idle after such a change continues in the full month of its next request', async () => {
    const at = goTo('0-01-15T10:00:00Z');
    const team = await teamUnderTest(subject.store, { period: 'P1M' });
    await team.setLimits({ period: 'P1M@calendar' });
    subject.clock.set(Date.parse(at('0-06-20T00:00:00Z')));
    await team.use(1);
    expect(await boundsOf(team)).toEqual([at('0-06-01T00:00:00Z'), at('0-07-01T00:00:00Z')]);
  });

  it('switching back leaves the current period unchanged, and later ones are counted from the creation again', async () => {
    const at = goTo('0-01-20T10:00:00Z');
    const team = await teamUnderTest(subject.store, { period: 'P1M@calendar' });
    await team.setLimits({ period: 'P1M' });
    expect(await boundsOf(team)).toEqual([at('0-01-01T00:00:00Z'), at('0-02-01T00:00:00Z')]);
    for (const [start, end] of [
      ['0-02-01T00:00:00Z', '0-02-20T10:00:00Z'],
      ['0-02-20T10:00:00Z', '0-03-20T10:00:00Z'],
    ] as const) {
      subject.clock.set(Date.parse(at(start)));
      expect(await boundsOf(team)).toEqual([at(start), at(end)]);
    }
  });

  it('a different length begins a period at the change, which ends at a calendar boundary', async () => {
    const at = goTo('0-01-15T10:00:00Z');
    const team = await teamUnderTest(subject.store, { characterLimit: 10, period: 'P1Y' });
    await team.use(10);
    subject.clock.step(86_400_000);
    await team.setLimits({ period: 'P1M@calendar' });
    expect(await boundsOf(team)).toEqual([at('0-01-16T10:00:00Z'), at('0-02-01T00:00:00Z')]);
    await team.use(10);
    expect((await team.admit({ characters: 1 })).kind).toBe('quota_exceeded');
    subject.clock.set(Date.parse(at('0-02-01T00:00:00Z')));
    await team.use(10);
    await team.setLimits({ period: 'P1D@calendar' });
    expect(await boundsOf(team)).toEqual([at('0-02-01T00:00:00Z'), at('0-02-02T00:00:00Z')]);
    expect((await team.usage()).characters).toBe(0);
  });
}
