// Folders, stores, engines and gateways of a test, a group or a file: what was started last is closed first, also after a failure.
import { startScriptedEngine } from '../../src/testing.ts';
import type { ScriptedEngine, ScriptedEngineOptions } from '../../src/testing/scripted-engine.ts';
import { startGateway } from './gateway.ts';
import type { GatewayOptions, TestGateway } from './gateway.ts';
import { temporaryFolder } from './lingate-command.ts';
import { storePlace } from './store-place.ts';
import type { StorePlace } from './store-place.ts';

export interface Started {
  /** Made when it is first read. */
  readonly folder: string;
  /** By default on a database of its own and without engines. */
  gateway(options?: Partial<GatewayOptions>): Promise<TestGateway>;
  engine(options?: ScriptedEngineOptions): Promise<ScriptedEngine>;
  place(kind: 'sqlite' | 'redis'): Promise<StorePlace>;
  /** For what was started otherwise. */
  closes(close: () => unknown): void;
}

/** `after` is one of vitest's `afterAll`, `afterEach` and `onTestFinished`. */
export function startedUntil(after: (close: () => Promise<void>) => unknown): Started {
  const closing: (() => unknown)[] = [];
  let folder: string | undefined;
  let gateways = 0;
  after(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
    folder = undefined;
  });
  const started: Started = {
    get folder() {
      if (folder !== undefined) return folder;
      const made = temporaryFolder();
      closing.unshift(() => made.remove());
      return (folder = made.path);
    },
    async gateway({ store = `sqlite:${started.folder}/${gateways++}.db`, engineUrls = [], ...more } = {}) {
      const gateway = await startGateway({ store, engineUrls, ...more });
      closing.push(() => gateway.stop());
      return gateway;
    },
    async engine(options) {
      const engine = await startScriptedEngine(options);
      closing.push(() => engine.close());
      return engine;
    },
    async place(kind) {
      const place = await storePlace(kind);
      closing.push(() => place.remove());
      return place;
    },
    closes: (close) => void closing.push(close),
  };
  return started;
}
