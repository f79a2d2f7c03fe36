// `lingate engine route` predicts what requests get, over random engines, rules and requests, on every front: which engines are
// called, in which order, and who is refused; and the lists of languages contain what it says is available.
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reportRoute } from '../../support/door/tables.ts';
import { limitsOf, uselessRules } from '../../support/door/terms.ts';
import { answered, NOTHING_CHOSEN } from '../../../src/index.ts';
import { act } from '../../support/door/contracts.ts';
import { startScriptedEngine, status } from '../../../src/testing.ts';
import type { Config } from '../../../src/config/config.ts';
import type { TextFormat } from '../../../src/domain/translation-options.ts';
import type { Behaviour, RightAnswer, ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { FACADES } from '../../support/fronts.ts';
import { QUOTA_PLAN, startGateway } from '../../support/gateway.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { request } from '../../support/raw-http.ts';
import { storePlace } from '../../support/store-place.ts';
import type { StorePlace } from '../../support/store-place.ts';
import { loaded } from '../../support/written-file.ts';
import { SUBJECTS } from '../../unit/engines/protocols/subjects.ts';

const CONFIGURATIONS = 6;
const REQUESTS = 40;
const ULID_LENGTH = 26;
const NAMES = ['e1', 'e2', 'e3', 'e4'] as const;
type Name = (typeof NAMES)[number];
/** Each supports something else: everything, no glossaries, no formality either, and no XML. */
const PROTOCOLS = {
  native: {},
  deepl: { api_key: 'k' },
  openai: { model: 'm' },
  libretranslate: {},
  mtranserver: {},
} as const;
const PLANS = ['p1', 'p2', 'p3'] as const;
const SOURCES = ['EN', 'DE', 'PT'] as const;
const TARGETS = ['DE', 'EN-GB', 'EN-US', 'PT-BR', 'ES'] as const;

const pair = fc
  .tuple(fc.constantFrom(...SOURCES), fc.constantFrom(...TARGETS, 'EN', 'PT'))
  .filter(([source, target]) => source !== target)
  .map((codes) => codes.join('-'));
const rulePair = fc.oneof(
  pair,
  fc.constantFrom(...TARGETS, 'EN').map((target) => `*-${target}`),
  fc.constantFrom(...SOURCES).map((source) => `${source}-*`),
);
const rule = fc.record(
  {
    plans: fc.uniqueArray(fc.constantFrom('p1', 'p2'), { minLength: 1 }),
    pairs: fc.uniqueArray(rulePair, { minLength: 1, maxLength: 4 }),
    engines: fc.shuffledSubarray([...NAMES], { minLength: 1, maxLength: 4 }),
  },
  { requiredKeys: ['engines'] },
);
const engine = fc.record({
  protocol: fc.constantFrom(...(Object.keys(PROTOCOLS) as (keyof typeof PROTOCOLS)[])),
  pairs: fc.oneof(
    { weight: 2, arbitrary: fc.constant('any') },
    { weight: 1, arbitrary: fc.uniqueArray(pair, { minLength: 1, maxLength: 8 }) },
  ),
});
const asking = fc.record({
  plan: fc.constantFrom(...PLANS),
  front: fc.constantFrom('v1', 'v1', 'deepl', 'libretranslate', 'azure', 'google'),
  from: fc.option(fc.constantFrom(...SOURCES), { nil: undefined, freq: 4 }),
  to: fc.constantFrom(...TARGETS),
  formality: fc.option(fc.constantFrom('more', 'less', 'prefer_more'), { nil: undefined, freq: 3 }),
  format: fc.constantFrom<TextFormat[]>('text', 'text', 'html', 'xml'),
  hasGlossary: fc.constantFrom(false, false, false, true),
  firstFails: fc.boolean(),
});
type Asking = typeof asking extends fc.Arbitrary<infer T> ? T : never;
const scene = fc.record({
  engines: fc.tuple(engine, engine, engine, engine),
  routing: fc.option(fc.array(rule, { minLength: 1, maxLength: 5 }), { nil: undefined, freq: 6 }),
  requests: fc.array(asking, { minLength: REQUESTS, maxLength: REQUESTS }),
});

let place: StorePlace;
const engines = {} as Record<Name, ScriptedEngine>;
const rights = {} as Record<Name, RightAnswer>;
/** Names of the engines that were called, in order, by request. */
const asked = new Map<string, Name[]>();

beforeAll(async () => {
  place = await storePlace('sqlite');
  for (const name of NAMES) {
    engines[name] = await startScriptedEngine({ right: (call) => rights[name](call) });
    const behaviour: Behaviour = (call, response) => {
      const id = String(call.headers['x-request-id']).slice(0, ULID_LENGTH);
      const before = asked.get(id) ?? [];
      // Some first detect a text's language, or make a dictionary: calls of the same attempt.
      if (call.path === '/detect' || call.path.startsWith('/v2/glossaries'))
        return act('ok', call, response, response.socket!, rights[name]);
      asked.set(id, [...before, name]);
      act(before.length === 0 && call.body.includes('fails first') ? status(500) : 'ok', call, response, response.socket!, rights[name]);
    };
    engines[name].always(behaviour);
  }
});
afterAll(async () => {
  await Promise.all(Object.values(engines).map((one) => one.close()));
  await place.remove();
});

/** The front's own options; the rest depends on what it sends. */
function sent({ front, from, to, formality, format, hasGlossary, firstFails }: Asking, key: string, glossaryId: string) {
  const text = firstFails ? 'fails first' : 'Hello';
  const bearer = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const lower = { from: from?.toLowerCase(), to: to.toLowerCase() };
  switch (front) {
    case 'deepl':
      return {
        path: '/v2/translate',
        headers: bearer,
        body: { text: [text], source_lang: from, target_lang: to, formality, ...(format === 'text' ? {} : { tag_handling: format }) },
        options: { formality, format, hasGlossary: false },
      };
    case 'libretranslate': {
      const shown = format === 'xml' ? 'text' : format;
      const body = { q: text, source: lower.from ?? 'auto', target: to === 'PT-BR' ? 'pt-BR' : to, format: shown };
      return { path: '/translate', headers: bearer, body, options: { formality: undefined, format: shown, hasGlossary: false } };
    }
    case 'azure': {
      const shown = format === 'xml' ? 'text' : format;
      const query = `api-version=3.0&to=${to}${from === undefined ? '' : `&from=${from}`}${shown === 'html' ? '&textType=html' : ''}`;
      const options = { formality: undefined, format: shown, hasGlossary: false };
      return { path: `/translator/text/v3.0/translate?${query}`, headers: bearer, body: [{ Text: text }], options };
    }
    case 'google': {
      const body = { q: [text], source: lower.from, target: to, format: 'text' };
      return {
        path: '/language/translate/v2',
        headers: bearer,
        body,
        options: { formality: undefined, format: 'text' as const, hasGlossary: false },
      };
    }
    case 'v1': {
      const glossary = hasGlossary && from !== undefined ? { glossary_id: glossaryId } : {};
      const body = { text: [text], source_lang: from, target_lang: to, formality, ...glossary };
      return {
        path: '/v1/translate',
        headers: bearer,
        body,
        options: { formality, format: 'text' as const, hasGlossary: 'glossary_id' in glossary },
      };
    }
  }
}

async function teamOf(gateway: TestGateway, plan: string): Promise<TestTeam> {
  const numbers = { ...QUOTA_PLAN, max_glossaries: 100 };
  const team = await gateway.team(numbers);
  answered(await gateway.store.teams.updateTeam(team.teamId, { plan: { name: plan, limits: limitsOf(numbers) } }));
  return team;
}

/** The names of the engines that it says a request gets, in order. */
async function told(config: Config, plan: string, options: object, hasGlossary: boolean): Promise<string[]> {
  const report = await reportRoute(config, {}, { plan, options: { ...NOTHING_CHOSEN, targetLang: '', ...options }, hasGlossary });
  return report.engines.filter(({ attempt }) => attempt !== undefined).map(({ engine: name }) => name);
}

/** Listed targets, with whether formality is available. */
async function listed(gateway: TestGateway, { key }: TestTeam): Promise<object> {
  const answer = await request({ port: gateway.port, path: '/v1/languages?type=target', headers: { authorization: `Bearer ${key}` } });
  const languages = answer.json() as { language: string; supports_formality: boolean }[];
  const ours = languages.filter(({ language }) => (TARGETS as readonly string[]).includes(language));
  return Object.fromEntries(ours.map(({ language, supports_formality }) => [language, supports_formality]));
}

/** The same as predicted for each pair. No engine and no rule names French: it stands for all other sources. */
async function listedByTold(config: Config, plan: string): Promise<object> {
  const list: Record<string, boolean> = {};
  for (const targetLang of TARGETS) {
    for (const sourceLang of [...SOURCES, 'FR', undefined]) {
      if ((await told(config, plan, { sourceLang, targetLang }, false)).length === 0) continue;
      list[targetLang] ||= (await told(config, plan, { sourceLang, targetLang, formality: 'more' }, false)).length > 0;
    }
  }
  return list;
}

test('a request is routed as the command says', { timeout: 300_000 }, async () => {
  const seen = { refused: 0, first: 0, next: 0, again: 0 };
  await fc.assert(
    fc.asyncProperty(scene, async ({ engines: drawn, routing: all, requests }) => {
      for (const [i, name] of NAMES.entries()) rights[name] = SUBJECTS[drawn[i]!.protocol]!.right;
      const plans = Object.fromEntries(PLANS.map((plan) => [plan, { ...QUOTA_PLAN, max_glossaries: 100 }]));
      const described = Object.fromEntries(
        NAMES.map((name, i) => {
          const { protocol, pairs } = drawn[i]!;
          return [name, { protocol, pairs, options: PROTOCOLS[protocol], urls: [engines[name].url], timeout_ms: 20_000 }];
        }),
      );
      // Rules that could never match are refused.
      const { languages } = loaded('{}');
      const useless = all === undefined ? new Map() : uselessRules(all, languages);
      const routing = all?.filter((_rule, index) => !useless.has(index));
      const members = { plans, engines: described, ...(routing === undefined ? {} : { routing }) };
      const config = loaded(JSON.stringify(members));
      const gateway = await startGateway({ store: place.url, engineUrls: [], config: { ...members, plugins: FACADES } });
      try {
        const teams = Object.fromEntries(await Promise.all(PLANS.map(async (plan) => [plan, await teamOf(gateway, plan)] as const)));
        const glossaries = new Map<string, string>();
        const glossaryOf = async (plan: string, from: string, to: string): Promise<string> => {
          const known = glossaries.get(`${plan} ${from} ${to}`);
          if (known !== undefined) return known;
          const body = JSON.stringify({ name: 'g', source_lang: from, target_lang: to, entries: { a: 'b' } });
          const headers = { authorization: `Bearer ${teams[plan]!.key}`, 'content-type': 'application/json' };
          const made = await request({ port: gateway.port, method: 'POST', path: '/v1/glossaries', headers, body });
          const id = (made.json() as { glossary_id: string }).glossary_id;
          glossaries.set(`${plan} ${from} ${to}`, id);
          return id;
        };
        for (const one of requests) {
          const { plan, from, to, firstFails, hasGlossary, front } = one;
          const glossaryId = hasGlossary && from !== undefined && front === 'v1' ? await glossaryOf(plan, from, to) : '';
          const { path, headers, body, options } = sent(one, teams[plan]!.key, glossaryId);
          const names = await told(
            config,
            plan,
            { sourceLang: from, targetLang: to, formality: options.formality, format: options.format },
            options.hasGlossary,
          );
          const answer = await request({ port: gateway.port, method: 'POST', path, headers, body: JSON.stringify(body) });
          const id = String(answer.headers['x-request-id']);
          const [first, next = first] = names;
          const expected = first === undefined ? [] : firstFails ? [first, next] : [first];
          expect([one, answer.status, asked.get(id) ?? [], answer.status === 200 ? '' : answer.body]).toEqual([
            one,
            first === undefined ? 400 : 200,
            expected,
            first === undefined ? expect.any(String) : '',
          ]);
          seen[first === undefined ? 'refused' : !firstFails ? 'first' : next === first ? 'again' : 'next']++;
        }
        const { plan } = requests[0]!;
        expect(await listed(gateway, teams[plan]!)).toEqual(await listedByTold(config, plan));
      } finally {
        await gateway.stop();
      }
    }),
    { numRuns: CONFIGURATIONS, endOnFailure: true },
  );
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
});
