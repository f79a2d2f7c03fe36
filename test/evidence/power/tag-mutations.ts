// Planted bugs in what is counted by tag: which charges, for which tag and day, and how many tags there may be; each in both ledgers.
import { simulated } from './chain-mutations.ts';
import type { Mutation } from './mutation.ts';
import { contract, inRedis, inSqlite } from './store-mutations.ts';

const TITLE = 'usage by tag';

type Bug = readonly [name: string, where: string, find: string, replace: string];

const REDIS: readonly Bug[] = [
  [
    'a charge is counted for no tag',
    'resolve in resolve.lua',
    'if byte(record) >= IS_TAGGED then\n        tags.charge',
    'if false then\n        tags.charge',
  ],
  ['one tag more than are counted', 'counts_of in tags.lua', 'tags.others >= most', 'tags.others > most'],
  [
    'further tags are forgotten',
    'counts_of in tags.lua',
    'return counts_of(FURTHER_TAGS, most)',
    'return { day = today, characters = 0, requests = 0, tag = tag }',
  ],
  ['a day that ends is lost', 'tags.write', 'if counts.earlier then', 'if false then'],
  [
    'the one for further tags takes the place of another',
    'counts_of in tags.lua',
    'read(FURTHER_TAGS).is_stored and',
    'read(FURTHER_TAGS).is_known and',
  ],
  ['every charge counts for the first day', 'tags.charge', 'if counts.day ~= today then', 'if false then'],
  ['only the last day before is kept', 'tags.charge', "earlier == '' and ended or earlier .. ' ' .. ended", 'ended'],
];

const SQLITE: readonly Bug[] = [
  ['a charge is counted for no tag', 'SqliteLedger.#charge', 'if (tag !== undefined) this.#tags', 'if (tag === null) this.#tags'],
  ['one tag more than are counted', 'countTag', 'others >= distinctMax', 'others > distinctMax'],
  ['a day that ends is lost', 'countTag', 'before.day !== day)', 'before.day > day)'],
  ['every charge counts for the first day', 'countTag', 'before?.day === day ?', 'before !== undefined ?'],
];

const SETTINGS = 'settings of tags';

const REDIS_SETTINGS: readonly Bug[] = [
  ['a disabled one is admitted', 'admit in admit.lua', 'if tag and tag.settings.disabled then', 'if false then'],
  [
    'its rate lets one more through',
    'tagging.wait',
    'local over, at = tag.total - tag.settings.rate, 1',
    'local over, at = tag.total - tag.settings.rate - 1, 1',
  ],
  [
    'its rate forgets the slots',
    'admit in admit.lua',
    'if tag_rate > 0 then\n      tagging.take_slot(tag)',
    'if false then\n      tagging.take_slot(tag)',
  ],
  ['its windows are not judged', 'windows.open', 'if tag then', 'if false then'],
  ['what is released stays in its windows', 'tagging.release', 'windows.give_back(tag.counts, ticket, characters)', ''],
  [
    'its characters are one too many',
    'tagging.is_used_up',
    '+ characters > tag.settings.characters',
    '+ characters > tag.settings.characters + 1',
  ],
  ['what it holds is not counted', 'tagging.hold', 'tag.characters + characters, true', 'tag.characters, true'],
  ['what is released is kept', 'tagging.release', 'if reserved_in == tag.number and ticket > tag.from then', 'if false then'],
  ['what earlier settings held is given back', 'tagging.release', 'and ticket > tag.from then', 'then'],
  ['a period does not end for it', 'read in tag_limits.lua', 'if tag.number ~= number then', 'if false then'],
  ['what others have written is not read', 'as_written', 'or tag.text ~= text', ''],
  ['new limits are not judged', 'tagging.open', 'tag.counts.limits, tag.counts.ends = limits, 0', 'tag.counts.limits = limits'],
  ['the first one that gets settings is not noticed', 'count_records', "call('HSET', team, FIELDS[name], count)", 'return'],
];

const RULES_OF_SETTINGS: readonly Bug[] = [
  ['a disabled one is admitted', 'SqliteLedger.#callerRefusal', 'if (tag?.settings.disabled === true)', 'if (tag === null)'],
  ['its rate lets one more through', 'TagUses.waitMs', ', 0) - rate;', ', 0) - rate - 1;'],
  ['its characters are one too many', 'TagAccount.refusal', '+ characters <= characterLimit', '+ characters <= characterLimit + 1'],
  ['what is released is kept', 'TagUses.giveBack', 'periodNumber !== this.period.number ||', 'periodNumber > 0 ||'],
  ['what earlier settings held is given back', 'TagUses.giveBack', ' || ticket <= this.period.from', ''],
  ['it begins without what was charged before', 'firstTagUses', 'uses.period.characters = characters;', ''],
];

