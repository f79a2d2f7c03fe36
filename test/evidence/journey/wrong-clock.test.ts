// A gateway in a process of its own whose machine's clock is wrong for some seconds: what it serves, what it says, and what stays.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../support/door/terms.ts';
import { answered } from '../../../src/index.ts';
import type { Store } from '../../../src/ports/store.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { makeTeam } from '../../support/gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { lingate } from '../../support/lingate-command.ts';
import { startedUntil } from '../../support/started.ts';
import { openBeside } from '../../support/store-place.ts';

const SHIFT = fileURLToPath(new URL('../../support/shifted-date.js', import.meta.url));
/** Longer than the pause between two rounds of SQLite's janitor, which deletes and closes. */
const WRONG_MS = 2500;
const TEXT = 'four';

const started = startedUntil(afterEach);
let folder: string;
let url: string;
let env: Readonly<Record<string, string>>;
let engine: ScriptedEngine;
let store: Store;
let team: TestTeam;
let gateway: GatewayProcess;

beforeEach(async () => {
  ({ folder } = started);
  url = `sqlite:${folder}/lingate.db`;
  env = { NODE_OPTIONS: `--import ${SHIFT}`, SHIFTED_DATE_FILE: join(folder, 'shift') };
  engine = await started.engine();
  await shift(0);
  store = await openBeside(url);
  started.closes(() => store.close());
  team = await makeTeam(store);
  answered(await store.teams.updateTeam(team.teamId, { name: 'Renamed' }, { actor: 'test', action: 'updateTeam' }));
  await start();
});

async function start(): Promise<void> {
  const file = join(folder, 'lingate.yaml');
  // Every request is to be served, also by a process that stood still for a moment.
  await writeFile(file, 'limits: { shed_loop_delay_ms: 0 }\nstore_options: { command_timeout_ms: 5000 }\n');
  const args = ['serve', '--config', file, '--store', url, '--engine-url', engine.url, '--listen', '127.0.0.1:0', '--ops', '127.0.0.1:0'];
  gateway = await startGatewayProcess({ args, cwd: folder, env });
  started.closes(() => gateway.end('SIGTERM'));
}

/** In the gateway, within some milliseconds; this process keeps the right time. */
const shift = (ms: number): Promise<void> => writeFile(join(folder, 'shift'), String(ms));

async function clock(): Promise<unknown> {
  return ((await (await fetch(`${gateway.opsUrl}/readyz`)).json()) as { clock: unknown }).clock;
}

async function stepped(ms: number): Promise<void> {
  await shift(ms);
  const expected = ms === 0 ? { ok: true } : { ok: false, step_seconds: expect.closeTo(ms / 1000, 0) as number };
  await expect.poll(clock).toEqual(expected);
}

async function translate(): Promise<number> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${team.key}` };
  const body = JSON.stringify({ text: [TEXT], target_lang: 'DE' });
  const answer = await fetch(`${gateway.url}/v1/translate`, { method: 'POST', headers, body });
  if (answer.status === 503) expect(await answer.json()).toMatchObject({ code: 'service_unavailable' });
  return answer.status;
}

async function account() {
  const usage = answered(await store.teams.usage(team.teamId))!;
  const periods = answered(await store.history.periods(team.teamId))!;
  const audit = answered(await store.audit.page({ teamId: undefined, after: undefined, sinceMs: undefined, limit: 10 }));
  return {
    characters: usage.characters,
    periods: periods.map(({ startMs, closed }) => [startMs === usage.team.createdAtMs, closed]),
    actions: audit.map(({ action }) => action),
  };
}

const readiness = async (): Promise<number> => (await fetch(`${gateway.opsUrl}/readyz`)).status;
const accept = () => lingate(['store', 'check', '--accept-clock', '--store', url, '--json'], { cwd: folder, env });

describe('SQLite', () => {
  test.each([500, -500])('while the clock is %i days wrong nothing is admitted, and it leaves no trace', async (days) => {
    expect(await translate()).toBe(200);
    await stepped(days * DAY_MS);
    expect([await translate(), await readiness()]).toEqual([503, 503]);
    expect(await (await fetch(`${gateway.opsUrl}/metrics`)).text()).toMatch(/^lingate_clock_step_seconds 4[23]\d{6}$/m);
    await new Promise((resolve) => setTimeout(resolve, WRONG_MS));
    await stepped(0);
    expect([await translate(), await readiness()]).toEqual([200, 200]);
    const characters = TEXT.length * 2;
    await expect.poll(account).toEqual({ characters, periods: [[true, false]], actions: ['updateTeam'] });
    const lines = () => gateway.output().match(/"msg":"the clock is [^"]*/g);
    await expect.poll(lines).toEqual([expect.stringContaining('the clock is wrong'), '"msg":"the clock is right again']);
  });

  test('a step is accepted by an operator, after which the gateway goes by it', async () => {
    await stepped(500 * DAY_MS);
    expect(JSON.parse((await accept()).stdout)).toMatchObject({ stepped_seconds: expect.closeTo((500 * DAY_MS) / 1000, -2) as number });
    await expect.poll(clock).toEqual({ ok: true });
    expect(await translate()).toBe(200);
    // What was before is older than the history now.
    expect((await account()).actions).toContain('acceptClock');
  });

  test('a gateway that starts behind the store’s latest time admits nothing until its clock is accepted', async () => {
    await expect.poll(clock).toEqual({ ok: true });
    await gateway.end('SIGTERM');
    const wrongMs = -500 * DAY_MS;
    await shift(wrongMs);
    await start();
    expect(await clock()).toMatchObject({ ok: false });
    expect(await translate()).toBe(503);
    const listed = await lingate(['team', 'list', '--store', url], { cwd: folder, env });
    expect(listed.stderr).toMatch(/^lingate team list: this machine's clock is 500 days behind the store's latest time/);
    const accepted = await accept();
    expect(accepted).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(accepted.stdout)).toMatchObject({ stepped_seconds: expect.closeTo(wrongMs / 1000, -2) as number });
    await expect.poll(clock).toEqual({ ok: true });
    expect(await translate()).toBe(200);
    const again = await lingate(['store', 'check', '--accept-clock', '--store', url], { cwd: folder, env });
    expect(again.stdout).toMatch(/^The clock is accepted: 20.*Z\. All gateways/);
  });

  test('one that starts ahead is believed: machines rest', async () => {
    await gateway.end('SIGTERM');
    await shift(500 * DAY_MS);
    await start();
    expect(await clock()).toEqual({ ok: true });
    expect(await translate()).toBe(200);
    expect(gateway.output()).toMatch(/"msg":"the clock is 500 days beyond the latest time of the store, and is believed"/);
  });
});
