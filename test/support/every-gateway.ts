// Runs the same tests on a gateway of each listener and store, or on one, with a scripted engine of its own.
import type { TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { problems } from '../../src/index.ts';
import { startScriptedEngine } from '../../src/testing.ts';
import type { ProblemCode } from '../../src/core/problem.ts';
import type { Plan } from '../../src/domain/plan.ts';
import { startGateway } from './gateway.ts';
import type { TestGateway, TestTeam } from './gateway.ts';
import { LISTENERS } from './listeners.ts';
import type { ListenerName } from './listeners.ts';
import { request } from './raw-http.ts';
import type { HttpResponse } from './raw-http.ts';
import { storePlace } from './store-place.ts';
import type { StorePlace } from './store-place.ts';
import type { ScriptedEngine } from '../../src/testing/scripted-engine.ts';

type StoreName = 'sqlite' | 'redis';

/** Filled before the first test. */
export interface Setting {
  readonly listener: ListenerName;
  readonly store: StoreName;
  /** The store's URL. */
  url: string;
  gateway: TestGateway;
  engine: ScriptedEngine;
}

interface GatewayOptions {
  /** Further members of the configuration file. */
  readonly config?: Readonly<Record<string, unknown>>;
}

type Combination = Pick<Setting, 'listener' | 'store'>;

const STORES = ['sqlite', 'redis'] as const;

/** Each listener and each store once: neither knows the other, so two gateways prove as much as four. */
export const COMBINATIONS: readonly Combination[] = STORES.map((store, i) => ({ listener: LISTENERS[i] ?? LISTENERS[0], store }));

/** What is streamed is only on node:http. */
const streams = (config: object): boolean => 'forward' in config || 'documents' in config;

/** For what a listener or a store could do wrong. */
export function onEveryGateway({ config = {} }: GatewayOptions, tests: (setting: Setting) => void): void {
  const combinations = streams(config) ? STORES.map((store) => ({ listener: 'node' as const, store })) : COMBINATIONS;
  onGateways(combinations, config, tests);
}

/** For what stands behind the listeners and before the stores. */
export function onOneGateway(
  { config = {}, store = 'sqlite' }: GatewayOptions & { readonly store?: StoreName },
  tests: (setting: Setting) => void,
): void {
  onGateways([{ listener: streams(config) ? 'node' : LISTENERS[0], store }], config, tests);
}

function onGateways(combinations: readonly Combination[], config: object, tests: (setting: Setting) => void): void {
  describe.each(combinations)('$listener listener, $store store', ({ listener, store }) => {
    const setting = { listener, store } as Setting;
    let place: StorePlace;

    beforeAll(async () => {
      place = await storePlace(store);
      setting.url = place.url;
      setting.engine = await startScriptedEngine();
      setting.gateway = await startGateway({ listener, store: setting.url, engineUrls: [setting.engine.url], config: { ...config } });
    });

    afterAll(async () => {
      await setting.gateway.stop();
      await setting.engine.close();
      await place.remove();
    });

    tests(setting);
  });
}

/** One team for all tests; it is there before the first. */
export function oneTeam(setting: Setting, plan?: Plan): TestTeam {
  const team: TestTeam = { teamId: '', keyId: '', key: '' };
  beforeAll(async () => void Object.assign(team, await setting.gateway.team(plan)));
  return team;
}

export interface Ask {
  readonly method?: string;
  readonly path: string;
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent unchanged, other values as JSON. */
  readonly body?: unknown;
}

/** One request on a connection of its own. */
export function ask({ gateway }: Pick<Setting, 'gateway'>, { method = 'GET', path, key, headers = {}, body }: Ask): Promise<HttpResponse> {
  return request({
    port: gateway.port,
    method,
    path,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}

/** A translation of this text into German by `/v1`. */
export function translateText(
  at: Pick<Setting, 'gateway'>,
  key: string,
  text: string,
  headers: Ask['headers'] = {},
): Promise<HttpResponse> {
  return ask(at, { method: 'POST', path: '/v1/translate', key, headers, body: { text: [text], target_lang: 'DE' } });
}

/** The body of a successful answer, which matches the schema. */
export function expectAnswer(response: HttpResponse, schema: TSchema, status = 200): Record<string, unknown> {
  expect([response.status, response.body]).toEqual([status, expect.any(String)]);
  const body = JSON.parse(response.body) as Record<string, unknown>;
  expect([body, Check(schema, body)]).toEqual([body, true]);
  expect(response.header('content-type')).toBe('application/json');
  expect(response.header('cache-control')).toBe('no-store');
  expect(response.header('x-request-id')).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
  return body;
}

/** A problem with this code, these additional members and no others; returns its detail. */
export function expectProblem(response: HttpResponse, code: ProblemCode, fields: Readonly<Record<string, unknown>> = {}): string {
  const { type, title, status, code: actual, detail, request_id: id, ...rest } = JSON.parse(response.body) as Record<string, unknown>;
  expect([actual, status, response.status, detail]).toEqual([code, problems[code].status, problems[code].status, detail]);
  expect(rest).toEqual(fields);
  expect(String(type).split('#')[1]).toBe(code.replaceAll('_', '-'));
  expect([title, id]).toEqual([problems[code].title, response.header('x-request-id')]);
  expect(response.header('content-type')).toBe('application/problem+json');
  expect(response.header('cache-control')).toBe('no-store');
  return String(detail);
}
