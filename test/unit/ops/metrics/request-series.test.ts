// What is counted of admissions, checks and settlements, and how many reservations are open.
import { expect, test } from 'vitest';
import { openMetrics } from '../../../../src/ops/metrics/metrics.ts';

const AWAY = { kind: 'unavailable', cause: 'timeout' } as const;

test('an admission with unknown outcome is an open reservation until its release is settled; a check reserves nothing', async () => {
  const metrics = openMetrics();
  const open = async (): Promise<string | undefined> => /^lingate_open_reservations (\d+)$/m.exec(await metrics.render())?.[1];
  metrics.requests.check(AWAY);
  expect(await open()).toBe('0');
  metrics.requests.admission(AWAY);
  expect(await open()).toBe('1');
  metrics.requests.settlement('release', 'abandoned');
  expect(await open()).toBe('0');
  expect(await metrics.render()).toContain('lingate_admissions_total{result="unavailable"} 2\n');
});
