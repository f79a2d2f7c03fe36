// A gateway with a scripted engine and a store of its own, for tests from an operator's point of view.
import { startGateway } from './gateway.ts';
import type { TestGateway } from './gateway.ts';
import type { RedisServer } from './redis.ts';
import { storePlace } from './store-place.ts';
import { startScriptedEngine } from '../../src/testing.ts';
import type { ScriptedEngine } from '../../src/testing/scripted-engine.ts';

export interface RunningGateway {
  readonly gateway: TestGateway;
  readonly engine: ScriptedEngine;
  readonly publicUrl: string;
  readonly opsUrl: string;
  /** Only with the Redis store. */
  readonly redis: RedisServer | undefined;
  /** A folder that is removed afterwards. */
  readonly folder: string;
  stop(): Promise<void>;
}

interface RunningGatewayOptions {
  readonly store?: 'sqlite' | 'redis';
  /** Further members of the configuration file. */
  readonly config?: Readonly<Record<string, unknown>>;
}

export async function startRunningGateway({ store = 'sqlite', config = {} }: RunningGatewayOptions = {}): Promise<RunningGateway> {
  const engine = await startScriptedEngine();
  const place = await storePlace(store);
  const gateway = await startGateway({ store: place.url, engineUrls: [engine.url], config });
  return {
    gateway,
    engine,
    publicUrl: `http://127.0.0.1:${gateway.port}`,
    opsUrl: `http://127.0.0.1:${gateway.opsPort}`,
    redis: place.redis,
    folder: place.folder,
    async stop() {
      await gateway.stop();
      await engine.close();
      await place.remove();
    },
  };
}
