// GET /v1/usage over real sockets: every member and every number, with quota, overage and credit; on both listeners and stores.
import { randomBytes } from 'node:crypto';
import { ulid } from 'ulid';
import { expect, test } from 'vitest';
import { UsageAnswer } from '../support/door/tables.ts';
import { digestOf, displayOf, newKey } from '../support/door/terms.ts';
import { answered } from '../../src/index.ts';
import { status } from '../../src/testing.ts';
import type { KeyMode } from '../../src/domain/api-key.ts';
import { ask, expectAnswer, onEveryGateway, translateText } from '../support/every-gateway.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../support/gateway.ts';
import type { TestTeam } from '../support/gateway.ts';

/** Two minor units per character beyond ten, at most forty of them. */
const OVERAGE_PLAN = {
  ...QUOTA_PLAN,
  requests_per_second: 77,
  characters: 10,
  overage_cap_minor: 80,
  overage_minor_per_million: 2_000_000,
};
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{3})?Z$/;

onEveryGateway({}, (setting) => {
  const usage = async (key: string): Promise<Record<string, unknown>> =>
    expectAnswer(await ask(setting, { path: '/v1/usage', key }), UsageAnswer);

  const translate = async (key: string, text: string): Promise<number> => (await translateText(setting, key, text)).status;

  async function anotherKey({ teamId }: TestTeam, label: string, mode: KeyMode): Promise<{ keyId: string; key: string }> {
    const [key, keyId] = [newKey(mode, randomBytes), ulid()];
    answered(await setting.gateway.store.teams.createKey({ keyId, teamId, digest: digestOf(key), display: displayOf(key), label, mode }));
    return { keyId, key };
  }

  async function settled({ teamId }: TestTeam, characters: number): Promise<void> {
    const balance = { usedCharacters: characters, openReservations: 0 };
    await expect.poll(() => setting.gateway.store.teams.standing(teamId)).toMatchObject(balance);
  }

  test('an unused team: all zeros, and a key last used by this very request', async () => {
    const team = await setting.gateway.team(OVERAGE_PLAN);
    const body = await usage(team.key);
    const [start, end] = [String(body['period_start']), String(body['period_end'])];
    expect(JSON.stringify(body)).toBe(
      JSON.stringify({
        team_id: team.teamId,
        plan: 'test',
        billing: 'quota',
        requests_per_second: 77,
        period_start: start,
        period_end: end,
        character_count: 0,
        test_character_count: 0,
        character_limit: 10,
        overage: { character_count: 0, cost_minor: 0, cap_minor: 80, currency: 'EUR' },
        keys: [
          {
            display: team.key.slice(0, 12),
            label: 'test',
            mode: 'live',
            character_count: 0,
            request_count: 0,
            last_used_at: (body['keys'] as { last_used_at: string }[])[0]!.last_used_at,
          },
        ],
      }),
    );
    expect([start, end]).toEqual([expect.stringMatching(MOMENT), expect.stringMatching(MOMENT)]);
    const [from, until] = [new Date(start), new Date(end)];
    expect(until.getUTCMonth()).toBe((from.getUTCMonth() + 1) % 12);
  });

  test('quota with overage, key by key: revoked and unused keys are listed, failures are not counted', async () => {
    const team = await setting.gateway.team(OVERAGE_PLAN);
    const ci = await anotherKey(team, 'ci “2”', 'test');
    const spare = await anotherKey(team, '', 'live');
    const leaked = await anotherKey(team, 'leaked', 'live');
    expect([await translate(team.key, '12345678'), await translate(ci.key, '👍'.repeat(5)), await translate(leaked.key, '12345')]).toEqual([
      200, 200, 200,
    ]);
    setting.engine.behave(status(500), status(500));
    expect(await translate(ci.key, 'in vain')).toBe(503);
    expect(await translate(ci.key, 'x'.repeat(33))).toBe(402);
    await settled(team, 18);
    answered(await setting.gateway.store.teams.revokeKey(leaked.keyId));
    const body = await usage(team.key);
    expect(body).toMatchObject({
      character_count: 18,
      test_character_count: 5,
      character_limit: 10,
      overage: { character_count: 8, cost_minor: 16, cap_minor: 80, currency: 'EUR' },
    });
    expect(body['keys']).toEqual([
      row(team.key, 'test', 'live', 8, 1, expect.stringMatching(MOMENT)),
      row(ci.key, 'ci “2”', 'test', 5, 1, expect.stringMatching(MOMENT)),
      row(spare.key, '', 'live', 0, 0, null),
      row(leaked.key, 'leaked', 'live', 5, 1, expect.stringMatching(MOMENT)),
    ]);
    expect(body).not.toHaveProperty('credit');
  });

  test('keys of mode test with free characters: they are told apart, cost nothing, and are refused beyond them; live keys go on', async () => {
    const team = await setting.gateway.team({ ...OVERAGE_PLAN, test_keys: { characters: 12 } });
    const ci = await anotherKey(team, 'ci', 'test');
    expect([await translate(ci.key, 'x'.repeat(12)), await translate(team.key, 'x'.repeat(15))]).toEqual([200, 200]);
    const refused = await translateText(setting, ci.key, 'x');
    expect(JSON.parse(refused.body)).toMatchObject({ status: 402, code: 'quota_exceeded', character_limit: 12, overage_cap_minor: 0 });
    await settled(team, 27);
    expect(await usage(ci.key)).toMatchObject({
      character_count: 27,
      test_character_count: 12,
      test_keys: { character_count: 12, character_limit: 12 },
      character_limit: 10,
      overage: { character_count: 5, cost_minor: 10 },
    });
  });

  test('a request in flight is not counted until it is delivered', async () => {
    const team = await setting.gateway.team(QUOTA_PLAN);
    let deliver = (): void => undefined;
    setting.engine.behave((request, response) => {
      deliver = () => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"translations":[{"text":"x"}]}');
      expect(request.method).toBe('POST');
    });
    const before = setting.engine.requests.length;
    const answer = translate(team.key, '12345');
    await setting.engine.until(() => setting.engine.requests.length === before + 1);
    expect(await usage(team.key)).toMatchObject({ character_count: 0, keys: [{ character_count: 0, request_count: 0 }] });
    deliver();
    expect(await answer).toBe(200);
    await settled(team, 5);
    expect(await usage(team.key)).toMatchObject({ character_count: 5, keys: [{ character_count: 5, request_count: 1 }] });
  });

  test('prepaid credit: what is left, rounded down, instead of limit and overage', async () => {
    const team = await setting.gateway.team(CREDIT_PLAN, 900);
    expect(await usage(team.key)).toMatchObject({ billing: 'credit', credit: { balance_minor: 900, currency: 'EUR' } });
    // A quarter of a hundredth of a minor unit per character.
    expect(await translate(team.key, 'x'.repeat(401))).toBe(200);
    await settled(team, 401);
    const body = await usage(team.key);
    expect(body).toMatchObject({ character_count: 401, credit: { balance_minor: 898, currency: 'EUR' } });
    expect(Object.keys(body)).toEqual([
      'team_id',
      'plan',
      'billing',
      'requests_per_second',
      'period_start',
      'period_end',
      'character_count',
      'test_character_count',
      'credit',
      'keys',
    ]);
  });

  test('it shows the current plan, and only its own team', async () => {
    const team = await setting.gateway.team(QUOTA_PLAN);
    const other = await setting.gateway.team(CREDIT_PLAN, 5);
    const { limits } = answered(await setting.gateway.store.teams.findTeam(team.teamId))!;
    const plan = { name: 'pro', limits: { ...limits, characterLimit: 3, requestsPerSecond: 4 } };
    answered(await setting.gateway.store.teams.updateTeam(team.teamId, { plan }));
    expect(await usage(team.key)).toMatchObject({ team_id: team.teamId, plan: 'pro', character_limit: 3, requests_per_second: 4 });
    expect(await usage(other.key)).toMatchObject({ team_id: other.teamId, plan: 'test', credit: { balance_minor: 5 } });
  });
});

function row(key: string, label: string, mode: KeyMode, characters: number, requests: number, lastUsedAt: unknown) {
  return {
    display: key.slice(0, 12),
    label,
    mode,
    character_count: characters,
    request_count: requests,
    last_used_at: lastUsedAt,
  };
}
