// npm run task -- bench:ledger [--before FOLDER] [--windows 'requests=1000000/minute characters=1000000000/day'] [--tag NAME] [--counters]:
// what an admission and its commit, or a refusal, cost the store and its driver, by requests per call and by teams; optionally
// compared, in alternating rounds, with teams that have such limits, with requests that have a tag, with another checkout (which
// also gets the limits), and with the script of the OpenResty-style gateway, which counts twice and gives nothing back.
import { randomInt } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { ulid } from 'ulid';
import { eventRules } from '../src/domain/event-rules.ts';
import type { RequestTag } from '../src/domain/request-tag.ts';
import { answered } from '../src/domain/store-unavailable.ts';
import type { Ledger, Resolution } from '../src/ports/ledger.ts';
import type { PluginLedger } from '../src/ports/plugin.ts';
import type { Store } from '../src/ports/store.ts';
import { GENEROUS_QUOTA } from '../src/testing/store/team-under-test.ts';
import { promisedLedger } from '../test/support/promised-store.ts';
import { startRedis } from '../test/support/redis.ts';
import { describeMachine, machineLine } from './machine/description.ts';
import { usageOf } from './machine/process-tree.ts';
import { spread } from './run/median.ts';
import { textTable } from './run/text-table.ts';

const { values: flags } = parseArgs({
  options: {
    before: { type: 'string' },
    windows: { type: 'string' },
    tag: { type: 'string' },
    counters: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    store: { type: 'string', default: 'redis' },
    billing: { type: 'string', default: 'quota' },
    outcome: { type: 'string', default: 'admitted' },
    requests: { type: 'string', default: '1,4,13' },
    teams: { type: 'string', default: '1,10,1000' },
  },
});
const ROUNDS = Number(flags.rounds);
const ROUND_MS = Number(flags.seconds) * 1000;
const WARM_UP_MS = 300;
const LEASE_MS = 60_000;

interface Team {
  readonly teamId: string;
  readonly keyId: string;
}

interface Contender {
  readonly name: string;
  /** Of its teams, as stores write them. */
  readonly windows: string;
  /** Of its requests. */
  readonly tag: RequestTag | undefined;
  /** Instead of the ledger, the script, by its digest. */
  readonly counters: string | undefined;
  readonly store: Store;
  /** `undefined` for SQLite, which is in this process. */
  readonly server: { readonly pid: number; readonly redis: Redis } | undefined;
  readonly stop: () => Promise<void>;
}

interface Figures {
  readonly redisUs: number;
  readonly driverUs: number;
  readonly commands: number;
}

const IS_REFUSED = flags.outcome === 'refused';
const IS_CREDIT = flags.billing === 'credit';

interface Variant {
  readonly windows?: string;
  readonly tag?: RequestTag;
  readonly counters?: true;
}

async function contender(name: string, folder: string, variant: Variant = {}): Promise<Contender> {
  const { windows = '', tag } = variant;
  const { openStore } = (await import(pathToFileURL(resolve(folder, 'src/stores/open.ts')).href)) as {
    openStore: (url: string, context: object) => Promise<Store>;
  };
  const say = (message: string, fields: unknown) => console.error(message, fields);
  const context = { log: { info: () => undefined, warn: say, error: say }, clock: { nowMs: () => Date.now() }, commandTimeoutMs: 5000 };
  // Keeps the event of a first refusal, as gateways with `events` do.
  const events = eventRules([80, 95, 100], []);
  if (flags.store === 'sqlite') {
    const place = await mkdtemp(join(tmpdir(), 'lingate-bench-ledger-'));
    const store = await openStore(`sqlite:${place}/lingate.db`, { ...context, events });
    const stop = async () => {
      await store.close();
      await rm(place, { recursive: true, force: true });
    };
    return { name, windows, tag, counters: undefined, store, server: undefined, stop };
  }
  const server = await startRedis();
  const store = await openStore(server.url, { ...context, events });
  const redis = new Redis(server.url, { protocol: 2 });
  const stop = async () => {
    await store.close();
    redis.disconnect();
    await server.stop();
  };
  const counters = variant.counters === true ? String(await redis.script('LOAD', await counterScript())) : undefined;
  return { name, windows, tag, counters, store, server: { pid: server.process.pid!, redis }, stop };
}

