// Plugins load from everywhere: beside the configuration, in packages, in TypeScript and JavaScript, beside a checkout or an installed package.
import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { codeBlocks, manualPage } from '../support/manual.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { runProgram } from '../support/start-program.ts';
import { emptyFolder, ROOT, writeFiles } from './installed.ts';

const CHECKOUT = join(ROOT, 'src/lingate.js');
const KEY = `la_test_${'a'.repeat(40)}`;
const PLACE = ['--listen', '127.0.0.1:0', '--ops', '127.0.0.1:0', '--store', 'sqlite:lingate.db'];

/** What every plugin below does: marks the answer of `GET /health`. */
const MARK = (name: string): string => `
  options: Type.Object({ word: Type.String() }, { additionalProperties: false }),
  setup: ({ word }) => ({
    steps: [{ after: 'access-log', routes: ['GET /health'], step: { kind: 'head', name: '${name}', run: (x) => mark(x, word) } }],
  }),
});
`;

const PLUGINS: Readonly<Record<string, string>> = {
  // TypeScript that keeps part of itself in another folder.
  'beside/plugin.ts': `
import Type from 'typebox';
import { definePlugin } from 'lingate';
import { mark } from '../parts/mark.ts';

export default definePlugin({ name: 'in-typescript',${MARK('in-typescript')}`,
  'parts/mark.ts': `
import { keyOwnerSlot } from 'lingate';
import type { Exchange } from 'lingate';

/** Uses a slot of the gateway's own: another copy of it would have none on this exchange. */
export function mark(x: Exchange, word: string): undefined {
  x.set(keyOwnerSlot, { teamId: word, keyId: word, mode: 'live' });
  x.responseHeaders = [...x.responseHeaders, ['X-Mark', x.need(keyOwnerSlot).teamId]];
  return undefined;
}
`,
  'beside/plugin.js': `
import { Type } from 'typebox';
import { definePlugin } from 'lingate';

const mark = (x, word) => void (x.responseHeaders = [...x.responseHeaders, ['X-Mark', word]]);
export default definePlugin({ name: 'in-javascript',${MARK('in-javascript')}`,
  'node_modules/lingate-plugin-typed/package.json': '{"name":"lingate-plugin-typed","type":"module","exports":{"import":"./src/index.ts"}}',
  'node_modules/lingate-plugin-typed/src/index.ts': `
import Type from 'typebox';
import { definePlugin } from 'lingate';
import { mark } from './mark.ts';

export default definePlugin({ name: 'in-a-package',${MARK('in-a-package')}`,
  'node_modules/lingate-plugin-typed/src/mark.ts': `
import type { Exchange } from 'lingate';

export const mark = (x: Exchange, word: string): undefined => void (x.responseHeaders = [...x.responseHeaders, ['X-Mark', word]]);
`,
  'node_modules/@scope/common/package.json': '{"name":"@scope/common","main":"index.cjs"}',
  'node_modules/@scope/common/index.cjs': `
const { Type } = require('typebox');
const { definePlugin } = require('lingate');

const mark = (x, word) => void (x.responseHeaders = [...x.responseHeaders, ['X-Mark', word]]);
module.exports = definePlugin({ name: 'in-common-js',${MARK('in-common-js')}`,
};

const CONFIGURATION = `plugins:
  - { module: ./beside/plugin.ts, options: { word: one } }
  - { module: beside/plugin.js, options: { word: two } }
  - { module: lingate-plugin-typed, options: { word: three } }
  - { module: "@scope/common", options: { word: four } }
`;

/** The guide's protocol and store, tested against the contracts with Node's test runner; and a store that implements nothing. */
const CONTRACTS = `
import { after, test } from 'node:test';
import { accountsContract, protocolContract, scriptedTranslation, storeContract } from 'lingate/testing';
import { mine } from './example/own-protocol.ts';
import { twoCalls } from './example/two-calls.ts';
import { ReferenceData, referenceStore } from './store/reference-store.ts';

const outOf = ({ body }) => JSON.parse(body).in.map((text) => scriptedTranslation(text, 'DE'));
const protocol = protocolContract({
  protocol: mine,
  options: { api_key: 'secret' },
  right: (request) => JSON.stringify({ out: outOf(request) }),
  wrong: { 'one too few': (request) => JSON.stringify({ out: outOf(request).slice(1) }), 'no texts': () => '{"out":[1]}' },
});
for (const { name, run } of protocol.cases) test('protocol ' + name, run);
const right = (request) => JSON.stringify(request.path === '/token' ? { token: 't' } : { out: outOf(request) });
const calls = protocolContract({
  protocol: twoCalls,
  options: { api_key: 'secret' },
  right,
  wrong: {
    'no token': (request) => (request.path === '/token' ? '{}' : right(request)),
    'one too few': (request) => (request.path === '/token' ? right(request) : JSON.stringify({ out: outOf(request).slice(1) })),
  },
});
for (const { name, run } of calls.cases) test('two calls ' + name, run);
after(() => calls.close());
const data = new ReferenceData();
const newDatabase = () => new ReferenceData();
const openMyStore = async (clock, database = data) => referenceStore(clock, database);
${codeBlocks(manualPage('plugins'), 'js')[0]!
  .replaceAll(/^import .*\n/gm, '')
  .replaceAll('test(name', "test('reference ' + name")}
const store = storeContract(() => Promise.reject(new Error('no store at all')));
for (const { name, run } of store.cases) test('store ' + name, run);
after(() => protocol.close());
`;

