// Several engines behind one gateway: routing by plan, pair and features, over all fronts.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { limitsOf } from '../../support/door/terms.ts';
import { answered } from '../../../src/index.ts';
import type { Plan } from '../../../src/domain/plan.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { FACADES, V1 } from '../../support/fronts.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { COMBINATIONS } from '../../support/every-gateway.ts';
import { request } from '../../support/raw-http.ts';
import type { HttpResponse } from '../../support/raw-http.ts';
import { startedUntil } from '../../support/started.ts';
import { withinASecond } from '../../support/within-a-second.ts';

describe.each(COMBINATIONS)('$listener listener, $store store', ({ listener, store }) => {
  const started = startedUntil(afterAll);
  let gateway: TestGateway;
  const engines = {} as Record<'small' | 'large' | 'third', ScriptedEngine>;

  beforeAll(async () => {
    for (const name of ['small', 'large', 'third'] as const) engines[name] = await started.engine();
    gateway = await started.gateway({
      listener,
      store: (await started.place(store)).url,
      config: {
        plugins: FACADES,
        engines: {
          small: { urls: [engines.small.url], timeout_ms: 3000, pairs: ['EN-DE', 'EN-FR', 'EN-ES'] },
          large: { urls: [engines.large.url], timeout_ms: 20_000 },
          third: { urls: [engines.third.url], timeout_ms: 20_000 },
        },
        routing: [
          { plans: ['free'], engines: ['small'] },
          { pairs: ['*-FR'], engines: ['large'] },
          { plans: ['pro'], pairs: ['*-DE', 'EN-ES', 'EN-IT'], engines: ['small', 'large', 'third'] },
        ],
      },
    });
  });
  afterEach(() => Object.values(engines).forEach((engine) => engine.forget()));

  async function teamOf(plan: 'free' | 'pro', numbers: Plan = QUOTA_PLAN): Promise<TestTeam> {
    const team = await gateway.team(numbers);
    answered(await gateway.store.teams.updateTeam(team.teamId, { plan: { name: plan, limits: limitsOf(numbers) } }));
    return team;
  }
  const asked = (): string =>
    Object.entries(engines)
      .flatMap(([name, { requests }]) => requests.map(() => name))
      .join(' ');
  const translate = (team: TestTeam, body: object): Promise<HttpResponse> =>
    request({
      ...V1.translation(team.key, []),
      port: gateway.port,
      body: JSON.stringify({ text: ['Hello'], source_lang: 'EN', ...body }),
    });

  test('a change of plan applies from the next request on', async () => {
    const team = await teamOf('free');
    expect((await translate(team, { target_lang: 'DE' })).status).toBe(200);
    expect(asked()).toBe('small');
    expect((await translate(team, { target_lang: 'IT' })).json()).toMatchObject({
      code: 'validation_error',
      detail: 'target_lang: IT is not offered for texts in EN; offered: DE, ES, FR.',
    });
    answered(await gateway.store.teams.updateTeam(team.teamId, { plan: { name: 'pro', limits: limitsOf(QUOTA_PLAN) } }));
    expect((await translate(team, { target_lang: 'IT' })).status).toBe(200);
    expect((await translate(team, { target_lang: 'FR' })).status).toBe(200);
    expect(asked()).toBe('small large large');
    await expect.poll(() => gateway.charged(team)).toBe(15);
  });

  test('a rule with a source does not match a request without one', async () => {
    const team = await teamOf('pro');
    expect((await translate(team, { source_lang: undefined, target_lang: 'DE' })).status).toBe(200);
    expect((await translate(team, { source_lang: undefined, target_lang: 'ES' })).json()).toMatchObject({
      detail: 'target_lang: ES is not offered without source_lang; offered: DE, FR.',
    });
    expect(asked()).toBe('small');
  });

  test('the 400 of a plan precedes its 402, and takes a slot of the rate but no characters', async () => {
    const [poor, answers] = await withinASecond(async () => {
      const team = await teamOf('free', { ...QUOTA_PLAN, characters: 1, requests_per_second: 2 });
      const codes: unknown[] = [];
      for (const target of ['DE', 'IT', 'IT']) codes.push((await translate(team, { target_lang: target })).json());
      return [team, codes] as const;
    });
    expect(answers).toMatchObject([{ code: 'quota_exceeded' }, { code: 'validation_error' }, { code: 'rate_limited' }]);
    await expect.poll(() => gateway.charged(poor)).toBe(0);
    const rich = await teamOf('free');
    expect((await translate(rich, { target_lang: 'IT' })).status).toBe(400);
    await expect.poll(() => gateway.charged(rich)).toBe(0);
    expect(asked()).toBe('');
  });

  const figures = async (): Promise<string> => (await request({ port: gateway.opsPort, path: '/metrics' })).body;
  /** Of series that are named without the prefix. */
  const valueOf = (metrics: string, series: string): number =>
    Number(
      metrics
        .split('\n')
        .find((line) => line.startsWith(`lingate_engine_${series} `))!
        .split(' ')[1],
    );

  test('metrics are labelled with the engine: attempts, durations, second attempts, characters, and calls in flight', async () => {
    const team = await teamOf('pro');
    const before = await figures();
    engines.small.always('reset');
    await translate(team, { target_lang: 'DE' });
    engines.large.behave('reset');
    await translate(team, { target_lang: 'DE' });
    engines.small.always('hang');
    const underWay = translate(team, { target_lang: 'DE' });
    await engines.small.until(() => engines.small.requests.length === 3);
    expect(valueOf(await figures(), 'calls_in_flight{engine="small"}')).toBe(1);
    expect((await underWay).status).toBe(200);
    const after = await figures();
    const grown = (series: string): number => valueOf(after, series) - valueOf(before, series);
    expect({
      reset: grown(`attempts_total{engine="small",replica="${engines.small.url}",outcome="reset"}`),
      small: grown('attempt_duration_seconds_count{engine="small"}'),
      large: grown('attempt_duration_seconds_count{engine="large"}'),
      saved: grown('second_attempts_total{engine="large",result="usable"}'),
      lost: grown('second_attempts_total{engine="large",result="failed"}'),
      characters: [grown('characters_total{engine="small"}'), grown('characters_total{engine="large"}')],
      underWay: valueOf(after, 'calls_in_flight{engine="small"}'),
    }).toEqual({ reset: 2, small: 3, large: 3, saved: 2, lost: 1, characters: [0, 10], underWay: 0 });
    expect(grown('attempt_duration_seconds_sum{engine="small"}')).toBeGreaterThan(0.99);
    expect(after).toContain(`lingate_engine_replica_up{engine="third",replica="${engines.third.url}"} 1`);
    // Requests cannot add names: all are the configuration's.
    expect(new Set([...after.matchAll(/^lingate_engine_\w+\{(?:.*,)?engine="([^"]*)"/gm)].map(([, name]) => name))).toEqual(
      new Set(['small', 'large', 'third']),
    );
  });
});
