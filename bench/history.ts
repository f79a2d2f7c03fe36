// npm run task -- bench:history: the size of a year of days in each store, and the time to read a month of all teams.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { run } from '../src/cli/run.ts';
import { dayOf } from '../src/domain/period.ts';
import { answered } from '../src/domain/store-unavailable.ts';
import { ulidSource } from '../src/domain/ulid.ts';
import { dateOf } from '../src/domain/usage-days.ts';
import type { Store } from '../src/ports/store.ts';
import { openStore } from '../src/stores/open.ts';
import { teamKeys } from '../src/stores/redis/redis-keys.ts';
import { freshKey, GENEROUS_QUOTA } from '../src/testing/store/team-under-test.ts';
import { startRedis } from '../test/support/redis.ts';
import { outputOf } from '../test/support/start-program.ts';
import { describeMachine, machineLine } from './machine/description.ts';
import { memoryKib } from './machine/process-tree.ts';
import { textTable } from './run/text-table.ts';

const { values: flags } = parseArgs({
  options: {
    teams: { type: 'string', default: '100000' },
    days: { type: 'string', default: '400' },
    keys: { type: 'string', default: '2' },
    /** For the script itself: only reads, or exports, and prints the time and memory that took. */
    read: { type: 'string' },
    export: { type: 'string' },
  },
});
const [TEAMS, DAYS, KEYS] = [Number(flags.teams), Number(flags.days), Number(flags.keys)];
const MONTH_DAYS = Math.min(30, DAYS);
const AT_ONCE = 256;
const PAGE = 100;
/** Everything is written at once: this keeps the pages in memory that a day would touch repeatedly. */
const FILL_CACHE_KIB = 6 * 1024 * 1024;
const READ_MS_MAX = 600_000;
const MIB = 1024 * 1024;
const TODAY = dayOf(Date.now());
const CONTEXT = {
  log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  clock: { nowMs: () => Date.now() },
  commandTimeoutMs: 20_000,
};

interface Reading {
  readonly rows: number;
  readonly seconds: number;
  readonly peakMib: number;
}

if (flags.read !== undefined) console.log(JSON.stringify(await readMonth(flags.read)));
else if (flags.export !== undefined) console.log(JSON.stringify(await exportMonth(flags.export)));
else await measureBoth();

async function measureBoth(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lingate-bench-history-'));
  const redis = await startRedis();
  try {
    console.log(machineLine(await describeMachine()));
    console.log(`${TEAMS} teams with ${KEYS} keys, ${DAYS} days of each, 1,000 to 101,000 characters and 1 to 400 requests a day\n`);
    const rows = [await measureSqlite(`${folder}/lingate.db`), await measureRedis(redis.url)];
    const head = [
      'store',
      'MiB without days',
      'MiB with days',
      'bytes of days a team',
      'a month of all teams',
      'peak memory of the reader',
      'usage export --keys --csv of it',
      'peak memory of the command',
    ];
    console.log(textTable(head, rows));
  } finally {
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureSqlite(path: string): Promise<string[]> {
  await makeTeams(`sqlite:${path}`);
  const before = statSync(path).size;
  fillSqlite(path);
  return row('SQLite', before, statSync(path).size, `sqlite:${path}`);
}

async function measureRedis(url: string): Promise<string[]> {
  const ids = await makeTeams(url);
  const client = new Redis(url, { protocol: 2 });
  const used = async (): Promise<number> => Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]);
  const before = await used();
  await fillRedis(client, ids);
  const after = await used();
  client.disconnect();
  return row('Redis', before, after, url);
}

async function row(name: string, before: number, after: number, url: string): Promise<string[]> {
  const [read, exported] = [await elsewhere('--read', url), await elsewhere('--export', url)];
  const perTeam = Math.round((after - before) / TEAMS);
  const sizes = [before, after].map((bytes) => String(Math.round(bytes / MIB)));
  return [name, ...sizes, String(perTeam), ...[read, exported].flatMap((reading) => shown(name, reading))];
}

function shown(name: string, { rows, seconds, peakMib }: Reading): string[] {
  if (rows !== TEAMS * KEYS * MONTH_DAYS) throw new Error(`${name}: ${rows} rows of a month instead of ${TEAMS * KEYS * MONTH_DAYS}`);
  return [`${rows} rows in ${seconds.toFixed(1)} s`, `${Math.round(peakMib)} MiB`];
}

async function makeTeams(url: string): Promise<string[]> {
  const store = await openStore(url, { ...CONTEXT, sqliteDurability: 'normal' });
  const newId = ulidSource(() => Date.now());
  const ids = Array.from({ length: TEAMS }, newId);
  for (let done = 0; done < TEAMS; done += AT_ONCE) {
    await Promise.all(ids.slice(done, done + AT_ONCE).map((teamId, index) => makeTeam(store, teamId, done + index)));
  }
  await store.close();
  return ids;
}

