// Planted bugs in what stores keep of usage: days, and what periods came to.
import { simulated } from './chain-mutations.ts';
import type { Mutation } from './mutation.ts';
import { contract, inSqlite } from './store-mutations.ts';

const SIMULATED = simulated(250);
const DAYS = contract('SQLite', 'usage by day');
const PERIODS = contract('SQLite', 'what periods came to');

export const HISTORY_MUTATIONS: readonly Mutation[] = [
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
