// What a reload refuses because it looks like half a file; and which contents of files are in force after one.
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { reloadOf } from '../../../src/config/changes.ts';
import { ConfigError, labelOf } from '../../../src/config/config-error.ts';
import { FileSet } from '../../../src/config/file-set.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { reloadedConfig } from '../../../src/config/lost-parts.ts';
import { freshFolder, linesOf, written } from '../../support/written-file.ts';

const SECTIONS = {
  engine: 'engine: { urls: ["http://h"] }',
  plans:
    'plans: { p: { billing: credit, requests_per_second: 5, max_characters_per_request: 100, max_glossaries: 1, credit_minor_per_million: 2500, currency: EUR } }',
  store: 'store: sqlite:a.db',
  admin: `admin: { token: ${'t'.repeat(32)} }`,
  plugins: 'plugins: []',
};
const ENGINES = 'engines: { a: { urls: ["http://h"] } }';
const WHOLE = Object.values(SECTIONS).join('\n');

/** The lines of a reload's refusal; none if it is taken. */
function reloaded(before: string, now: string): readonly string[] {
  const file = written(before);
  const running = loadConfig({ file, env: {} });
  writeFileSync(file, now);
  const files = new FileSet();
  try {
    reloadedConfig(running, { files, config: () => loadConfig({ file, env: {}, files }) });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.lines.map((line) => line.replace(`${labelOf(file)}: `, ''));
  }
}

const gone = (name: string): string[] => [`${name}: is gone, and a reload does not take it away; a restart does, if it is meant`];

test.each(Object.entries(SECTIONS))(
  '%s is not taken away as a whole, also not where that leaves the beginning of the file',
  (name, section) => {
    expect(reloaded(WHOLE, `# new\n${WHOLE.replace(section, '')}`)).toEqual(gone(name));
    expect(reloaded(`${WHOLE.replace(section, '')}\n${section}`, WHOLE.replace(section, ''))).toEqual(gone(name));
  },
);

test('all that are gone are one line, and what was never there is not missed', () => {
  expect(reloaded(`${SECTIONS.store}\n${SECTIONS.engine}`, '{}')).toEqual([
    'engine, store: are gone, and a reload does not take them away; a restart does, if it is meant',
  ]);
  expect(reloaded('{}', '{ }')).toEqual([]);
  expect(reloaded(SECTIONS.store, WHOLE)).toEqual([]);
});

test('engines may replace the engine, but neither goes, nor the URLs alone', () => {
  expect(reloaded(SECTIONS.engine, ENGINES)).toEqual([]);
  expect(reloaded(ENGINES, SECTIONS.engine)).toEqual([]);
  expect(reloaded(ENGINES, 'listener: node')).toEqual(gone('engines'));
  expect(reloaded(SECTIONS.engine, 'engine: { timeout_ms: 9 }')).toEqual(gone('engine.urls'));
});

test('a file that is the beginning of the one in force is refused, whatever else is wrong with it; blanks at its end may go', () => {
  const text = 'limits:\n  concurrency: 100\n  idle_seconds: 10\n\n';
  for (let length = 1; length < text.trimEnd().length; length++) {
    expect(reloaded(text, text.slice(0, length))).toEqual([
      `is only the beginning of the file in force (${length} of ${text.length} bytes), as if it was still being written; a restart takes it, if it is meant`,
    ]);
  }
  expect(reloaded(text, '')).toEqual(['is empty; was it still being written?']);
  expect(reloaded(text, text.trimEnd())).toEqual([]);
  expect(reloaded(text, 'limits:\n  concurrency: 100\n# the end\n')).toEqual([]);
});

test.each(['', '# only a comment\n', '\n \n', '~', '---\n'])('%j is no configuration', (text) => {
  expect(linesOf(written(text))).toEqual([expect.stringMatching(/^is empty: there is nothing in it/)]);
});

test('a reload takes over the contents of files, but keeps those of files that it does not name or cannot read', () => {
  const folder = freshFolder();
  const [one, two, three] = ['one', 'two', 'three'].map((name) => written(`old ${name}`, name, folder)) as [string, string, string];
  const header = (value: string): string => `{ path: /a, methods: [GET], target: "http://h", headers: { x: { file: ${value} } } }`;
  const file = written(
    `admin: { token: { file: one } }\nforward: [${header('two')}]\nengine: { options: { k: { file: three } } }`,
    'c.yaml',
    folder,
  );
  const running = loadConfig({ file, env: {} });
  writeFileSync(file, 'admin: { token: { file: one } }\nengine: { options: { k: { file: none } } }');
  writeFileSync(one, 'new one');
  const { config, waiting } = reloadOf(running, loadConfig({ file, env: {} }));
  expect(waiting).toEqual(['forward', 'engine.options']);
  const textOf = (path: string): string => (config.sources.files.get(path) as { readonly bytes: Buffer }).bytes.toString();
  expect([textOf(one), textOf(two), textOf(three)]).toEqual(['new one', 'old two', 'old three']);
});
