// What texts notice of documents at full work: short rounds with and without, in turns, so that other work on the machine meets both.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { makeTeam, QUOTA_PLAN } from '../../support/gateway.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import { openBeside, storePlace } from '../../support/store-place.ts';
import { countBy, openLoop, quantile } from '../load/open-loop.ts';
import type { Sent } from '../load/open-loop.ts';
import type { DocumentOrder, DocumentReport } from './document-team.ts';

interface BesideDocuments {
  readonly alone: Times;
  readonly beside: Times;
  /** Translated meanwhile, per second. */
  readonly documentsPerSecond: number;
}

export interface Times {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly answers: Readonly<Record<string, number>>;
}

interface BesideDocumentsOptions {
  readonly kind: 'sqlite' | 'redis';
  readonly rounds: number;
  /** Of a round. */
  readonly seconds: number;
  readonly perSecond: number;
}

const PLAN = { ...QUOTA_PLAN, requests_per_second: 10_000, characters: 1_000_000_000_000, documents_at_once: 100 };

export async function besideDocuments({ kind, rounds, seconds, perSecond }: BesideDocumentsOptions): Promise<BesideDocuments> {
  const engine = new Worker(new URL('./noisy-neighbour.ts', import.meta.url));
  const sender = new Worker(new URL('./document-team.ts', import.meta.url));
  const [{ enginePort }] = (await once(engine, 'message')) as [{ readonly enginePort: number }];
  const place = await storePlace(kind);
  const file = join(place.folder, 'lingate.yaml');
  const target = `http://127.0.0.1:${enginePort}`;
  // JSON is valid YAML.
  await writeFile(file, JSON.stringify({ documents: { secret: 'a secret of the tests that is long enough' }, plans: { test: PLAN } }));
  const args = ['serve', '--config', file, '--listen', '127.0.0.1:0', '--ops', '127.0.0.1:0', '--store', place.url, '--engine-url', target];
  const gateway = await startGatewayProcess({ args });
  const store = await openBeside(place.url);
  try {
    const [documents, texts] = [await makeTeam(store, PLAN), await makeTeam(store, PLAN)];
    const { port } = gateway;
    const listen = () => openLoop({ port, key: texts.key, perSecond, seconds });
    let finished = 0;
    const besideThem = async (): Promise<Sent[]> => {
      const reported = once(sender, 'message') as Promise<[DocumentReport]>;
      // A thread has no origin.
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      sender.postMessage({ port, key: documents.key, seconds } satisfies DocumentOrder);
      const sent = await listen();
      finished += (await reported)[0].documents;
      return sent;
    };
    // Until code and caches are warm.
    await besideThem();
    await listen();
    finished = 0;
    const [alone, beside]: [Sent[], Sent[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      // Neither is always the first.
      if (round % 2 === 0) alone.push(...(await listen()));
      beside.push(...(await besideThem()));
      if (round % 2 === 1) alone.push(...(await listen()));
    }
    return { alone: timesOf(alone), beside: timesOf(beside), documentsPerSecond: finished / (rounds * seconds) };
  } finally {
    await gateway.end('SIGTERM');
    await store.close();
    await Promise.all([engine.terminate(), sender.terminate()]);
    await place.remove();
  }
}

function timesOf(sent: readonly Sent[]): Times {
  return { p50Ms: quantile(sent, 0.5), p99Ms: quantile(sent, 0.99), answers: countBy(sent) };
}
