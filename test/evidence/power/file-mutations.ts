// Planted bugs in what is taken from files: empty ones, those cut off or still being written, and what later workers get.
import type { Mutation } from './mutation.ts';

function planted(name: string, where: string, find: string, replace: string, test: string): Mutation {
  return {
    name: `${name} (files)`,
    edits: [{ where, find, replace }],
    caughtBy: [{ file: `test/unit/${test}.test.ts` }],
  };
}

export const FILE_MUTATIONS: readonly Mutation[] = [
  planted(
    'an empty file means all defaults',
    'valueOfYaml',
    'if (value === null || value === undefined) throw new ConfigError([`${label}: ${EMPTY}`]);',
    'if (value === null || value === undefined) return {};',
    'config/lost-parts',
  ),
  planted('a reload may take all plans away', 'KEPT_SECTIONS', "['plans'], ['store']", "['store']", 'config/lost-parts'),
  planted("a reload may leave out the engine's URLs", 'KEPT_SECTIONS', "[ENGINE_URLS, 'engines'], ", '', 'config/lost-parts'),
  planted(
    'the beginning of a file is a file',
    'cutOff',
    '!whole.subarray(0, part.length).equals(part)) return undefined;',
    'true) return undefined;',
    'config/lost-parts',
  ),
  planted(
    'the second look is not compared',
    'loadSettled',
    'if (changed.length === 0) return { files, config };',
    'return { files, config };',
    'config/settled-load',
  ),
  planted(
    'a file that was moved here counts as old',
    'changedAtMs',
    'Math.max(found.mtimeMs, found.ctimeMs)',
    'found.mtimeMs',
    'config/settled-load',
  ),
  planted(
    'what waits for a restart loses its files at a reload',
    'filesOf',
    '[next.get(path), running.get(path)]',
    '[next.get(path)]',
    'config/lost-parts',
  ),
  {
    name: 'uWebSockets.js reads whatever is in the files (files)',
    edits: [
      { where: 'openTlsApp', find: 'if (isOnDisk(pair, tls)) {', replace: 'if (pair !== undefined) {' },
      { where: 'openTlsApp', find: 'app !== undefined && isOnDisk(pair, tls)', replace: 'app !== undefined' },
    ],
    caughtBy: [{ file: 'test/unit/server/tls-contents.test.ts' }],
  },
  planted(
    'copies of keys are left behind',
    'withTlsCopies',
    'rmSync(folder, { recursive: true, force: true });',
    '',
    'server/tls-contents',
  ),
  {
    name: 'a certificate that cannot be used is sent to the workers (files)',
    edits: [
      {
        where: 'withUsableTls',
        find: 'if (reason === undefined || running.tls',
        replace: 'if (reason !== undefined || running.tls',
      },
    ],
    caughtBy: [{ file: 'test/evidence/faults/whole-files.test.ts', names: 'the last reload that could use one' }],
  },
  planted(
    'alternatives of an option are not named',
    'expectation',
    'if (shape.anyOf !== undefined) return alternatives(shape.anyOf);',
    '',
    'config/fault-messages',
  ),
];
