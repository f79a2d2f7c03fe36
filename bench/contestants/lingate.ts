// Lingate from this checkout, as `lingate serve` runs it, always with its access log.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { nodeFile } from '../../test/bare/node.ts';
import type { QuotaPlan } from '../../src/domain/plan.ts';
import type { NodeName } from '../../test/bare/node.ts';
import { runProgram } from '../../test/support/start-program.ts';
import type { TextVariety } from '../load/text-variety.ts';
import { engineAnswer, gatewayAnswer, NotOffered, TRANSLATE_PATH } from './contestant.ts';
import type { Contestant, Ground, Running } from './contestant.ts';
import { expectStatus } from './sample.ts';
import { bearer, benchKeys } from './keys.ts';
import { auditCharacters } from './lingate-audit.ts';
import { BENCH_PLAN, makeTeams } from './lingate-teams.ts';
import { startProgram } from './program.ts';
import type { Program } from './program.ts';
import { startRedis, startRedisCluster } from './redis.ts';

interface LingateOptions {
  readonly name: string;
  readonly does: string;
  readonly store: 'redis' | 'sqlite';
  /** Members of the configuration file besides the addresses; sections are replaced as a whole. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly engine?: Readonly<Record<string, unknown>>;
  /** If it differs from the bench's number. */
  readonly teams?: number;
  readonly workers?: number;
  /** They share the teams; one server without it. */
  readonly redisMasters?: number;
  /** Members of every team's plan. */
  readonly plan?: Partial<QuotaPlan>;
  /** Lingate of another checkout, built, with its dependencies: `BENCH_BEFORE=FOLDER`. */
  readonly before?: boolean;
  /** All load comes from one team with one request a second: nearly all of it is refused. */
  readonly flooded?: boolean;
  /** The engine's own path as a forward route: nothing is parsed or translated, only passed on. */
  readonly forwards?: boolean;
  /** The plugin `memory`, in the process or in a Redis of its own, and the number of texts it knows. */
  readonly memory?: { readonly shared: boolean; readonly variety: TextVariety };
  /** For its process; may throw `NotOffered`. */
  readonly env?: () => Readonly<Record<string, string>>;
  /** Another Node than the one that runs the bench. */
  readonly node?: NodeName;
  /** A proxy between Lingate and its Redis; gets Redis's port and returns its own. */
  readonly beforeRedis?: (port: number, ground: Ground) => Promise<Program>;
}

