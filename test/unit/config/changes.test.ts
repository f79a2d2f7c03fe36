// What a reload takes, what waits for a restart, and what it refuses because it looks like half a file.
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { assertNoSectionLost, reloadOf } from '../../../src/config/changes.ts';
import { ConfigError, labelOf } from '../../../src/config/config-error.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { freshFolder, written } from '../../support/written-file.ts';

const ENGINE = 'engine: { urls: ["http://h"] }';
const ENGINES = 'engines: { a: { urls: ["http://h"] } }';

/** The lines of a reload's refusal; none if it is taken. */
function reloaded(before: string, now: string): readonly string[] {
  const file = written(before);
  const running = loadConfig({ file, env: {} });
  writeFileSync(file, now);
  try {
    assertNoSectionLost(running, loadConfig({ file, env: {} }));
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.lines.map((line) => line.replace(`${labelOf(file)}: `, ''));
  }
}

const gone = (name: string): string[] => [`${name}: is gone, and a reload does not take it away; restart the gateway to run without`];

test('what was never there is not missed', () => {
  expect(reloaded('{}', '{ }')).toEqual([]);
  expect(reloaded('store: sqlite:a.db', `store: sqlite:a.db\n${ENGINE}`)).toEqual([]);
});

test('engines may replace the engine, but neither goes, nor the URLs alone', () => {
  expect(reloaded(ENGINE, ENGINES)).toEqual([]);
  expect(reloaded(ENGINES, ENGINE)).toEqual([]);
  expect(reloaded(ENGINES, 'listener: node')).toEqual(gone('engines'));
  expect(reloaded(ENGINE, 'engine: { timeout_ms: 9 }')).toEqual(gone('engine.urls'));
});

/** Of a gateway with the first text, and then the second: which members wait, and the configuration from now on. */
function changed(before: string, now: string): ReturnType<typeof reloadOf> {
  const file = written(before);
  const running = loadConfig({ file, env: {} });
  writeFileSync(file, now);
  return reloadOf(running, loadConfig({ file, env: {} }));
}

test('every member but those that the manual names waits for a restart, and keeps its value', () => {
  const before = 'limits: { idle_seconds: 10 }\nadmin: { tokens: [{ name: a, role: read, token: { file: a } }] }';
  const now =
    'listen: 127.0.0.1:1\nservice: { name: x }\nlimits: { idle_seconds: 11, tags: 5 }\nhistory: { days: 3 }\nevents: { url: "http://h", secret: { file: s } }\n' +
    'admin: { tokens: [{ name: b, role: read, token: { file: a } }], console_url: "https://c" }\nengine: { urls: ["http://h"], timeout_ms: 5, pairs: ask, batch: {} }';
  const { config, waiting } = changed(before, now);
  expect(waiting).toEqual([
    'listen',
    'admin.console_url',
    'service.name',
    'limits.idle_seconds',
    'limits.tags',
    'history.days',
    'events',
    'engine.timeout_ms',
    'engine.batch',
  ]);
  expect(config.limits).toMatchObject({ idle_seconds: 10, tags: 1000 });
  expect(config.admin).toMatchObject({ tokens: [{ name: 'b' }] });
  expect(config.engines).toMatchObject([{ urls: ['http://h'], pairs: 'ask', timeout_ms: 10_000, batch: undefined }]);
});

test('engines keep their names, and take URLs and pairs; rules that name a new one wait with it', () => {
  const { config, waiting } = changed(
    'engines: { a: { urls: ["http://a"] }, b: { urls: ["http://b"], timeout_ms: 7 } }',
    'engines: { b: { urls: ["http://bb"], timeout_ms: 8 }, c: { urls: ["http://c"] } }\nrouting: [{ engines: [c] }]',
  );
  expect(waiting).toEqual(['engines', 'routing', 'engines.b.timeout_ms']);
  expect(config.engines).toMatchObject([
    { name: 'a', urls: ['http://a'] },
    { name: 'b', urls: ['http://bb'], timeout_ms: 7 },
  ]);
  expect(config.routing).toBeUndefined();
  const reordered = changed(
    'engines: { a: { urls: ["http://a"] }, b: { urls: ["http://b"] } }',
    'engines: { b: { urls: ["http://b"] }, a: { urls: ["http://a"] } }',
  );
  expect([reordered.waiting, reordered.config.engines.map(({ name }) => name)]).toEqual([[], ['b', 'a']]);
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
  writeFileSync(file, 'admin: { token: { file: one } }\nforward: []\nengine: { options: { k: { file: none } } }');
  writeFileSync(one, 'new one');
  const { config, waiting } = reloadOf(running, loadConfig({ file, env: {} }));
  expect(waiting).toEqual(['forward', 'engine.options']);
  const textOf = (path: string): string => (config.sources.files.get(path) as { readonly bytes: Buffer }).bytes.toString();
  expect([textOf(one), textOf(two), textOf(three)]).toEqual(['new one', 'old two', 'old three']);
});
