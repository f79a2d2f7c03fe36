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

function bug(name: string, file: string, find: string, replace: string, ...caughtBy: TestRun[]): Mutation {
  return { name, edits: [{ file: `src/${file}`, find, replace }], caughtBy };
}

const inMemory = (name: string, file: string, find: string, replace: string, ...caughtBy: TestRun[]): Mutation =>
  bug(`memory: ${name}`, `plugins/memory/${file}`, find, replace, ...caughtBy);

export const MEMORY_MUTATIONS: readonly Mutation[] = [
  bug(
    'memory: an option is not in the key',
    'domain/translation-options.ts',
    'const READERS = TRANSLATION_OPTIONS.map((name) => VALUES[name]);',
    "const READERS = TRANSLATION_OPTIONS.filter((name) => name !== 'context').map((name) => VALUES[name]);",
    OPTIONS,
    TEXTS,
  ),
  bug(
    'memory: options in the key can look like others',
    'domain/translation-options.ts',
    'key += `${value.length}:${value}`;',
    'key += value;',
    OPTIONS,
  ),
  bug(
    'memory: a changed dictionary has the key of the one before',
    'domain/translation-options.ts',
    'return value.id;',
    "return 'glossary';",
    OPTIONS,
  ),
  inMemory('the team is not in the key', 'text-key.ts', 'return counted(teamId);', 'return counted(teamId.slice(0, 0));', TEXTS, JOURNEY),
  inMemory('the engine is not in the key', 'text-key.ts', 'const part = counted(engine) +', 'const part =', TEXTS),
  inMemory(
    'options of the request before are taken for this one’s',
    'text-key.ts',
    'sameOptions(last.options, options)',
    'options.glossary === undefined',
    TEXTS,
  ),
  inMemory('a text can look like a longer one', 'text-key.ts', 'this.words[0] = end - this.#textAt;', 'this.words[0] = 0;', KEYS),
  inMemory('a text can look like a digest', 'text-key.ts', 'this.#buffer[at] = DIGEST_MARK;', 'this.#buffer[at] = 35;', KEYS),
  inMemory('seconds are not heeded', 'process-memory.ts', '>= this.#ageMaxMs) {', '=== Infinity) {', ROOM, TEXTS),
  inMemory('what came old from Redis is new', 'text-memory.ts', 'const madeAtMs = now() - ageMs;', 'const madeAtMs = now();', REDIS),
  inMemory(
    'a team that is forgotten is forgotten in the first segment',
    'process-memory.ts',
    'from + mark.length).equals(mark);',
    'from + mark.length).equals(mark) && i === 0;',
    ROOM,
  ),
  inMemory(
    'what was under way when its team was forgotten is learnt',
    'text-memory.ts',
    'if (!this.#counts(teamId, startedAtMs)) return;',
    '',
    TEXTS,
    ERASURE,
    TWO_GATEWAYS,
  ),
  inMemory(
    'what began before its team was forgotten is learnt, if a stage before took long',
    'text-memory.ts',
    'this.startedAtMs = work.x.startedAtMs;',
    'this.startedAtMs = atMs;',
    TEXTS,
    ERASURE,
  ),
  inMemory(
    'what began before another gateway forgot is new there',
    'text-memory.ts',
    'const madeAtMs = wallNow() - (now() - startedAtMs);',
    'const madeAtMs = wallNow();',
    REDIS,
  ),
  bug(
    'memory: a forgotten team stays in the process',
    'plugins/memory.ts',
    'await memory.forget(teamId, nextTurn);',
    'if (teamId === undefined) await memory.forget(teamId, nextTurn);',
    ERASURE,
    TWO_GATEWAYS,
  ),
  bug(
    'memory: a forgotten team stays in Redis',
    'plugins/memory.ts',
    'return shared?.forget(teamId);',
    'return teamId === undefined ? shared?.forget(teamId) : undefined;',
    ERASURE,
    TWO_GATEWAYS,
  ),
  inMemory(
    'of several texts another’s translation is learnt',
    'text-memory.ts',
    'const translation = translations[next++]!;',
    'const translation = translations[Math.min(i, translations.length - 1)]!;',
    TEXTS,
  ),
  inMemory(
    'the next engine’s translations are given while the first one is well',
    'text-memory.ts',
    'if (open > 0 && work.expected !== engines[0]) open = this.#look(search, this.#partOf(search, work.expected), open);',
    'if (open > 0 && engines.length > 1) open = this.#look(search, this.#partOf(search, engines[1]!), open);',
    TEXTS,
  ),
  inMemory('an entry that moves is not found', 'process-memory.ts', 'this.#index.move(place, this.#index.placeOf(this.#turn, end));', '', {
    ...ROOM,
    names: 'is looked up is kept',
  }),
  inMemory(
    'with one entry of a bucket the others go',
    'entry-index.ts',
    'if (by === 0) this.#hints[bucket] = 0;',
    'this.#hints[bucket] = 0;',
    INDEX,
  ),
  inMemory(
    'equal hashes are taken for equal keys',
    'entry-index.ts',
    'if (i === keyWords) return place;',
    'if (i > 0) return place;',
    INDEX,
  ),
  inMemory(
    'another key’s value is taken',
    'shared-text.ts',
    "bytes.toString('latin1', 0, MADE_AT) !== MAGIC + key",
    "bytes.toString('latin1', 0, MAGIC.length) !== MAGIC",
    SHARED,
    REDIS,
  ),
  inMemory('a silent Redis is waited for', 'redis-memory.ts', '), this.#options.lookUpMs);', '), 10 * this.#options.lookUpMs);', LIMIT),
  inMemory(
    'while Redis is away every request tries it',
    'redis-memory.ts',
    '(!this.#trying && this.#options.now() >= this.#awayUntilMs)',
    'this.#options.now() >= 0',
    REDIS,
  ),
  bug(
    'stages: translations stand in another order than their texts',
    'domain/text-stages.ts',
    'return known.map((one) => one ?? rest[next++]!);',
    'return [...known.filter((one) => one !== undefined), ...rest.slice(next)];',
    STAGES,
    JOURNEY,
  ),
  bug(
    'stages: more translations than texts are accepted',
    'domain/text-stages.ts',
    'if (given.length !== wanted.length) throw',
    'if (given.length < wanted.length) throw',
    STAGES,
  ),
  bug(
    'stages: what fails after all is learnt',
    'domain/text-stages.ts',
    'if (engine !== undefined && open > 0) lessons.push({ known, translations: current });',
    'if (engine !== undefined && open > 0) known.learn?.(current, engine);',
    STAGES,
  ),
  bug(
    'charge none: hits are charged',
    'steps/translate.ts',
    'if (passed.spared.length > 0) this.#spared =',
    'if (passed.spared.length > 999) this.#spared =',
    JOURNEY,
  ),
  bug(
    'charge none: what is spared is released of another text',
    'domain/text-stages.ts',
    '...places.filter((_place, i) => translations[i] !== undefined)',
    '...places.filter((_place, i) => translations[i] === undefined)',
    STAGES,
    JOURNEY,
  ),
  bug(
    'a failing engine goes on failing when its trial is due',
    'engines/balancer.ts',
    'standing.aside && !standing.isDue(nowMs)',
    'standing.aside',
    { file: 'test/unit/engines/open-engine.test.ts', names: 'another behind it' },
  ),
];
