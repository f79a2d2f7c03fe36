// What texts notice of documents at full work: short rounds without, with, and with the same documents at another gateway, in turns, so
// that other work on the machine meets them all. The last shows how much of it is the machine's, which all share.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { makeTeam, QUOTA_PLAN } from '../../support/gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import { openBeside, storePlace } from '../../support/store-place.ts';
import { countBy, openLoop, quantile } from '../../evidence/load/open-loop.ts';
import type { Sent } from '../../evidence/load/open-loop.ts';
import type { DocumentOrder, DocumentReport } from './document-team.ts';

/** Without documents; with documents at the same gateway; with documents at another, which has a store of its own. */
export const SITUATIONS = ['alone', 'beside', 'elsewhere'] as const;
type Situation = (typeof SITUATIONS)[number];

interface Times {
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The median of the rounds' p99: few rounds that met other work do not decide it. */
  readonly roundP99Ms: number;
  readonly answers: Readonly<Record<string, number>>;
  /** Documents that were translated meanwhile. */
  readonly documentsPerSecond: number;
}

interface BesideDocumentsOptions {
  readonly kind: 'sqlite' | 'redis';
  readonly rounds: number;
  /** Of a round. */
  readonly seconds: number;
  readonly perSecond: number;
}

const PLAN = { ...QUOTA_PLAN, requests_per_second: 10_000, characters: 1_000_000_000_000, documents_at_once: 100 };

interface Round {
  readonly sent: readonly Sent[];
  readonly documents: number;
}

export async function besideDocuments(options: BesideDocumentsOptions): Promise<Readonly<Record<Situation, Times>>> {
  const { kind, rounds, seconds, perSecond } = options;
  const engine = new Worker(new URL('./noisy-neighbour.ts', import.meta.url));
  const sender = new Worker(new URL('./document-team.ts', import.meta.url));
  const [{ enginePort }] = (await once(engine, 'message')) as [{ readonly enginePort: number }];
  const engineUrl = `http://127.0.0.1:${enginePort}`;
  const [one, other] = [await startGateway(kind, engineUrl), await startGateway(kind, engineUrl)];
  try {
    const texts = await one.team();
    const documents = { beside: await one.team(), elsewhere: await other.team() };
    const round = async (situation: Situation): Promise<Round> => {
      const reported = situation === 'alone' ? undefined : (once(sender, 'message') as Promise<[DocumentReport]>);
      if (situation !== 'alone') {
        const { port } = situation === 'beside' ? one : other;
        // A thread has no origin.
        // oxlint-disable-next-line unicorn/require-post-message-target-origin
        sender.postMessage({ port, key: documents[situation].key, seconds } satisfies DocumentOrder);
      }
      const sent = await openLoop({ port: one.port, key: texts.key, perSecond, seconds });
      return { sent, documents: (await reported)?.[0].documents ?? 0 };
    };
    const all: Record<Situation, Round[]> = { alone: [], beside: [], elsewhere: [] };
    // The first is not counted: until code and caches are warm.
    for (let n = 0; n <= rounds; n++) {
      // None is always the first.
      for (let i = 0; i < SITUATIONS.length; i++) {
        const situation = SITUATIONS[(n + i) % SITUATIONS.length]!;
        const measured = await round(situation);
        if (n > 0) all[situation].push(measured);
      }
    }
    const timesOf = (of: readonly Round[]): Times => {
      const sent = of.flatMap((measured) => measured.sent);
      return {
        p50Ms: quantile(sent, 0.5),
        p99Ms: quantile(sent, 0.99),
        roundP99Ms: median(of.map((measured) => quantile(measured.sent, 0.99))),
        answers: countBy(sent),
        documentsPerSecond: of.reduce((sum, measured) => sum + measured.documents, 0) / (rounds * seconds),
      };
    };
    return { alone: timesOf(all.alone), beside: timesOf(all.beside), elsewhere: timesOf(all.elsewhere) };
  } finally {
    await Promise.all([one.stop(), other.stop()]);
    await Promise.all([engine.terminate(), sender.terminate()]);
  }
}

interface StartedGateway {
  readonly port: number;
  team(): Promise<TestTeam>;
  stop(): Promise<void>;
}

async function startGateway(kind: 'sqlite' | 'redis', engineUrl: string): Promise<StartedGateway> {
  const place = await storePlace(kind);
  const file = join(place.folder, 'lingate.yaml');
  // JSON is valid YAML.
  await writeFile(file, JSON.stringify({ documents: { secret: 'a secret of the tests that is long enough' }, plans: { test: PLAN } }));
  const args = ['serve', '--config', file, '--listen', '127.0.0.1:0', '--ops', '127.0.0.1:0', '--store', place.url];
  const gateway = await startGatewayProcess({ args: [...args, '--engine-url', engineUrl] });
  const store = await openBeside(place.url);
  return {
    port: gateway.port,
    team: () => makeTeam(store, PLAN),
    async stop() {
      await gateway.end('SIGTERM');
      await store.close();
      await place.remove();
    },
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
