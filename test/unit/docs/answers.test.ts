// Real answers of every route, good and bad, match the OpenAPI document exactly; so do its own examples.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { problems, problemsWith } from '../../../src/core/problem.ts';
import { answered } from '../../../src/domain/store-unavailable.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../../support/gateway.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { refusedRequests } from '../../support/refused-requests.ts';
import type { Ask } from '../../support/refused-requests.ts';
import { startRedis } from '../../support/redis.ts';
import type { RedisServer } from '../../support/redis.ts';
import { Documented } from './documented.ts';
import { startedUntil } from '../../support/started.ts';
import type { StorePlace } from '../../support/store-place.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';

const FAULT_PLUGIN = fileURLToPath(new URL('../../support/plugins/fault.ts', import.meta.url));
import { withinASecond } from '../../support/within-a-second.ts';
const TEXT = { text: ['Hello'], target_lang: 'DE' };

describe.each([false, true])('answers, with rate limit fields: %s', (rateLimitHeaders) => {
  const started = startedUntil(afterAll);
  let gateway: TestGateway;
  let engine: ScriptedEngine;
  let place: StorePlace;
  let documented: Documented;
  let team: TestTeam;
  let redisAgain: RedisServer | undefined;

  beforeAll(async () => {
    const config = { plugins: [{ module: FAULT_PLUGIN, options: {} }], limits: { rate_limit_headers: rateLimitHeaders } };
    [place, engine] = [await started.place('redis'), await started.engine()];
    started.closes(() => redisAgain?.stop());
    gateway = await started.gateway({ store: place.url, engineUrls: [engine.url], config });
    documented = await Documented.of(gateway.opsUrl);
    team = await gateway.team();
  });

  /** The status, and the code if it is a problem, when all else is as documented; otherwise the differences. */
  async function ask(route: string, { key, path, headers = {}, body }: Omit<Ask, 'route'> = {}): Promise<string> {
    const [method = '', template = ''] = route.split(' ');
    const response = await fetch(`${gateway.url}${path ?? template}`, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const { code } = response.ok ? {} : ((await response.clone().json()) as { code?: string });
    const faults = await documented.faults(route, response);
    return faults.length > 0 ? faults.join('; ') : `${response.status}${code === undefined ? '' : ` ${code}`}`;
  }

  test('of every route to the example requests in the document', async () => {
    const ids = new Map<string, string>();
    const seen: Record<string, string> = {};
    // In the document's order a glossary is created before it is read; it is deleted last.
    for (const route of documented.routes.toSorted((a, b) => Number(a.startsWith('DELETE')) - Number(b.startsWith('DELETE')))) {
      const { parameters = [], requestBody, responses } = documented.operation(route);
      const inQuery = parameters.filter((one) => one.in === 'query');
      const search = inQuery.map(({ name, example }) => `${name}=${example}`).join('&');
      const path = `${route.split(' ')[1]!.replace('{id}', ids.get('glossary') ?? '')}${search === '' ? '' : `?${search}`}`;
      const bodies = Object.values(requestBody?.content['application/json'].examples ?? { none: { value: undefined } });
      for (const { value: body } of bodies) seen[route] = await ask(route, { key: team.key, path, body });
      if (route === 'POST /v1/glossaries') ids.set('glossary', answered(await gateway.store.glossaries.list(team.teamId))[0]!.glossaryId);
      expect([route, seen[route]]).toEqual([route, Object.keys(responses).find((status) => status.startsWith('2'))]);
    }
    expect(Object.keys(seen)).toHaveLength(documented.routes.length);
  });

  test('of usage, to a team with credit', async () => {
    const prepaid = await gateway.team(CREDIT_PLAN, 100);
    expect(await ask('GET /v1/usage', { key: prepaid.key })).toBe('200');
  });

  test('that are problems: every code of the API, as documented', async () => {
    const seen: string[] = [];
    for (const [, { route = 'POST /v1/translate', ...asked }] of await refusedRequests(gateway)) seen.push(await ask(route, asked));
    expect(await ask('POST /v1/translate', { body: TEXT })).toBe('401 unauthorized');
    const limited = await withinASecond(async () => {
      const slow = await gateway.team({ ...QUOTA_PLAN, requests_per_second: 1 });
      expect(await ask('GET /v1/languages', { key: slow.key })).toBe('200');
      return ask('GET /v1/languages', { key: slow.key });
    });
    seen.push(limited);
    engine.behave('not_json', 'reset');
    seen.push(await ask('POST /v1/translate', { key: team.key, body: TEXT }));
    await place.redis!.stop();
    seen.push(await ask('GET /v1/usage', { key: team.key }));
    await expect.poll(() => ask('GET /health')).toBe('503 service_unavailable');
    // A gateway settles with the store before it stops, so the store must not be slow by then.
    redisAgain = await startRedis(['--port', String(place.redis!.port)]);

    expect(seen.toSorted()).toEqual(
      problemsWith({})
        .map((code) => `${problems[code].status} ${code}`)
        .toSorted(),
    );
  });
});
