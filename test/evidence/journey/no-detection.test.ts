// Texts without their language, where no engine detects it: a 400 that names the parameter, never a 503 that asks to try again.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { status } from '../../../src/testing.ts';
import { limitsOf } from '../../support/door/terms.ts';
import { answered } from '../../../src/index.ts';
import type { Behaviour, ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { FACADES, V1 } from '../../support/fronts.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { request } from '../../support/raw-http.ts';
import type { HttpResponse } from '../../support/raw-http.ts';
import { startedUntil } from '../../support/started.ts';

const EXPECTED = {
  status: 400,
  json: {
    code: 'validation_error',
    detail: 'source_lang: is needed, because the engine of this service does not detect the language of a text.',
  },
};

/** Apertium APY as it answers without its identification. */
const WITHOUT_IDENTIFICATION: Behaviour = (asked, response) => {
  if (asked.path === '/identifyLang') {
    response.writeHead(404).end('{"status":"error","code":404}');
    return;
  }
  response.end(
    asked.path === '/listPairs'
      ? '{"responseData":[{"sourceLanguage":"eng","targetLanguage":"spa"}],"responseStatus":200}'
      : '{"responseData":{"translatedText":"Hola"},"responseStatus":200}',
  );
};

const started = startedUntil(afterAll);
let gateway: TestGateway;
let team: TestTeam;

const translated = (body: object = {}): Promise<HttpResponse> =>
  request({
    ...V1.translation(team.key, []),
    port: gateway.port,
    body: JSON.stringify({ text: ['Hello'], target_lang: 'ES', ...body }),
  });
const shown = (answer: HttpResponse) => ({ status: answer.status, json: answer.json() });
const uncharged = (): Promise<void> =>
  expect.poll(() => gateway.store.teams.standing(team.teamId)).toMatchObject({ usedCharacters: 0, openReservations: 0 });

async function start(engineUrls: readonly string[], config: Readonly<Record<string, unknown>>): Promise<void> {
  gateway = await started.gateway({ engineUrls, config: { plugins: FACADES, ...config } });
  team = await gateway.team();
}

describe('in front of one engine', () => {
  let engine: ScriptedEngine;

  beforeAll(async () => {
    engine = await started.engine();
    engine.always(WITHOUT_IDENTIFICATION);
    await start([engine.url], { engine: { protocol: 'apertium' } });
  });

  const identified = (): number => engine.requests.filter(({ path }) => path === '/identifyLang').length;

  test('the first request finds it out in two attempts, the next ones need no call; texts with their language are translated', async () => {
    const answer = await translated();
    expect(shown(answer)).toMatchObject(EXPECTED);
    expect(answer.header('retry-after')).toBeUndefined();
    expect(identified()).toBe(2);
    expect(shown(await translated())).toMatchObject(EXPECTED);
    expect(identified()).toBe(2);
    await uncharged();
    expect((await translated({ source_lang: 'EN' })).status).toBe(200);
    const line = (): string | undefined =>
      gateway.logLines.find((one) => one.includes(String(answer.header('x-request-id'))) && one.includes('"msg":"request"'));
    await expect.poll(line).toBeDefined();
    expect(JSON.parse(line()!)).toMatchObject({ status: 400, parameter: 'source_lang', failures: ['no_detection', 'no_detection'] });
  });
});

describe('in front of several engines', () => {
  let small: ScriptedEngine;
  let model: ScriptedEngine;

  beforeAll(async () => {
    small = await started.engine();
    model = await started.engine();
    await start([], {
      plans: { all: QUOTA_PLAN, cheap: QUOTA_PLAN },
      engines: {
        small: { protocol: 'apertium', urls: [small.url], pairs: 'any' },
        model: { protocol: 'native', urls: [model.url] },
      },
      routing: [{ plans: ['cheap'], engines: ['small'] }, { engines: ['small', 'model'] }],
    });
    small.always(WITHOUT_IDENTIFICATION);
  });
  afterEach(() => model.forget());

  test('an engine that detects takes the texts, at first as the fallback and then at once', async () => {
    expect((await translated()).status).toBe(200);
    const before = small.requests.length;
    expect((await translated()).status).toBe(200);
    expect(small.requests).toHaveLength(before);
    // Both attempts are its own now, and a failure of it may pass: that is a 503.
    model.always(status(500));
    expect((await translated()).status).toBe(503);
    expect(small.requests).toHaveLength(before);
  });

  test('a rule that leads only to one that does not is a 400', async () => {
    answered(await gateway.store.teams.updateTeam(team.teamId, { plan: { name: 'cheap', limits: limitsOf(QUOTA_PLAN) } }));
    expect(shown(await translated())).toMatchObject(EXPECTED);
    expect((await translated({ source_lang: 'EN' })).status).toBe(200);
  });
});
