// Two teams on one gateway: one sends its worst at its plan's rate, the other's answers are timed.
import { writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { answered } from '../../../src/index.ts';
import { dictionary, newId } from '../../support/door/contracts.ts';
import type { Store } from '../../../src/ports/store.ts';
import { makeTeam, QUOTA_PLAN } from '../../support/gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import { openBeside, storePlace } from '../../support/store-place.ts';
import { countBy, openLoop, quantile } from '../../evidence/load/open-loop.ts';
import type { NoisyOrder, NoisyReport } from './noisy-neighbour.ts';
import { operations } from './operations.ts';
import type { NoisyGlossaries, Operation } from './operations.ts';

export interface Quiet {
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** By outcome: `200 ok`, or a problem's status and code, or `broken`. */
  readonly answers: Readonly<Record<string, number>>;
  readonly noisy: Readonly<Record<string, number>>;
}

export interface Neighbours {
  readonly operations: readonly Operation[];
  /** What the other team experiences; alone if there is no operation. */
  measure(operation: Operation | undefined, seconds: number): Promise<Quiet>;
  /** How many requests of both teams have used the store. */
  storeUses(): Promise<number>;
  stop(): Promise<void>;
}

const QUIET_PER_SECOND = 40;
/** Cleans up what the previous operation left. */
const PAUSE_MS = 300;
const LARGE_TERMS = 9800;

/** `noisyPerSecond` is the rate of the noisy team's plan, and what it sends. */
export async function startNeighbours(kind: 'sqlite' | 'redis', noisyPerSecond: number): Promise<Neighbours> {
  const worker = new Worker(new URL('./noisy-neighbour.ts', import.meta.url));
  const [{ enginePort }] = (await once(worker, 'message')) as [{ readonly enginePort: number }];
  const place = await storePlace(kind);
  const file = join(place.folder, 'lingate.yaml');
  const target = `http://127.0.0.1:${enginePort}`;
  const limits = { body_bytes: 16_777_216 };
  const forward = [{ path: '/v1/files', methods: ['GET', 'POST'], target, request_fields: ['content-type'] }];
  const azure = { module: 'lingate/plugins/azure-v3', options: { root: false } };
  const plugins = [{ module: 'lingate/plugins/deepl-v2' }, { module: 'lingate/plugins/libretranslate' }, azure];
  // JSON is valid YAML.
  await writeFile(file, JSON.stringify({ forward, limits, plugins }));
  const args = ['serve', '--config', file, '--listen', '127.0.0.1:0', '--ops', '127.0.0.1:0', '--store', place.url, '--engine-url', target];
  const gateway = await startGatewayProcess({ args });
  const store = await openBeside(place.url);
  const generous = { ...QUOTA_PLAN, characters: 1_000_000_000_000, max_characters_per_request: 50_000, max_glossaries: 100 };
  const noisy = await makeTeam(store, { ...generous, requests_per_second: noisyPerSecond });
  const quiet = await makeTeam(store, { ...generous, requests_per_second: 1000 });
  const glossaries = await furnish(store, noisy);
  const { port } = gateway;
  const listen = async (seconds: number) => openLoop({ port, key: quiet.key, perSecond: QUIET_PER_SECOND, seconds });
  // Until code and caches are warm.
  await listen(2);
  return {
    operations: operations(noisy.key, glossaries),
    async measure(operation, seconds) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      const reported = once(worker, 'message') as Promise<[NoisyReport]>;
      const order: NoisyOrder = { port, perSecond: operation?.perSecond ?? noisyPerSecond, seconds, requests: operation?.requests ?? [] };
      // A thread has no origin.
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      worker.postMessage(operation === undefined ? { ...order, perSecond: 0 } : order);
      const sent = await listen(seconds);
      const [{ statuses }] = await reported;
      return { p50Ms: quantile(sent, 0.5), p99Ms: quantile(sent, 0.99), answers: countBy(sent), noisy: statuses };
    },
    async storeUses() {
      const metrics = await (await fetch(`${gateway.opsUrl}/metrics`)).text();
      return Number(/^lingate_store_duration_seconds_count (\d+)$/m.exec(metrics)![1]);
    },
    async stop() {
      await gateway.end('SIGTERM');
      await store.close();
      await worker.terminate();
      await place.remove();
    },
  };
}

/** One large glossary, five of a hundredth of it, and others up to a hundred. */
async function furnish({ glossaries }: Store, { teamId }: TestTeam): Promise<NoisyGlossaries> {
  const made: string[] = [];
  for (let n = 0; n < 99; n++) {
    const [count, length] = n === 0 ? [LARGE_TERMS, 750] : n < 6 ? [100, 50] : [1, 5];
    const entries = Object.fromEntries(
      Array.from({ length: count }, (_, i) => [`term ${n} ${i} ${'a'.repeat(length)}`, 'b'.repeat(length)]),
    );
    const glossary = { glossaryId: newId(), teamId, name: `glossary ${n}`, dictionaries: [dictionary(['EN', 'DE'], entries)] };
    const creation = answered(await glossaries.create(glossary));
    if (creation.kind !== 'created') throw new Error(`no glossary was created: ${creation.kind}`);
    made.push(creation.glossary.glossaryId);
  }
  return { large: made[0]!, several: made.slice(1, 6) };
}
