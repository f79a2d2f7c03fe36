// Planted bugs in the memory and in the text stages: colliding keys, entries that are too old or another's, order, charges.
import type { Mutation, TestRun } from './mutation.ts';

const KEYS: TestRun = { file: 'test/unit/plugins/memory/process-memory.test.ts', names: 'keys' };
const ROOM: TestRun = { file: 'test/unit/plugins/memory/process-memory.test.ts', names: 'random actions' };
const TEXTS: TestRun = { file: 'test/unit/plugins/memory/text-memory.test.ts' };
const INDEX: TestRun = { file: 'test/unit/plugins/memory/entry-index.test.ts' };
const REDIS: TestRun = { file: 'test/unit/plugins/memory/redis-memory.test.ts' };
const SHARED: TestRun = { file: 'test/unit/plugins/memory/shared-text.test.ts' };
const LIMIT: TestRun = { file: 'test/unit/plugins/memory/look-up-limit.test.ts' };
const OPTIONS: TestRun = { file: 'test/unit/domain/translation-options.test.ts' };
const STAGES: TestRun = { file: 'test/unit/domain/text-stages.test.ts' };
const JOURNEY: TestRun = { file: 'test/journey/memory.test.ts', names: 'uws listener, sqlite' };
const ERASURE: TestRun = { file: 'test/journey/memory-erasure.test.ts', names: 'over sqlite' };
const TWO_GATEWAYS: TestRun = { file: 'test/journey/memory-two-gateways.test.ts', names: 'over sqlite' };

function bug(name: string, where: string, find: string, replace: string, ...caughtBy: TestRun[]): Mutation {
  return { name, edits: [{ where, find, replace }], caughtBy };
}

const inMemory = (name: string, where: string, find: string, replace: string, ...caughtBy: TestRun[]): Mutation =>
  bug(`memory: ${name}`, where, find, replace, ...caughtBy);

