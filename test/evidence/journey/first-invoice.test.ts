// The manual's page from nothing to the first invoice: its commands run in a shell as they are, with stand-ins for the engines.
import { readFileSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { RightAnswer, ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { bareEnvironment } from '../../support/compile-cache.ts';
import { freePort } from '../../support/free-port.ts';
import { MAIN } from '../../support/lingate-command.ts';
import { codeBlocks, manualPage } from '../../support/manual.ts';
import { needsOf } from '../../support/programs.ts';
import { isRunning } from '../../support/process-tree.ts';
import { startProgram } from '../../support/start-program.ts';
import { startedUntil } from '../../support/started.ts';
import { untilOneDay } from '../../support/one-day.ts';
import { completion, openAiTexts } from '../../unit/engines/protocols/subjects.ts';

vi.setConfig({ testTimeout: 180_000 });

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PAGE = manualPage('first-invoice');
/** The sections with commands, by their numbers. */
const STEPS = PAGE.split(/^## /m).slice(1);
const INSTALL = STEPS[0]!;
/** Separates what the blocks print, and ends it however the shell ends. */
const MARK = '=== end of a block';
const DONE = '=== end of the page';
const PORTS = ['PORT', 'GATEWAY_1', 'GATEWAY_2', 'OPS_1', 'OPS_2', 'REDIS_PORT'] as const;
const USES = ['cat', 'curl', 'date', 'jq', 'lingate', 'mkdir', 'nginx', 'npm', 'openssl', 'redis-server', 'sed'] as const;
/** Without these nobody could run the tests. */
const THERE = ['ca-certificates', 'npm'];

const PHRASES: Readonly<Record<string, string>> = { es: 'La casa es grande.', de: 'Das Haus ist groß.' };
const codes = ['en', ...Object.keys(PHRASES)];

const libreTranslate: RightAnswer = ({ path, body }) => {
  if (path === '/languages') return JSON.stringify(codes.map((code) => ({ code, name: code, targets: codes })));
  const { q, target } = JSON.parse(body) as { q: string | string[]; target: string };
  return JSON.stringify({ translatedText: Array.isArray(q) ? q.map(() => PHRASES[target]) : PHRASES[target] });
};
const languageModel: RightAnswer = (request) => {
  if (request.path === '/v1/models') return '{"object":"list","data":[{"id":"gemma3:4b"}]}';
  return completion(Object.fromEntries(Object.keys(openAiTexts(request)).map((key) => [key, PHRASES['de']])));
};

const started = startedUntil(afterEach);
let folder: string;
let engines: readonly [ScriptedEngine, ScriptedEngine];

beforeEach(async () => {
  ({ folder } = started);
  engines = [await started.engine({ right: libreTranslate }), await started.engine({ right: languageModel })];
});

/** An empty home, where this checkout is what `npm install --global` has installed. */
async function machine(ports: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const prefix = join(folder, 'npm');
  for (const place of ['bin', 'lib/node_modules']) await mkdir(join(prefix, place), { recursive: true });
  await symlink(ROOT, join(prefix, 'lib/node_modules/lingate'));
  await symlink(MAIN, join(prefix, 'bin/lingate'));
  const bare = bareEnvironment();
  return {
    ...bare,
    ...ports,
    HOME: folder,
    PATH: [join(prefix, 'bin'), dirname(process.execPath), bare['PATH']].join(delimiter),
    npm_config_prefix: prefix,
    LIBRETRANSLATE_URL: engines[0].url,
    MODEL_URL: engines[1].url,
  };
}

async function chosenPorts(): Promise<Record<(typeof PORTS)[number], string>> {
  const ports = new Set<string>();
  while (ports.size < PORTS.length) ports.add(String(await freePort()));
  return Object.fromEntries([...ports].map((port, i) => [PORTS[i]!, port])) as Record<(typeof PORTS)[number], string>;
}

/** What each block printed, by steps, when all have run and everything that they started has ended. */
async function followed(env: Readonly<Record<string, string>>): Promise<readonly (readonly string[])[]> {
  const blocks = STEPS.map((step) => (step === INSTALL ? [] : codeBlocks(step, 'sh')));
  const script = blocks.flat().map((block) => `${block}printf '\\n%s\\n' '${MARK}'\n`);
  // What is said on standard error, such as curl's warnings before it tries again, would stand anywhere among the rest.
  const errors = join(folder, 'errors.txt');
  const shell = await startProgram('sh', ['-ec', `exec 2> errors.txt\ntrap "printf '%s\\n' '${DONE}'" EXIT\n${script.join('')}`], {
    cwd: folder,
    env: { ...env },
    uses: USES,
    ready: new RegExp(DONE),
    // A busy machine needs time to start all of that.
    readyMsMax: 150_000,
  });
  try {
    const printed = shell.output.split(`\n${MARK}\n`);
    expect(printed, readFileSync(errors, 'utf8')).toHaveLength(script.length + 1);
    // The last block stops it all: nothing holds the shell's output open.
    await shell.ended;
    // What it has stopped may still write into the folder: Redis keeps its data.
    await expect.poll(() => isRunning(-shell.pid)).toBe(false);
    let at = 0;
    return blocks.map((own) => own.map(() => printed[at++]!.trim()));
  } finally {
    await shell.end();
  }
}

test('what it installs from Debian is what the tests install; test:package runs the line for npm', () => {
  const [block, ...more] = codeBlocks(INSTALL, 'sh');
  expect(more).toEqual([]);
  const packages = /^apt-get install --no-install-recommends ([\w -]+)$/m.exec(block!)![1]!.split(' ');
  const installed = new Set([...needsOf('test:evidence').map((need) => need.package), ...THERE]);
  expect(packages.filter((name) => !installed.has(name))).toEqual([]);
  const others = block!.split('\n').filter((line) => !line.startsWith('apt-get '));
  expect(others).toEqual(['npm install --global node@24 ./lingate-*.tgz', '']);
});

await untilOneDay();
test('from an empty folder to the invoice: two engines, two gateways, nginx, a customer, a limit', async () => {
  const ports = await chosenPorts();
  const [, , engine, , config, serve, , translate, limit, watch, invoice] = await followed(await machine(ports));
  expect(engine).toEqual([JSON.stringify(codes) + '\n["gemma3:4b"]']);
  expect(config![0]).toContain(`model (openai): ${engines[1].url}`);
  expect(serve![0]!.match(/"ready":true/g)).toHaveLength(2);
  expect(serve![1]).toContain('{"status":"ok"}');

  const shown = (step: number, language: string): string[] =>
    codeBlocks(STEPS[step - 1]!, language).map((block) => block.trim().replaceAll('127.0.0.1:8000', `127.0.0.1:${ports.PORT}`));
  expect(translate![0]).toBe(shown(8, 'json')[0]);
  expect(translate![1]).toMatch(/^The rule routing\.0 matches\.\nENGINE\s+model +attempt 1\s+libretranslate +attempt 2$/);

  const [refusal, statuses, usage] = limit!;
  const { request_id: _id, period_end: _end, ...members } = JSON.parse(shown(9, 'json')[0]!) as Record<string, unknown>;
  expect(Object.keys(JSON.parse(refusal!) as object)).toEqual(Object.keys(JSON.parse(shown(9, 'json')[0]!) as object));
  expect(JSON.parse(refusal!)).toMatchObject(members);
  expect(statuses!.split(' ')).toHaveLength(40);
  expect(statuses).toMatch(/^200 .*429/);
  expect(JSON.parse(usage!)).toMatchObject({ character_count: 34, overage: { character_count: 14, cost_minor: 14 } });

  expect(watch![0]).toMatch(/^\S+\tPOST \/v1\/translate\t402\tquota_exceeded\tteam$/);
  expect(watch![1]!.split('\n').map((line) => line.replace(/translates in .*: /, ''))).toEqual([
    expect.stringMatching(/^[\da-f]{64}$/),
    `libretranslate, ${engines[0].url}: ${PHRASES['de']}`,
    `model, ${engines[1].url}: ${PHRASES['de']}`,
  ]);

  const team = /01[\dA-Z]{24}/.exec(invoice![0]!)![0];
  const [csv, line] = [shown(11, 'csv')[0]!, shown(11, 'text')[0]!];
  const dateless = (text: string): string => text.replaceAll(/\d{4}-\d{2}-01/g, 'D');
  expect(dateless(invoice![0]!.replaceAll('\r', ''))).toBe(dateless(csv.replace(/^01\w+/m, team)));
  expect(dateless(invoice![1]!)).toBe(dateless(line));
});