async function makeTeam({ teams }: Store, teamId: string, number: number): Promise<void> {
  const name = `Company ${number} Ltd`;
  answered(await teams.createTeam({ teamId, name, plan: 'pro', limits: GENEROUS_QUOTA, balanceMicro: 0 }));
  for (let i = 0; i < KEYS; i++) answered(await teams.createKey(freshKey(teamId)));
}

/** Day by day, so that pages are as full as in a file that has grown this way. */
function fillSqlite(path: string): void {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = DELETE; PRAGMA journal_mode = OFF; PRAGMA cache_size = -${FILL_CACHE_KIB}; BEGIN`);
  const fill = database.prepare(`INSERT INTO usage_days (team, day, key, characters, requests)
    SELECT team, $day, no, 1000 + (no * 7919 + $day * 104729) % 100000, 1 + (no * 31 + $day * 17) % 400 FROM keys ORDER BY team, no`);
  for (let day = TODAY - DAYS; day < TODAY; day++) fill.run({ $day: day });
  database.exec('COMMIT; PRAGMA journal_mode = WAL');
  database.close();
}

/** In the format of lua/days.lua: a head, then for each day its distance from the previous one, its characters and its requests. */
async function fillRedis(client: Redis, ids: readonly string[]): Promise<void> {
  for (let done = 0; done < ids.length; done += AT_ONCE) {
    const names = await Promise.all(
      ids.slice(done, done + AT_ONCE).map(async (id) => [id, await client.hkeys(teamKeys(id).keys)] as const),
    );
    const pipeline = client.pipeline();
    for (const [index, [id, keyIds]] of names.entries()) {
      for (const [at, keyId] of keyIds.entries()) pipeline.hset(teamKeys(id).days, keyId, packedDays((done + index) * KEYS + at));
    }
    await pipeline.exec();
  }
}

function packedDays(key: number): Buffer {
  const list: number[] = [];
  let lastAt = 0;
  const add = (number: number): void => {
    for (let rest = number; ; rest = Math.floor(rest / 128)) {
      list.push(rest < 128 ? rest : 128 + (rest % 128));
      if (rest < 128) return;
    }
  };
  for (let day = TODAY - DAYS; day < TODAY; day++) {
    lastAt = list.length + 1;
    for (const number of [1, 1000 + ((key * 7919 + day * 104_729) % 100_000), 1 + ((key * 31 + day * 17) % 400)]) add(number);
  }
  const head = Buffer.alloc(26);
  head.writeUIntBE(TODAY - DAYS - 1, 17, 3);
  head.writeUIntBE(TODAY - 1, 20, 3);
  head.writeUIntBE(lastAt, 23, 3);
  return Buffer.concat([head, Buffer.from(list)]);
}

/** In a process of its own, to measure its memory alone. */
async function elsewhere(how: '--read' | '--export', url: string): Promise<Reading> {
  const args = ['--no-warnings', fileURLToPath(import.meta.url), `--teams=${TEAMS}`, `--days=${DAYS}`, how, url];
  return JSON.parse(await outputOf('node', args, { msMax: READ_MS_MAX })) as Reading;
}

async function readMonth(url: string): Promise<Reading> {
  const store = await openStore(url, CONTEXT);
  const startedAtMs = performance.now();
  let rows = 0;
  for (let after: string | undefined, isLast = false; !isLast;) {
    const page = answered(await store.history.pageDays({ after, limit: PAGE, search: undefined }, { from: TODAY - MONTH_DAYS, to: TODAY }));
    for (const { days } of page) rows += days.length;
    after = page.at(-1)?.team.teamId;
    isLast = page.length < PAGE;
  }
  const seconds = (performance.now() - startedAtMs) / 1000;
  const peakMib = memoryKib(process.pid, 'VmHWM') / 1024;
  await store.close();
  return { rows, seconds, peakMib };
}

/** As `lingate usage export` does it, except for writing to a terminal or a file. */
async function exportMonth(url: string): Promise<Reading> {
  // The header line is not a row.
  let rows = -1;
  const startedAtMs = performance.now();
  const [from, to] = [dateOf(TODAY - MONTH_DAYS), dateOf(TODAY)];
  const status = await run(['usage', 'export', '--from', from, '--to', to, '--keys', '--csv', '--store', url], {
    out(text) {
      for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) rows++;
    },
    err: () => undefined,
    env: {},
    watched: false,
    shown: false,
    abandoned: () => false,
    secret: () => Promise.resolve(''),
    asks: false,
    line: () => Promise.resolve(''),
    nowMs: () => Date.now(),
  });
  if (status !== 0) throw new Error(`usage export: status ${status}`);
  return { rows, seconds: (performance.now() - startedAtMs) / 1000, peakMib: memoryKib(process.pid, 'VmHWM') / 1024 };
}
