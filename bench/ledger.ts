// npm run task -- bench:ledger: what an admission and its commit cost. For Redis its instructions, counted by callgrind, the same
// whatever else the machine does; for SQLite the CPU time of store and driver, in rounds in turn.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { ulid } from 'ulid';
import type { openStore } from '../src/stores/open.ts';
import { freePort } from '../test/support/free-port.ts';
import type { promisedLedger } from '../test/support/promised-store.ts';
import { launch, runProgram } from '../test/support/start-program.ts';
import { benchKeys } from './contestants/contestant.ts';
import type { BENCH_PLAN, makeTeams, TeamOfKey } from './contestants/lingate-teams.ts';
import { REDIS_SETTINGS } from './contestants/redis.ts';
import { spread, textTable } from './figures.ts';
import { describeMachine, machineLine } from './machine.ts';

const USAGE = `npm run task -- bench:ledger [--store redis|sqlite] [--before FOLDER] [--teams 1,10,400] [--requests 1,4,13] [--limits] [--tag NAME]
  --before FOLDER  another checkout beside this one, with its dependencies
  --limits         teams with two limits that nobody reaches, by minute and by day
  --tag NAME       requests with that tag
  --rounds N       of SQLite (15)`;

const { values: flags } = parseArgs({
  options: {
    store: { type: 'string', default: 'redis' },
    before: { type: 'string' },
    teams: { type: 'string', default: '1,10,400' },
    requests: { type: 'string', default: '1,4,13' },
    limits: { type: 'boolean', default: false },
    tag: { type: 'string' },
    rounds: { type: 'string', default: '15' },
    help: { type: 'boolean', default: false },
  },
});

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const COUNTED = 2600;
const ROUND_MS = 200;
const LEASE_MS = 600_000;
const STARTING_MS = 60_000;
const LIMITS = [
  { per: 'minute', requests: 100_000_000 },
  { per: 'day', characters: 100_000_000_000 },
] as const;

/** One checkout. */
interface Contender {
  readonly name: string;
  readonly folder: string;
}

/** Does that many requests, a number of them together. */
type Work = (requests: number, together: number) => Promise<void>;

/** A ledger with its teams, opened by a checkout's own code. */
interface Opened {
  readonly work: Work;
  readonly close: () => Promise<void>;
}

if (flags.help) console.log(USAGE);
else if (flags.store !== 'redis' && flags.store !== 'sqlite') throw new Error('--store: redis or sqlite');
else {
  const contenders: Contender[] = [{ name: 'now', folder: ROOT }];
  if (flags.before !== undefined) contenders.push({ name: 'before', folder: resolve(flags.before) });
  const counts = flags.teams.split(',').map(Number);
  const together = flags.requests.split(',').map(Number);
  const rows = flags.store === 'redis' ? await onRedis(contenders, counts, together) : await onSqlite(contenders, counts, together);
  const head = ['', 'teams', 'requests a call', ...(flags.store === 'redis' ? ['thousand instructions'] : ['CPU µs', 'middle half'])];
  console.log(`${machineLine(await describeMachine())}\n\n${textTable(head, rows)}`);
}

async function onRedis(contenders: readonly Contender[], counts: readonly number[], togethers: readonly number[]): Promise<string[][]> {
  const rows: string[][] = [];
  for (const count of counts) {
    for (const together of togethers) {
      for (const contender of contenders) {
        const instructions = await instructionsOf(contender, count, together);
        rows.push([contender.name, String(count), String(together), (instructions / 1000).toFixed(1)]);
      }
    }
  }
  return rows;
}

