// Planted bugs in the stores: the Redis driver, its Lua, and SQLite.
import { simulated } from './chain-mutations.ts';
import type { Mutation, TestRun } from './mutation.ts';

const SIMULATED = simulated(250);

/** The store contract's part of this title, kept by one store. */
function contract(store: 'Redis' | 'SQLite', title: string): TestRun {
  return { file: 'test/unit/stores/contract.test.ts', names: `the ${store} store.*${title}` };
}

function failures(names: string): TestRun {
  return { file: 'test/unit/stores/redis/failure.test.ts', names };
}

function inRedis(name: string, file: string, find: string, replace: string, ...caughtBy: TestRun[]): Mutation {
  return { name: `${name} (Redis)`, edits: [{ file: `src/stores/redis/${file}`, find, replace }], caughtBy };
}

function inSqlite(name: string, file: string, find: string, replace: string, ...caughtBy: TestRun[]): Mutation {
  return { name: `${name} (SQLite)`, edits: [{ file: `src/stores/sqlite/${file}`, find, replace }], caughtBy };
}

const OWN_CLOCK = "clock === undefined ? '' : String(clock.nowMs())";
const FAILED = "if ('kind' in reply) {";
const RESENT = `if ('kind' in reply && reply.cause === 'timeout') return this.#send(operations, groups, NO_OFFER);\n        ${FAILED}`;
const REPEATED = "if books.stands[x.id] then\n    return 'repeated'\n  end";
const REFUSED = "return 'rate_limited '";
const HELD = "used + counter(account.books, 'held:' .. account.number) + characters";
const WAITS = "if (retryAfterMs > 0) return { kind: 'rate_limited'";

const DRIVER: readonly Mutation[] = [
  inRedis('sent again after a timeout', 'ledger-turns.ts', FAILED, RESENT, SIMULATED),
  inRedis('a deadline that never comes', 'store-round.ts', 'time.at(node, untilMs)', 'time.at(node, untilMs + 60_000)', SIMULATED),
  inRedis("the gateway's clock instead of the store's", 'store-round.ts', OWN_CLOCK, 'String(Date.now())', SIMULATED),
  inRedis(
    'answers of one turn go to the wrong askers',
    'ledger-turns.ts',
    'answers[i] as string',
    'answers.at(-1 - i) as string',
    SIMULATED,
  ),
  inRedis('a key without its team', 'redis-keys.ts', '`lingate:{${teamId}}:`', "'lingate:{team}:'", contract('Redis', 'request rate')),
  {
    name: 'the client library sends again (Redis)',
    edits: [
      { file: 'src/stores/redis/redis-connection.ts', find: 'maxRetriesPerRequest: 0', replace: 'maxRetriesPerRequest: 20' },
      {
        file: 'src/stores/redis/redis-connection.ts',
        find: 'ResendUnfulfilledCommands: false',
        replace: 'ResendUnfulfilledCommands: true',
      },
    ],
    caughtBy: [failures('of redis leaves the operation run once')],
  },
];

