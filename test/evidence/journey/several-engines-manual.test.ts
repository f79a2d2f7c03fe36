// The manual's examples of several engines: the real Apertium with a language model after it, and a large engine by plan.
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { startScriptedEngine } from '../../../src/testing.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { startApertium } from '../../support/apertium.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { codeBlocks, manualSection } from '../../support/manual.ts';
import { request } from '../../support/raw-http.ts';
import { storePlace } from '../../support/store-place.ts';
import { loaded } from '../../support/written-file.ts';
import { SUBJECTS } from '../../unit/engines/protocols/subjects.ts';

interface Example {
  readonly engines: Readonly<Record<string, object>>;
  readonly routing: readonly object[];
}

const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

async function engineOf(protocol: 'native' | 'openai'): Promise<ScriptedEngine> {
  const right = protocol === 'openai' ? SUBJECTS['openai']!.right : undefined;
  const engine = await startScriptedEngine(right === undefined ? {} : { right });
  closing.push(() => engine.close());
  return engine;
}

/** The example below a heading, with the engines at their addresses here. */
async function serve(heading: string, urls: Readonly<Record<string, string>>): Promise<TestGateway> {
  const [example] = codeBlocks(manualSection('several-engines', heading), 'yaml').map((text) => parse(text) as Example);
  const engines = Object.entries(example!.engines).map(([name, engine]) => [name, { ...engine, urls: [urls[name]!] }]);
  const place = await storePlace('sqlite');
  const gateway = await startGateway({
    store: place.url,
    engineUrls: [],
    config: { engines: Object.fromEntries(engines) as object, routing: example!.routing },
  });
  closing.push(
    () => place.remove(),
    () => gateway.stop(),
  );
  return gateway;
}

async function translated(gateway: TestGateway, team: TestTeam, target: string): Promise<string> {
  const answer = await request({
    port: gateway.port,
    method: 'POST',
    path: '/v1/translate',
    headers: { authorization: `Bearer ${team.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text: ['The house is big.'], source_lang: 'EN', target_lang: target }),
  });
  return (answer.json() as { translations: { text: string }[] }).translations[0]!.text;
}

test('Apertium translates its pairs, the model the rest, and all when Apertium is down', async () => {
  const apertium = await startApertium();
  closing.push(() => apertium.stop());
  const model = await engineOf('openai');
  const gateway = await serve('Apertium first, a language model behind it', { apertium: apertium.url, model: model.url });
  const team = await gateway.team();
  await expect.poll(() => gateway.logLines.some((line) => line.includes('the pairs that the engine offers have changed'))).toBe(true);
  expect(await translated(gateway, team, 'ES')).toBe('La casa es grande.');
  // Its list of models was asked for at the start.
  const translations = (): readonly unknown[] => model.requests.filter(({ method }) => method === 'POST');
  expect(translations()).toHaveLength(0);
  expect(await translated(gateway, team, 'DE')).toContain('The house is big.');
  expect(translations()).toHaveLength(1);
  await apertium.stop();
  expect(await translated(gateway, team, 'ES')).toContain('The house is big.');
  expect(translations()).toHaveLength(2);
  await expect
    .poll(async () => gateway.store.teams.standing(team.teamId))
    .toMatchObject({ usedCharacters: 3 * 'The house is big.'.length, openReservations: 0 });
});

test('the rules of the move from one engine to another are taken by a reload', async () => {
  const [old, fresh] = [await engineOf('native'), await engineOf('native')];
  const gateway = await serve('From one engine to another without a restart', { old: old.url, new: fresh.url });
  const team = await gateway.team();
  await translated(gateway, team, 'DE');
  expect([old.requests.length, fresh.requests.length]).toEqual([1, 0]);
  const engines = { old: { urls: [old.url] }, new: { urls: [fresh.url] } };
  const reload = (routing: object): readonly string[] => gateway.app.reload(loaded(JSON.stringify({ engines, routing })));
  reload([{ plans: ['free'], engines: ['new', 'old'] }, { engines: ['old'] }]);
  await translated(gateway, team, 'DE');
  expect([old.requests.length, fresh.requests.length]).toEqual([2, 0]);
  reload([{ engines: ['new'] }]);
  await translated(gateway, team, 'DE');
  expect([old.requests.length, fresh.requests.length]).toEqual([2, 1]);
  // A reload takes URLs along with the rules, those of every engine.
  const moved = await engineOf('native');
  gateway.app.reload(loaded(JSON.stringify({ engines: { ...engines, new: { urls: [moved.url] } }, routing: [{ engines: ['new'] }] })));
  await translated(gateway, team, 'DE');
  expect([old.requests.length, fresh.requests.length, moved.requests.length]).toEqual([2, 1, 1]);
  reload([{ engines: ['new'] }]);
  // One that is not there yet waits, and the rules with it.
  const more = { ...engines, third: { urls: ['http://127.0.0.1:1'] } };
  const waiting = gateway.app.reload(loaded(JSON.stringify({ engines: more, routing: [{ engines: ['third'] }] })));
  expect(waiting).toEqual(expect.arrayContaining(['engines', 'routing']));
  await translated(gateway, team, 'DE');
  expect([old.requests.length, fresh.requests.length]).toEqual([2, 2]);
});
