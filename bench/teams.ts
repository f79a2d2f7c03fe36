// npm run bench:teams: waiting times for operators with 100,000 teams: a page, a search, all of them with the command line; on both stores.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { digestOf, displayOf, newKey } from '../src/domain/api-key.ts';
import { ulidSource } from '../src/domain/ulid.ts';
import type { Store } from '../src/ports/store.ts';
import { openStore } from '../src/stores/open.ts';
import { freshKey, GENEROUS_QUOTA } from '../src/testing/store/team-under-test.ts';
import { ConsoleVisitor } from '../test/support/console-visitor.ts';
import { startGatewayProcess } from '../test/support/gateway-process.ts';
import { lingate } from '../test/support/lingate-command.ts';
import { startRedis } from '../test/support/redis.ts';
import { spread, textTable } from './figures.ts';
import { describeMachine, machineLine, memoryMib, usageOf } from './machine.ts';

const { values: flags } = parseArgs({
  options: { teams: { type: 'string', default: '100000' }, times: { type: 'string', default: '15' } },
});
const TEAMS = Number(flags.teams);
const TIMES = Number(flags.times);
/** A key of the last team. */
const LEAKED = newKey('live');
const TOKEN = randomBytes(24).toString('hex');
const AT_ONCE = 256;
/** Users who wait longer for a page wonder whether it works. */
const AIM_MS = 100;
/** Pages loaded while memory is measured, and as many before: a process grows into its heap that long. */
const PAGES = 100;
/** A pass takes some minutes: this is 10,000 teams of it. */
const WATCH_MS = 20_000;
const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

interface Figure {
  readonly what: string;
  readonly times: readonly number[];
}

const folder = mkdtempSync(join(tmpdir(), 'lingate-bench-teams-'));
const redis = await startRedis();
const failures: string[] = [];
try {
  console.log(`${machineLine(await describeMachine())}, ${TEAMS} teams with a key each, ${TIMES} times each\n`);
  await measure('SQLite', `sqlite:${folder}/lingate.db`);
  await measure('Redis', redis.url);
} finally {
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
}
for (const failure of failures) console.log(`OVER ${AIM_MS} ms: ${failure}`);

async function measure(name: string, url: string): Promise<void> {
  const ids = await makeTeams(url);
  const config = join(folder, `${name}.yaml`);
  // No engine is called here.
  writeFileSync(config, JSON.stringify({ listen: '127.0.0.1:0', ops: '127.0.0.1:0', store: url, admin: { token: TOKEN } }));
  const gateway = await startGatewayProcess({ args: ['serve', '--config', config] });
  const operator = new ConsoleVisitor(Number(new URL(gateway.opsUrl).port));
  await operator.signIn(TOKEN);
  const page = (query: string, found?: number): Promise<string | null> => listed(gateway.opsUrl, query, found);
  const pid = gateway.process.pid!;
  try {
    const figures: Figure[] = [
      await timed('first page of 50', () => page('')),
      await timed('first page of 200', () => page('limit=200', 200)),
      await timed('a page of 200 in the middle', () => page(`limit=200&cursor=${ids[TEAMS / 2]!}`, 200)),
      await timed('a search with hits everywhere', () => page('q=company%201', 50)),
      await timed('a search for the last team', () => page(`q=company%20${TEAMS - 1}%20`, 1)),
      await timed('a search without results', () => page('q=nobody', 0)),
      await timed('console: first page', () => seen(operator, '/teams', 50)),
      await timed('console: a search for the last team', () => seen(operator, `/teams?q=company+${TEAMS - 1}+`, 1)),
      await timed('console: a team with its keys', () => seen(operator, `/teams/${ids[7]!}`, 1)),
      await timed('a search for part of an id', () => page(`q=${ids.at(-1)!.slice(6)}`, 1)),
    ];
    for (const { what, times } of figures) if (spread(times).median > AIM_MS) failures.push(`${name}, ${what}`);
    const command = ['team', 'list', '--json', '--config', config];
    const all = await timed('lingate team list --json, all of them', () => lingate(command), 3);
    const invoices = ['invoices', '--month', new Date().toISOString().slice(0, 7), '--open', '--csv', '--config', config];
    const billed = await timed('lingate invoices --open --csv, all of them', () => lingate(invoices), 3);
    const one = await timed('lingate team show --json, one', () => lingate(['team', 'show', ids[7]!, '--json', '--config', config]), 3);
    const key = await timed('a whole key', () => keysFound(gateway.opsUrl, { key: LEAKED }, 1), 3);
    const beginning = await timed(
      'a key by its first twelve characters',
      () => keysFound(gateway.opsUrl, { display: displayOf(LEAKED) }),
      3,
    );
    console.log(`${table(name, [...figures, one, all, billed, key, beginning])}\n${await memoryLine(pid, page)}`);
  } finally {
    await gateway.end('SIGTERM');
  }
  console.log(`${await watchLine(name, url)}\n`);
}

