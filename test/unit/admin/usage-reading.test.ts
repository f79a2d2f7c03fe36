// Usage of all teams: pages that neither lose nor repeat a row while teams are created and deleted, with bounded reads, and with stores that fail.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UsageReading } from '../../../src/admin/usage-reading.ts';
import type { UsagePlace } from '../../../src/admin/usage-reading.ts';
import type { UsageQuestion, UsageRow } from '../../../src/admin/usage-rows.ts';
import { dayOf } from '../../../src/domain/period.ts';
import { readDayRange } from '../../../src/domain/usage-days.ts';
import type { DayRange } from '../../../src/domain/usage-days.ts';
import type { TeamPage } from '../../../src/ports/team-registry.ts';
import type { UsageHistory } from '../../../src/ports/usage-history.ts';
import { idAt, writtenHistory, writtenTeam } from '../../support/written-history.ts';

const AWAY = { kind: 'unavailable', cause: 'closed', advice: 'see that it runs' } as const;

function ask(question: Partial<UsageQuestion> = {}): UsageQuestion {
  const range = readDayRange('2026-11-01', '2026-11-30') as DayRange;
  return { range, by: 'day', keys: false, teamId: undefined, ...question };
}

/** Every third team has used nothing. */
const manyTeams = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    writtenTeam(
      {
        name: `Team ${index}`,
        days: index % 3 === 2 ? {} : { '2026-11-02': { a: [index + 1, 1], b: [2, 2] }, '2026-11-09': { a: [5, 5] } },
      },
      index,
    ),
  );

async function all(reading: UsageReading, question: UsageQuestion): Promise<UsageRow[]> {
  const rows: UsageRow[] = [];
  for await (const part of reading.walk(question)) {
    if (part.kind !== 'done') return expect.unreachable(part.kind);
    rows.push(...part.value.rows);
  }
  return rows;
}

/** Pages as a program does: with the cursors alone. */
async function paged(
  reading: UsageReading,
  question: UsageQuestion,
  limit: number,
  between: () => void = () => undefined,
): Promise<UsageRow[]> {
  const rows: UsageRow[] = [];
  let after: UsagePlace | undefined;
  for (let pages = 0; pages < 1000; pages++) {
    const page = await reading.page(question, after, limit);
    if (page.kind !== 'done') return expect.unreachable(page.kind);
    expect(page.value.rows.length).toBeLessThanOrEqual(limit);
    rows.push(...page.value.rows);
    if (page.value.next === undefined) return rows;
    after = JSON.parse(JSON.stringify(page.value.next)) as UsagePlace;
    between();
  }
  return expect.unreachable('the pages never end');
}

