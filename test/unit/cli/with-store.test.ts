// Only certain commands create a database; the others say in one line which one is missing, and where its name came from.
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inProcess, temporaryFolder } from '../../support/lingate-command.ts';
import { startRedis } from '../../support/redis.ts';
import { written } from '../../support/written-file.ts';

const ID = '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC';
const CREATE = ['team', 'create', '--name', 'A', '--plan', 'free'];
/** Every command that opens the store and does not create it. */
const OTHERS = [
  ['team', 'list'],
  ['team', 'show', ID],
  ['team', 'update', ID, '--name', 'B'],
  ['key', 'create', '--team', ID, '--mode', 'live'],
  ['key', 'list', '--team', ID],
  ['key', 'revoke', ID],
  ['usage', ID],
  ['plan', 'apply', 'free'],
  ['store', 'check'],
  ['store', 'migrate'],
];
const folder = temporaryFolder();
/** Its own target: as little to be seen as a file in another user's directory, even by root. */
const LOOP = join(folder.path, 'loop.db');
let redis: Awaited<ReturnType<typeof startRedis>>;
beforeAll(async () => {
  redis = await startRedis();
  symlinkSync(LOOP, LOOP);
});
afterAll(async () => {
  await redis.stop();
  folder.remove();
});

describe('a store that does not exist', () => {
  test.each(OTHERS)('is not created by %s %s, which says so in one line', async (...words) => {
    const path = join(folder.path, 'none', 'a.db');
    const { status, stdout, stderr } = await inProcess([...words, '--store', `sqlite:${path}`]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(
      new RegExp(`^lingate [a-z]+( [a-z]+)?: there is no database at sqlite:${path}, which --store names; [^\\n]+\\n$`),
    );
    expect(existsSync(join(folder.path, 'none'))).toBe(false);
  });

  test('may be an empty Redis', async () => {
    const { status, stderr } = await inProcess(['team', 'list'], { LINGATE_STORE: redis.url });
    expect([status, stderr]).toEqual([1, expect.stringContaining(`there is no database at ${redis.url}, which LINGATE_STORE names;`)]);
    const made = await inProcess([...CREATE, '--store', redis.url]);
    expect([made.status, made.stderr]).toEqual([0, `lingate team create: made a new database, ${redis.url}\n`]);
    expect(await inProcess(['team', 'list'], { LINGATE_STORE: redis.url })).toMatchObject({ status: 0, stderr: '' });
  });

  test('may be an empty file, which is left as it is', async () => {
    const path = join(folder.path, 'empty.db');
    writeFileSync(path, '');
    expect((await inProcess(['team', 'list', '--store', `sqlite:${path}`])).stderr).toContain('there is no database at');
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  test.each([
    ['team', 'list', '--store'],
    ['store', 'backup', join(folder.path, 'copy.db'), '--store'],
    ['store', 'copy', '--to', `sqlite:${join(folder.path, 'target.db')}`, '--from'],
  ])('is not said to be missing by %s %s if it cannot be seen', async (...words) => {
    const { status, stdout, stderr } = await inProcess([...words, `sqlite:${LOOP}`]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^lingate [a-z]+( [a-z]+)?: sqlite:${LOOP} cannot be opened; name a file [^\\n]+\\n$`));
  });

  test('is reported with the configuration file that names it', async () => {
    const file = written(`store: sqlite:${join(folder.path, 'of-file.db')}`);
    const { stderr } = await inProcess(['team', 'list', '--config', file]);
    expect(stderr).toContain(`which ${file} names; name the right one by --store, LINGATE_STORE or the configuration`);
  });
});