/** What an author adds to a plugin, according to the guide. */
const TSCONFIG = JSON.stringify({
  compilerOptions: {
    target: 'es2024',
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    types: [],
  },
  include: ['beside', 'parts', 'readme', 'example'],
});

/** The guide's examples, as a user copies them beside the configuration. */
const EXAMPLES = Object.fromEntries(
  readdirSync(join(ROOT, 'config/examples')).map((name) => [`example/${name}`, readFileSync(join(ROOT, 'config/examples', name), 'utf8')]),
);

/** The store that the tests compare others with: it needs nothing but the package. */
const REFERENCE = Object.fromEntries(
  readdirSync(join(ROOT, 'test/support'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /^reference(?:-store\.ts|\/.+)$/.test(name))
    .map((name) => [`store/${name}`, readFileSync(join(ROOT, 'test/support', name), 'utf8')]),
);

const project = inject('project');

/** For one test. */
function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = emptyFolder();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFiles(folder, files);
  return folder;
}

/** The marks on an answer of a gateway that runs with `config.yaml` in the folder. */
async function marksOf(main: string, folder: string, more: readonly string[]): Promise<string | null> {
  const args = ['serve', '--config', join(folder, 'config.yaml'), ...PLACE, ...more];
  const gateway = await startGatewayProcess({ args, cwd: folder, main });
  try {
    return (await fetch(`${gateway.url}/health`)).headers.get('x-mark');
  } finally {
    expect(await gateway.end('SIGTERM')).toBe(0);
    expect(gateway.output()).not.toContain('Warning');
  }
}

const BESIDE: readonly (readonly [name: string, mainOf: () => string])[] = [
  ['a checkout', () => CHECKOUT],
  ['an installed package', () => project.lingate],
];

test.each(BESIDE)(
  "beside %s TypeScript and JavaScript, files and packages are loaded with the gateway's own copies, in every worker",
  async (_name, mainOf) => {
    const folder = folderWith({ ...PLUGINS, 'config.yaml': CONFIGURATION });
    expect(await marksOf(mainOf(), folder, ['--workers', '2'])).toBe('one, two, three, four');
  },
);