describe('pages', () => {
  test('together have every row once, whatever their size and the query', async () => {
    const reading = new UsageReading(writtenHistory(manyTeams(40)));
    const question = fc.record({ by: fc.constantFrom('day', 'month', 'total'), keys: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(question, fc.integer({ min: 1, max: 60 }), async (some, limit) => {
        const whole = await all(reading, ask(some));
        expect(whole.length).toBeGreaterThan(20);
        expect(await paged(reading, ask(some), limit)).toEqual(whole);
      }),
      { numRuns: 60 },
    );
  });

  test('keep their position while teams are created and one is deleted', async () => {
    const teams = manyTeams(10);
    const reading = new UsageReading(writtenHistory(teams));
    const before = await all(reading, ask());
    let made = 10;
    const rows = await paged(reading, ask(), 1, () => {
      if (made < 13) teams.push(writtenTeam({ name: 'New', days: { '2026-11-03': { a: [1, 1] } } }, made++));
      // The team whose row was the last of a page.
      if (made === 12) teams.splice(0, 1);
    });
    const gone = before.filter((row) => row.team_id === idAt('T', 0)).slice(2);
    const kept = before.filter((row) => !gone.includes(row));
    expect(rows.slice(0, kept.length)).toEqual(kept);
    expect(rows.slice(kept.length).map(({ team_id }) => team_id)).toEqual([10, 11, 12].map((number) => idAt('T', number)));
  });

  test('continue after a row that no longer exists', async () => {
    const teams = manyTeams(1);
    const reading = new UsageReading(writtenHistory(teams));
    const after: UsagePlace = { teamId: idAt('T', 0), row: { date: '2026-11-05', keyId: undefined } };
    const page = await reading.page(ask(), after, 10);
    expect(page).toMatchObject({ kind: 'done', value: { rows: [{ date: '2026-11-09' }], next: undefined } });
  });

  test('continue after a tag that no longer has a row', async () => {
    const team = writtenTeam({ name: 'Tagged', days: { '2026-11-03': { a: [10, 10] } } }, 0);
    const day = dayOf(Date.UTC(2026, 10, 3));
    const days = ['a', 'c', 'd'].map((tag) => ({ tag, day, characters: 1, requests: 1 }));
    const reading = new UsageReading(writtenHistory([team]), { days: async () => days });
    const after: UsagePlace = { teamId: idAt('T', 0), row: { date: '2026-11-03', keyId: undefined, tag: 'b' } };
    const page = await reading.page({ ...ask(), tags: true }, after, 10);
    expect(page).toMatchObject({ kind: 'done', value: { rows: [{ tag: 'c' }, { tag: 'd' }, { tag: null, character_count: 7 }] } });
  });

  test('end early after very many teams without usage, with a cursor to continue', async () => {
    const idle = Array.from({ length: 6000 }, (_, index) => writtenTeam({ name: 'Idle', days: {} }, index));
    const reading = new UsageReading(writtenHistory([...idle, writtenTeam({ name: 'Busy', days: { '2026-11-03': { a: [1, 1] } } }, 6000)]));
    const page = await reading.page(ask(), undefined, 50);
    expect(page).toMatchObject({ kind: 'done', value: { rows: [], next: { row: undefined } } });
    expect(await paged(reading, ask(), 50)).toMatchObject([{ name: 'Busy' }]);
  });
});

describe('a team', () => {
  const reading = new UsageReading(writtenHistory(manyTeams(5)));

  test('gets only its own rows', async () => {
    expect((await all(reading, ask({ teamId: idAt('T', 1) }))).map(({ team_id, character_count }) => [team_id, character_count])).toEqual([
      [idAt('T', 1), 4],
      [idAt('T', 1), 5],
    ]);
    expect(await paged(reading, ask({ teamId: idAt('T', 1), keys: true }), 1)).toHaveLength(3);
  });

  test('that does not exist is refused', async () => {
    const question = ask({ teamId: idAt('T', 9) });
    expect(await reading.page(question, undefined, 5)).toMatchObject({ kind: 'refused', field: 'team' });
    expect(await reading.periods(idAt('T', 9))).toEqual({ kind: 'no_such_team', teamId: idAt('T', 9) });
    expect(await reading.days(idAt('T', 9), question.range)).toEqual({ kind: 'no_such_team', teamId: idAt('T', 9) });
  });
});

describe('a store', () => {
  test('is asked for few teams at once, fewer for more days, and for no more than a page needs', async () => {
    const asked: TeamPage[] = [];
    const history = writtenHistory(manyTeams(250));
    const watched: UsageHistory = {
      ...history,
      pageDays: (page, range) => {
        asked.push(page);
        return history.pageDays(page, range);
      },
    };
    const most = async (range: DayRange): Promise<number> => {
      asked.length = 0;
      await all(new UsageReading(watched), ask({ range }));
      return Math.max(...asked.map(({ limit }) => limit));
    };
    expect(await most(readDayRange('2026-11-01', '2026-11-30') as DayRange)).toBe(5);
    expect(await most(readDayRange('2025-10-28', '2026-11-30') as DayRange)).toBe(1);
    asked.length = 0;
    await new UsageReading(watched).page(ask(), undefined, 3);
    expect(asked.map(({ limit }) => limit)).toEqual([4]);
  });

  test('that keeps the process busy for all teams is left alone for most of the time', async () => {
    const [busyMs, teams] = [2, 100];
    const history = writtenHistory(manyTeams(teams));
    let reads = 0;
    const slow: UsageHistory = {
      ...history,
      pageDays: (page, range) => {
        reads++;
        for (const untilMs = performance.now() + busyMs; performance.now() < untilMs;);
        return history.pageDays(page, range);
      },
    };
    const startMs = performance.now();
    await all(new UsageReading(slow), ask());
    expect(reads).toBeGreaterThanOrEqual(teams / 5);
    // It should be six times as long; timers may be a millisecond early.
    expect(performance.now() - startMs).toBeGreaterThan(4 * reads * busyMs);
  });

  test('that fails midway is reported after the rows before it', async () => {
    const history = writtenHistory(manyTeams(250));
    const failing: UsageHistory = {
      ...history,
      pageDays: async (page, range) => (page.after === undefined ? history.pageDays(page, range) : AWAY),
    };
    const kinds: string[] = [];
    for await (const part of new UsageReading(failing).walk(ask())) kinds.push(part.kind);
    expect(kinds).toEqual(['done', 'unavailable']);
  });

  test('that is unreachable leads to a refusal of every query', async () => {
    const away = async () => AWAY;
    const reading = new UsageReading({ days: away, pageDays: away, periods: away, pagePeriods: away });
    expect(await reading.page(ask(), undefined, 5)).toEqual(AWAY);
    expect(await reading.page(ask({ teamId: idAt('T', 1) }), undefined, 5)).toEqual(AWAY);
    expect(await reading.days(idAt('T', 1), ask().range)).toEqual(AWAY);
    expect(await reading.periods(idAt('T', 1))).toEqual(AWAY);
  });
});
