// lingate store backup, check and migrate: what they print, and what they say when they fail.
import { existsSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { DAY_MS } from '../../../src/domain/period.ts';
import { inProcess, parsed, temporaryFolder } from '../../support/lingate-command.ts';
import type { Ended, Folder } from '../../support/lingate-command.ts';
import { startRedis } from '../../support/redis.ts';

let folder: Folder;
let redis: Awaited<ReturnType<typeof startRedis>>;
beforeAll(async () => {
  folder = temporaryFolder();
  redis = await startRedis();
});
afterAll(async () => {
  await redis.stop();
  folder.remove();
});

let count = 0;
let path: string;
let env: Record<string, string>;
const run = (...args: string[]): Promise<Ended> => inProcess(args, env);
const json = async (...args: string[]): Promise<unknown> => parsed(await run(...args, '--json'));
const makeTeam = async (...more: string[]): Promise<string> =>
  ((await json('team', 'create', '--name', 'A', '--plan', 'free', ...more)) as { team_id: string }).team_id;
const makeKey = async (team: string, ...more: string[]): Promise<string> =>
  ((await json('key', 'create', '--team', team, '--mode', 'live', ...more)) as { key_id: string }).key_id;
beforeEach(() => {
  path = join(folder.path, `${count++}`, 'lingate.db');
  env = { LINGATE_STORE: `sqlite:${path}` };
});

describe('store backup', () => {
  test('writes a file that can be used as a store', async () => {
    const team = await makeTeam();
    const file = join(folder.path, 'backup.db');
    const { stdout, status } = await run('store', 'backup', file);
    expect([status, stdout]).toEqual([0, expect.stringMatching(new RegExp(`^Wrote ${file}, \\d+ bytes\\.\\n$`))]);
    const restored = await inProcess(['team', 'show', team, '--json'], { LINGATE_STORE: `sqlite:${file}` });
    expect(parsed(restored)).toEqual(await json('team', 'show', team));
    expect(await run('store', 'backup', file)).toEqual({
      status: 1,
      stdout: '',
      stderr: `lingate store backup: ${file} exists already and is left as it is: name a file that does not exist.\n`,
    });
    expect(await json('store', 'backup', `${file}.json`)).toEqual({ file: `${file}.json`, bytes: statSync(file).size });
  });

  test('refuses in one line what it cannot back up', async () => {
    const file = join(folder.path, 'none.db');
    expect((await run('store', 'backup', file)).stderr).toMatch(
      /^lingate store backup: there is no database at sqlite:\S+ \(\S+\), which LINGATE_STORE names;[^\n]+\n$/,
    );
    const { status, stderr } = await inProcess(['store', 'backup', file, '--store', redis.url]);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/is backed up by Redis itself: copy its snapshot \(BGSAVE\)[^\n]+\n$/)]);
    expect((await run('store', 'backup')).status).toBe(2);
    expect(existsSync(file)).toBe(false);
  });
});

describe('store show', () => {
  test.each(['sqlite', 'redis'])('prints what the store has of a team (%s)', async (kind) => {
    const url = kind === 'redis' ? redis.url : env['LINGATE_STORE']!;
    const team = await makeTeam('--store', url);
    const key = await makeKey(team, '--label', 'ci', '--store', url);
    await run('tag', 'set', team, 'job', '--limit', 'characters=10/day', '--store', url);
    const shown = (await json('store', 'show', team, '--store', url)) as Record<string, unknown>;
    expect(shown).toMatchObject({
      team: { teamId: team, name: 'A', plan: 'free' },
      period: { number: 1 },
      'count:team': { usedCharacters: 0, openReservations: 0 },
      'slots:team': 0,
      [`key:${key}`]: { keyId: key, label: 'ci', mode: 'live' },
      [`count:key:${key}`]: { characters: 0, requests: 0 },
      'tag:job': { disabled: false, windows: 'characters=10/day' },
    });
    expect(JSON.stringify(shown)).not.toContain('digest');
    const { stdout } = await run('store', 'show', team, '--store', url);
    expect([...stdout.matchAll(/^\S+/gm)].map(([name]) => name)).toEqual(Object.keys(shown));
    const unknown = await run('store', 'show', key, '--store', url);
    expect([unknown.status, unknown.stderr]).toEqual([1, expect.stringMatching(/^lingate store show: there is no team [^\n]+\n$/)]);
  });
});

