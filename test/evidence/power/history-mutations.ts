// Planted bugs in what stores keep of usage: days, and what periods came to.
import { simulated } from './chain-mutations.ts';
import type { Mutation, TestRun } from './mutation.ts';
import { contract, inSqlite } from './store-mutations.ts';

const SIMULATED = simulated(250);
const DAYS = contract('SQLite', 'usage by day');
const PERIODS = contract('SQLite', 'what periods came to');
const CALENDAR = (store: 'Redis' | 'SQLite'): TestRun => contract(store, 'periods by the calendar');

export const HISTORY_MUTATIONS: readonly Mutation[] = [
  inSqlite(
    'a calendar month begins in the period before it',
    'periods.ts',
    'Math.max(period.startMs, fromMs ?? team.counts.periodEndMs)',
    'period.startMs',
    CALENDAR('SQLite'),
  ),
  {
    name: 'a calendar month begins in the period before it (Redis)',
    edits: [{ file: 'src/stores/redis/lua/team.lua', find: 'offer.starts = max(offer.starts, team.ends)', replace: '' }],
    caughtBy: [CALENDAR('Redis')],
  },
  {
    name: 'a change to another length begins with the month (Redis)',
    edits: [{ file: 'src/stores/redis/lua/teams.lua', find: 'offer.starts = offer.anchor', replace: '' }],
    caughtBy: [CALENDAR('Redis')],
  },
  {
    name: 'weeks begin on Sunday',
    edits: [{ file: 'src/domain/period-rule.ts', find: '(now.getUTCDay() + 6) % 7', replace: 'now.getUTCDay()' }],
    caughtBy: [CALENDAR('SQLite'), { file: 'test/unit/domain/period-rule.test.ts' }],
  },
  inSqlite('a day is forgotten when the next one begins', 'day-counts.ts', 'this.#keep.run(before, team.no);', '', DAYS, SIMULATED),
  inSqlite(
    'a day that the clock comes back to begins again',
    'day-counts.ts',
    'SET characters = characters + excluded.characters, requests = requests',
    'SET characters = excluded.characters, requests = requests',
    DAYS,
  ),
  inSqlite(
    'counts that were written away go on in memory',
    'day-counts.ts',
    'Object.assign(counts, { dayCharacters: 0, dayRequests: 0 });',
    'counts.dayRequests += 0;',
    DAYS,
  ),
  inSqlite('a period is closed while something is open in it', 'periods.ts', 'if (this.isOpen(team.no, periodNo)) return;', '', PERIODS),
  inSqlite('a period comes to what was moved before it ended', 'periods.ts', 'this.#keep.run(team.no, periodNo);', '', PERIODS),
  inSqlite(
    'a period has the plan after it',
    'periods.ts',
    'WHERE team = ? AND no = ? AND left_ms IS NULL`',
    'WHERE team = ? AND no = ?`',
    PERIODS,
  ),
];
