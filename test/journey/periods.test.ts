// Requests across the end of a period: every delivered character is counted once, in the period in which its request was admitted.
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { answered } from '../../src/index.ts';
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
    const many = (count: number, key: string) =>
      Array.from({ length: count }, async () => {
        const body = { text: [TEXT], target_lang: 'DE' };
        return (await ask(setting, { method: 'POST', path: '/v1/translate', key, body })).status;
      });

    // A hundred reserve in one period and are answered in a later one. Again, with a longer period, if it ended meanwhile.
    const reserved = async (seconds: number) => {
      const team = await setting.gateway.team({ ...QUOTA_PLAN, period: `PT${seconds}S` });
      const held: ServerResponse[] = [];
      engine.always((_request, response) => void held.push(response));
      const { periodEndMs } = answered(await teams.usage(team.teamId))!;
      const early = many(100, team.key);
      await engine.until(() => held.length === 100);
      const answer = async (): Promise<number[]> => {
        for (const response of held) response.writeHead(200, { 'content-type': 'application/json' }).end('{"translations":[{"text":"x"}]}');
        return Promise.all(early);
      };
      if (answered(await teams.usage(team.teamId))?.periodEndMs === periodEndMs) return { team, periodEndMs, answer };
      await answer();
      return reserved(seconds * 2);
    };
    const { team, periodEndMs, answer } = await reserved(1);
    engine.always('ok');
    // Fifty just before the end, fifty right after it.
    await expect.poll(() => Date.now(), { interval: 5 }).toBeGreaterThan(periodEndMs - 30);
    const close = many(50, team.key);
    await expect.poll(async () => answered(await teams.usage(team.teamId))?.periodEndMs, { interval: 5 }).toBeGreaterThan(periodEndMs);
    const late = many(50, team.key);
    const delivered = await Promise.all([...close, ...late]);
    delivered.push(...(await answer()));

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
