// Planted bugs in the stores' usage history: days, and sums of periods.
import { simulated } from './chain-mutations.ts';
import type { Mutation, TestRun } from './mutation.ts';
import { contract, inRedis, inSqlite } from './store-mutations.ts';

const SIMULATED = simulated(250);
const DAYS = contract('SQLite', 'usage by day');
const PERIODS = contract('SQLite', 'usage by period');
const CALENDAR = (store: 'Redis' | 'SQLite'): TestRun => contract(store, 'periods by the calendar');
const DAYS_IN_REDIS = contract('Redis', 'usage by day');
const PERIODS_IN_REDIS = contract('Redis', 'usage by period');
const INVOICES = (store: 'Redis' | 'SQLite'): TestRun => contract(store, 'what invoices need of periods');

function janitor(names: string): TestRun {
  return { file: 'test/unit/stores/redis/redis-janitor.test.ts', names };
}

export const HISTORY_MUTATIONS: readonly Mutation[] = [
  inSqlite(
    'what is settled late is spent in no period',
    'sqlite-ledger.ts',
    'else this.#periods.spendLate(team, periodNo, priceMicro);',
    '',
    INVOICES('SQLite'),
  ),
  inSqlite(
    'periods are closed out of order',
    'periods.ts',
    'if (this.#sql.earlier.get(team.no, periodNo) !== undefined) return;',
    '',
    INVOICES('SQLite'),
  ),
  inSqlite(
    'the balance that a team begins with was never added',
    'periods.ts',
    'before === 0 ? [0, balanceMicro] : [balanceMicro, 0]',
    '[balanceMicro, 0]',
    INVOICES('SQLite'),
  ),
  {
    name: 'what is settled late is spent in no period (Redis)',
    edits: [
      { file: 'src/stores/redis/lua/resolve.lua', find: 'if micro > 0 then\n      spend_late', replace: 'if false then\n      spend_late' },
    ],
    caughtBy: [INVOICES('Redis')],
  },
  {
    name: 'periods are closed out of order (Redis)',
    edits: [{ file: 'src/stores/redis/lua/tend.lua', find: 'if not first_left and is_over', replace: 'if is_over' }],
    caughtBy: [INVOICES('Redis')],
  },
  {
    name: 'the requests of a key that is used again are lost (Redis)',
    edits: [
      {
        file: 'src/stores/redis/lua/resolve.lua',
        find: 'left.requests = left.requests and left.requests + known.requests',
        replace: '',
      },
    ],
    caughtBy: [INVOICES('Redis')],
  },
  inSqlite(
    'a calendar month begins in the period before it',
    'periods.ts',
    'Math.max(period.startMs, fromMs ?? endedMs)',
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
  inSqlite('days of teams that nobody asks for stay where they are', 'history-chores.ts', 'periods.finishDay(team, nowMs);', '', {
    file: 'test/unit/stores/sqlite/history-chores.test.ts',
    names: 'one round',
  }),
  inSqlite('a day is forgotten when the next one begins', 'periods.ts', 'this.#sql.keepDay.run(before, team.no);', '', DAYS, SIMULATED),
  inSqlite(
    'a day that the clock comes back to begins again',
    'periods.ts',
    'SET characters = characters + excluded.characters, requests = requests',
    'SET characters = excluded.characters, requests = requests',
    DAYS,
  ),
  inSqlite(
    'counts that were written away go on in memory',
    'periods.ts',
    'Object.assign(counts, { dayCharacters: 0, dayRequests: 0 });',
    'counts.dayRequests += 0;',
    DAYS,
  ),
  inSqlite('a period is closed while something is open in it', 'periods.ts', 'if (this.isOpen(team.no, periodNo)) return;', '', PERIODS),
  inSqlite('a period comes to what was moved before it ended', 'periods.ts', 'this.#sql.keep.run(team.no, periodNo);', '', PERIODS),
  inSqlite(
    'a period has the plan after it',
    'periods.ts',
    'WHERE team = ? AND no = ? AND left_ms IS NULL`',
    'WHERE team = ? AND no = ?`',
    PERIODS,
  ),
  inRedis(
    'a day has what the days before it had',
    'lua/days.lua',
    'characters, requests = characters - of.characters, requests - of.requests',
    '',
    DAYS_IN_REDIS,
  ),
  inRedis('a key counts on where midnight was', 'lua/resolve.lua', 'known.day ~= today or known.number', 'known.number', DAYS_IN_REDIS),
  inRedis(
    'a day that the clock comes back to stands there twice',
    'lua/days.lua',
    'if all[position] and all[position][1] == day then',
    'if false then',
    DAYS_IN_REDIS,
  ),
  inRedis(
    'what is committed after its period has no day',
    'lua/resolve.lua',
    'days.add(days_of(key, known), today, characters, 1)',
    '',
    DAYS_IN_REDIS,
  ),
  inRedis(
    'a period is closed while something is open in it',
    'lua/tend.lua',
    'if open == 0 or over and now >= over then',
    'if true then',
    PERIODS_IN_REDIS,
  ),
  inRedis(
    'a period that was left waits for what is settled',
    'lua/state.lua',
    'max(0, counts.open - characters)',
    'counts.open',
    PERIODS_IN_REDIS,
  ),
  inRedis('records without a day have counts that are in no day', 'lua/tend.lua', 'days.close(of, key)', '', janitor('finished day')),
  inRedis(
    'a team that is called for while the janitor looks at it is put off',
    'lua/lists.lua',
    '== team.was then',
    'then',
    janitor('called for meanwhile'),
  ),
];
