// Starts a whole gateway in this process as an operator would: from a configuration file, with teams created through the store.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ulid } from 'ulid';
import { loadConfig, startApp } from './door/gateways.ts';
import { digestOf, displayOf, limitsOf, newKey, toMicro } from './door/terms.ts';
import { answered } from '../../src/index.ts';
import type { App } from '../../src/app/app.ts';
import type { CreditPlan, Plan, QuotaPlan } from '../../src/domain/plan.ts';
import type { Store } from '../../src/ports/store.ts';
import type { ListenerName } from './listeners.ts';
import { openBeside } from './store-place.ts';

export const QUOTA_PLAN: QuotaPlan = {
  billing: 'quota',
  requests_per_second: 1000,
  max_characters_per_request: 1000,
  max_glossaries: 2,
  characters: 1_000_000,
  period: 'P1M',
  overage_cap_minor: 0,
  overage_minor_per_million: 0,
  currency: 'EUR',
};

export const CREDIT_PLAN: CreditPlan = {
  billing: 'credit',
  requests_per_second: 1000,
  max_characters_per_request: 1000,
  max_glossaries: 2,
  credit_minor_per_million: 2500,
  currency: 'EUR',
};

const LANGUAGES = fileURLToPath(new URL('../../config/languages.yaml', import.meta.url));

/**
 * On a busy machine the test's process may stand still for longer than the default deadline of the store. Tests of deadlines
 * set their own.
 */
const PATIENT = { engine: { timeout_ms: 5000 }, store: { command_timeout_ms: 5000 } };

export interface GatewayOptions {
  /** By default the one that `auto` chooses. */
  readonly listener?: ListenerName;
  readonly store: string;
  readonly engineUrls: readonly string[];
  /** Further members of the configuration file. */
  readonly config?: Readonly<Record<string, unknown>>;
}

export interface TestTeam {
  readonly teamId: string;
  readonly keyId: string;
  readonly key: string;
}

export interface TestGateway {
  readonly app: App;
  readonly port: number;
  readonly url: string;
  readonly opsPort: number;
  readonly opsUrl: string;
  /** A second connection to the same store, as the command line would open. */
  readonly store: Store;
  /** Every log line so far. */
  readonly logLines: readonly string[];
  /** A team with one key. */
  team(plan?: Plan, creditMinor?: number): Promise<TestTeam>;
  /** The characters that it was charged; `undefined` while some are held. */
  charged(team: Pick<TestTeam, 'teamId'>): Promise<number | undefined>;
  stop(): Promise<void>;
}

export async function startGateway(options: GatewayOptions): Promise<TestGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'lingate-test-'));
  const file = join(folder, 'lingate.yaml');
  const { engine = {}, limits = {}, store_options = {}, ...rest } = options.config ?? {};
  const config = {
    listen: '127.0.0.1:0',
    ops: '127.0.0.1:0',
    listener: options.listener ?? 'auto',
    store: options.store,
    languages: LANGUAGES,
    // A test with several engines specifies them itself.
    ...('engines' in rest ? {} : { engine: { urls: options.engineUrls, ...PATIENT.engine, ...(engine as object) } }),
    store_options: { ...PATIENT.store, ...(store_options as object) },
    // Callers share this process and its event loop, so its delay must not shed requests. Nor does closing wait for the
    // quiet second that callers with persistent connections otherwise get.
    limits: { shed_loop_delay_ms: 0, drain_seconds: 0, ...(limits as object) },
    ...rest,
  };
  // JSON is valid YAML.
  await writeFile(file, JSON.stringify(config));
  const logLines: string[] = [];
  // Lines written at the same moment arrive as one piece.
  const write = (lines: string): void => void logLines.push(...lines.split(/(?<=\n)/));
  const app = await startApp(loadConfig({ file, env: {}, flags: {} }), { logDestination: { write } });
  const store = await openBeside(options.store);
  return {
    app,
    port: app.listen.port,
    url: `http://127.0.0.1:${app.listen.port}`,
    opsPort: app.ops.port,
    opsUrl: `http://127.0.0.1:${app.ops.port}`,
    store,
    logLines,
    team: (plan = QUOTA_PLAN, creditMinor = 0) => makeTeam(store, plan, creditMinor),
    async charged({ teamId }) {
      const standing = answered(await store.teams.standing(teamId));
      return standing?.openReservations === 0 ? standing.usedCharacters : undefined;
    },
    async stop() {
      await app.life.stop();
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export async function makeTeam(store: Pick<Store, 'teams'>, plan: Plan = QUOTA_PLAN, creditMinor = 0): Promise<TestTeam> {
  const teamId = ulid();
  const keyId = ulid();
  const key = newKey('live', randomBytes);
  answered(
    await store.teams.createTeam({ teamId, name: 'Test', plan: 'test', limits: limitsOf(plan), balanceMicro: toMicro(creditMinor) }),
  );
  answered(await store.teams.createKey({ keyId, teamId, digest: digestOf(key), display: displayOf(key), label: 'test', mode: 'live' }));
  return { teamId, keyId, key };
}