const MAIN = fileURLToPath(new URL('../../src/lingate.js', import.meta.url));
/** The line of its log with the port. */
const READY = /is ready on https?:\/\/[^ ",]+:(\d+), ops on/;
const AUDITED_MAX = 10_000;
const LANGUAGES = fileURLToPath(new URL('../../config/languages.yaml', import.meta.url));

export function lingate(options: LingateOptions): Contestant {
  const { name, does, teams } = options;
  return { name, does, start: (ground) => start(ground, options), ...(teams === undefined ? {} : { teams }) };
}

async function start(ground: Ground, options: LingateOptions): Promise<Running> {
  const { folder } = ground;
  const env = options.env?.() ?? {};
  const file = join(folder, 'lingate.yaml');
  const memory = options.memory?.shared === true ? await startMemory(ground) : undefined;
  writeSettings(file, ground, options, memory?.port);
  const main = options.before === true ? join(beforeFolder(), 'src/lingate.js') : MAIN;
  await judgeSettings(file, main);
  const store = await startStore(ground, options);
  const keys = benchKeys(options.flooded === true ? 1 : ground.teams);
  const plan = { ...BENCH_PLAN, ...options.plan, ...(options.flooded === true ? { requests_per_second: 1 } : {}) };
  const make = options.before === true ? await makeTeamsBefore() : makeTeams;
  await make(store.directUrl, plan, keys);
  const workers = options.workers === undefined ? [] : ['--workers', String(options.workers)];
  const args = [...profiling(), main, 'serve', '--config', file, '--store', store.url, ...workers];
  const node = options.node === undefined ? {} : { file: await nodeFile(options.node) };
  const program = await startProgram('node', args, { cores: ground.cores.gateway, port: READY, folder, name: options.name, env, ...node });
  return {
    ...judged(program.port, keys.map(bearer), options),
    gatewayPid: program.pid,
    variety: options.memory?.variety,
    redis: store.redis,
    async stop() {
      await program.stop();
      await store.between?.stop();
      await Promise.all([...store.redis, ...(memory === undefined ? [] : [memory])].map((server) => server.stop()));
    },
  };
}

interface StartedStore {
  readonly url: string;
  /** Bypassing the proxy. */
  readonly directUrl: string;
  readonly redis: readonly Program[];
  readonly between: Program | undefined;
}

async function startStore(ground: Ground, { store, redisMasters, beforeRedis }: LingateOptions): Promise<StartedStore> {
  if (store === 'sqlite') {
    const url = `sqlite:${join(ground.folder, 'lingate.db')}`;
    return { url, directUrl: url, redis: [], between: undefined };
  }
  if (redisMasters !== undefined) {
    const { url, masters } = await startRedisCluster(ground, redisMasters);
    return { url, directUrl: url, redis: masters, between: undefined };
  }
  const redis = await startRedis(ground);
  const between = await beforeRedis?.(redis.port, ground);
  const [url, directUrl] = [between ?? redis, redis].map(({ port }) => `redis://127.0.0.1:${port}`) as [string, string];
  return { url, directUrl, redis: [redis], between };
}

/** A cache may be lost, and drops the oldest entries: nothing is written to a file. */
function startMemory(ground: Ground): Promise<Program> {
  const folder = join(ground.folder, 'memory');
  mkdirSync(folder, { recursive: true });
  return startRedis({ ...ground, folder }, ['--appendonly', 'no', '--maxmemory', '256mb', '--maxmemory-policy', 'allkeys-lru']);
}

/** With Redis the process caches as little as possible: its own hits cost the same as without Redis. */
function memoryPlugin(redisPort: number | undefined): object {
  const options = redisPort === undefined ? {} : { store: `redis://127.0.0.1:${redisPort}`, bytes: 1_048_576 };
  return { module: 'lingate/plugins/memory', options };
}

type Judged = Omit<Running, 'gatewayPid' | 'redis' | 'stop'>;

/** The engine's. */
const FORWARDED = '/translate';

function judged(port: number, authorizations: readonly string[], { flooded, forwards }: LingateOptions): Judged {
  const called = { port, path: TRANSLATE_PATH, authorizations };
  if (forwards === true) return { ...called, path: FORWARDED, expect: engineAnswer };
  if (flooded === true) return { ...called, expect: () => ({ status: 429, alsoStatus: 200, body: undefined }) };
  return {
    ...called,
    expect: gatewayAnswer,
    async checkRefusals() {
      await expectStatus(port, 'Bearer nobody', 401, 'a malformed key');
      await expectStatus(port, bearer(`la_live_${'x'.repeat(40)}`), 401, 'an unknown key');
    },
    // A request for each team: too many of them would take longer than the rounds.
    ...(authorizations.length > AUDITED_MAX ? {} : { audit: (characters) => auditCharacters(port, authorizations, characters) }),
  };
}

function writeSettings(file: string, ground: Ground, options: LingateOptions, memoryPort: number | undefined): void {
  const settings = {
    listen: '127.0.0.1:0',
    ops: '127.0.0.1:0',
    languages: LANGUAGES,
    engine: { urls: [`http://127.0.0.1:${ground.enginePort}`], ...options.engine },
    ...options.config,
    ...(options.memory === undefined ? {} : { plugins: [memoryPlugin(memoryPort)] }),
    ...(options.forwards === true
      ? { forward: [{ path: FORWARDED, methods: ['POST'], target: `http://127.0.0.1:${ground.enginePort}`, charge_characters: 1 }] }
      : {}),
  };
  // JSON is valid YAML.
  writeFileSync(file, JSON.stringify(settings));
}

/** A setting that this checkout does not know skips the contestant instead of ending the bench. */
async function judgeSettings(file: string, main: string): Promise<void> {
  const { status, stderr } = await runProgram('node', [main, 'config', 'check', '--config', file]);
  if (status !== 0) throw new NotOffered(stderr.trim().replace(`${file}: `, '') || 'its configuration is refused');
}

function beforeFolder(): string {
  const folder = process.env['BENCH_BEFORE'];
  if (folder === undefined) throw new NotOffered('BENCH_BEFORE names no checkout');
  return resolve(folder);
}

/** An older version reads only what it, or one before it, has written. */
async function makeTeamsBefore(): Promise<typeof makeTeams> {
  const file = join(beforeFolder(), 'bench/contestants/lingate-teams.ts');
  return ((await import(pathToFileURL(file).href)) as { readonly makeTeams: typeof makeTeams }).makeTeams;
}

/** `BENCH_PROFILE=FOLDER npm run bench` writes a CPU profile of each Lingate there. */
function profiling(): string[] {
  const folder = process.env['BENCH_PROFILE'];
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}
