// A gateway in its own process with a scripted engine and a team with generous limits, for load tests.
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Store } from '../../../src/ports/store.ts';
import { QUOTA_PLAN, makeTeam } from '../../support/gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import type { RedisServer } from '../../support/redis.ts';
import { startScriptedEngine } from '../../../src/testing.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { openBeside, storePlace } from '../../support/store-place.ts';

export interface LoadedGateway {
  readonly process: GatewayProcess;
  readonly port: number;
  readonly engine: ScriptedEngine;
  /** The test's own connection, like the command line's. */
  readonly store: Store;
  readonly storeUrl: string;
  readonly redis: RedisServer | undefined;
  team(): Promise<TestTeam>;
  /** Sums of all current series of a metric by name, as in `/metrics`; 0 if there are none. */
  metric(name: string): Promise<number>;
  /** Connections that the process has accepted on its public port, and holds. */
  connections(): Promise<number>;
  /** File descriptors that the process has open. */
  descriptors(): Promise<number>;
  residentBytes(): Promise<number>;
  stop(): Promise<void>;
}

interface LoadedOptions {
  readonly store: 'sqlite' | 'redis';
  /** Instead of the scripted engine. */
  readonly engineUrl?: string;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly nodeOptions?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export const ROOMY_PLAN = { ...QUOTA_PLAN, requests_per_second: 100_000, characters: 1_000_000_000_000 };

export async function startLoadedGateway({
  store: kind,
  engineUrl,
  config = {},
  nodeOptions,
  env = {},
}: LoadedOptions): Promise<LoadedGateway> {
  const engine = await startScriptedEngine();
  const place = await storePlace(kind);
  const { url } = place;
  const file = join(place.folder, 'lingate.yaml');
  // JSON is valid YAML.
  await writeFile(file, JSON.stringify(config));
  const free = ['--listen', '127.0.0.1:0', '--ops', '127.0.0.1:0'];
  const args = ['serve', '--config', file, ...free, '--store', url, '--engine-url', engineUrl ?? engine.url];
  const options: Record<string, string> = nodeOptions === undefined ? {} : { NODE_OPTIONS: nodeOptions };
  const gateway = await startGatewayProcess({ args, env: { ...env, ...options } });
  const store = await openBeside(url);
  const procFile = (name: string): string => `/proc/${gateway.process.pid}/${name}`;
  return {
    process: gateway,
    port: gateway.port,
    engine,
    store,
    storeUrl: url,
    redis: place.redis,
    team: () => makeTeam(store, ROOMY_PLAN),
    metric: (name) => readMetric(gateway.opsUrl, name),
    connections: () => acceptedOn(gateway.port),
    descriptors: async () => (await readdir(procFile('fd'))).length,
    residentBytes: async () => Number(/^VmRSS:\s+(\d+) kB/m.exec(await readFile(procFile('status'), 'utf8'))?.[1]) * 1024,
    async stop() {
      await gateway.end('SIGTERM');
      await store.close();
      await engine.close();
      await place.remove();
    },
  };
}

const ESTABLISHED = '01';
/** Of connections that are not accepted yet, or no longer held. */
const NO_INODE = '0';

/** From the system's table; a caller may be connected long before the process accepts the connection, or after it dropped it. */
async function acceptedOn(port: number): Promise<number> {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = (await readFile('/proc/net/tcp', 'latin1')).split('\n').map((line) => line.trim().split(/\s+/));
  return lines.filter(([, local = '', , state, , , , , , inode]) => local.endsWith(end) && state === ESTABLISHED && inode !== NO_INODE)
    .length;
}

async function readMetric(opsUrl: string, name: string): Promise<number> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
