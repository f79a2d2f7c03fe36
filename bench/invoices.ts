// npm run task -- bench:invoices [--teams N] [--rounds N] [--seconds N] [--per-second N] [--store sqlite|redis] [--front command|api]:
// how long callers wait while the invoices of 100,000 teams are exported, and while nothing is, in turns; and what an export costs.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { dayOf } from '../src/domain/period.ts';
import { ulidSource } from '../src/domain/ulid.ts';
import { monthOf } from '../src/domain/usage-days.ts';
import type { Store } from '../src/ports/store.ts';
import { openStore } from '../src/stores/open.ts';
import { freshKey, GENEROUS_QUOTA } from '../src/testing/store/team-under-test.ts';
import { countBy, openLoop, quantile } from '../test/evidence/load/open-loop.ts';
import { makeTeam, QUOTA_PLAN } from '../test/support/gateway.ts';
import { startGatewayProcess } from '../test/support/gateway-process.ts';
import type { GatewayProcess } from '../test/support/gateway-process.ts';
import { start } from '../test/support/lingate-command.ts';
import { promisedLedger } from '../test/support/promised-store.ts';
import { startRedis } from '../test/support/redis.ts';
import { watchConditions } from './machine/conditions.ts';
import { describeMachine, machineLine } from './machine/description.ts';
import { memoryKib, usageOf } from './machine/process-tree.ts';
import { spread } from './run/median.ts';
import { textTable } from './run/text-table.ts';

const { values: flags } = parseArgs({
  options: {
    teams: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '15' },
    seconds: { type: 'string', default: '10' },
    'per-second': { type: 'string', default: '100' },
    store: { type: 'string' },
    front: { type: 'string' },
  },
});
const TEAMS = Number(flags.teams);
const ROUNDS = Number(flags.rounds);
const SECONDS = Number(flags.seconds);
const PER_SECOND = Number(flags['per-second']);
const AIMS = { ratio: 1.2, seconds: 60, mib: 200 } as const;
const TOKEN = randomBytes(24).toString('hex');
const AT_ONCE = 256;
const LEASE_MS = 60_000;
const CHARACTERS = 1200;
const KIB_PER_MIB = 1024;
const US_PER_SECOND = 1_000_000;
/** How often an export's process is read: what it does after the last reading is not in its CPU time. */
const READ_EVERY_MS = 50;
/** The head, and the team that calls. */
const OTHER_LINES = 2;
const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };
const FRONTS = ['command', 'api'] as const;
type Front = (typeof FRONTS)[number];

interface Cost {
  readonly wallS: number;
  /** The command's own, or what the gateway used meanwhile, callers included. */
  readonly cpuS: number;
  readonly mib: number;
}

interface Site {
  readonly name: string;
  readonly config: string;
  readonly gateway: GatewayProcess;
  readonly key: string;
}

const wanted = <Name extends string>(names: readonly Name[], given: string | undefined): readonly Name[] =>
  names.filter((name) => given === undefined || name === given);

const folder = mkdtempSync(join(tmpdir(), 'lingate-bench-invoices-'));
const worker = new Worker(new URL('../test/evidence/isolation/noisy-neighbour.ts', import.meta.url));
// Before anything is waited for: a message without a listener is lost.
const listening = once(worker, 'message');
const redis = await startRedis();
try {
  const [{ enginePort }] = (await listening) as [{ readonly enginePort: number }];
  console.log(
    `${machineLine(await describeMachine())}, ${TEAMS} teams, ${PER_SECOND} requests a second, ${ROUNDS} rounds of ${SECONDS} s\n`,
  );
  for (const kind of wanted(['sqlite', 'redis'], flags.store)) {
    await measure(kind, kind === 'redis' ? redis.url : `sqlite:${folder}/lingate.db`, enginePort);
  }
} finally {
  await worker.terminate();
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function measure(name: string, url: string, enginePort: number): Promise<void> {
  const store = await openStore(url, {
    log: SILENT,
    clock: { nowMs: () => Date.now() },
    sqliteDurability: 'normal',
    commandTimeoutMs: 10_000,
  });
  await makeTeams(store);
  const { key } = await makeTeam(store, { ...QUOTA_PLAN, characters: 1_000_000_000_000, requests_per_second: 10_000 });
  await store.close();
  const config = join(folder, `${name}.yaml`);
  const engine = { urls: [`http://127.0.0.1:${enginePort}`] };
  writeFileSync(config, JSON.stringify({ listen: '127.0.0.1:0', ops: '127.0.0.1:0', store: url, admin: { token: TOKEN }, engine }));
  const gateway = await startGatewayProcess({ args: ['serve', '--config', config] });
  const site = { name, config, gateway, key };
  try {
    // Until code and caches are warm.
    await p99(site, 3);
    for (const front of wanted(FRONTS, flags.front)) console.log(await compared(site, front));
  } finally {
    await gateway.end('SIGTERM');
  }
}

/** With use in the running period: a line with `--open`. Closed ones are read alike. */
async function makeTeams(store: Store): Promise<void> {
  const newId = ulidSource(() => Date.now());
  const ledger = promisedLedger(store.ledger);
  const one = async (number: number): Promise<void> => {
    const teamId = newId();
    const key = freshKey(teamId);
    await store.teams.createTeam({ teamId, name: `Company ${number} Ltd`, plan: 'pro', limits: GENEROUS_QUOTA, balanceMicro: 0 });
    await store.teams.createKey(key);
    const asked = { teamId, keyId: key.keyId, requestId: newId(), characters: CHARACTERS, reserve: true, leaseMs: LEASE_MS };
    const { kind } = await ledger.admit({ ...asked, glossary: undefined });
    if (kind !== 'admitted') throw new Error(`a team's request is ${kind}`);
    await ledger.resolve(teamId, asked.requestId, 'commit');
  };
  for (let done = 0; done < TEAMS; done += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, TEAMS - done) }, (_, index) => one(done + index)));
  }
}

