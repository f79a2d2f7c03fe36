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
    'SqliteLedger.#charge',
    'else this.#periods.spendLate(team, periodNo, priceMicro);',
    '',
    INVOICES('SQLite'),
  ),
  inSqlite(
    'periods are closed out of order',
    'Periods.close',
    'if (this.#sql.earlier.get(team.no, periodNo) !== undefined) return;',
    '',
    INVOICES('SQLite'),
  ),
  inSqlite(
    'the balance that a team begins with was never added',
    'Periods.start',
    'before === 0 ? [0, balanceMicro] : [balanceMicro, 0]',
    '[balanceMicro, 0]',
    INVOICES('SQLite'),
  ),
  {
    name: 'what is settled late is spent in no period (Redis)',
    edits: [{ where: 'charge_late', find: 'if micro > 0 then\n      spend_late', replace: 'if false then\n      spend_late' }],
    caughtBy: [INVOICES('Redis')],
  },
  {
    name: 'periods are closed out of order (Redis)',
    edits: [{ where: 'close_periods', find: 'if not first_left and is_over', replace: 'if is_over' }],
    caughtBy: [INVOICES('Redis')],
  },
  {
    name: 'the requests of a key that is used again are lost (Redis)',
    edits: [
      {
        where: 'begin_day',
        find: 'left.requests = left.requests and left.requests + known.requests',
        replace: '',
      },
    ],
    caughtBy: [INVOICES('Redis')],
  },
  inSqlite(
    'a calendar month begins in the period before it',
    'Periods.start',
    'Math.max(period.startMs, fromMs ?? endedMs)',
    'period.startMs',
    CALENDAR('SQLite'),
  ),
  {
    name: 'a calendar month begins in the period before it (Redis)',
    edits: [{ where: 'teams.follow_period', find: 'offer.starts = max(offer.starts, team.ends)', replace: '' }],
    caughtBy: [CALENDAR('Redis')],
  },
  {
    name: 'a change to another length begins with the month (Redis)',
    edits: [{ where: 'timed.update_team', find: 'offer.starts = offer.anchor', replace: '' }],
    caughtBy: [CALENDAR('Redis')],
  },
  {
    name: 'weeks begin on Sunday',
    edits: [{ where: 'calendarPeriod', find: '(now.getUTCDay() + 6) % 7', replace: 'now.getUTCDay()' }],
    caughtBy: [CALENDAR('SQLite'), { file: 'test/unit/domain/period-rule.test.ts' }],
  },
  inSqlite('days of teams that nobody asks for stay where they are', 'HistoryChores.run', 'periods.finishDay(team, nowMs);', '', {
    file: 'test/unit/stores/sqlite/history-chores.test.ts',
    names: 'one round',
  }),
  inSqlite(
    'a day is forgotten when the next one begins',
    'Periods.#turnDay',
    'this.#sql.keepDay.run(before, team.no);',
    '',
    DAYS,
    SIMULATED,
  ),
  inSqlite(
    'a day that the clock comes back to begins again',
    'ADDED in periods.ts',
    'SET characters = characters + excluded.characters, requests = requests',
    'SET characters = excluded.characters, requests = requests',
    DAYS,
  ),
  inSqlite(
    'counts that were written away go on in memory',
    'Periods.#turnDay',
    'Object.assign(counts, { dayCharacters: 0, dayRequests: 0 });',
    'counts.dayRequests += 0;',
    DAYS,
  ),
  inSqlite('a period is closed while something is open in it', 'Periods.close', 'if (this.isOpen(team.no, periodNo)) return;', '', PERIODS),
  inSqlite('a period comes to what was moved before it ended', 'Periods.close', 'this.#sql.keep.run(team.no, periodNo);', '', PERIODS),
  inSqlite(
    'a period has the plan after it',
    'SQL.leave',
    'WHERE team = ? AND no = ? AND left_ms IS NULL`',
    'WHERE team = ? AND no = ?`',
    PERIODS,
  ),
  inRedis(
    'a day has what the days before it had',
    'days.close',
    'characters, requests = characters - of.characters, requests - of.requests',
    '',
    DAYS_IN_REDIS,
  ),
  inRedis('a key counts on where midnight was', 'charge', 'known.day ~= today or known.number', 'known.number', DAYS_IN_REDIS),
  inRedis(
    'a day that the clock comes back to stands there twice',
    'insert_day',
    'if all[position] and all[position][1] == day then',
    'if false then',
    DAYS_IN_REDIS,
  ),
  inRedis(
    'what is committed after its period has no day',
    'charge_late',
    'days.add(days_of(key, known), today, characters, 1)',
    '',
    DAYS_IN_REDIS,
  ),
  inRedis(
    'a period is closed while something is open in it',
    'is_over',
    'return tonumber(counts.open) == 0 or now >= tonumber(counts.over)',
    'return true',
    PERIODS_IN_REDIS,
  ),
  inRedis(
    'a period that was left waits for what is settled',
    'close_reservation',
    'max(0, counts.open - characters)',
    'counts.open',
    PERIODS_IN_REDIS,
  ),
  inRedis('records without a day have counts that are in no day', 'finish_days', 'days.close(of, key)', '', janitor('finished day')),
  inRedis(
    'a team that is called for while the janitor looks at it is put off',
    'functions.put_off',
    '== team.was then',
    'then',
    janitor('called for meanwhile'),
  ),
];