/** What it costs a gateway to check all teams for their metrics: passes follow each other here. */
async function watchLine(name: string, url: string): Promise<string> {
  const config = join(folder, `${name}-watch.yaml`);
  const team_metrics = { every_seconds: 1, key_unused_days: 1 };
  writeFileSync(config, JSON.stringify({ listen: '127.0.0.1:0', ops: '127.0.0.1:0', store: url, team_metrics }));
  const gateway = await startGatewayProcess({ args: ['serve', '--config', config] });
  const pid = gateway.process.pid!;
  const look = () => ({ cpuUs: usageOf(pid).cpuUs, mib: memoryMib(pid, 'VmRSS') });
  await pause(WATCH_MS);
  const first = look();
  await pause(WATCH_MS);
  const second = look();
  await gateway.end('SIGTERM');
  const share = ((second.cpuUs - first.cpuUs) / (WATCH_MS * 1000)) * 100;
  return `team_metrics: ${share.toFixed(1)} % of a core, an idle gateway and its probes included; ${first.mib.toFixed(1)} MiB after ${WATCH_MS / 1000} s, ${second.mib.toFixed(1)} MiB after twice that`;
}

async function makeTeams(url: string): Promise<string[]> {
  const store = await openStore(url, {
    log: SILENT,
    clock: { nowMs: () => Date.now() },
    durability: 'normal',
    commandTimeoutMs: 10_000,
  });
  const newId = ulidSource(() => Date.now());
  const ids = Array.from({ length: TEAMS }, newId);
  for (let done = 0; done < TEAMS; done += AT_ONCE) {
    await Promise.all(ids.slice(done, done + AT_ONCE).map((teamId, index) => makeTeam(store, teamId, done + index)));
  }
  await store.teams.createKey({ ...freshKey(ids.at(-1)!), digest: digestOf(LEAKED), display: displayOf(LEAKED) });
  await store.close();
  return ids;
}

async function makeTeam({ teams }: Store, teamId: string, number: number): Promise<void> {
  await teams.createTeam({ teamId, name: `Company ${number} Ltd`, plan: 'pro', limits: GENEROUS_QUOTA, balanceMicro: 0 });
  await teams.createKey(freshKey(teamId));
}

/** The cursor of the next page. Fails if the number of teams is wrong. */
async function listed(opsUrl: string, query: string, found = 50): Promise<string | null> {
  const response = await fetch(`${opsUrl}/admin/v1/teams?${query}`, { headers: { authorization: `Bearer ${TOKEN}` } });
  const { teams, next } = (await response.json()) as { teams: unknown[]; next: string | null };
  if (teams.length !== found) throw new Error(`?${query}: ${teams.length} teams instead of ${found}`);
  return next;
}

/** Fails if the number of keys is wrong; without one, if there are none. */
async function keysFound(opsUrl: string, search: object, found?: number): Promise<void> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const response = await fetch(`${opsUrl}/admin/v1/keys/find`, { method: 'POST', headers, body: JSON.stringify(search) });
  const { keys } = (await response.json()) as { keys: unknown[] };
  if (found === undefined ? keys.length === 0 : keys.length !== found) throw new Error(`${keys.length} keys instead of ${found ?? 'some'}`);
}

/** A page of the console with a table of this many rows. */
async function seen(operator: ConsoleVisitor, path: string, rows: number): Promise<void> {
  const { status, body } = await operator.get(`/console${path}`);
  const found = body.split('role="rowheader"').length - 1;
  if (status !== 200 || found !== rows) throw new Error(`/console${path}: ${status} with ${found} rows instead of ${rows}`);
}

async function timed(what: string, act: () => Promise<unknown>, count = TIMES): Promise<Figure> {
  const times: number[] = [];
  // The first time is compilation and a cold cache.
  for (let i = 0; i <= count; i++) {
    const startMs = performance.now();
    await act();
    if (i > 0) times.push(performance.now() - startMs);
  }
  return { what, times };
}

async function memoryLine(pid: number, page: (query: string, found: number) => Promise<string | null>): Promise<string> {
  const turn = async (): Promise<number> => {
    let cursor: string | null = '';
    for (let i = 0; i < PAGES && cursor !== null; i++) cursor = await page(`limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`, 200);
    return memoryMib(pid, 'VmRSS');
  };
  const [warm, after] = [await turn(), await turn()];
  return `memory of the gateway: ${warm.toFixed(1)} MiB after ${PAGES} pages of 200, ${after.toFixed(1)} MiB after ${PAGES} more`;
}

function table(name: string, figures: readonly Figure[]): string {
  const rows = figures.map(({ what, times }) => {
    const { median, most } = spread(times);
    return [what, median.toFixed(1), most.toFixed(1)];
  });
  return textTable([name, 'median ms', 'longest ms'], rows);
}
process.exitCode = failures.length > 0 ? 1 : 0;
