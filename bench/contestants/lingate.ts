// Lingate from this checkout, as `lingate serve` runs it, always with its access log.
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { runProgram } from '../../test/support/start-program.ts';
import { startPinned } from '../machine.ts';
import { bearer, benchKeys, engineAnswer, expectStatus, gatewayAnswer, NotOffered, TRANSLATE_PATH } from './contestant.ts';
import type { Contestant, Ground, Running } from './contestant.ts';
import { BENCH_PLAN, makeTeams } from './lingate-teams.ts';
import { startRedis } from './redis.ts';

interface LingateOptions {
  readonly name: string;
  readonly does: string;
  readonly store: 'redis' | 'sqlite';
  /** Members of the configuration file besides the addresses; sections are replaced as a whole. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly engine?: Readonly<Record<string, unknown>>;
  /** Lingate of another checkout, built, with its dependencies: `BENCH_BEFORE`. */
  readonly isBefore?: boolean;
  /** All load comes from one team with one request a second: nearly all of it is refused. */
  readonly isFlooded?: boolean;
  /** The engine's own path as a forward route: nothing is parsed or translated, only passed on. */
  readonly isForwarding?: boolean;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The line of its log with the port. */
const READY = /is ready on https?:\/\/[^ ",]+:(\d+), ops on/;
/** The engine's path. */
const FORWARDED = '/translate';
const AT_ONCE = 32;
/** Commits follow their answers. */
const LAST_COMMIT_MS = 500;

export function lingate(options: LingateOptions): Contestant {
  return { name: options.name, does: options.does, start: (ground) => start(ground, options) };
}

async function start(ground: Ground, options: LingateOptions): Promise<Running> {
  const { folder, cores } = ground;
  const { name, isFlooded = false, isBefore = false } = options;
  const checkout = isBefore ? beforeFolder() : ROOT;
  const main = join(checkout, 'src/lingate.js');
  const file = join(folder, 'lingate.yaml');
  // JSON is valid YAML.
  writeFileSync(file, JSON.stringify(settings(ground, options)));
  await checkSettings(file, main);
  const redis = options.store === 'redis' ? await startRedis(ground) : undefined;
  const url = redis === undefined ? `sqlite:${join(folder, 'lingate.db')}` : `redis://127.0.0.1:${redis.port}`;
  const keys = benchKeys(isFlooded ? 1 : ground.teams);
  // An older version reads only what it, or one before it, has written.
  const make = isBefore ? await makeTeamsOf(checkout) : makeTeams;
  await make(url, isFlooded ? { ...BENCH_PLAN, requests_per_second: 1 } : BENCH_PLAN, keys);
  const args = [main, 'serve', '--config', file, '--store', url];
  const program = await startPinned('node', args, { cores: cores.gateway, port: READY, folder, name });
  return {
    ...called(program.port, keys.map(bearer), options),
    pid: program.pid,
    redis,
    async stop() {
      await program.stop();
      await redis?.stop();
    },
  };
}

function settings({ enginePort }: Ground, { engine, config, isForwarding = false }: LingateOptions): object {
  const engineUrl = `http://127.0.0.1:${enginePort}`;
  const forward = [{ path: FORWARDED, methods: ['POST'], target: engineUrl, charge_characters: 1 }];
  return {
    listen: '127.0.0.1:0',
    ops: '127.0.0.1:0',
    languages: join(ROOT, 'config/languages.yaml'),
    engine: { urls: [engineUrl], ...engine },
    ...config,
    ...(isForwarding ? { forward } : {}),
  };
}

type Called = Omit<Running, 'pid' | 'redis' | 'stop'>;

function called(port: number, authorizations: readonly string[], { isFlooded, isForwarding }: LingateOptions): Called {
  const target = { port, path: TRANSLATE_PATH, authorizations };
  if (isForwarding === true) return { ...target, path: FORWARDED, expect: engineAnswer };
  if (isFlooded === true) return { ...target, expect: () => ({ statuses: [429, 200], body: undefined }) };
  return {
    ...target,
    expect: gatewayAnswer,
    async checkRefusals() {
      await expectStatus(port, 'Bearer nobody', 401, 'a malformed key');
      await expectStatus(port, bearer(`la_live_${'x'.repeat(40)}`), 401, 'an unknown key');
    },
    charged: () => chargedCharacters(port, authorizations),
  };
}

async function chargedCharacters(port: number, authorizations: readonly string[]): Promise<number> {
  await pause(LAST_COMMIT_MS);
  let sum = 0;
  for (let done = 0; done < authorizations.length; done += AT_ONCE) {
    const counts = await Promise.all(authorizations.slice(done, done + AT_ONCE).map((key) => characterCount(port, key)));
    sum += counts.reduce((total, count) => total + count, 0);
  }
  return sum;
}

async function characterCount(port: number, authorization: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/usage`, { headers: { authorization } });
  const usage = (await answer.json()) as { character_count?: number };
  if (usage.character_count === undefined) throw new Error(`GET /v1/usage returned ${answer.status}`);
  return usage.character_count;
}

/** A setting that this checkout does not know leaves the contestant out instead of ending the bench. */
async function checkSettings(file: string, main: string): Promise<void> {
  const { status, stderr } = await runProgram('node', [main, 'config', 'check', '--config', file]);
  if (status !== 0) throw new NotOffered(stderr.trim().replace(`${file}: `, '') || 'its configuration is refused');
}

function beforeFolder(): string {
  const folder = process.env['BENCH_BEFORE'];
  if (folder === undefined) throw new NotOffered('--before names no checkout');
  return resolve(folder);
}

async function makeTeamsOf(checkout: string): Promise<typeof makeTeams> {
  const file = join(checkout, 'bench/contestants/lingate-teams.ts');
  return ((await import(pathToFileURL(file).href)) as { readonly makeTeams: typeof makeTeams }).makeTeams;
}
