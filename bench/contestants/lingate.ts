// Lingate from the tree that this file stands in, as `lingate serve` runs it, access log on: it has no other way.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { QuotaPlan } from '../../src/domain/plan.ts';
import { runProgram } from '../../test/support/start-program.ts';
import { freePort } from '../machine/free-port.ts';
import { gatewayAnswer, NotOffered, TRANSLATE_PATH } from './contestant.ts';
import type { Contestant, Ground, Running } from './contestant.ts';
import { expectStatus } from './sample.ts';
import { bearer, benchKeys } from './keys.ts';
import { auditCharacters } from './lingate-audit.ts';
import { makeTeams } from './lingate-teams.ts';
import { startProgram } from './program.ts';
import type { Program } from './program.ts';
import { startRedis } from './redis.ts';

export interface LingateOptions {
  readonly name: string;
  readonly does: string;
  readonly store: 'redis' | 'sqlite';
  /** Members of the configuration file besides the addresses; sections are replaced as a whole. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly engine?: Readonly<Record<string, unknown>>;
  /** All load by one team with one request a second: nearly all of it is refused. */
  readonly flooded?: boolean;
  /** For its process; may throw `NotOffered`. */
  readonly env?: () => Readonly<Record<string, string>>;
  /** Stands between Lingate and its Redis; given the port of the one, tells the port of the other. */
  readonly beforeRedis?: (port: number, ground: Ground) => Promise<Program>;
}

const MAIN = fileURLToPath(new URL('../../src/lingate.js', import.meta.url));
const LANGUAGES = fileURLToPath(new URL('../../config/languages.yaml', import.meta.url));

const PLAN: QuotaPlan = {
  billing: 'quota',
  // The load of a whole machine on a single team must not meet it.
  requests_per_second: 100_000,
  max_characters_per_request: 10_000_000,
  max_glossaries: 1,
  characters: 1_000_000_000_000,
  period: 'P1M',
  overage_cap_minor: 0,
  overage_minor_per_million: 0,
  currency: 'EUR',
};

export function lingate(options: LingateOptions): Contestant {
  const { name, does } = options;
  return { name, does, start: (ground) => start(ground, options) };
}

async function start(ground: Ground, options: LingateOptions): Promise<Running> {
  const { folder } = ground;
  const env = options.env?.() ?? {};
  const file = join(folder, 'lingate.yaml');
  const port = await freePort();
  writeSettings(file, { port, opsPort: await freePort(), ground, options });
  await judgeSettings(file);
  const redis = options.store === 'redis' ? await startRedis(ground) : undefined;
  const between = redis === undefined ? undefined : await options.beforeRedis?.(redis.port, ground);
  const storePort = (between ?? redis)?.port;
  const store = storePort === undefined ? `sqlite:${join(folder, 'lingate.db')}` : `redis://127.0.0.1:${storePort}`;
  const keys = benchKeys(options.flooded === true ? 1 : ground.teams);
  const plan = options.flooded === true ? { ...PLAN, requests_per_second: 1 } : PLAN;
  await makeTeams(redis === undefined ? store : `redis://127.0.0.1:${redis.port}`, plan, keys);
  const args = [...profiling(), MAIN, 'serve', '--config', file, '--store', store];
  const program = await startProgram('node', args, { cores: ground.cores.gateway, port, folder, name: options.name, env });
  return {
    ...judged(port, keys.map(bearer), options),
    gatewayPid: program.pid,
    redisPid: redis?.pid,
    async stop() {
      await program.stop();
      await between?.stop();
      await redis?.stop();
    },
  };
}

type Judged = Omit<Running, 'gatewayPid' | 'redisPid' | 'stop'>;

function judged(port: number, authorizations: readonly string[], { flooded }: LingateOptions): Judged {
  const called = { port, path: TRANSLATE_PATH, authorizations };
  if (flooded === true) return { ...called, expect: () => ({ status: 429, alsoStatus: 200, body: undefined }) };
  return {
    ...called,
    expect: gatewayAnswer,
    async checkRefusals() {
      await expectStatus(port, 'Bearer nobody', 401, 'a malformed key');
      await expectStatus(port, bearer(`la_live_${'x'.repeat(40)}`), 401, 'an unknown key');
    },
    audit: (characters) => auditCharacters(port, authorizations, characters),
  };
}

interface Settings {
  readonly port: number;
  readonly opsPort: number;
  readonly ground: Ground;
  readonly options: LingateOptions;
}

function writeSettings(file: string, { port, opsPort, ground, options }: Settings): void {
  const settings = {
    listen: `127.0.0.1:${port}`,
    ops: `127.0.0.1:${opsPort}`,
    languages: LANGUAGES,
    engine: { urls: [`http://127.0.0.1:${ground.enginePort}`], ...options.engine },
    ...options.config,
  };
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(settings));
}

/** A setting that this tree does not know leaves the contestant out instead of ending the bench. */
async function judgeSettings(file: string): Promise<void> {
  const { status, stderr } = await runProgram('node', [MAIN, 'config', 'check', '--config', file]);
  if (status !== 0) throw new NotOffered(stderr.trim().replace(`${file}: `, '') || 'its configuration is refused');
}

/** `BENCH_PROFILE=FOLDER npm run bench` leaves one CPU profile per Lingate there. */
function profiling(): string[] {
  const folder = process.env['BENCH_PROFILE'];
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}