/** Of Redis, for a request. */
async function instructionsOf(contender: Contender, count: number, together: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'lingate-bench-ledger-'));
  const port = await freePort();
  const server = ['redis-server', '--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--hz', '1', ...REDIS_SETTINGS];
  const valgrind = launch('valgrind', ['--tool=callgrind', `--callgrind-out-file=${folder}/callgrind`, ...server], {
    stdio: 'ignore',
    uses: ['redis-server'],
  });
  try {
    await untilAnswering(port);
    const opened = await open(contender, `redis://127.0.0.1:${port}`, count);
    await opened.work(Math.max(together * 20, count), together);
    const control = (flag: string) => runProgram('callgrind_control', [flag, String(valgrind.child.pid)]);
    await control('--zero');
    await opened.work(COUNTED, together);
    await control('--dump');
    await opened.close();
    const dump = readdirSync(folder).findLast((name) => name.startsWith('callgrind.'))!;
    return Number(/^(?:totals|summary): (\d+)/m.exec(readFileSync(join(folder, dump), 'utf8'))![1]) / COUNTED;
  } finally {
    await valgrind.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function untilAnswering(port: number): Promise<void> {
  const redis = new Redis({ port, host: '127.0.0.1', retryStrategy: () => 200, maxRetriesPerRequest: null });
  redis.on('error', () => undefined);
  const answer = await Promise.race([redis.ping(), pause(STARTING_MS, 'overdue', { ref: false })]);
  redis.disconnect();
  if (answer !== 'PONG') throw new Error('Redis did not start under callgrind');
}

async function onSqlite(contenders: readonly Contender[], counts: readonly number[], togethers: readonly number[]): Promise<string[][]> {
  const rows: string[][] = [];
  for (const count of counts) {
    const folder = mkdtempSync(join(tmpdir(), 'lingate-bench-ledger-'));
    const opened = await Promise.all(contenders.map((one) => open(one, `sqlite:${folder}/${one.name}.db`, count)));
    for (const together of togethers) {
      const figures = contenders.map((): number[] => []);
      for (let round = 0; round <= Number(flags.rounds); round++) {
        for (const [index, one] of opened.entries()) {
          const cpuUs = await cpuUsOf(one, together);
          // The first round is for warming up.
          if (round > 0) figures[index]!.push(cpuUs);
        }
      }
      for (const [index, { name }] of contenders.entries()) {
        const { low, median, high } = spread(figures[index]!);
        rows.push([name, String(count), String(together), median.toFixed(1), `${low.toFixed(1)} to ${high.toFixed(1)}`]);
      }
    }
    await Promise.all(opened.map(({ close }) => close()));
    rmSync(folder, { recursive: true, force: true });
  }
  return rows;
}

/** Of this process, for a request. */
async function cpuUsOf({ work }: Opened, together: number): Promise<number> {
  const endMs = performance.now() + ROUND_MS;
  const before = process.cpuUsage();
  let requests = 0;
  while (performance.now() < endMs) {
    await work(together * 20, together);
    requests += together * 20;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
}

async function open({ folder }: Contender, url: string, count: number): Promise<Opened> {
  const of = <Module>(file: string): Promise<Module> => import(pathToFileURL(join(folder, file)).href) as Promise<Module>;
  const teamsModule = await of<{ makeTeams: typeof makeTeams; BENCH_PLAN: typeof BENCH_PLAN }>('bench/contestants/lingate-teams.ts');
  const stores = await of<{ openStore: typeof openStore }>('src/stores/open.ts');
  const promised = await of<{ promisedLedger: typeof promisedLedger }>('test/support/promised-store.ts');
  const plan = { ...teamsModule.BENCH_PLAN, ...(flags.limits ? { limits: LIMITS } : {}) };
  const teams = await teamsModule.makeTeams(url, plan, benchKeys(count));
  const say = (message: string, fields: unknown): void => console.error(message, fields);
  const log = { info: () => undefined, warn: say, error: say };
  const store = await stores.openStore(url, { log, clock: { nowMs: () => Date.now() }, commandTimeoutMs: 60_000 });
  return { work: workOf(promised.promisedLedger(store.ledger), teams), close: () => store.close() };
}

/** Admissions, beside the commits of those before them. */
function workOf(ledger: ReturnType<typeof promisedLedger>, teams: readonly TeamOfKey[]): Work {
  const tag = flags.tag === undefined ? undefined : { name: flags.tag, distinctMax: 1000 };
  let next = 0;
  return async (requests, together) => {
    let commits: Promise<unknown>[] = [];
    for (let done = 0; done < requests; done += together) {
      const asked = Array.from({ length: together }, () => {
        const { teamId, keyId } = teams[next++ % teams.length]!;
        return { requestId: ulid(), teamId, keyId, characters: 33, reserve: true, leaseMs: LEASE_MS, glossary: undefined, tag };
      });
      const [answers] = await Promise.all([Promise.all(asked.map(async (request) => ledger.admit(request))), ...commits]);
      for (const { kind } of answers) if (kind !== 'admitted') throw new Error(`an admission returned ${kind}`);
      commits = asked.map(async ({ teamId, requestId }) => committed(await ledger.resolve(teamId, requestId, 'commit')));
    }
    await Promise.all(commits);
  };
}

function committed({ kind }: { readonly kind: string }): void {
  if (kind !== 'committed') throw new Error(`a commit returned ${kind}`);
}
