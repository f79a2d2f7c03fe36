// lingate invoices as a table: a line with the operator's own reference for each period, and what each currency comes to.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dayOf } from '../../../src/domain/period.ts';
import { dateOf } from '../../../src/domain/usage-days.ts';
import { inProcess, temporaryFolder } from '../../support/lingate-command.ts';
import type { Ended, Folder } from '../../support/lingate-command.ts';
import { useStore } from '../../support/used-store.ts';
import type { UsedTeam } from '../../support/used-store.ts';

/** Both in the running periods of teams that are made on the first one, whatever the time. */
const TODAY = dayOf(Date.now());
const [MADE, USED] = [dateOf(TODAY - 3), dateOf(TODAY - 2)];

let folder: Folder;
let env: Record<string, string>;
let acme: UsedTeam;
const table = (...words: string[]): Promise<Ended> =>
  inProcess(['invoices', '--from', dateOf(TODAY), '--to', dateOf(TODAY + 60), '--open', ...words], env);

beforeAll(async () => {
  folder = temporaryFolder();
  const url = `sqlite:${join(folder.path, 'lingate.db')}`;
  env = { LINGATE_STORE: url };
  const days = { [USED]: { backend: [100, 2] } } as const;
  [acme] = (await useStore(url, MADE, [
    { name: 'Acme', reference: 'K-20417', days },
    { name: 'Press', days },
  ])) as [UsedTeam, UsedTeam];
});
afterAll(() => folder.remove());

describe('the table', () => {
  test('has the team and its reference at the end, below their heading', async () => {
    const { stdout } = await table();
    const [head, ...lines] = stdout.split('\n');
    const at = head!.indexOf('NAME (REFERENCE)');
    expect(lines.slice(0, 2).map((line) => line.slice(at))).toEqual(['Acme (K-20417)', 'Press']);
  });

  test('says what several lines come to, and one', async () => {
    expect((await table()).stdout).toMatch(/\n2 lines, 0\.00 EUR\n$/);
    expect((await table('--team', acme.teamId)).stdout).toMatch(/\none line, 0\.00 EUR\n$/);
  });
});

test('a month without closed periods says so', async () => {
  const { stdout } = await inProcess(['invoices', '--month', '2020-01'], env);
  expect(stdout).toMatch(/^No period was closed\.\n$/);
});
