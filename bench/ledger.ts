// npm run task -- bench:ledger [--before FOLDER] [--windows 'requests=1000000/minute characters=1000000000/day']: what an admission and
// its commit, or a refusal, cost the store and its driver, by requests per call and by teams; optionally compared with another
// checkout, and with teams that have such limits, in alternating rounds.
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { ulid } from 'ulid';
import { eventRules } from '../src/domain/event-rules.ts';
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

async function contender(name: string, folder: string, windows = ''): Promise<Contender> {
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
    return { name, windows, store, server: undefined, stop };
  }
  const server = await startRedis();
  const store = await openStore(server.url, { ...context, events });
  const redis = new Redis(server.url, { protocol: 2 });
  const stop = async () => {
    await store.close();
    redis.disconnect();
    await server.stop();
  };
  return { name, windows, store, server: { pid: server.process.pid!, redis }, stop };
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

/** A closed loop of calls: `together` admissions, with the commits of the previous ones. */
async function load({ store }: Contender, teams: readonly Team[], together: number, forMs: number): Promise<number> {
  const endMs = performance.now() + forMs;
  let requests = 0;
  let next = randomInt(teams.length);
  const ledger = ledgerOf(store);
  let commits: Promise<Resolution>[] = [];
  while (performance.now() < endMs) {
    const asked = Array.from({ length: together }, () => {
      const { teamId, keyId } = teams[next++ % teams.length]!;
      return { requestId: ulid(), teamId, keyId, characters: 33, reserve: true, leaseMs: LEASE_MS, glossary: undefined };
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
if (flags.windows !== undefined) contenders.push(await contender('with windows', '.', flags.windows));
if (flags.before !== undefined) contenders.push(await contender('before', flags.before));
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
      const [now, before] = contenders.map((one) => figures.get(one)!);
      if (before !== undefined) rows.push(ratioRow(now!, before));
    }
  }
} finally {
  await Promise.all(contenders.map((one) => one.stop()));
}
console.log(`${machineLine(await describeMachine())}\n`);
console.log(textTable(['teams', 'requests a call', '', 'Redis µs', 'least', 'driver µs', 'least', 'commands'], rows));

/** Medians of the rounds' ratios, and the ratio of the least. */
function ratioRow(now: readonly Figures[], before: readonly Figures[]): string[] {
  const ratios = (of: (figures: Figures) => number): string[] => {
    const pairs = now.map((figures, index) => of(figures) / of(before[index]!));
    const [one, other] = [spread(now.map(of)).least, spread(before.map(of)).least];
    return [spread(pairs).median.toFixed(3), (one / other).toFixed(3)];
  };
  return ['', '', 'now / before', ...ratios(({ redisUs }) => redisUs), ...ratios(({ driverUs }) => driverUs), ''];
}
