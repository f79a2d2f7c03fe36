// Events across failures: the sending gateway is killed, the receiver is down, fails and hangs, and each threshold is sent, with one id.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, vi } from 'vitest';
import { eventRules } from '../../support/door/terms.ts';
import { openStore } from '../../support/door/stores.ts';
import { startScriptedEngine } from '../../../src/testing.ts';
import { cloudEventFaults } from '../../support/cloud-event.ts';
import { EVENTS_SECRET, startScriptedReceiver } from '../../support/event-receiver.ts';
import { makeTeam, QUOTA_PLAN } from '../../support/gateway.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { untilOneDay } from '../../support/one-day.ts';
import { SILENT } from '../../support/silent-log.ts';
import { translate } from '../../support/site.ts';
import { storePlace } from '../../support/store-place.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

// At its end a day's usage is reported as well.
await untilOneDay();

const PERCENTS = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];

// Most of it waits for what is postponed, so the two stores wait together.
test.concurrent.for(['sqlite', 'redis'] as const)('%s', async (kind, { onTestFinished, expect }) => {
  const place = await storePlace(kind);
  onTestFinished(() => place.remove());
  const engine = await startScriptedEngine();
  onTestFinished(() => engine.close());
  let receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  const file = join(place.folder, 'lingate.yaml');
  const events = { url: receiver.url, secret: EVENTS_SECRET, thresholds: PERCENTS };
  await writeFile(file, JSON.stringify({ engine: { urls: [engine.url] }, store_options: { command_timeout_ms: 5000 }, events }));
  const serve = async (): Promise<GatewayProcess> => {
    const args = ['serve', '--config', file, '--store', place.url, '--listen', '127.0.0.1:0', '--ops', '127.0.0.1:0'];
    const gateway = await startGatewayProcess({ args, cwd: place.folder });
    onTestFinished(async () => void (await gateway.end('SIGKILL')));
    return gateway;
  };
  // Its sender has the lease, because the other started later.
  const sender = await serve();
  await expect.poll(() => sender.output().includes('lingate is ready')).toBe(true);
  const store = await openStore(place.url, {
    log: SILENT,
    clock: { nowMs: () => Date.now() },
    commandTimeoutMs: 5000,
    events: eventRules(PERCENTS, []),
  });
  onTestFinished(() => store.close());
  await expect.poll(async () => store.outbox.lease('nobody', 1)).toBe(false);
  const other = await serve();
  const team = await makeTeam(store, { ...QUOTA_PLAN, characters: 1000 });
  let delivered = 0;
  const charge = async (until: number, ...gateways: readonly GatewayProcess[]): Promise<void> => {
    for (let i = 0; delivered < until; i++) {
      const { status } = await translate(gateways[i % gateways.length]!.port, team.key);
      if (status === 200) delivered += 10;
    }
  };
  const percents = (): unknown[] => [...new Set(receiver.received.map(({ data }) => data['percent']))].filter((one) => one !== undefined);
  await charge(250, sender, other);
  await expect.poll(() => percents().length).toBeGreaterThanOrEqual(1);
  // Down, then failing, then hanging.
  const { port, received } = receiver;
  const before = [...received];
  await receiver.close();
  await charge(450, sender, other);
  receiver = await startScriptedReceiver(port);
  receiver.answer((_event, response) => void response.writeHead(500).end());
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
  // An event that this receiver has refused is in flight or postponed when its sender dies.
  await sender.end('SIGKILL');
  receiver.answer((event, response) => (event.type.startsWith('lingate.key') ? undefined : void response.writeHead(204).end()));
  await charge(1000, other);
  const all = () => [...before, ...receiver.received];
  const reported = () => new Set(all().flatMap(({ data }) => (typeof data['percent'] === 'number' ? [data['percent']] : [])));
  await expect.poll(() => [...reported()].toSorted((a, b) => a - b), { timeout: 120_000, interval: 500 }).toEqual(PERCENTS);
  // One id for each percentage, however often it was sent.
  const ids = new Map(all().map(({ id, data }) => [id, data['percent']] as const));
  expect([...ids.values()].filter((percent) => percent !== undefined)).toHaveLength(PERCENTS.length);
  expect(all().flatMap((event) => cloudEventFaults(event))).toEqual([]);
  expect(new Set(all().map(({ type }) => type))).toEqual(
    new Set(['lingate.team.created', 'lingate.key.created', 'lingate.quota.threshold']),
  );
});