/** What the contestant `openresty` runs. */
async function counterScript(): Promise<string> {
  const gateway = await readFile(new URL('contestants/openresty.lua', import.meta.url), 'utf8');
  const script = /ADMIT = \[\[([^]*?)\]\]/.exec(gateway)?.[1];
  if (script === undefined) throw new Error('bench/contestants/openresty.lua has no script ADMIT');
  return script;
}

async function furnish({ store, windows }: Contender, count: number): Promise<Team[]> {
  const limits = {
    ...GENEROUS_QUOTA,
    requestsPerSecond: 100_000,
    windows,
    characterLimit: IS_REFUSED ? 0 : 1e12,
    ...(IS_REFUSED ? { overageCharacters: 0 } : {}),
    ...(IS_CREDIT ? ({ billing: 'credit', minorPerMillion: 1 } as const) : {}),
  };
  const teams = Array.from({ length: count }, () => ({ teamId: ulid(), keyId: ulid() }));
  for (const { teamId, keyId } of teams) {
    answered(
      await store.teams.createTeam({ teamId, name: 'bench', plan: 'bench', limits, balanceMicro: IS_CREDIT && !IS_REFUSED ? 1e14 : 0 }),
    );
    answered(await store.teams.createKey({ keyId, teamId, digest: keyId, display: 'la_live_xxxx', label: '', mode: 'live' }));
  }
  return teams;
}

/** The same number of requests together, as pipelined calls. */
async function loadCounters(redis: Redis, sha: string, teams: readonly Team[], together: number, forMs: number): Promise<number> {
  const endMs = performance.now() + forMs;
  let requests = 0;
  let next = randomInt(teams.length);
  while (performance.now() < endMs) {
    const pipeline = redis.pipeline();
    for (let i = 0; i < together; i++) {
      const { teamId } = teams[next++ % teams.length]!;
      pipeline.evalsha(sha, 2, `rate:${teamId}`, `used:${teamId}`, 100_000, 33, 1_000_000_000_000);
    }
    for (const [error, status] of (await pipeline.exec())!) if (status !== 200) throw error ?? new Error('a counter refused');
    requests += together;
  }
  return requests;
}

/** A closed loop of calls: `together` admissions, with the commits of the previous ones. */
async function load(one: Contender, teams: readonly Team[], together: number, forMs: number): Promise<number> {
  const { store, server, tag, counters } = one;
  if (server !== undefined && counters !== undefined) return loadCounters(server.redis, counters, teams, together, forMs);
  const endMs = performance.now() + forMs;
  let requests = 0;
  let next = randomInt(teams.length);
  const ledger = ledgerOf(store);
  let commits: Promise<Resolution>[] = [];
  while (performance.now() < endMs) {
    const asked = Array.from({ length: together }, () => {
      const { teamId, keyId } = teams[next++ % teams.length]!;
      return { requestId: ulid(), teamId, keyId, characters: 33, reserve: true, leaseMs: LEASE_MS, glossary: undefined, tag };
    });
    const [answers] = await Promise.all([Promise.all(asked.map(async (request) => ledger.admit(request))), ...commits]);
    const wanted = !IS_REFUSED ? 'admitted' : IS_CREDIT ? 'credit_exhausted' : 'quota_exceeded';
    for (const { kind } of answers) if (kind !== wanted) throw new Error(`an admission returned ${kind}`);
    commits = IS_REFUSED ? [] : asked.map(async ({ teamId, requestId }) => ledger.resolve(teamId, requestId, 'commit'));
    requests += together;
  }
  for (const { kind } of await Promise.all(commits)) if (kind !== 'committed') throw new Error('a commit failed');
  return requests;
}

/** Older commits have the ledger with callbacks as `direct`. */
function ledgerOf({ ledger }: Store): PluginLedger {
  return promisedLedger((ledger as Ledger & { readonly direct?: Ledger }).direct ?? ledger);
}

