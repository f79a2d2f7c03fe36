// Which libraries a command loads: only those that it uses, so that it answers at once.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inProcess, lingate, temporaryFolder } from '../../support/lingate-command.ts';

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

beforeAll(async () => {
  await inProcess(['team', 'create', '--plan', 'free', '--name', 'a', '--store', store]);
});

afterAll(() => folder.remove());

async function probe(words: readonly string[]): Promise<Probed> {
  const { status, stderr } = await lingate(words, { nodeArgs: ['--import', PROBE], env: { PROBED: probed, LINGATE_STORE: store } });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(readFileSync(probed, 'utf8')) as Probed;
}

/** Without `ulid`, a page of code beside every id. */
function packagesOf({ urls }: Probed): string[] {
  const names = new Set(urls.flatMap((url) => /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? []));
  return [...names].filter((name) => name !== 'ulid');
}

describe('the packages that are loaded', () => {
  test.each(['--help', 'team list --help'])('by %s: none', async (line) => {
    const loaded = await probe(line.split(' '));
    expect(packagesOf(loaded)).toEqual([]);
    expect(loaded.urls.length).toBeGreaterThan(5);
  });

  test.each(['team list', 'config check --offline', 'openapi'])('by %s: the YAML parser', async (line) => {
    expect(packagesOf(await probe(line.split(' ')))).toEqual(['yaml']);
  });
});
