// A load takes files when two looks at them agree, and says which did not settle.
import { renameSync, utimesSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ConfigError } from '../../../src/config/config-error.ts';
import { FileSet } from '../../../src/config/file-set.ts';
import { loadSettled } from '../../../src/config/settled-load.ts';
import { freshFolder, written } from '../../support/written-file.ts';

const ONCE = { twice: false, before: undefined };
const TWICE = { twice: true, before: undefined };

test.each([ONCE, TWICE])('a file that is still being written is taken when it is whole: %o', async (options) => {
  const file = written('service: { na');
  const load = loadSettled({ file, env: {} }, options);
  await delay(60);
  writeFileSync(file, 'service: { name: whole }');
  expect((await load).config().service.name).toBe('whole');
});

test('so are files that it names, and one that is there only at the second look', async () => {
  const folder = freshFolder();
  const token = written('half', 'token', folder);
  const file = written('admin: { token: { file: token } }\ntls: { cert_file: cert.pem, key_file: token }', 'lingate.yaml', folder);
  const load = loadSettled({ file, env: {} }, TWICE);
  await delay(60);
  writeFileSync(token, 'whole');
  const late = written('certificate', 'late', folder);
  renameSync(late, late.replace('late', 'cert.pem'));
  const { files } = (await load).config().sources;
  expect([token, late.replace('late', 'cert.pem')].map((path) => files.get(path))).toEqual(
    ['whole', 'certificate'].map((text) => ({ kind: 'file', bytes: Buffer.from(text) })),
  );
});

test('a wrong file is refused as it was at both looks', async () => {
  const file = written('listner: uws');
  const { config } = await loadSettled({ file, env: {} }, ONCE);
  expect(config).toThrow('listner: is not known; did you mean listener?');
});

test('a file that never stays the same is named', async () => {
  const file = written('{}');
  let text = '{}';
  const writing = setInterval(() => writeFileSync(file, (text += ' ')), 20);
  await expect(loadSettled({ file, env: {} }, ONCE)).rejects.toThrow(
    new ConfigError([`${file}: was different at each of 10 looks, 200 ms apart; try again when nothing writes it`]),
  );
  clearInterval(writing);
});

test('a file that was changed a while ago needs one look, one of now or of the future two', () => {
  const file = written('{}');
  const nowMs = Date.now();
  const isRecent = (atMs: number): boolean => {
    const files = new FileSet();
    files.read(file);
    return files.isRecent(atMs);
  };
  expect([nowMs + 1500, nowMs + 500, nowMs - 60_000].map(isRecent)).toEqual([false, true, true]);
  // A file that was moved here has kept its own time.
  utimesSync(file, 0, 0);
  expect(isRecent(nowMs)).toBe(true);
});
