// Planted bugs in what is counted by tag: which charges, for which tag and day, and how many tags there may be; each in both ledgers.
import type { Mutation } from './mutation.ts';
import { contract, inRedis, inSqlite } from './store-mutations.ts';

const TITLE = 'usage by tag';

type Bug = readonly [name: string, where: string, find: string, replace: string];

const REDIS: readonly Bug[] = [
  ['a charge is counted for no tag', 'resolve in resolve.lua', 'if byte(record) >= IS_TAGGED then', 'if false then'],
  ['one tag more than are counted', 'counts_of in tags.lua', 'known.count >= most', 'known.count > most'],
  [
    'further tags are forgotten',
    'counts_of in tags.lua',
    'return counts_of(FURTHER_TAGS, most)',
    'return { day = today, characters = 0, requests = 0 }',
  ],
  ['a day that ends is lost', 'tags.write', 'if counts and counts.earlier then', 'if false then'],
  ['every charge counts for the first day', 'tags.charge', 'if counts.day ~= today then', 'if false then'],
  ['only the last day before is kept', 'tags.charge', "earlier == '' and ended or earlier .. ' ' .. ended", 'ended'],
];

const SQLITE: readonly Bug[] = [
  ['a charge is counted for no tag', 'SqliteLedger.#charge', 'if (tag !== undefined) this.#tags', 'if (tag === null) this.#tags'],
  ['one tag more than are counted', 'countTag', 'others >= distinctMax', 'others > distinctMax'],
  ['a day that ends is lost', 'countTag', 'before.day !== day)', 'before.day > day)'],
  ['every charge counts for the first day', 'countTag', 'before?.day === day ?', 'before !== undefined ?'],
];

export const TAG_MUTATIONS: readonly Mutation[] = [
  ...REDIS.map(([name, where, find, replace]) => inRedis(`tags: ${name}`, where, find, replace, contract('Redis', TITLE))),
  ...SQLITE.map(([name, where, find, replace]) => inSqlite(`tags: ${name}`, where, find, replace, contract('SQLite', TITLE))),
  {
    name: 'tags: what has none is counted twice',
    edits: [{ where: 'tagRows', find: 'add(rest, { characters: -characters', replace: 'add(rest, { characters: 0' }],
    caughtBy: [{ file: 'test/journey/tags.test.ts' }],
  },
  {
    name: 'tags: a malformed one is ignored',
    edits: [{ where: 'PendingAdmission.decide', find: '(charge?.refusal ?? this.tagRefusal)', replace: 'charge?.refusal' }],
    caughtBy: [{ file: 'test/journey/tags.test.ts' }],
  },
];
