// Exemplars as Debian's Prometheus reads them: it asks for OpenMetrics, finds no fault in the text, and answers the trace ids of requests.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startScriptedEngine } from '../../../src/testing.ts';
import { freePort } from '../../support/free-port.ts';
import { makeTeam } from '../../support/gateway.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import { request } from '../../support/raw-http.ts';
import { startProgram } from '../../support/start-program.ts';
import { openBeside, storePlace } from '../../support/store-place.ts';

interface Answer<Data> {
  readonly status: string;
  readonly data: Data;
}
type Exemplars = Answer<
  readonly { readonly seriesLabels: object; readonly exemplars: readonly { readonly labels: { readonly trace_id: string } }[] }[]
>;
type Targets = Answer<{ readonly activeTargets: readonly { readonly health: string; readonly lastError: string }[] }>;

test.each([1, 2])('with %i processes Prometheus has the trace ids of requests as exemplars', async (workers) => {
  const folder = await mkdtemp(join(tmpdir(), 'lingate-exemplars-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const place = await storePlace('sqlite');
  onTestFinished(() => place.remove());
  const beside = await openBeside(place.url);
  onTestFinished(() => beside.close());
  const team = await makeTeam(beside);
  const engine = await startScriptedEngine();
  onTestFinished(() => engine.close());
  const file = join(folder, 'lingate.yaml');
  // No collector listens there: exemplars do not depend on one.
  const otel = { endpoint: 'http://127.0.0.1:9', sample: 0, follow_callers: true };
  await writeFile(file, JSON.stringify({ store: place.url, engine: { urls: [engine.url] }, team_metrics: {}, otel }));
  const gateway = await startGatewayProcess({
    args: ['serve', '--config', file, '--listen', '127.0.0.1:0', '--ops', '127.0.0.1:0', '--workers', String(workers)],
    cwd: folder,
  });
  const port = await freePort();
  const scrape = {
    job_name: 'lingate',
    scrape_interval: '200ms',
    scrape_timeout: '200ms',
    static_configs: [{ targets: [gateway.opsUrl.slice(7)] }],
  };
  await writeFile(join(folder, 'prometheus.yml'), JSON.stringify({ scrape_configs: [scrape] }));
  const prometheus = await startProgram(
    'prometheus',
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--enable-feature=exemplar-storage',
    ],
    { cwd: folder, ready: /Server is ready/ },
  );
  onTestFinished(async () => void (await prometheus.end()));
  const ask = async <T>(path: string): Promise<T> => (await fetch(`http://127.0.0.1:${port}${path}`)).json() as Promise<T>;
  const traces = ['1', '2', '3'].map((digit) => digit.repeat(32));
  for (const traceId of traces) {
    const { status } = await request({
      port: gateway.port,
      method: 'POST',
      path: '/v1/translate',
      headers: {
        Authorization: `Bearer ${team.key}`,
        'Content-Type': 'application/json',
        traceparent: `00-${traceId}-b7ad6b7169203331-01`,
      },
      body: JSON.stringify({ text: ['Hello'], target_lang: 'DE' }),
    });
    expect(status).toBe(200);
  }
  const query = encodeURIComponent('lingate_request_duration_seconds_bucket{route="POST /v1/translate"}');
  const found = async (): Promise<readonly string[]> => {
    const now = Date.now() / 1000;
    const { data } = await ask<Exemplars>(`/api/v1/query_exemplars?query=${query}&start=${now - 600}&end=${now + 60}`);
    return data.flatMap(({ exemplars }) => exemplars.map(({ labels }) => labels.trace_id));
  };
  // The latest of each bucket; which buckets there are depends on the machine.
  await expect.poll(async () => (await found()).length, { timeout: 30_000 }).toBeGreaterThan(0);
  for (const traceId of await found()) expect(traces).toContain(traceId);
  const { data } = await ask<Targets>('/api/v1/targets');
  expect(data.activeTargets).toMatchObject([{ health: 'up', lastError: '' }]);
  // The series have the names that dashboards and alerts know.
  const total = await ask<Answer<{ readonly result: readonly { readonly value: readonly [number, string] }[] }>>(
    `/api/v1/query?query=${encodeURIComponent('sum(lingate_requests_total{code="ok",route="POST /v1/translate"})')}`,
  );
  expect(Number(total.data.result[0]?.value[1])).toBe(traces.length);
  expect(await gateway.end('SIGTERM')).toBe(0);
});
