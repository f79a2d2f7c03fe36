// What a command loads: its own files, and of libraries only what it works with. Counts are exact, times only a guard against the worst.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lingate, parsed, temporaryFolder } from '../../support/lingate-command.ts';
import { runProgram, OWN_NODE } from '../../support/start-program.ts';

/** Writes the modules that are loaded, and the process's CPU in microseconds. */
const PROBE = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  import { writeFileSync } from 'node:fs';
  const urls = [];
  registerHooks({ load(url, context, next) { urls.push(url); return next(url, context); } });
  process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    writeFileSync(process.env.PROBED, JSON.stringify({ urls, cpu: user + system }));
  });
`)}`;

interface Probed {
  readonly urls: readonly string[];
  readonly cpu: number;
}

const folder = temporaryFolder();
const store = `sqlite:${join(folder.path, 'lingate.db')}`;
const probed = join(folder.path, 'probed.json');
let team = '';

beforeAll(async () => {
  const made = parsed(await lingate(['team', 'create', '--plan', 'free', '--name', 'a', '--store', store, '--json'])) as {
    readonly team_id: string;
  };
  team = made.team_id;
});

afterAll(() => folder.remove());

async function probe(words: readonly string[]): Promise<Probed> {
  const { status, stderr } = await lingate(words, { nodeArgs: ['--import', PROBE], env: { PROBED: probed, LINGATE_STORE: store } });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(readFileSync(probed, 'utf8')) as Probed;
}

/** Packages by name, with how many files of each. */
function packagesOf({ urls }: Probed): Record<string, number> {
  const names = urls.flatMap((url) => /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? []);
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));
}

function ownOf({ urls }: Probed): string[] {
  return urls.filter((url) => url.startsWith('file:') && !url.includes('/node_modules/'));
}

describe('what is loaded', () => {
  test.each([
    ['--help', 15],
    ['--version', 20],
    ['team --help', 15],
    ['team list --help', 32],
  ])('by %s: no package, and at most %i files of ours', async (line, most) => {
    const loaded = await probe(line.split(' '));
    expect(packagesOf(loaded)).toEqual({});
    expect(ownOf(loaded).length).toBeLessThanOrEqual(most);
    expect(ownOf(loaded).length).toBeGreaterThan(5);
  });

  test.each([
    ['team list', 125],
    ['team show TEAM', 125],
    ['key create --team TEAM --mode live', 125],
    ['key list --team TEAM', 125],
    ['usage TEAM', 125],
    ['config check', 90],
    ['routes', 55],
    ['openapi', 70],
  ])('by %s: the YAML parser, and at most %i files of ours', async (line, most) => {
    const loaded = await probe(line.split(' ').map((word) => (word === 'TEAM' ? team : word)));
    expect(Object.keys(packagesOf(loaded))).toEqual(['yaml']);
    expect(ownOf(loaded).length).toBeLessThanOrEqual(most);
  });

  test('TypeBox by a configuration that is wrong, for the words', async () => {
    const file = join(folder.path, 'wrong.yaml');
    writeFileSync(file, 'engine:\n  timeout_ms: many\n');
    const { status, stderr } = await lingate(['config', 'check', '--config', file], {
      nodeArgs: ['--import', PROBE],
      env: { PROBED: probed },
    });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `${file}: engine.timeout_ms: "many" is not a whole number from 1 to 300000\n`,
    });
    expect(Object.keys(packagesOf(JSON.parse(readFileSync(probed, 'utf8')) as Probed))).toEqual(['yaml', 'typebox']);
  });
});

test('--help and --version cost little more than a Node that runs a TypeScript file', async () => {
  const script = join(folder.path, 'empty.ts');
  writeFileSync(script, 'const nothing: number = 0;\nexport { nothing };\n');
  const cpu = { empty: Infinity, help: Infinity, version: Infinity };
  for (let round = 0; round < 3; round++) {
    await runProgram(OWN_NODE, ['--import', PROBE, script], { env: { PATH: process.env['PATH'], PROBED: probed } });
    cpu.empty = Math.min(cpu.empty, (JSON.parse(readFileSync(probed, 'utf8')) as Probed).cpu);
    cpu.help = Math.min(cpu.help, (await probe(['--help'])).cpu);
    cpu.version = Math.min(cpu.version, (await probe(['--version'])).cpu);
  }
  // Twice and three times as much here; without the care for it seven times.
  expect(cpu.help / cpu.empty).toBeLessThan(4);
  expect(cpu.version / cpu.empty).toBeLessThan(5);
});
