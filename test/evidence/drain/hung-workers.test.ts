// A worker whose event loop hangs is killed and replaced; if the whole group was stopped, none is.
import { setTimeout as delay } from 'node:timers/promises';
import { describe, test, vi } from 'vitest';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { logged, openSite, opsPage, translate, workersOf } from '../../support/site.ts';
import type { Site } from '../../support/site.ts';
import { LISTENERS } from '../../support/listeners.ts';

vi.setConfig({ testTimeout: 120_000 });

/** Longer than a worker may be silent. */
const STOPPED_MS = 12_500;
/** A stopped worker gets about half of them. */
const CALLERS = 12;
/** A hanging worker is found within twelve seconds, killed, and replaced by one that has to start. */
const CALLER_LIMIT_MS = 60_000;

/** What a caller with its own connection gets in the end. */
async function outcome(gateway: GatewayProcess, site: Site): Promise<string> {
  const hangs = delay(CALLER_LIMIT_MS, 'hangs', { ref: false });
  const answered = translate(gateway.port, site.team.key).then(
    ({ status }) => String(status),
    () => 'reset',
  );
  return Promise.race([answered, hangs]);
}

describe.concurrent.each(LISTENERS)('two workers with the %s listener', (listener) => {
  test('one that is stopped is killed and replaced, and no caller hangs for ever', async ({ onTestFinished, expect }) => {
    const site = await openSite();
    onTestFinished(() => site.close());
    await site.configure({ listener, engine: { urls: [site.engine.url] } });
    const gateway = await site.serve('--workers', '2');
    const [stopped, other] = workersOf(gateway);
    process.kill(stopped!, 'SIGSTOP');
    const outcomes = await Promise.all(Array.from({ length: CALLERS }, () => outcome(gateway, site)));
    // Connections that the stopped worker accepted, or would have, are reset when it is killed, and callers may retry.
    expect(outcomes.filter((one) => one !== '200' && one !== 'reset')).toEqual([]);
    expect(outcomes).toContain('200');
    await expect.poll(() => logged(gateway, 'a worker was replaced')).toHaveLength(1);
    expect(logged(gateway, 'a worker has stopped responding and is killed')).toMatchObject([{ level: 'error', pid: stopped }]);
    expect(await opsPage(gateway, '/metrics')).toContain('lingate_workers_replaced_total{reason="hung"} 1');
    expect(workersOf(gateway)).toHaveLength(2);
    expect(workersOf(gateway)).toContain(other);
    expect(workersOf(gateway)).not.toContain(stopped);
    expect(await Promise.all(Array.from({ length: CALLERS }, () => outcome(gateway, site)))).toEqual(Array(CALLERS).fill('200'));
    expect(await gateway.end('SIGTERM')).toBe(0);
  });
});

test.concurrent('when all of them were stopped, the primary too, none is killed', async ({ onTestFinished, expect }) => {
  const site = await openSite();
  onTestFinished(() => site.close());
  const gateway = await site.serve('--workers', '2');
  const before = workersOf(gateway);
  const all = [gateway.process.pid!, ...before];
  for (const pid of all) process.kill(pid, 'SIGSTOP');
  await delay(STOPPED_MS);
  for (const pid of all) process.kill(pid, 'SIGCONT');
  // What comes while they catch up may be a 503, after which callers try again.
  const outcomes = () => Promise.all(Array.from({ length: CALLERS }, () => outcome(gateway, site)));
  expect((await outcomes()).filter((one) => one !== '200' && one !== '503')).toEqual([]);
  await expect.poll(outcomes).toEqual(Array(CALLERS).fill('200'));
  // Long enough for the primary to have checked again.
  await delay(2_500);
  expect(workersOf(gateway)).toEqual(before);
  expect(logged(gateway, 'a worker has stopped responding and is killed')).toEqual([]);
  expect(await gateway.end('SIGTERM')).toBe(0);
});