/** Between gateway and store: found by the simulation. */
const IN_RUNS: readonly Bug[] = [
  [
    'what refuses one is remembered for all requests of the key',
    'KnownFullWindows.note',
    "refused.of === 'tag' ? nameWithTag(caller) : nameOf(caller)",
    'nameOf(caller)',
  ],
  ['one more is counted by itself', 'writeCarried', 'setUint32(next, tag.distinctMax)', 'setUint32(next, tag.distinctMax + 1)'],
  ['what it holds is not counted', 'TagAccount.takePlace', 'this.uses.period.characters += characters;', ''],
];

const DAYS = { file: 'test/unit/stores/redis/days.test.ts', names: 'tags' };
const CHORES = { file: 'test/unit/stores/sqlite/history-chores.test.ts', names: 'hundred tags|settings of tags' };

const UPKEEP_IN_REDIS: readonly Bug[] = [
  ['is read in one piece', 'RedisJanitor.#dropTags', "while (at !== '0' && !this.#closed)", 'while (false)'],
  ['loses a day that is kept', 'days_since', 'if tonumber(day) >= first then', 'if tonumber(day) > first + 100 then'],
  ['keeps tags of which nothing is left', 'DROP.tag_counts', '< first then\n      insert(gone, tag)', '< 0 then\n      insert(gone, tag)'],
  ['loses what is used of settings', 'DROP.tag_uses', 'if not limits[i] and tonumber', 'if tonumber'],
  ['loses too early what was used of removed settings', 'DROP.tag_uses', '<= now - DAY_MS then', '<= now then'],
  ['keeps what was used of removed settings', 'RedisJanitor.#dropTags', "['tag_counts', 'tag_uses']", "['tag_counts']"],
];

const UPKEEP_IN_SQLITE: readonly Bug[] = [
  ['stops after a piece', 'TagChores.#pass', '{ day, pass, after: last }', '{ day, pass: pass + 1, after: last }'],
  ['is read in one piece', 'tag-chores.ts', 'const TAGS_MAX = 250;', 'const TAGS_MAX = 100_000;'],
  ['keeps tags of which nothing is left', 'droppedOfCounts', 'readTagCount(count)!.day < first', 'readTagCount(count)!.day < 0'],
  ['loses what is used of settings', 'droppedOfUses', 'settings === null && isLeftBehind', 'isLeftBehind'],
  ['loses too early what was used of removed settings', 'isLeftBehind', '<= nowMs - DAY_MS', '<= nowMs'],
  [
    'keeps what was used of removed settings',
    'tag-chores.ts',
    "const PASSES = ['counted', 'used'] as const;",
    "const PASSES = ['counted', 'counted'] as const;",
  ],
];

export const TAG_MUTATIONS: readonly Mutation[] = [
  ...REDIS_SETTINGS.map(([name, where, find, replace]) =>
    inRedis(`settings of a tag: ${name}`, where, find, replace, contract('Redis', SETTINGS)),
  ),
  ...RULES_OF_SETTINGS.map(([name, where, find, replace]) =>
    inSqlite(`settings of a tag: ${name}`, where, find, replace, contract('SQLite', SETTINGS)),
  ),
  ...REDIS.map(([name, where, find, replace]) => inRedis(`tags: ${name}`, where, find, replace, contract('Redis', TITLE))),
  ...SQLITE.map(([name, where, find, replace]) => inSqlite(`tags: ${name}`, where, find, replace, contract('SQLite', TITLE))),
  ...IN_RUNS.map(([name, where, find, replace]): Mutation => ({
    name: `tags in runs: ${name}`,
    edits: [{ where, find, replace }],
    caughtBy: [simulated(400)],
  })),
  ...UPKEEP_IN_REDIS.map(([name, where, find, replace]) => inRedis(`upkeep of tags: ${name}`, where, find, replace, DAYS)),
  ...UPKEEP_IN_SQLITE.map(([name, where, find, replace]) => inSqlite(`upkeep of tags: ${name}`, where, find, replace, CHORES)),
  {
    name: 'upkeep of tags: the check is content without what is used of settings',
    edits: [
      {
        where: 'judgeTagSettings in team-invariants.ts',
        find: '!Object.hasOwn(tags.tag_uses, tag))',
        replace: 'tags.tag_uses[tag] === null)',
      },
    ],
    caughtBy: [{ file: 'test/unit/stores/store-check.test.ts', names: 'tag' }],
  },
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