describe('store check', () => {
  test('prints what it checked if nothing is wrong', async () => {
    const team = await makeTeam();
    await makeKey(team);
    expect((await run('store', 'check')).stdout).toBe('Checked 1 team, 1 key and 0 glossaries: nothing is wrong.\n');
    expect(await json('store', 'check')).toEqual({
      store: `sqlite:${path}`,
      ok: true,
      teams: 1,
      keys: 1,
      glossaries: 0,
      documents: 0,
      document_bytes: 0,
      faults: 0,
      findings: [],
    });
  });

  test('names team and key of each fault, and fails', async () => {
    const team = await makeTeam();
    await makeKey(team);
    onFile("UPDATE teams SET record = json_set(record, '$.limits.requestsPerSecond', 0); UPDATE accounts SET used_characters = 9");
    const { status, stdout, stderr } = await run('store', 'check');
    expect(stdout.split('\n')).toEqual([
      `limits: team ${team}: its limits let no request through`,
      `used: team ${team}: it has used 9 characters in its period, its charges have 0`,
      'Checked 1 team, 1 key and 0 glossaries: 2 faults.',
      '',
    ]);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^lingate store check: sqlite:\S+ has 2 faults; keep a copy [^\n]+\n$/)]);
    const { stdout: printed, status: same } = await run('store', 'check', '--json');
    const findings = [
      { what: 'limits', team_id: team, key_id: null, detail: 'its limits let no request through' },
      { what: 'used', team_id: team, key_id: null, detail: 'it has used 9 characters in its period, its charges have 0' },
    ];
    expect([same, JSON.parse(printed)]).toEqual([1, expect.objectContaining({ ok: false, faults: 2, findings })]);
    // What follows from the rest can be written again; the rest cannot.
    const repaired = await run('store', 'check', '--repair', '--yes', '--json');
    const written = `team ${team}: its sums and indexes are written again, as its records say`;
    expect([repaired.status, JSON.parse(repaired.stdout)]).toEqual([1, expect.objectContaining({ faults: 1, repaired_teams: [written] })]);
  });

  test('counts documents that are configured, and mends what is wrong with them', async () => {
    await makeTeam();
    const config = join(folder.path, 'documents.yaml');
    writeFileSync(config, 'documents: { secret: { env: NOT_READ_BY_COMMANDS } }\n');
    const check = (...more: string[]): Promise<Ended> => run('store', 'check', '--config', config, ...more);
    expect((await check()).stdout).toBe('Checked 1 team, 0 keys and 0 glossaries, 0 documents with 0 bytes: nothing is wrong.\n');
    onFile("INSERT INTO records VALUES (0, 'totals', 'documents', '77')");
    const wrong = 'document: the files of all documents are counted with 77 bytes, but have 0\n';
    expect(await check()).toMatchObject({ status: 1, stdout: expect.stringContaining(wrong) as string });
    const mended = 'the bytes of all documents are added up again';
    expect(parsed(await check('--repair', '--yes', '--json'))).toMatchObject({ ok: true, repaired_documents: [mended] });
    expect((await check('--repair', '--yes')).stdout).not.toContain('repaired');
  });

  test('checks Redis, and refuses a store that does not exist', async () => {
    env = { LINGATE_STORE: redis.url };
    await makeTeam();
    expect((await run('store', 'check')).stdout).toContain('nothing is wrong');
    const away = await inProcess(['store', 'check', '--store', 'redis://127.0.0.1:1']);
    expect([away.status, away.stderr]).toEqual([
      1,
      expect.stringMatching(/^lingate store check: the store redis:\/\/127\.0\.0\.1:1 cannot be used \(ECONNREFUSED\): [^\n]+\n$/),
    ]);
  });
});

