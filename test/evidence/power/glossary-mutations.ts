// Planted bugs in glossaries: changes that lose others' changes, confused dictionaries, misread entries.
import type { Mutation, TestRun } from './mutation.ts';

const CHANGE: TestRun = { file: 'test/unit/plugins/deepl-v2/glossary-change.test.ts' };
const ENTRIES: TestRun = { file: 'test/unit/plugins/deepl-v2/glossary-entries.test.ts' };
const CACHE: TestRun = { file: 'test/unit/runtime/glossary-cache.test.ts' };

function contract(store: 'Redis' | 'SQLite', title = 'dictionaries of glossaries'): TestRun {
  return { file: 'test/unit/stores/contract.test.ts', names: `the ${store} store.*${title}` };
}

function bug(name: string, where: string, find: string, replace: string, caughtBy: TestRun): Mutation {
  return { name: `glossaries: ${name}`, edits: [{ where, find, replace }], caughtBy: [caughtBy] };
}

export const GLOSSARY_MUTATIONS: readonly Mutation[] = [
  bug(
    'a change from an outdated record is made',
    'RecordGlossaries.change',
    "if (known.revision !== revision) return { result: { kind: 'outdated' } };",
    '',
    contract('SQLite'),
  ),
  bug(
    'a record that has changed since it was read is changed (Redis)',
    'same.holds',
    "return call('HGET', beside(team, name), id) == value",
    'return true',
    contract('Redis', 'glossaries'),
  ),
  bug(
    'what a glossary does not hold any more can still be read (Redis)',
    'detach.make',
    "call('UNLINK', blob_key(team, id))\n      call('HDEL', beside(team, 'blobs'), id)",
    '',
    contract('Redis'),
  ),
  bug(
    'what a glossary does not hold any more is still held (SQLite)',
    'SqliteRecords.change',
    'blobs.detach(team, detach);',
    '',
    contract('SQLite'),
  ),
  bug('any region will do, asked for or not (Redis)', 'dictionary_for', 'if by_base and not near', 'if not near', contract('Redis')),
  bug(
    'any region will do, asked for or not (SQLite)',
    'dictionaryFor',
    'if (exact !== undefined || byBase !== true) return exact;',
    'if (exact !== undefined) return exact;',
    contract('SQLite'),
  ),
  bug(
    'a team may have any number of bytes',
    'refusedBytes',
    'return after > teamBytesMax && after > before ?',
    'return after < 0 ?',
    contract('Redis', 'bytes of glossaries'),
  ),
  bug(
    'what a change drops is counted for ever',
    'RecordGlossaries.change',
    'const bytes = totals.bytes - sumOf(known.dictionaries) + sumOf(held);',
    'const bytes = totals.bytes + sumOf(held);',
    contract('Redis', 'bytes of glossaries'),
  ),
  bug('every request reads the dictionary for itself', 'LruGlossaryCache.#make', 'this.#running.set(key, making);', '', CACHE),
  bug(
    'all pieces of long work are done in one turn',
    'run in turns.ts',
    'if (waiting.length > 0) setImmediate(run);\n  piece();',
    'piece();\n  while (waiting.length > 0) waiting.shift()!();',
    { file: 'test/unit/core/turns.test.ts' },
  ),
  bug(
    'a dictionary that was replaced is none',
    'LruGlossaryCache.#current',
    'for (let look = 0; look < LOOKS_MAX; look++) {',
    'for (let look = 0; look < 1; look++) {',
    CACHE,
  ),
  bug(
    'one who comes second in adding gives up',
    'GlossaryChanges.#try',
    "if (changed.kind === 'missing') return NOT_FOUND;",
    "if (changed.kind !== 'unavailable') return NOT_FOUND;",
    CHANGE,
  ),
  bug('what is added takes the place of all that was there', 'mergedEntries', '{ ...before.entries, ...added }', '{ ...added }', CHANGE),
  bug('a doubled quote stays doubled', 'quotedField', "inside.replaceAll('\"\"', '\"')", 'inside', ENTRIES),
  bug('languages of rows are not looked at', 'addRow', '!fits(sourceLang.trim(), targetLang.trim())', 'false', ENTRIES),
];