describe('beside an installed package', () => {
  const mainOf = (): string => project.lingate;

  test('the plugins that come with the gateway add their routes', async () => {
    const names = ['deepl-v2', 'libretranslate', 'google-v2', 'google-v3'].map((name) => ({ module: `lingate/plugins/${name}` }));
    const plugins = [...names, { module: 'lingate/plugins/azure-v3', options: { root: false } }];
    const folder = folderWith({ 'config.yaml': JSON.stringify({ plugins }) });
    const { stdout } = await runProgram('node', [mainOf(), 'routes', '--config', 'config.yaml', '--json'], { cwd: folder });
    const routes = ['/v2/translate', '/translate', '/language/translate/v2', '/translator/text/v3.0/translate'];
    for (const route of routes) expect(stdout).toContain(`"POST ${route}"`);
  });

  test("the README's example works unchanged, from an empty folder", async () => {
    const folder = folderWith(exampleOf('README.md', 'maintenance.ts'));
    const args = ['serve', '--config', 'config.yaml', ...PLACE];
    const gateway = await startGatewayProcess({ args, cwd: folder, main: mainOf() });
    const answer = await fetch(`${gateway.url}/v1/languages`, { headers: { authorization: `Bearer ${KEY}` } });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    const problem = (await answer.json()) as Readonly<Record<string, unknown>>;
    expect(problem).toMatchObject({ code: 'maintenance', title: 'Closed for maintenance', status: 503, detail: 'Back in an hour.' });
    expect(problem['type']).toMatch(/\/docs\/errors#maintenance$/);
    const page = await (await fetch(`${gateway.opsUrl}/docs/errors`)).text();
    expect(page).toContain('<section id="maintenance"');
    expect(await gateway.end('SIGTERM')).toBe(0);
  });

  test("so does the guide's example route, in its own folder, with a key", async () => {
    const meter = join(dirname(realpathSync(mainOf())), '../config/examples/meter.ts');
    const folder = folderWith({ 'config.yaml': JSON.stringify({ plugins: [{ module: meter }] }) });
    const command = async (...args: readonly string[]): Promise<Readonly<Record<string, string>>> => {
      const { stdout } = await runProgram('node', [mainOf(), ...args, '--json', '--store', 'sqlite:lingate.db'], { cwd: folder });
      return JSON.parse(stdout) as Readonly<Record<string, string>>;
    };
    const { team_id } = await command('team', 'create', '--name', 'Acme', '--plan', 'pro');
    const { key } = await command('key', 'create', '--team', team_id!, '--mode', 'test');
    const config = ['--config', 'config.yaml'];
    expect(JSON.stringify(await command('routes', ...config))).toContain('"GET /meter","steps":["access-log","shed","identify"');
    expect(await command('openapi', ...config)).toHaveProperty(['paths', '/meter', 'get', 'tags', 0], 'meter');
    // The primary describes what the workers answer.
    const args = ['serve', ...config, ...PLACE, '--workers', '2'];
    const gateway = await startGatewayProcess({ args, cwd: folder, main: mainOf() });
    const answer = await fetch(`${gateway.url}/meter`, { headers: { authorization: `Bearer ${key}` } });
    expect([answer.status, await answer.json()]).toEqual([200, { characters: 0 }]);
    expect((await fetch(`${gateway.url}/meter`)).status).toBe(401);
    const document = (await (await fetch(`${gateway.opsUrl}/openapi.json`)).json()) as { paths: object };
    expect(document.paths).toHaveProperty(['/meter', 'get', 'tags', 0], 'meter');
    expect(await gateway.end('SIGTERM')).toBe(0);
  });

  test.each([
    [
      'lingate-plugin-none',
      "plugins.0.module: lingate-plugin-none cannot be loaded: Cannot find package 'lingate-plugin-none' imported from ",
    ],
    [
      'lingate/plugins/none',
      'plugins.0.module: lingate/plugins/none is not one of the plugins that come with the gateway; they are lingate/plugins/azure-v3, ',
    ],
    ['./none.ts', 'plugins.0.module: '],
  ])('%s, which does not exist, is reported in one line', async (module, line) => {
    const folder = folderWith({ 'config.yaml': `plugins: [{ module: ${module} }]\n` });
    const { status, stderr } = await runProgram('node', [mainOf(), 'routes', '--config', 'config.yaml'], { cwd: folder });
    expect(status).toBe(1);
    expect(stderr.trimEnd().split('\n')).toEqual([expect.stringContaining(line)]);
  });
});

test('in a project that has the package, the plugins type-check unchanged, and a mistake is found', { timeout: 320_000 }, async () => {
  writeFiles(project.folder, {
    ...PLUGINS,
    'tsconfig.json': TSCONFIG,
    'readme/maintenance.ts': exampleOf('README.md', 'maintenance.ts')['maintenance.ts']!,
    ...EXAMPLES,
    'parts/wrong.ts': "import { refuse } from 'lingate';\nexport const no = refuse('rate_limited', 'Slower.');\n",
  });
  // The example in PostgreSQL brings its client, as any plugin does.
  mkdirSync(join(project.folder, 'node_modules/@types'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules/@types/pg'), join(project.folder, 'node_modules/@types/pg'));
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { stdout } = await runProgram('node', [compiler, '-p', project.folder], { msMax: 150_000 });
  // The mistake, and nothing else.
  expect(stdout.split('\n').filter((line) => /^\S/.test(line))).toEqual([
    expect.stringMatching(/^(?:\S*\/)?parts\/wrong\.ts\(2,19\): error TS2554/),
  ]);
});

test('in a project that has the package, any test runner can check a protocol and a store against their contracts', async () => {
  writeFiles(project.folder, { ...EXAMPLES, ...REFERENCE, 'contracts.test.js': CONTRACTS });
  const { stdout } = await runProgram('node', ['--test', '--test-reporter=tap', 'contracts.test.js'], { cwd: project.folder });
  const count = (what: string): number => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(stdout)?.[1]);
  expect(count('pass')).toBeGreaterThan(240);
  // The empty store fulfils nothing of its contract, and every case says so.
  expect(count('fail')).toBeGreaterThan(100);
  const failed = [...stdout.matchAll(/^not ok \d+ - (.*)$/gm)].map((match) => match[1]!);
  expect(failed.filter((name) => !name.startsWith('store '))).toEqual([]);
});

/** The first plugin in a text, and the configuration after it. */
function exampleOf(text: string, name: string): Readonly<Record<string, string>> {
  const match = /```ts\n([^`]*definePlugin\((?:(?!```)[^])*)```\n+```yaml\n(plugins:\n(?:(?!```)[^])*)```/.exec(
    readFileSync(join(ROOT, text), 'utf8'),
  );
  if (match === null || !match[2]!.includes(`./${name}`)) throw new Error(`${text} has no plugin ${name} with its configuration`);
  return { [name]: match[1]!, 'config.yaml': match[2]! };
}
