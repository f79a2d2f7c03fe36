// Which modules a command loads: its own files, and only the libraries that it uses.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lingate, parsed, temporaryFolder } from '../../support/lingate-command.ts';

/** Writes the loaded modules to a file. */
const PROBE = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  import { writeFileSync } from 'node:fs';
  const urls = new Set();
  registerHooks({ resolve(name, context, next) { const found = next(name, context); urls.add(found.url); return found; } });
  process.on('exit', () => writeFileSync(process.env.PROBED, JSON.stringify({ urls: [...urls] })));
`)}`;

interface Probed {
  readonly urls: readonly string[];
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

/** The number of loaded files of each package, without the binaries of uWebSockets.js, which `--version` loads. */
function packagesOf({ urls }: Probed): Record<string, number> {
  const modules = urls.filter((url) => !url.endsWith('.node'));
  const names = modules.flatMap((url) => /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? []);
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));
}

/** Without engine protocols: whatever reads a configuration knows the options of each. */
function ownOf({ urls }: Probed): string[] {
  return urls.filter((url) => url.startsWith('file:') && !url.includes('/node_modules/') && !url.includes('/engines/protocols/'));
}

describe('what is loaded', () => {
  test.each([
    ['--help', 14],
    ['--version', 19],
    ['team --help', 14],
    ['team list --help', 40],
  ])('by %s: no package, and at most %i files of ours', async (line, most) => {
    const loaded = await probe(line.split(' '));
    expect(packagesOf(loaded)).toEqual({});
    expect(ownOf(loaded).length).toBeLessThanOrEqual(most);
    expect(ownOf(loaded).length).toBeGreaterThan(5);
    // Importing it takes a fifth of the time of an empty Node, because every stream of the process is set up; it is also a global.
    expect(loaded.urls).not.toContain('node:process');
  });

  test.each([
    ['team list', 148],
    ['team show TEAM', 150],
    ['key create --team TEAM --mode live', 149],
    ['key list --team TEAM', 149],
    ['usage TEAM', 148],
    ['config check --offline', 98],
    ['routes', 61],
    ['openapi', 81],
  ])('by %s: the YAML parser, and at most %i files of ours', async (line, most) => {
    const loaded = await probe(line.split(' ').map((word) => (word === 'TEAM' ? team : word)));
    expect(Object.keys(packagesOf(loaded))).toEqual(['yaml']);
    expect(ownOf(loaded).length).toBeLessThanOrEqual(most);
  });
});
