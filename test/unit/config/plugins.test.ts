// Loading plugins: their options, engines, stores, routes and problem codes, and one line for each fault.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setUpEngines } from '../../../src/app/engine-setup.ts';
import { ConfigError } from '../../../src/config/config-error.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { loadPlugins } from '../../../src/config/plugins.ts';
import type { EngineProtocol } from '../../../src/ports/engine.ts';
import { SILENT } from '../../support/silent-log.ts';

const SCHEMA = 'Type.Object({ word: Type.String(), seconds: Type.Integer({ minimum: 1, default: 2 }) }, { additionalProperties: false })';
const TYPEBOX = pathToFileURL(createRequire(import.meta.url).resolve('typebox')).href;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lingate-plugins-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

let written = 0;

/** A plugin with this code as its `setup`. */
function entry(setup: string, options: unknown = {}, schema = 'Type.Object({})', name = `plugin-${++written}`) {
  const module = join(folder, `${name}-${written}.mjs`);
  writeFileSync(module, `import Type from '${TYPEBOX}';\nexport default { name: '${name}', options: ${schema}, setup: ${setup} };\n`);
  return { module, from: join(folder, 'lingate.yaml'), options };
}

async function linesOf(...entries: readonly ReturnType<typeof entry>[]): Promise<readonly string[]> {
  try {
    await loadPlugins(entries, SILENT);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const label = `${join(folder, 'lingate.yaml')}: `;
    expect(error.lines.filter((line) => !line.startsWith(label))).toEqual([]);
    return error.lines.map((line) => line.slice(label.length));
  }
  return [];
}

describe('options', () => {
  test('are passed with the defaults of the schema', async () => {
    const plugins = await loadPlugins(
      [entry('(options) => ({ engines: { [JSON.stringify(options)]: {} } })', { word: 'a' }, SCHEMA)],
      SILENT,
    );
    expect([...plugins.engines.keys()]).toEqual(['{"word":"a","seconds":2}']);
  });

  test('that are wrong are all named by their path', async () => {
    const lines = await linesOf(entry('() => ({})', { seconds: 0, wrod: 'a' }, SCHEMA));
    expect(lines).toEqual([
      expect.stringMatching(/^plugins\.0\.options\.word: is missing/),
      expect.stringMatching(/^plugins\.0\.options\.wrod: is unknown|^plugins\.0\.options\.wrod: .*word/),
      expect.stringMatching(/^plugins\.0\.options\.seconds: 0 is too small; it must be at least 1$/),
    ]);
  });
});

test.each([
  ['() => { throw new Error("no disk\\nat all") }', /^plugins\.0: the setup of plugin "plugin-\d+" failed: no disk$/],
  ['() => ({ stores: { sqlite: () => {} } })', /^plugins: a store cannot be called "sqlite"; choose a name/],
  ['() => ({ stores: { redisx: () => {} } })', /^plugins: a store cannot be called "redisx"; choose a name/],
  ["() => ({ stores: { 'My Store': () => {} } })", /^plugins: a store cannot be called "My Store"; choose a name/],
])('a plugin with the setup %s is refused', async (setup, line) => {
  expect(await linesOf(entry(setup))).toEqual([expect.stringMatching(line)]);
});

test('two plugins cannot provide the same name, or have the same name', async () => {
  const engines = '() => ({ engines: { mine: {} } })';
  expect(await linesOf(entry(engines), entry(engines))).toEqual(['plugins: two plugins provide "mine"; leave one out']);
  const twice = entry('() => ({})');
  expect((await linesOf(twice, twice))[0]).toMatch(/^plugins\.1: plugin "plugin-\d+" is listed twice$/);
});

describe('problem codes of a plugin', () => {
  const SOUND = { status: 503, title: 'Closed', retry: true };
  const declaring = (problems: unknown, setup = '() => ({})') => {
    const made = entry(setup);
    const text = readFileSync(made.module, 'utf8').replace('export default {', `export default { problems: ${JSON.stringify(problems)},`);
    writeFileSync(made.module, text);
    return made;
  };

  test.each<[problems: unknown, lines: readonly string[]]>([
    [{ Closed: SOUND }, ['plugins.0: problems: "Closed" is not a code; write it in lower case with underscores, for example back_soon']],
    [{ rate_limited: SOUND }, ['plugins.0: problems: rate_limited belongs to the gateway; choose another word']],
    [{ ok: SOUND }, ['plugins.0: problems: ok belongs to the gateway; choose another word']],
    [{ closed: { ...SOUND, status: 200 } }, ['plugins.0: problems.closed.status: must be a whole number from 400 to 599']],
    [{ closed: { ...SOUND, status: '503' } }, ['plugins.0: problems.closed.status: must be a whole number from 400 to 599']],
    [
      { closed: {} },
      [/status: must be/, /title: must be a few words/, /retry: must be true or false/].map(
        (line) => expect.stringMatching(line) as string,
      ),
    ],
    [{ closed: 503 }, ['plugins.0: problems.closed: must be an object with status, title and retry']],
    [5, ['plugins.0: problems: must be an object of codes']],
  ])('%j are refused', async (problems, lines) => {
    expect(await linesOf(declaring(problems))).toEqual(lines);
  });

  test('belong to one plugin, and those in a route’s documentation have to be declared', async () => {
    const first = declaring({ closed: SOUND });
    expect(await linesOf(first, declaring({ closed: SOUND }))).toEqual([
      expect.stringMatching(/^plugins\.1: problems: closed already belongs to plugin "plugin-\d+"; choose another word$/),
    ]);
    const naming =
      "() => ({ routes: [{ method: 'GET', path: '/x', takesBody: false, steps: [], doc: { problems: ['closed', 'gone'] } }] })";
    expect(await linesOf(declaring({ closed: SOUND }, naming))).toEqual([
      'plugins.0: a route\'s documentation names the problem "gone"; declare it under problems',
    ]);
  });

  test('become refusals of the host with the declared status and words', async () => {
    const setup = "(_options, host) => ({ stores: {}, engines: { [JSON.stringify(host.refuse('closed', 'Soon.', { hours: 1 }))]: {} } })";
    const plugins = await loadPlugins([declaring({ closed: SOUND }, setup)], SILENT);
    const kind = { ...SOUND, meaning: 'Closed.', fields: [], mayHave: [], headers: ['Retry-After'], dashboardOnly: false };
    expect(JSON.parse([...plugins.engines.keys()][0]!)).toEqual({
      kind: 'problem',
      problem: { code: 'closed', kind, detail: 'Soon.', fields: { hours: 1 }, headers: [] },
    });
    expect(plugins.problems.get('closed')).toEqual({ plugin: expect.any(String) as string, kind, advice: undefined });
    const wrong = declaring({ closed: SOUND }, "(_options, host) => host.refuse('open', '')");
    expect(await linesOf(wrong)).toEqual([expect.stringContaining('the plugin has no problem code "open"; declare it under problems')]);
  });
});

test('a protocol of ours cannot be replaced', () => {
  const added = new Map<string, EngineProtocol>([['native', { attempt: () => Promise.reject(new Error('not called')) }]]);
  expect(() => setUpEngines(loadConfig({ env: {} }), added)).toThrow('the protocol "native" is the gateway\'s own');
});