export const MEMORY_MUTATIONS: readonly Mutation[] = [
  bug(
    'memory: an option is not in the key',
    'READERS',
    'const READERS = TRANSLATION_OPTIONS.map((name) => VALUES[name]);',
    "const READERS = TRANSLATION_OPTIONS.filter((name) => name !== 'context').map((name) => VALUES[name]);",
    OPTIONS,
    TEXTS,
  ),
  bug('memory: options in the key can look like others', 'keyOfOptions', 'key += `${value.length}:${value}`;', 'key += value;', OPTIONS),
  bug('memory: a changed dictionary has the key of the one before', 'keyPartOf', 'return value.id;', "return 'glossary';", OPTIONS),
  inMemory('the team is not in the key', 'teamPart', 'return counted(teamId);', 'return counted(teamId.slice(0, 0));', TEXTS, JOURNEY),
  inMemory('the engine is not in the key', 'OptionsParts.of', 'const part = counted(engine) +', 'const part =', TEXTS),
  inMemory(
    'options of the request before are taken for this one’s',
    'OptionsParts.of',
    'sameOptions(last.options, options)',
    'options.glossary === undefined',
    TEXTS,
  ),
  inMemory('a text can look like a longer one', 'KeyBytes.add', 'this.words[0] = end - this.#textAt;', 'this.words[0] = 0;', KEYS),
  inMemory('a text can look like a digest', 'KeyBytes.#put', 'this.#buffer[at] = DIGEST_MARK;', 'this.#buffer[at] = 35;', KEYS),
  inMemory('seconds are not heeded', 'ProcessMemory.get', '>= this.#ageMaxMs) {', '=== Infinity) {', ROOM, TEXTS),
  inMemory('what came old from Redis is new', 'TextMemory.#madeAtMs', 'const madeAtMs = now() - ageMs;', 'const madeAtMs = now();', REDIS),
  inMemory(
    'a team that is forgotten is forgotten in the first segment',
    'ProcessMemory.dropTeam',
    'from + mark.length).equals(mark);',
    'from + mark.length).equals(mark) && i === 0;',
    ROOM,
  ),
  inMemory(
    'what was under way when its team was forgotten is learnt',
    'TextMemory.learn',
    'if (!this.#counts(teamId, startedAtMs)) return;',
    '',
    TEXTS,
    ERASURE,
    TWO_GATEWAYS,
  ),
  inMemory(
    'what began before its team was forgotten is learnt, if a stage before took long',
    'Search.constructor',
    'this.startedAtMs = work.x.startedAtMs;',
    'this.startedAtMs = atMs;',
    TEXTS,
    ERASURE,
  ),
  inMemory(
    'what began before another gateway forgot is new there',
    'TextMemory.learn',
    'const madeAtMs = wallNow() - (now() - startedAtMs);',
    'const madeAtMs = wallNow();',
    REDIS,
  ),
  bug(
    'memory: a forgotten team stays in the process',
    'setup.forget',
    'await memory.forget(teamId, nextTurn);',
    'if (teamId === undefined) await memory.forget(teamId, nextTurn);',
    ERASURE,
    TWO_GATEWAYS,
  ),
  bug(
    'memory: a forgotten team stays in Redis',
    'setup.forget',
    'return shared?.forget(teamId);',
    'return teamId === undefined ? shared?.forget(teamId) : undefined;',
    ERASURE,
    TWO_GATEWAYS,
  ),
  inMemory(
    'of several texts another’s translation is learnt',
    'TextMemory.learn',
    'const translation = translations[next++]!;',
    'const translation = translations[Math.min(i, translations.length - 1)]!;',
    TEXTS,
  ),
  inMemory(
    'the next engine’s translations are given while the first one is well',
    'TextMemory.answer',
    'if (open > 0 && work.expected !== engines[0]) open = this.#look(search, this.#partOf(search, work.expected), open);',
    'if (open > 0 && engines.length > 1) open = this.#look(search, this.#partOf(search, engines[1]!), open);',
    TEXTS,
  ),
  inMemory(
    'an entry that moves is not found',
    'ProcessMemory.#keepUsed',
    'this.#index.move(place, this.#index.placeOf(this.#turn, end));',
    '',
    {
      ...ROOM,
      names: 'is looked up is kept',
    },
  ),
  inMemory(
    'with one entry of a bucket the others go',
    'EntryIndex.#replace',
    'if (by === 0) this.#hints[bucket] = 0;',
    'this.#hints[bucket] = 0;',
    INDEX,
  ),
  inMemory(
    'equal hashes are taken for equal keys',
    'EntryIndex.find',
    'if (i === keyWords) return place;',
    'if (i > 0) return place;',
    INDEX,
  ),
  inMemory(
    'another key’s value is taken',
    'decodeText',
    "bytes.toString('latin1', 0, MADE_AT) !== MAGIC + key",
    "bytes.toString('latin1', 0, MAGIC.length) !== MAGIC",
    SHARED,
    REDIS,
  ),
  inMemory('a silent Redis is waited for', 'RedisMemory.get', '), this.#options.lookUpMs);', '), 10 * this.#options.lookUpMs);', LIMIT),
  inMemory(
    'while Redis is away every request tries it',
    'RedisMemory.#mayAsk',
    '(!this.#trying && this.#options.now() >= this.#awayUntilMs)',
    'this.#options.now() >= 0',
    REDIS,
  ),
  bug(
    'stages: translations stand in another order than their texts',
    'joined in text-stages.ts',
    'return known.map((one) => one ?? rest[next++]!);',
    'return [...known.filter((one) => one !== undefined), ...rest.slice(next)];',
    STAGES,
    JOURNEY,
  ),
  bug(
    'stages: more translations than texts are accepted',
    'checkCount',
    'if (given.length !== wanted.length) throw',
    'if (given.length < wanted.length) throw',
    STAGES,
  ),
  bug(
    'stages: what fails after all is learnt',
    'PassedTexts.#back',
    'if (engine !== undefined && open > 0) lessons.push({ known, translations: current });',
    'if (engine !== undefined && open > 0) known.learn?.(current, engine);',
    STAGES,
  ),
  bug(
    'charge none: hits are charged',
    'PendingWork.#hasPassed',
    'if (passed.spared.length > 0) this.#spared =',
    'if (passed.spared.length > 999) this.#spared =',
    JOURNEY,
  ),
  bug(
    'charge none: what is spared is released of another text',
    'PassedTexts.#answer',
    '...places.filter((_place, i) => translations[i] !== undefined)',
    '...places.filter((_place, i) => translations[i] === undefined)',
    STAGES,
    JOURNEY,
  ),
  bug(
    'a failing engine goes on failing when its trial is due',
    'Balancer.failing',
    'standing.aside && !standing.isDue(nowMs)',
    'standing.aside',
    { file: 'test/unit/engines/open-engine.test.ts', names: 'another behind it' },
  ),
];
