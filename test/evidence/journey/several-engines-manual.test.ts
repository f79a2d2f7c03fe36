// The manual's example of a move from one engine to another without a restart.
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { startScriptedEngine } from '../../../src/testing.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { codeBlocks, manualSection } from '../../support/manual.ts';
import { request } from '../../support/raw-http.ts';
import { storePlace } from '../../support/store-place.ts';
import { loaded } from '../../support/written-file.ts';

interface Example {
  readonly engines: Readonly<Record<string, object>>;
  readonly routing: readonly object[];
}

const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

async function startEngine(): Promise<ScriptedEngine> {
  const engine = await startScriptedEngine();
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

async function translate(gateway: TestGateway, team: TestTeam): Promise<void> {
  await request({
    port: gateway.port,
    method: 'POST',
    path: '/v1/translate',
    headers: { authorization: `Bearer ${team.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text: ['The house is big.'], source_lang: 'EN', target_lang: 'DE' }),
  });
}

test('the rules of the move from one engine to another are taken by a reload', async () => {
  const [old, fresh] = [await startEngine(), await startEngine()];
  const gateway = await serve('From one engine to another without a restart', { old: old.url, new: fresh.url });
  const team = await gateway.team();
  await translate(gateway, team);
  expect([old.requests.length, fresh.requests.length]).toEqual([1, 0]);
  const engines = { old: { urls: [old.url] }, new: { urls: [fresh.url] } };
  const reload = (routing: object): readonly string[] => gateway.app.reload(loaded(JSON.stringify({ engines, routing })));
  reload([{ plans: ['free'], engines: ['new', 'old'] }, { engines: ['old'] }]);
  await translate(gateway, team);
  expect([old.requests.length, fresh.requests.length]).toEqual([2, 0]);
  reload([{ engines: ['new'] }]);
  await translate(gateway, team);
  expect([old.requests.length, fresh.requests.length]).toEqual([2, 1]);
  // A reload takes URLs along with the rules, those of every engine.
  const moved = await startEngine();
  gateway.app.reload(loaded(JSON.stringify({ engines: { ...engines, new: { urls: [moved.url] } }, routing: [{ engines: ['new'] }] })));
  await translate(gateway, team);
  expect([old.requests.length, fresh.requests.length, moved.requests.length]).toEqual([2, 1, 1]);
  reload([{ engines: ['new'] }]);
  // One that is not there yet waits, and the rules with it.
  const more = { ...engines, third: { urls: ['http://127.0.0.1:1'] } };
  const waiting = gateway.app.reload(loaded(JSON.stringify({ engines: more, routing: [{ engines: ['third'] }] })));
  expect(waiting).toEqual(expect.arrayContaining(['engines', 'routing']));
  await translate(gateway, team);
  expect([old.requests.length, fresh.requests.length]).toEqual([2, 2]);
});