async function commandsOf({ server }: Contender): Promise<number> {
  if (server === undefined) return 0;
  const statistics = await server.redis.info('commandstats');
  const calls = [...statistics.matchAll(/^cmdstat_(?!eval|evalsha|fcall|info|config)[^:]+:calls=(\d+)/gm)];
  return calls.reduce((sum, [, count]) => sum + Number(count), 0);
}

async function round(one: Contender, teams: readonly Team[], together: number): Promise<Figures> {
  await load(one, teams, together, WARM_UP_MS);
  const serverUs = (): number => (one.server === undefined ? 0 : usageOf(one.server.pid).cpuUs);
  const [redisBefore, driverBefore, commandsBefore] = [serverUs(), process.cpuUsage(), await commandsOf(one)];
  const requests = await load(one, teams, together, ROUND_MS);
  const driver = process.cpuUsage(driverBefore);
  return {
    redisUs: (serverUs() - redisBefore) / requests,
    driverUs: (driver.user + driver.system) / requests,
    commands: ((await commandsOf(one)) - commandsBefore) / requests,
  };
}

const contenders = [await contender('now', '.')];
if (flags.windows !== undefined) contenders.push(await contender('with windows', '.', { windows: flags.windows }));
if (flags.tag !== undefined) contenders.push(await contender('with a tag', '.', { tag: { name: flags.tag, distinctMax: 1000 } }));
if (flags.counters) contenders.push(await contender('two counters', '.', { counters: true }));
if (flags.before !== undefined) contenders.push(await contender('before', flags.before));
if (flags.before !== undefined && flags.windows !== undefined)
  contenders.push(await contender('before, with windows', flags.before, { windows: flags.windows }));
const rows: string[][] = [];
try {
  for (const count of flags.teams.split(',').map(Number)) {
    const teams = new Map(await Promise.all(contenders.map(async (one) => [one, await furnish(one, count)] as const)));
    for (const together of flags.requests.split(',').map(Number)) {
      const figures = new Map<Contender, Figures[]>(contenders.map((one) => [one, []]));
      for (let i = 0; i < ROUNDS; i++) for (const one of contenders) figures.get(one)!.push(await round(one, teams.get(one)!, together));
      for (const [{ name }, all] of figures) {
        const [redis, driver, commands] = [
          spread(all.map((f) => f.redisUs)),
          spread(all.map((f) => f.driverUs)),
          spread(all.map((f) => f.commands)),
        ];
        rows.push([
          String(count),
          String(together),
          name,
          redis.median.toFixed(1),
          redis.least.toFixed(1),
          driver.median.toFixed(1),
          driver.least.toFixed(1),
          commands.median.toFixed(1),
        ]);
      }
      const [now, ...others] = contenders;
      for (const one of others) rows.push(ratioRow(one.name, figures.get(one)!, figures.get(now!)!));
    }
  }
} finally {
  await Promise.all(contenders.map((one) => one.stop()));
}
console.log(`${machineLine(await describeMachine())}\n`);
const HEADS = ['teams', 'requests a call', '', 'Redis µs', 'least', 'driver µs', 'least', 'commands'];
const OF_REDIS = new Set([3, 4, 7]);
const shown = (row: readonly string[]): string[] => row.filter((_, i) => flags.store === 'redis' || !OF_REDIS.has(i));
console.log(textTable(shown(HEADS), rows.map(shown)));

/** Medians of the rounds' ratios, with their middle half. */
function ratioRow(name: string, all: readonly Figures[], now: readonly Figures[]): string[] {
  const ratios = (of: (figures: Figures) => number): string[] => {
    const { median, low, high } = spread(all.map((figures, index) => of(figures) / of(now[index]!)));
    return [median.toFixed(3), `${low.toFixed(2)}-${high.toFixed(2)}`];
  };
  return ['', '', `${name} / now`, ...ratios(({ redisUs }) => redisUs), ...ratios(({ driverUs }) => driverUs), ''];
}
