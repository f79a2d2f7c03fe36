// The manual's invoices: its commands give the file and the periods that it shows.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dateOf, dayOf } from '../../../src/index.ts';
import { bareEnvironment } from '../../support/compile-cache.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { MAIN, temporaryFolder } from '../../support/lingate-command.ts';
import type { Folder } from '../../support/lingate-command.ts';
import { codeBlocks, manualSection } from '../../support/manual.ts';
import { outputOf } from '../../support/start-program.ts';
import { useStore } from '../../support/used-store.ts';
import type { UsedTeam } from '../../support/used-store.ts';
import { untilOneDay } from '../../support/one-day.ts';

const TOKEN = randomBytes(24).toString('hex');
const SECTION = manualSection('usage', 'How do I bill by calendar month?');
const SHOWN_TEAM = '01KA6P8A6F3M2R7C5D1G4H9JKT';
await untilOneDay();
/** The thirty days before this one stand for the manual's November. */
const TODAY = dayOf(Date.now());
const day = (number: number): string => dateOf(TODAY - 31 + number);

let folder: Folder;
let gateway: TestGateway;
let acme: UsedTeam;

beforeAll(async () => {
  folder = temporaryFolder();
  const store = `sqlite:${join(folder.path, 'lingate.db')}`;
  const days: Readonly<Record<string, Readonly<Record<string, readonly [number, number]>>>> = {
    [day(1)]: { backend: [100, 2], website: [30, 3] },
    [day(2)]: { website: [7, 1] },
    [day(30)]: { backend: [880, 9], staging: [120, 1] },
  };
  [acme] = (await useStore(store, day(0), [
    { name: 'Acme', reference: 'K-20417', days, testKeys: ['staging'] },
    { name: 'Idle', days: {} },
  ])) as [UsedTeam, UsedTeam];
  gateway = await startGateway({ listener: 'node', store, engineUrls: ['http://127.0.0.1:9'], config: { admin: { token: TOKEN } } });
});
afterAll(async () => {
  await gateway.stop();
  folder.remove();
});

/** As in the manual, with the days, the team, the port and the program's name filled in. */
async function tried(block: string): Promise<string> {
  const text = block
    .replaceAll('2026-11-01', day(1))
    .replaceAll('2026-11-30', day(30))
    .replaceAll('TEAM', acme.teamId)
    .replaceAll(':9090', `:${gateway.opsPort}`)
    .replaceAll(/^lingate /gm, '"$NODE" "$MAIN" ');
  const store = `sqlite:${join(folder.path, 'lingate.db')}`;
  const env = { ...bareEnvironment(), NODE: process.execPath, MAIN, LINGATE_STORE: store, LINGATE_ADMIN_TOKEN: TOKEN };
  return outputOf('sh', ['-ec', text], { cwd: folder.path, env, uses: ['curl'] });
}

test('command and admin API write the documented file', async () => {
  const [command, api] = codeBlocks(SECTION, 'sh') as [string, string];
  const [csv] = codeBlocks(SECTION, 'csv') as [string];
  for (const block of [command, api]) {
    expect(await tried(block)).toBe('');
    const file = readFileSync(join(folder.path, 'november.csv'), 'utf8');
    expect(file.replaceAll('\r\n', '\n')).toBe(csv.replace(SHOWN_TEAM, acme.teamId));
  }
});

test('the periods have the documented members, and their sum is that of the days', async () => {
  const [, , both] = codeBlocks(SECTION, 'sh') as [string, string, string];
  const [shown] = codeBlocks(SECTION, 'json') as [string];
  const [command, api] = both.trimEnd().split('\n') as [string, string];
  expect(await tried(command)).toMatch(/^FROM +TO +STATE/);
  type Periods = { periods: { character_count: number; overage: object }[] };
  const { periods } = JSON.parse(await tried(api)) as Periods;
  const [example] = (JSON.parse(shown) as Periods).periods as [Periods['periods'][0]];
  for (const period of periods)
    expect([Object.keys(period), Object.keys(period.overage)]).toEqual([Object.keys(example), Object.keys(example.overage)]);
  expect(periods.reduce((sum, period) => sum + period.character_count, 0)).toBe(1137);
});
