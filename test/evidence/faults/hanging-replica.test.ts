// One of two engine replicas hangs: of sequential requests three wait for it, then one at each trial, instead of all.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startScriptedEngine } from '../../../src/testing.ts';
import { startGateway } from '../../support/gateway.ts';

const TIMEOUT_MS = 400;
const REQUESTS = 40;
const folder = mkdtempSync(join(tmpdir(), 'lingate-hanging-replica-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('few requests wait for it, and all are answered', async () => {
  const [hanging, good] = [await startScriptedEngine(), await startScriptedEngine()];
  hanging.always('hang');
  const config = { engine: { timeout_ms: TIMEOUT_MS } };
  const store = `sqlite:${folder}/lingate.db`;
  const gateway = await startGateway({ listener: 'node', store, engineUrls: [hanging.url, good.url], config });
  const { key } = await gateway.team();
  const startedAtMs = performance.now();
  let waited = 0;
  for (let i = 0; i < REQUESTS; i++) {
    const sentAtMs = performance.now();
    const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/translate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ text: ['Hello'], target_lang: 'DE' }),
    });
    await response.arrayBuffer();
    expect(response.status).toBe(200);
    if (performance.now() - sentAtMs >= TIMEOUT_MS) waited++;
  }
  const tookMs = performance.now() - startedAtMs;
  const attempts = hanging.requests.length;
  await gateway.stop();
  await Promise.all([hanging.close(), good.close()]);
  process.stdout.write(
    `requests by time: ${REQUESTS - waited} under ${TIMEOUT_MS} ms, ${waited} over; ${attempts} met the one that hangs\n`,
  );
  // Trials end after 1, 3, 7, … seconds plus their time limits: a slow machine has time for more of them.
  const trials = Math.floor(Math.log2(tookMs / 1000 + 1)) + 1;
  expect(attempts).toBeGreaterThanOrEqual(3);
  expect(attempts).toBeLessThanOrEqual(3 + trials);
});
