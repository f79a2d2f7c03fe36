// What an engine may cost: at its limit the next engine takes over without a refusal, on every gateway of the store.
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { EVENTS_SECRET, startScriptedReceiver } from '../../support/event-receiver.ts';
import type { ScriptedReceiver } from '../../support/event-receiver.ts';
import { expectProblem } from '../../support/every-gateway.ts';
import { V1 } from '../../support/fronts.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { request } from '../../support/raw-http.ts';
import type { HttpResponse } from '../../support/raw-http.ts';
import { openSite } from '../../support/site.ts';
import { startedUntil } from '../../support/started.ts';

const MOST = 500;
const TEXT = 'x'.repeat(20);
const translateAt = (port: number, { key }: TestTeam): Promise<HttpResponse> => request({ port, ...V1.translation(key, [TEXT]) });

describe('two gateways on one Redis', () => {
  const [started, running] = [startedUntil(afterAll), startedUntil(afterEach)];
  let url = '';
  let receiver: ScriptedReceiver;
  const engines = {} as Record<'small' | 'large', ScriptedEngine>;

  beforeAll(async () => {
    ({ url } = await started.place('redis'));
    receiver = await startScriptedReceiver();
    started.closes(() => receiver.close());
    for (const name of ['small', 'large'] as const) engines[name] = await started.engine();
  });
  afterEach(() => Object.values(engines).forEach((engine) => engine.forget()));

  const start = (small: string, withLarge: boolean): Promise<TestGateway> => {
    const config = {
      events: { url: receiver.url, secret: EVENTS_SECRET },
      engines: {
        [small]: { urls: [engines.small.url], characters: { per: 'month', most: MOST } },
        ...(withLarge ? { large: { urls: [engines.large.url] } } : {}),
      },
    };
    return running.gateway({ listener: 'node', store: url, config });
  };
  const translate = (gateway: TestGateway, team: TestTeam): Promise<HttpResponse> => translateAt(gateway.port, team);
  const metric = async (gateway: TestGateway): Promise<string> =>
    (await request({ port: gateway.opsPort, path: '/metrics' })).body
      .split('\n')
      .find((line) => line.startsWith('lingate_engine_limit_reached'))!;

  test('the second engine takes over without a refusal, and the limit is passed by no more than a second of the other gateway', async () => {
    const [one, other] = [await start('small', true), await start('small', true)];
    const team = await one.team();
    // Alone, a process passes it by less than one request.
    for (let i = 0; i < MOST / TEXT.length + 10; i++) expect((await translate(one, team)).status).toBe(200);
    expect([engines.small.requests.length, engines.large.requests.length]).toEqual([MOST / TEXT.length, 10]);
    await expect.poll(() => metric(other)).toBe('lingate_engine_limit_reached{engine="small"} 1');
    expect((await translate(other, team)).status).toBe(200);
    expect([engines.small.requests.length, engines.large.requests.length]).toEqual([MOST / TEXT.length, 11]);
    const warned = [one, other].flatMap(({ logLines }) => logLines).filter((line) => line.includes('has used up its characters'));
    expect(warned.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({ level: 'warn', engine: 'small', per: 'month', most: MOST, characters: MOST }),
    ]);
    const reported = () => receiver.received.filter(({ type }) => type === 'lingate.engine.limit');
    await expect.poll(() => reported().length).toBe(1);
    expect(reported()[0]).toMatchObject({ subject: 'small', data: { engine: 'small', per: 'month', most: MOST, character_count: MOST } });
    // A gateway that starts later knows it before its first request.
    const delayed = await start('small', true);
    expect((await translate(delayed, team)).status).toBe(200);
    expect(engines.small.requests.length).toBe(MOST / TEXT.length);
    await expect.poll(() => one.charged(team)).toBeDefined();
    expect(reported()).toHaveLength(1);
  });

  test('without another engine it is a 503 without a charge, and the languages stay offered', async () => {
    const gateway = await start('alone', false);
    const team = await gateway.team();
    for (let i = 0; i < MOST / TEXT.length; i++) expect((await translate(gateway, team)).status).toBe(200);
    const response = await translate(gateway, team);
    expectProblem(response, 'engine_unavailable');
    expect(response.header('retry-after')).toBe('5');
    const languages = await request({ port: gateway.port, path: '/v1/languages', headers: { authorization: `Bearer ${team.key}` } });
    expect(languages.body).toContain('"DE"');
    await expect.poll(() => gateway.charged(team)).toBe(MOST);
    expect(engines.small.requests).toHaveLength(MOST / TEXT.length);
  });
});

test('a gateway with several workers tells the receiver, too', async () => {
  const receiver = await startScriptedReceiver();
  const site = await openSite();
  await site.configure({
    engines: { small: { urls: [site.engine.url], characters: { per: 'month', most: TEXT.length } } },
    events: { url: receiver.url, secret: EVENTS_SECRET },
  });
  const gateway = await site.serve('--workers', '2');
  onTestFinished(async () => {
    await gateway.end('SIGTERM');
    await site.close();
    await receiver.close();
  });
  expect((await translateAt(gateway.port, site.team)).status).toBe(200);
  await expect
    .poll(() => receiver.received.filter(({ type }) => type === 'lingate.engine.limit'))
    .toMatchObject([{ subject: 'small', data: { most: TEXT.length, character_count: TEXT.length } }]);
});
