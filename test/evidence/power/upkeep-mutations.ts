// Planted bugs in the check of a store, the repair of what a wrong clock has begun, and the search index of teams.
import type { Mutation } from './mutation.ts';

const REPAIR = 'test/unit/stores/clock-repair.test.ts';
const CHECK = { file: 'test/unit/stores/store-check.test.ts' };
const INTERRUPTED = 'test/unit/stores/erasure-interrupted.test.ts';
const WHOLE = { file: 'test/unit/stores/contract.test.ts', names: 'whole store' };
const COPY = { file: 'test/unit/stores/whole-copy.test.ts', names: "a plugin's store" };
const SEARCH = 'test/unit/stores/redis/team-search.test.ts';

type Bug = readonly [name: string, where: string, find: string, replace: string, ...caughtBy: Mutation['caughtBy']];

const BUGS: readonly Bug[] = [
  [
    'SQLite: the check wants rows of keys whose team was deleted',
    'STRAYS',
    'WHERE u.key IS NULL AND t.erasure = ${NOT_ERASED}`',
    'WHERE u.key IS NULL`',
    CHECK,
    { file: INTERRUPTED, names: 'sqlite' },
  ],
  [
    'SQLite: the check judges the limits of keys in the middle of a deletion',
    'STRAYS',
    '(l.key IS NOT NULL) AND t.erasure = ${NOT_ERASED}`',
    '(l.key IS NOT NULL)`',
    { file: INTERRUPTED, names: 'sqlite' },
  ],
  [
    'SQLite: the check does not see what a deletion has left',
    'LEFT_BY_DELETION',
    "const LEFT_BY_DELETION = ['books', 'key_books',",
    "const LEFT_BY_DELETION = ['books',",
    CHECK,
  ],
  [
    'Redis: the check reports the indexes of a team that is being deleted',
    'isBeingDeleted',
    "return (await redis.hexists(teamKey(teamId), 'erasure')) === 1;",
    "return (await redis.hexists(teamKey(teamId), 'gone')) === 1;",
    { file: INTERRUPTED, names: 'redis' },
  ],
  [
    'the check is content with a period that is still to come',
    'judgeTimes',
    'if (isAhead(period.startMs, nowMs)) {',
    'if (isAhead(period.startMs, Infinity)) {',
    { file: REPAIR, names: 'an idle team' },
  ],
  [
    'the repair forgets what was charged after the clock was right again',
    'usedIn',
    'const total = contents.usedCharacters + sumOf(undone);',
    'const total = sumOf(undone);',
    { file: REPAIR },
  ],
  [
    'the repair leaves usage on days to come',
    'daysUntil',
    'kept.push({ keyId, day: today,',
    'kept.push({ keyId, day: own.at(-1)!.day,',
    { file: REPAIR },
  ],
  [
    'the repair keeps a period that is anchored in the future',
    'periodAt in clock-repair.ts',
    'anchorMs: isWrong ? endMs : period.anchorMs, isReopened: true',
    'anchorMs: period.anchorMs, isReopened: true',
    { file: REPAIR, names: 'a plan that was changed' },
  ],
  [
    'the repair lets a lease last for years',
    'requestOf in clock-repair.ts',
    'const untilMs = Math.min(request.untilMs, nowMs + LEASE_MS_MAX);',
    'const { untilMs } = request;',
    { file: REPAIR, names: 'what is reserved' },
  ],
  [
    'the repair leaves the event of a period that it opens again',
    'isUndone',
    'return facts.period.number >= fromNumber;',
    'return facts.period.number > fromNumber;',
    { file: REPAIR, names: 'is told once' },
  ],
  [
    'thresholds that were told are told again after a repair',
    'toldIn',
    'return percent === 0 ? [] : [{ number, percent }];',
    'return percent === 0 ? [] : [{ number, percent: 1 }];',
    { file: REPAIR, names: 'is told once' },
  ],
  [
    'the repair goes by a clock that is behind',
    'doubtOf',
    'last - first + 1 < first - dayOf(nowMs)) return undefined;',
    'first > 0) return undefined;',
    { file: REPAIR, names: 'behind' },
  ],
  [
    'Redis: the repair writes over what was charged meanwhile',
    'RedisMender.#try',
    'this.#redis.watch(team, keys, ids, places, late, days, periods, ...tags, outboxKey(teamId)),',
    'this.#redis.watch(keys),',
    { file: REPAIR, names: 'redis.*while gateways serve' },
  ],
  [
    'Redis: the repair loses periods that are not closed yet',
    'teamCommands in redis-mender.ts',
    "if (Number(String(fields.get('left') ?? 0)) > number) books",
    'books',
    { file: REPAIR, names: 'redis' },
  ],
  [
    'SQLite: the repair drops the day that was being counted',
    'SqliteMender.#write',
    'this.#sql.keepDay.run(no);',
    'this.#sql.keepUsage.run(no, number);',
    { file: REPAIR, names: 'sqlite' },
  ],
  [
    'Redis: the last to write the search index decides the name, not the last renaming',
    'TeamIndex.add',
    'if (now === indexed) return;',
    'if (now !== null) return;',
    { file: SEARCH, names: 'two gateways' },
  ],
  [
    'Redis: the janitor leaves the name of an interrupted renaming',
    'RedisJanitor.#compare',
    'await index.mend(ids);',
    '',
    { file: 'test/unit/stores/redis/redis-janitor.test.ts', names: 'corrects a name' },
  ],
  [
    "a copy into a plugin's store is not marked until it is complete",
    'RecordWriter.begin',
    'await writer.#share(MARKED);',
    '',
    WHOLE,
    COPY,
  ],
  [
    "a copy into a plugin's store forgets which keys have their digests only in an index",
    'RecordWriter.team',
    'if (digest === undefined) this.#undigested.add(keyId);',
    '',
    { ...COPY, names: 'only in its index' },
  ],
  [
    "a copy from a plugin's store forgets what was told",
    'toldContents',
    'percents.toSorted((one, other) => one.number - other.number)',
    '[]',
    { ...COPY, names: 'waiting events are copied over memory' },
  ],
  [
    'an account that is taken over is charged what was spent in each of its keys',
    'sumsOf in charge-sums.ts',
    'micro: i === 0 ? spentIn(credit) : 0',
    'micro: spentIn(credit)',
    { ...WHOLE, names: 'whole store: everything' },
  ],
  [
    "the check of a plugin's store does not look keys up",
    'RecordReader.#judgeDigests',
    'if (owner?.keyId !== keyId || owner.teamId !== teamId)',
    'if (owner?.keyId === keyId && owner.teamId !== teamId)',
    { ...COPY, names: 'a key that cannot be found' },
  ],
  [
    "a plugin's store: the repair keeps what was told of undone periods",
    'RecordMender.#untell',
    'const put = toldRecords(mended.contents);',
    'const put: ReturnType<typeof toldRecords> = [];',
    { ...WHOLE, names: 'whole store: what a clock' },
  ],
];

export const UPKEEP_MUTATIONS: readonly Mutation[] = BUGS.map(([name, where, find, replace, ...caughtBy]) => ({
  name,
  edits: [{ where, find, replace }],
  caughtBy,
}));
