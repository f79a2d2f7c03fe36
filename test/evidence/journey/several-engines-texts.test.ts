// Requests of many texts with several engines: in pieces, in several languages, a text a call. A request that fails in part
// is never answered in part, and is charged once or not at all.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { status } from '../../../src/testing.ts';
import type { Behaviour, ScriptedEngine, ScriptedRequest } from '../../../src/testing/scripted-engine.ts';
import { AZURE, FACADES, GOOGLE, V1 } from '../../support/fronts.ts';
import type { FrontRequest } from '../../support/fronts.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { request } from '../../support/raw-http.ts';
import type { HttpResponse } from '../../support/raw-http.ts';
import { startedUntil } from '../../support/started.ts';
import { SUBJECTS } from '../../unit/engines/protocols/subjects.ts';

const NAMES = ['words', 'whole', 'other'] as const;
const started = startedUntil(afterAll);
let gateway: TestGateway;
let team: TestTeam;
const engines = {} as Record<(typeof NAMES)[number], ScriptedEngine>;
/** Charged so far, in all tests. */
let charged = 0;

beforeAll(async () => {
  engines.words = await started.engine({ right: SUBJECTS['apertium']!.right });
  engines.whole = await started.engine({ right: nativeAnswer('whole') });
  engines.other = await started.engine({ right: nativeAnswer('other') });
  const engineOf = (name: (typeof NAMES)[number], more: object = {}) => ({ urls: [engines[name].url], timeout_ms: 20_000, ...more });
  gateway = await started.gateway({
    config: {
      plugins: FACADES,
      engines: { words: engineOf('words', { protocol: 'apertium', pairs: 'any' }), whole: engineOf('whole'), other: engineOf('other') },
      routing: [
        { pairs: ['*-DE'], engines: ['whole', 'other'] },
        { pairs: ['*-FR'], engines: ['other'] },
        { pairs: ['*-ES'], engines: ['words', 'whole', 'other'] },
      ],
    },
  });
  team = await gateway.team();
});
afterEach(() => Object.values(engines).forEach((engine) => engine.forget()));

/** Every translation names its engine. */
function nativeAnswer(name: string): (asking: ScriptedRequest) => string {
  return ({ body }) => {
    const { text, target_lang: target } = JSON.parse(body) as { text: string[]; target_lang: string };
    return JSON.stringify({ translations: text.map((one) => ({ text: `${name} ${target} ${one}` })) });
  };
}

/** Behaves like this if a call contains one of these texts, otherwise well. */
function where(
  text: string,
  behaviour: (asking: ScriptedRequest, response: Parameters<Exclude<Behaviour, string>>[1]) => void,
  name: string,
): Behaviour {
  return (asking, response) => {
    if (asking.body.includes(text)) behaviour(asking, response);
    else response.end(nativeAnswer(name)(asking));
  };
}

const send = (asked: FrontRequest): Promise<HttpResponse> => request({ port: gateway.port, ...asked });
/** How often each was called. */
const calls = () => NAMES.map((name) => engines[name].requests.length);

async function expectCharged(characters: number): Promise<void> {
  charged += characters;
  await expect.poll(() => gateway.store.teams.standing(team.teamId)).toMatchObject({ usedCharacters: charged, openReservations: 0 });
}
const TEXTS = Array.from({ length: 128 }, (_none, i) => `t${String(i).padStart(3, '0')}`);

test('of a request in three pieces only the one that fails goes to the next engine; one that fails there too refuses the whole request', async () => {
  engines.whole.always(where('t050', status(500), 'whole'));
  const answer = await send(GOOGLE.translation(team.key, TEXTS));
  expect(answer.status).toBe(200);
  expect(GOOGLE.texts(answer.body)).toEqual(TEXTS.map((text, i) => `${i >= 43 && i < 86 ? 'other' : 'whole'} DE ${text}`));
  expect(calls()).toEqual([0, 3, 1]);
  await expectCharged(128 * 4);
  engines.other.always(status(500));
  expect((await send(GOOGLE.translation(team.key, TEXTS))).status).toBe(GOOGLE.statuses.engine_unavailable);
  expect(calls()).toEqual([0, 6, 2]);
  await expectCharged(0);
});

test('languages that go to different engines are one charge; one that fails refuses all, and with one that is not offered none is started', async () => {
  const into = (...targets: readonly string[]) => send(AZURE.translation(team.key, ['Hello'], targets.join('&to=')));
  const answer = await into('de', 'fr', 'es');
  expect(JSON.parse(answer.body)).toEqual([
    {
      translations: [
        ['whole DE Hello', 'de'],
        ['other FR Hello', 'fr'],
        ['[DE] Hello', 'es'],
      ].map(([text, to]) => ({ text, to })),
    },
  ]);
  expect([answer.headers['x-metered-usage'], calls()]).toEqual(['15', [1, 1, 1]]);
  await expectCharged(15);
  engines.other.always(status(500));
  expect((await into('de', 'fr')).status).toBe(503);
  expect(calls()).toEqual([1, 2, 3]);
  expect((await into('de', 'nl')).status).toBe(400);
  expect(calls()).toEqual([1, 2, 3]);
  await expectCharged(0);
});

test('if the first engine takes one text a call and fails at one of them, the next engine gets all of them', async () => {
  const { right } = SUBJECTS['apertium']!;
  engines.words.always((asking, response) =>
    asking.body.includes('two') ? status(500)(asking, response) : void response.end(right(asking)),
  );
  const answer = await send(V1.translation(team.key, ['one', 'two', 'three'], 'ES'));
  expect(V1.texts(answer.body)).toEqual(['one', 'two', 'three'].map((text) => `whole ES ${text}`));
  expect(engines.whole.requests.map(({ body }) => (JSON.parse(body) as { text: string[] }).text)).toEqual([['one', 'two', 'three']]);
  expect(engines.other.requests).toHaveLength(0);
  await expectCharged(11);
});