const LUA: readonly Mutation[] = [
  inRedis('no idempotency', 'lua/admit.lua', REPEATED, '', contract('Redis', 'remembrance of ids')),
  inRedis(
    'released twice',
    'lua/resolve.lua',
    'close_reservation(books, x.id, reservation)',
    '',
    contract('Redis', 'resolution of reservations'),
  ),
  inRedis(
    'an ended lease is committed',
    'lua/books.lua',
    'if #ended > 0 then\n    end_leases',
    'if false then\n    end_leases',
    contract('Redis', 'resolution of reservations'),
  ),
  inRedis(
    'the limit is off by one',
    'lua/account.lua',
    "account.credit, account.rate, account.request_max = got[first] == 'credit', tonumber(got[first + 1])",
    "account.credit, account.rate, account.request_max = got[first] == 'credit', tonumber(got[first + 1]) + 1",
    contract('Redis', 'request rate'),
  ),
  inRedis(
    'a second is a millisecond longer',
    'lua/window.lua',
    'place - window.shift + RATE_WINDOW_MS - window.now',
    'place - window.shift + RATE_WINDOW_MS + 1 - window.now',
    contract('Redis', 'request rate'),
  ),
  inRedis('a 429 takes a place', 'lua/admit.lua', REFUSED, `take_place(window)\n    ${REFUSED}`, contract('Redis', 'request rate')),
  inRedis('revocation is ignored', 'lua/admit.lua', "if status ~= 'active' then", "if status == 'gone' then", contract('Redis', 'keys')),
  inRedis(
    'a clock that steps back locks out',
    'lua/window.lua',
    'newest and newest > now and newest - now or 0',
    '0',
    contract('Redis', 'a clock that steps back'),
  ),
  inRedis(
    'the quota is off by one',
    'lua/admit.lua',
    'account.included + account.overage then',
    'account.included + account.overage + 1 then',
    contract('Redis', 'quota'),
  ),
  inRedis('open reservations are not counted', 'lua/admit.lua', HELD, 'used + characters', contract('Redis', 'quota')),
  inRedis('run although it is late', 'lua/ledger.lua', 'if late then', 'if false then', failures('runs nothing of what it was sent')),
];

const SQLITE: readonly Mutation[] = [
  inSqlite(
    'no idempotency',
    'admissions.ts',
    'answer, nowMs, false)) return',
    'answer, nowMs, true)) return',
    contract('SQLite', 'remembrance of ids'),
  ),
  inSqlite(
    'released twice',
    'request-ids.ts',
    'WHERE request_id = ? AND team = ? AND state = ${OPEN}\n      RETURNING',
    'WHERE request_id = ? AND team = ? RETURNING',
    contract('SQLite', 'resolution of reservations'),
    SIMULATED,
  ),
  inSqlite(
    'an ended lease is committed',
    'resolutions.ts',
    'this.#expiry.run(team, nowMs);',
    '',
    contract('SQLite', 'resolution of reservations'),
  ),
  inSqlite(
    'leases never end',
    'expiry.ts',
    'if (nowMs >= team.leaseDueMs) this.endLeases(team, nowMs, ALL);',
    '',
    contract('SQLite', 'resolution of reservations'),
  ),
  inSqlite(
    'the limit is off by one',
    'rate-window.ts',
    'this.#total < limit &&',
    'this.#total <= limit &&',
    contract('SQLite', 'request rate'),
    SIMULATED,
  ),
  inSqlite(
    'a clock that steps back locks out',
    'rate-window.ts',
    'this.#total > 0 && this.#newestMs > nowMs',
    'this.#total < 0',
    contract('SQLite', 'a clock that steps back'),
  ),
  inSqlite(
    'a 429 takes a place',
    'admissions.ts',
    WAITS,
    `if (retryAfterMs > 0) team.window.take(nowMs);\n    ${WAITS}`,
    contract('SQLite', 'request rate'),
  ),
  inSqlite('revocation is ignored', 'admissions.ts', '!key.isRevoked &&', 'true &&', contract('SQLite', 'keys'), SIMULATED),
  inSqlite(
    'open reservations are not counted',
    'admissions.ts',
    'counts.usedCharacters + counts.heldCharacters + characters',
    'counts.usedCharacters + characters',
    contract('SQLite', 'quota'),
  ),
  inSqlite(
    'what another process has written is not read',
    'books.ts',
    'if (version !== this.#version || ',
    'if (',
    contract('SQLite', 'concurrency'),
    { file: 'test/unit/stores/sqlite/processes.test.ts' },
  ),
  inSqlite('what was rolled back is kept in memory', 'group-commit.ts', 'this.#behind.forget();\n    try {', 'try {', {
    file: 'test/unit/stores/sqlite/group-commit.test.ts',
  }),
  inSqlite('run although it is late', 'group-commit.ts', 'this.#dropLate();', '', { file: 'test/unit/stores/sqlite/busy.test.ts' }),
];

export const STORE_MUTATIONS: readonly Mutation[] = [...DRIVER, ...LUA, ...SQLITE];