describe("a plugin's store", () => {
  const example = fileURLToPath(new URL('../../support/plugins/reference-plugin.ts', import.meta.url));

  test('is checked, repaired and copied in both directions if the configuration names the plugin', async () => {
    const config = join(folder.path, 'plugin.yaml');
    writeFileSync(config, `plugins: [{ module: ${JSON.stringify(example)} }]\n`);
    env = { LINGATE_CONFIG: config, LINGATE_STORE: 'memory:one' };
    const team = await makeTeam();
    await makeKey(team);
    const intact = 'Checked 1 team, 1 key and 0 glossaries: nothing is wrong.\n';
    expect((await run('store', 'check')).stdout).toBe(intact);
    expect((await run('store', 'check', '--repair', '--yes')).stdout).toBe(intact);
    const file = `sqlite:${path}`;
    const copied = await run('store', 'copy', '--from', 'memory:one', '--to', file, '--json');
    expect(JSON.parse(copied.stdout)).toMatchObject({ from: 'memory:one', to: file, teams: 1, keys: 1 });
    expect(await json('team', 'show', team, '--store', file)).toEqual(await json('team', 'show', team));
    // All of this plugin's URLs name one store.
    const back = await run('store', 'copy', '--from', file, '--to', 'memory:two');
    expect([back.status, back.stderr]).toEqual([1, expect.stringContaining('the store memory:two is not empty (it has teams)')]);
    expect((await run('team', 'delete', team, '--erase-usage', '--yes')).status).toBe(0);
    const retained = await run('store', 'copy', '--from', file, '--to', 'memory:two');
    expect([retained.status, retained.stderr]).toEqual([1, expect.stringContaining('the store memory:two is not empty (it has an audit)')]);
  });

  test('is not read by a clock that is wrong, unless it is accepted', async () => {
    const config = join(folder.path, 'stepped.yaml');
    writeFileSync(config, `plugins: [{ module: ${JSON.stringify(example)} }]\n`);
    env = { LINGATE_CONFIG: config, LINGATE_STORE: 'memory:one' };
    expect((await run('team', 'list')).status).toBe(0);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61 * DAY_MS });
    expect((await run('store', 'check', '--accept-clock')).status).toBe(0);
    vi.useRealTimers();
    const { status, stdout, stderr } = await run('store', 'check');
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      'lingate store check: this machine\'s clock is 61 days behind the latest time of the store memory:one: set it right, or if it is, run "lingate store check --accept-clock"\n',
    );
    expect((await run('store', 'check', '--accept-clock')).status).toBe(0);
    expect((await run('store', 'check')).status).toBe(0);
  });

  test('is a one-line error without its plugin', async () => {
    await makeTeam();
    const { status, stderr } = await run('store', 'copy', '--from', `sqlite:${path}`, '--to', 'memory:one');
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^lingate store copy: the store memory:one cannot be opened: [^\n]+ must name the plugin that opens memory: URLs\n$/,
    );
  });
});

test('a file of another schema is refused in one line, and is not changed', async () => {
  await makeTeam();
  onFile('PRAGMA user_version = 21');
  for (const words of ['team list', 'store check', 'store migrate']) {
    const { status, stdout, stderr } = await run(...words.split(' '));
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^lingate [a-z ]+: sqlite:\S+ was written by another version of Lingate \(schema 21, this one has \d+\); run that version, or name another file\.\n$/,
    );
  }
});

test.each<[what: string, make: () => void, words: RegExp]>([
  ['of another program', () => onFile('CREATE TABLE songs (title TEXT)'), /is the database of another program; name another file/],
  ['that is no database', () => writeFileSync(path, 'Dear diary, '.repeat(1000)), /is not a SQLite database; name another file/],
])('a file %s is refused in one line, and is not changed', async (_what, make, words) => {
  mkdirSync(dirname(path));
  make();
  const before = readFileSync(path);
  const { status, stdout, stderr } = await run('team', 'list');
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^lingate team list: sqlite:[^\n]+\n$/);
  expect(stderr).toMatch(words);
  expect(readFileSync(path).equals(before)).toBe(true);
});

test('a file that was truncated is refused, and a new one is for its owner alone', async () => {
  await makeTeam();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  truncateSync(path, Math.floor(statSync(path).size / 4096 / 2) * 4096);
  const { status, stderr } = await run('team', 'list');
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^lingate team list: [^\n]+ is damaged; restore it from a backup[^\n]*\n$/)]);
});

function onFile(sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}
