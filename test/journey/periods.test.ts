// Requests across the end of a period: every delivered character is counted once, in the period in which its request was admitted.
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { answered } from '../../src/domain/store-unavailable.ts';
import { ask, onEveryGateway } from '../support/every-gateway.ts';
import type { Setting } from '../support/every-gateway.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';
import type { TestTeam } from '../support/gateway.ts';
import { LISTENERS } from '../support/listeners.ts';

const TEXT = '0123456789';
const CONFIG = { engine: { timeout_ms: 15_000, connections_max: 256 } };

onEveryGateway({ config: CONFIG, listeners: [LISTENERS[0]] }, (setting) => {
  test('two hundred concurrent requests across a period’s end: the sum over the periods equals what was delivered', async () => {
    const { engine } = setting;
    const { teams } = setting.gateway.store;
    const team = await setting.gateway.team({ ...QUOTA_PLAN, period: 'PT6S' });
    const translate = async (): Promise<number> => {
      const body = { text: [TEXT], target_lang: 'DE' };
      return (await ask(setting, { method: 'POST', path: '/v1/translate', key: team.key, body })).status;
    };
    const many = (count: number) => Array.from({ length: count }, translate);

    // A hundred reserve in the first period, which is long enough for that on a busy machine, and are answered in a later one.
    const held: ServerResponse[] = [];
    engine.always((_request, response) => void held.push(response));
    const early = many(100);
    await engine.until(() => held.length === 100);
    engine.always('ok');
    const { periodEndMs } = answered(await teams.usage(team.teamId))!;
    // Fifty just before the end, fifty right after it.
    await expect.poll(() => Date.now(), { interval: 5 }).toBeGreaterThan(periodEndMs - 30);
    const close = many(50);
    await expect.poll(async () => answered(await teams.usage(team.teamId))?.periodEndMs, { interval: 5 }).toBeGreaterThan(periodEndMs);
    const late = many(50);
    const delivered = await Promise.all([...close, ...late]);
    for (const response of held) response.writeHead(200, { 'content-type': 'application/json' }).end('{"translations":[{"text":"x"}]}');
    delivered.push(...(await Promise.all(early)));

    expect(delivered).toEqual(Array.from({ length: 200 }, () => 200));
    await expect.poll(() => teams.standing(team.teamId)).toMatchObject({ openReservations: 0, heldCharacters: 0 });
    const counts = await countsByPeriod(setting, team);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(200 * TEXT.length);
    expect(counts.length).toBeGreaterThanOrEqual(2);
    expect(counts[0]).toBeGreaterThanOrEqual(100 * TEXT.length);
  });
});

/** The characters of each period with use, in order. */
async function countsByPeriod({ gateway }: Setting, { teamId }: TestTeam): Promise<number[]> {
  const periods = answered(await gateway.store.history.periods(teamId))!;
  return periods
    .map(({ characters }) => characters)
    .filter((characters) => characters > 0)
    .toReversed();
}
