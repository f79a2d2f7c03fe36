// A gateway closes the period of a team without requests within ten seconds of its end: read directly from the database, because
// the store would close it in order to answer.
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { answered } from '../../../src/index.ts';
import { sqlitePathOf } from '../../support/door/terms.ts';
import { onOneGateway, translateText } from '../../support/every-gateway.ts';
import type { Setting } from '../../support/every-gateway.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';

const CLOSED_WITHIN_MS = 10_000;

onOneGateway({}, (setting) => {
  test('a period closes without a request', async () => {
    const { teamId, key } = await setting.gateway.team({ ...QUOTA_PLAN, period: 'PT1S' });
    expect((await translateText(setting, key, '0123456789')).status).toBe(200);
    await expect.poll(() => closedPeriods(setting, teamId), { interval: 100 }).toBeGreaterThanOrEqual(1);
    const seenMs = Date.now();
    const periods = answered(await setting.gateway.store.history.periods(teamId))!;
    // Others, without use, may have ended before and since.
    const used = periods.filter(({ characters }) => characters > 0);
    expect(used).toMatchObject([{ closed: true, characters: 10 }]);
    expect(seenMs - used[0]!.endMs).toBeLessThan(CLOSED_WITHIN_MS);
  });
});

function closedPeriods({ url }: Setting, teamId: string): number {
  const database = new DatabaseSync(sqlitePathOf(url), { readOnly: true });
  try {
    const query = `SELECT count(*) AS count FROM periods WHERE team = (SELECT no FROM teams WHERE team_id = ?)`;
    return Number(database.prepare(query).get(teamId)?.['count']);
  } finally {
    database.close();
  }
}
