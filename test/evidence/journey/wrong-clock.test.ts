// A gateway in a process of its own whose machine's clock is wrong for some seconds: what it serves, what it says, and what stays.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../support/door/terms.ts';
import { answered } from '../../../src/index.ts';
import { startScriptedEngine } from '../../../src/testing.ts';
import type { Store } from '../../../src/ports/store.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { makeTeam } from '../../support/gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { lingate } from '../../support/lingate-command.ts';
import { openBeside } from '../../support/store-place.ts';

const SHIFT = fileURLToPath(new URL('../../support/shifted-date.js', import.meta.url));
/** Longer than the pause between two rounds of SQLite's janitor, which deletes and closes. */
const WRONG_MS = 2500;
const TEXT = 'four';

let folder: string;
let url: string;
let env: Readonly<Record<string, string>>;
let engine: ScriptedEngine;
let store: Store;
let team: TestTeam;
let gateway: GatewayProcess | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lingate-clock-'));
  url = `sqlite:${folder}/lingate.db`;
  env = { NODE_OPTIONS: `--import ${SHIFT}`, SHIFTED_DATE_FILE: join(folder, 'shift') };
  engine = await startScriptedEngine();
  await shift(0);
  store = await openBeside(url);
  team = await makeTeam(store);
  answered(await store.teams.updateTeam(team.teamId, { name: 'Renamed' }, { actor: 'test', action: 'updateTeam' }));
  await start();
});

afterEach(async () => {
  await gateway?.end('SIGTERM');
  await store.close();
  await engine.close();
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<void> {
  const file = join(folder, 'lingate.yaml');
  // Every request is to be served, also by a process that stood still for a moment.
  await writeFile(file, 'limits: { shed_loop_delay_ms: 0 }\nstore_options: { command_timeout_ms: 5000 }\n');
  const args = ['serve', '--config', file, '--store', url, '--engine-url', engine.url, '--listen', '127.0.0.1:0', '--ops', '127.0.0.1:0'];
  gateway = await startGatewayProcess({ args, cwd: folder, env });
}

/** In the gateway, within some milliseconds; this process keeps the right time. */
function shift(ms: number): Promise<void> {
  return writeFile(join(folder, 'shift'), String(ms));
}

async function clock(): Promise<unknown> {
  return ((await (await fetch(`${gateway!.opsUrl}/readyz`)).json()) as { clock: unknown }).clock;
}

async function stepped(ms: number): Promise<void> {
  await shift(ms);
  const wanted = ms === 0 ? { ok: true } : { ok: false, step_seconds: ms / 1000 };
  await expect.poll(clock).toEqual(wanted);
}

async function translate(): Promise<number> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${team.key}` };
  const body = JSON.stringify({ text: [TEXT], target_lang: 'DE' });
  return (await fetch(`${gateway!.url}/v1/translate`, { method: 'POST', headers, body })).status;
}

/** Every request is served; returns how many there were. */
async function serveFor(ms: number): Promise<number> {
  const untilMs = performance.now() + ms;
  let count = 0;
  for (; performance.now() < untilMs; count++) {
    expect(await translate()).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return count;
}

async function books() {
  const usage = answered(await store.teams.usage(team.teamId))!;
  const periods = answered(await store.history.periods(team.teamId))!;
  const audit = answered(await store.audit.page({ teamId: undefined, after: undefined, sinceMs: undefined, limit: 10 }));
  return {
    characters: usage.characters,
    periods: periods.map(({ startMs, closed }) => [startMs === usage.team.createdAtMs, closed]),
    actions: audit.map(({ action }) => action),
  };
}

describe('SQLite', () => {
  test.each([500, -500])('a clock that is %i days wrong for some seconds leaves no trace', async (days) => {
    expect(await translate()).toBe(200);
    await stepped(days * DAY_MS);
    const served = await serveFor(WRONG_MS);
    await stepped(0);
    expect(await translate()).toBe(200);
    const characters = TEXT.length * (served + 2);
    await expect.poll(books).toEqual({ characters, periods: [[true, false]], actions: ['updateTeam'] });
    const lines = () => gateway!.output().match(/"msg":"the clock is [^"]*/g);
    await expect.poll(lines).toEqual([expect.stringContaining('the clock is not believed'), '"msg":"the clock is believed again']);
  });

  test('a gateway that starts with a wrong clock serves by the store’s time, until an operator vouches for the clock', async () => {
    const wrongMs = 500 * DAY_MS;
    await gateway!.end('SIGTERM');
    await shift(wrongMs);
    await start();
    expect(await clock()).toEqual({ ok: false, step_seconds: wrongMs / 1000 });
    expect(await translate()).toBe(200);
    await expect.poll(books).toMatchObject({ characters: TEXT.length, periods: [[true, false]] });
    const listed = await lingate(['team', 'list', '--store', url], { cwd: folder, env });
    expect(listed.stderr).toMatch(/^lingate team list: this machine's clock is 500 days beyond the store's latest time/);
    const accepted = await lingate(['store', 'check', '--accept-clock', '--store', url, '--json'], { cwd: folder, env });
    expect(accepted).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(accepted.stdout)).toMatchObject({ stepped_seconds: wrongMs / 1000 });
    await expect.poll(clock).toEqual({ ok: true });
    expect(await translate()).toBe(200);
    const again = await lingate(['store', 'check', '--accept-clock', '--store', url], { cwd: folder, env });
    expect(again.stdout).toMatch(/^The clock, 20.*Z, was believed already\.\n$/);
  });
});
