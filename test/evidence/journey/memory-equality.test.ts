// A gateway with the memory and one without answer the same random requests alike, over every front: statuses, headers, bodies, charges.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answered } from '../../../src/index.ts';
import { startScriptedEngine } from '../../../src/testing.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { FACADES } from '../../support/fronts.ts';
import { QUOTA_PLAN, startGateway } from '../../support/gateway.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { request } from '../../support/raw-http.ts';
import type { HttpResponse } from '../../support/raw-http.ts';
import { storePlace } from '../../support/store-place.ts';
import type { StorePlace } from '../../support/store-place.ts';

const RUNS = 12;
const REQUESTS = { minLength: 15, maxLength: 40 };
/** Some sequences use it up. */
const CHARACTERS = 1200;

interface Side {
  readonly place: StorePlace;
  readonly engine: ScriptedEngine;
  readonly gateway: TestGateway;
}

const sides: Side[] = [];
beforeAll(async () => {
  for (const memory of [[], [{ module: 'lingate/plugins/memory' }]]) {
    const [place, engine] = [await storePlace('sqlite'), await startScriptedEngine()];
    const config = { plugins: [...FACADES, ...memory], engine: { timeout_ms: 20_000 } };
    sides.push({ place, engine, gateway: await startGateway({ store: place.url, engineUrls: [engine.url], config }) });
  }
});
afterAll(async () => {
  for (const { place, engine, gateway } of sides) {
    await gateway.stop();
    await engine.close();
    await place.remove();
  }
});

/** A request but for its key, which each gateway has its own of. */
interface Asked {
  readonly path: string;
  readonly type: string;
  readonly body: string;
}

const posted = (path: string, body: unknown): Asked => ({ path, type: 'application/json', body: JSON.stringify(body) });
const inForm = (path: string, fields: readonly [string, string][]): Asked => ({
  path,
  type: 'application/x-www-form-urlencoded',
  body: new URLSearchParams([...fields]).toString(),
});

function send({ gateway }: Side, { key }: TestTeam, { path, type, body }: Asked): Promise<HttpResponse> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': type };
  return request({ port: gateway.port, method: 'POST', path, headers, body });
}

/** Few, so that most of them come again. */
const text = fc.constantFrom('Hello', 'grüße 😀', '<b>one</b> & two', 'new', 'a line\r\nand another', '');
const texts = fc.array(text, { minLength: 1, maxLength: 5 });
/** A member that is there, or not. */
const maybe = (name: string, ...values: readonly unknown[]) => fc.constantFrom({}, {}, {}, ...values.map((value) => ({ [name]: value })));
const merged = (...parts: readonly fc.Arbitrary<object>[]): fc.Arbitrary<Record<string, unknown>> =>
  fc.tuple(...parts).map((all) => Object.assign({}, ...all) as Record<string, unknown>);

const translation: fc.Arbitrary<Asked> = fc.oneof(
  merged(
    fc.record({ text: texts, target_lang: fc.constantFrom('DE', 'DE', 'DE', 'FR', 'ZZ') }),
    maybe('source_lang', 'EN', 'ES'),
    maybe('formality', 'more', 'prefer_less'),
    maybe('context', 'a letter'),
  ).map((body) => posted('/v1/translate', body)),
  merged(
    fc.record({ text: texts, target_lang: fc.constantFrom('DE', 'DE', 'DE', 'EN', 'zz') }),
    maybe('source_lang', 'EN'),
    maybe('show_billed_characters', true),
    maybe('tag_handling', 'xml', 'html'),
    maybe('formality', 'prefer_more'),
  ).map((body) => posted('/v2/translate', body)),
  texts.map((all) => inForm('/v2/translate', [...all.map((one): [string, string] => ['text', one]), ['target_lang', 'DE']])),
  merged(
    fc.record({ q: fc.oneof(text, texts), source: fc.constantFrom('en', 'auto'), target: fc.constantFrom('de', 'de', 'de', 'pt', 'zz') }),
    maybe('format', 'html', 'text'),
    maybe('alternatives', 2),
  ).map((body) => posted('/translate', body)),
  fc.record({ text, target_lang: fc.constantFrom('DE', 'fr') }).map((body) => posted('/translate', body)),
  fc.tuple(texts, fc.constantFrom('&to=de', '&to=de&to=fr', '&from=en&to=de', '&to=de&textType=html', '&to=zz')).map(([all, query]) =>
    posted(
      `/translator/text/v3.0/translate?api-version=3.0${query}`,
      all.map((Text) => ({ Text })),
    ),
  ),
  merged(
    fc.record({ q: fc.oneof(text, texts), target: fc.constantFrom('de', 'de', 'de', 'zh-CN', 'zz') }),
    maybe('source', 'en'),
    maybe('format', 'text'),
  ).map((body) => posted('/language/translate/v2', body)),
);

/** Without what differs between any two requests: ids, ports, times, and the length of a body with them. */
function comparable({ status, rawHeaders, body }: HttpResponse): unknown {
  const fields = rawHeaders.filter(([name]) => !/^(date|content-length)$/i.test(name)).map((field) => field.join(': '));
  return { status, fields: fields.map(withoutIds), body: withoutIds(body) };
}

function withoutIds(words: string): string {
  return words
    .replaceAll(/[0-7][0-9A-HJKMNP-TV-Z]{25}/g, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')
    .replaceAll(/"id":\d+/g, '"id":0');
}

async function charged({ gateway }: Side, { teamId }: TestTeam): Promise<number | undefined> {
  const standing = answered(await gateway.store.teams.standing(teamId));
  return standing?.openReservations === 0 ? standing.usedCharacters : undefined;
}

test('whatever is asked in whatever order, the memory changes neither an answer nor a charge, and spares the engine', async () => {
  const sequence = fc.asyncProperty(fc.array(translation, REQUESTS), async (asks) => {
    const teams = await Promise.all(sides.map(({ gateway }) => gateway.team({ ...QUOTA_PLAN, characters: CHARACTERS })));
    for (const ask of asks) {
      const [without, within] = await Promise.all(sides.map((side, i) => send(side, teams[i]!, ask).then(comparable)));
      expect(within).toEqual(without);
    }
    const settled = () => Promise.all(sides.map((side, i) => charged(side, teams[i]!)));
    await expect.poll(settled).not.toContain(undefined);
    const [without, within] = await settled();
    expect(within).toBe(without);
  });
  // What fails is printed with the seed and the path to it.
  await fc.assert(sequence, { numRuns: RUNS, endOnFailure: true });
  const [without, within] = sides.map(({ engine }) => engine.requests.flatMap(({ body }) => (JSON.parse(body) as { text: string[] }).text));
  expect(within!.length / without!.length).toBeLessThan(0.75);
});
