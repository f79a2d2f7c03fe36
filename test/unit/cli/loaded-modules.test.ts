// Which libraries a command loads: only those that it uses, so that it answers at once.
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

/** Without the binaries of uWebSockets.js, which `--version` loads, and `ulid`, a page of code beside every id. */
function packagesOf({ urls }: Probed): string[] {
  const modules = urls.filter((url) => !url.endsWith('.node'));
  const names = new Set(modules.flatMap((url) => /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? []));
  return [...names].filter((name) => name !== 'ulid');
}

describe('the packages that are loaded', () => {
  test.each(['--help', '--version', 'team --help', 'team list --help'])('by %s: none', async (line) => {
    const loaded = await probe(line.split(' '));
    expect(packagesOf(loaded)).toEqual([]);
    expect(loaded.urls.length).toBeGreaterThan(5);
  });

  test.each(['team list', 'team show TEAM', 'key list --team TEAM', 'usage TEAM', 'config check --offline', 'routes', 'openapi'])(
    'by %s: the YAML parser',
    async (line) => {
      const loaded = await probe(line.split(' ').map((word) => (word === 'TEAM' ? team : word)));
      expect(packagesOf(loaded)).toEqual(['yaml']);
    },
  );
});
