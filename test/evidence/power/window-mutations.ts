// Planted bugs in the limits by minute to month: where windows end, what comes back, whose limit is named; each in both ledgers.
import type { Mutation } from './mutation.ts';
import { contract, inRedis } from './store-mutations.ts';

const TITLE = 'limits by minute to month';

type Bug = readonly [name: string, where: string, find: string, replace: string];

const REDIS: readonly Bug[] = [
  ['a window ends a millisecond late', 'refusal_for_now', 'now < one.ends', 'now <= one.ends'],
  ['a week begins on Thursday', 'bounds', 'window == WEEK and SINCE_MONDAY or 0', '0'],
  ['a month has the length of another', 'bounds', 'first_day(month + 1)', 'first_day(month) + 30'],
  ['a year ends in the month before', 'first_day', 'floor(year / 4)', 'floor((year + 1) / 4)'],
  ['a window that ended goes on', 'renew in windows.lua', 'if one and now >= one.ends then', 'if one and now < 0 then'],
  ['requests are one too many', 'exceeded_by', 'one.from >= limit.requests', 'one.from > limit.requests'],
  ['characters are one too many', 'exceeded_by', '+ characters > most then', '+ characters > most + 1 then'],
  ['what a reservation holds is not counted', 'hold in windows.lua', 'counts.characters + characters', 'counts.characters'],
  ['a release after the window ended gives to the next one', 'windows.give_back', 'if ticket > one.from then', 'if ticket > 0 then'],
  ['a release leaves what a window has counted', 'windows.release', 'if characters > 0 then', 'if characters < 0 then'],
  ['the window that ends first is named', 'refusal_for_now', 'ending > ends', '(ends == 0 or ending < ends)'],
  ["a refusal by the key's window is named after the team's", 'index_of', 'FIRST[kinds[i]]', 'FIRST[TEAM]'],
  ['all windows together allow a request too many', 'renew in windows.lua', 'one.from + limit.requests', 'one.from + limit.requests + 1'],
  ['all windows together allow a character too many', 'renew in windows.lua', 'before + limit.characters', 'before + limit.characters + 1'],
  ['what windows allow outlasts the first that ends', 'renew in windows.lua', 'min(first_end, one.ends)', 'max(since, one.ends)'],
  ['what windows allow outlasts a change of limits', 'add in windows.lua', 'limits.packed, 1, true) ~= 1', 'limits.packed, 1, true) == 0'],
  ['a refusal for characters is promised to hold', 'refusal_for_now', 'if number == 1 then', 'if number >= 1 then'],
];

/** The rules of SQLite's ledger, which domain/ has for every store. */
const RULES: readonly Bug[] = [
  ['a window ends a millisecond late', 'WindowCounts.exceeded', 'nowMs >= window.endMs', 'nowMs > window.endMs'],
  ['a release gives to windows that did not count it', 'WindowCounts.giveBack', 'ticket <= window.from', 'false'],
  ['the window that ends first is named', 'WindowCounts.exceeded', 'endMs > found.endMs', 'endMs < found.endMs'],
  ['a window that ended goes on', 'WindowCounts.count', 'nowMs >= window.endMs', 'nowMs > window.endMs + 1e12'],
  ['a month has the length of another', 'windowAt', 'Date.UTC(year, month + 1)', 'Date.UTC(year, month, 31)'],
  ['a week begins on Thursday', 'windowAt', 'SINCE_MONDAY_MS, nowMs', '0, nowMs'],
  ['characters are one too many', 'exceededBy', '+ characters > most ?', '+ characters > most + 1 ?'],
  ['what a reservation holds is not counted', 'WindowCounts.hold', 'window.characters += characters', 'window.characters += 0'],
  ['requests are one too many', 'exceededBy', 'window.requests >= limit.requests', 'window.requests > limit.requests'],
];

export const WINDOW_MUTATIONS: readonly Mutation[] = [
  ...REDIS.map(([name, where, find, replace]) => inRedis(`windows: ${name}`, where, find, replace, contract('Redis', TITLE))),
  ...RULES.map(([name, where, find, replace]): Mutation => ({
    name: `windows: SQLite: ${name}`,
    edits: [{ where, find, replace }],
    caughtBy: [contract('SQLite', TITLE)],
  })),
  {
    name: 'windows: the cap of an engine is passed',
    edits: [{ where: 'EngineCaps.isSpent', find: '>= cap.most', replace: '> cap.most' }],
    caughtBy: [{ file: 'test/unit/runtime/engine-caps.test.ts' }],
  },
  {
    name: 'windows: what a gateway sends to an engine counts once it is reported',
    edits: [{ where: 'EngineCaps.isSpent', find: 'known + unreported', replace: 'known' }],
    caughtBy: [{ file: 'test/unit/runtime/engine-caps.test.ts' }],
  },
  {
    name: 'windows: limit_of names another limit',
    edits: [{ where: 'tooMany in refusals.ts', find: 'limit_of: name', replace: 'limit_of: of' }],
    caughtBy: [{ file: 'test/journey/window-limits.test.ts' }],
  },
];