/** Of one team's callers, in ms. */
async function p99({ gateway, key }: Pick<Site, 'gateway' | 'key'>, seconds = SECONDS): Promise<number> {
  const sent = await openLoop({ port: gateway.port, key, perSecond: PER_SECOND, seconds });
  const { '200 ok': served = 0 } = countBy(sent);
  if (served !== sent.length) throw new Error(`callers were answered ${JSON.stringify(countBy(sent))}`);
  return quantile(sent, 0.99);
}

async function compared(site: Site, front: Front): Promise<string> {
  const [alone, beside, ratios]: [number[], number[], number[]] = [[], [], []];
  const costs: Cost[] = [];
  const conditions = watchConditions();
  const loads = [loadavg()[0]!];
  for (let round = 0; round < ROUNDS; round++) {
    // Which one is first changes, because other work on the machine comes and goes.
    const besideFirst = round % 2 === 1;
    if (!besideFirst) alone.push(await p99(site));
    beside.push(await besideExports(site, front, costs));
    if (besideFirst) alone.push(await p99(site));
    ratios.push(beside.at(-1)! / alone.at(-1)!);
    loads.push(loadavg()[0]!);
  }
  const { others, stolen } = conditions();
  const machine = `load ${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)}, others ${others.toFixed(2)} cores, stolen ${stolen.toFixed(2)}`;
  return `${table(site, front, { alone, beside, ratios }, costs)}\n${machine}\n`;
}

/** Exports follow each other until the callers are done; the last one is waited for. */
async function besideExports(site: Site, front: Front, costs: Cost[]): Promise<number> {
  const callers = { areDone: false };
  const exports = (async () => {
    do costs.push(await (front === 'command' ? byCommand(site) : byApi(site)));
    while (!callers.areDone);
  })();
  const [measured] = await Promise.all([p99(site).finally(() => (callers.areDone = true)), exports]);
  return measured;
}

async function byCommand({ config }: Site): Promise<Cost> {
  const startMs = performance.now();
  const program = start(['invoices', '--month', periodMonth(), '--open', '--csv', '--config', config]);
  let [cpuUs, kib, lines] = [0, 0, 0];
  program.stdout.on('data', (piece: Buffer | string) => (lines += linesIn(Buffer.from(piece))));
  const timer = setInterval(() => {
    cpuUs = Math.max(cpuUs, usageOf(program.pid).cpuUs);
    kib = Math.max(kib, memoryKib(program.pid, 'VmHWM'));
  }, READ_EVERY_MS);
  const { status } = await program.ended;
  clearInterval(timer);
  if (status !== 0) throw program.fault('failed');
  return costOf(startMs, cpuUs, kib, lines);
}

async function byApi({ gateway }: Site): Promise<Cost> {
  const pid = gateway.process.pid!;
  const [startMs, before] = [performance.now(), usageOf(pid).cpuUs];
  const query = `month=${periodMonth()}&open=true&format=csv`;
  const response = await fetch(`${gateway.opsUrl}/admin/v1/invoices?${query}`, { headers: { authorization: `Bearer ${TOKEN}` } });
  if (response.status !== 200) throw new Error(`the admin API answered ${response.status}`);
  let lines = 0;
  for await (const piece of response.body!) lines += linesIn(piece as Uint8Array);
  return costOf(startMs, usageOf(pid).cpuUs - before, memoryKib(pid, 'VmHWM'), lines);
}

/** Periods began when the teams were made. */
function periodMonth(): string {
  return monthOf(dayOf(Date.now()));
}

function linesIn(piece: Uint8Array): number {
  let lines = 0;
  for (let at = piece.indexOf(10); at !== -1; at = piece.indexOf(10, at + 1)) lines++;
  return lines;
}

function costOf(startMs: number, cpuUs: number, kib: number, lines: number): Cost {
  if (lines !== TEAMS + OTHER_LINES) throw new Error(`an export has ${lines} lines instead of ${TEAMS + OTHER_LINES}`);
  return { wallS: (performance.now() - startMs) / 1000, cpuS: cpuUs / US_PER_SECOND, mib: kib / KIB_PER_MIB };
}

interface Waited {
  readonly alone: readonly number[];
  readonly beside: readonly number[];
  readonly ratios: readonly number[];
}

function table({ name }: Site, front: Front, { alone, beside, ratios }: Waited, costs: readonly Cost[]): string {
  const row = (what: string, values: readonly number[], aim?: number): string[] => {
    const { median: middle, low, high, most } = spread(values);
    const over = aim !== undefined && middle > aim ? 'OVER' : '';
    return [what, middle.toFixed(2), `${low.toFixed(2)} to ${high.toFixed(2)}`, most.toFixed(2), aim === undefined ? '' : `${aim} ${over}`];
  };
  const whose = front === 'command' ? 'of the command' : 'of the gateway, callers included';
  return textTable(
    [`${name}, ${front === 'command' ? 'lingate invoices' : 'admin API'}, ${costs.length} exports`, 'median', 'middle half', 'most', 'aim'],
    [
      row('p99 alone, ms', alone),
      row('p99 beside, ms', beside),
      row('ratio of p99', ratios, AIMS.ratio),
      row(
        'export, s',
        costs.map(({ wallS }) => wallS),
        AIMS.seconds,
      ),
      row(
        `CPU ${whose}, s`,
        costs.map(({ cpuS }) => cpuS),
      ),
      row(
        `peak memory ${whose}, MiB`,
        costs.map(({ mib }) => mib),
        front === 'command' ? AIMS.mib : undefined,
      ),
    ],
  );
}
