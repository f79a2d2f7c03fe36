// What no eligible engine can do is refused in the same words whether there is one engine or several, on every front.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limitsOf } from '../support/door/terms.ts';
import { answered } from '../../src/index.ts';
import { AZURE, DEEPL, FACADES, FRONTS, GOOGLE, LIBRETRANSLATE, V1 } from '../support/fronts.ts';
import type { Front, FrontRequest } from '../support/fronts.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { request } from '../support/raw-http.ts';
import { startedUntil } from '../support/started.ts';

/** Nobody listens there: every request is refused before an engine would be called. */
const NOWHERE = ['http://127.0.0.1:9'];
const PAIRS = ['EN-DE', 'EN-FR', 'FR-DE'];
const LIMITED = { protocol: 'apertium', urls: NOWHERE, pairs: PAIRS };
const ABLE = { protocol: 'native', urls: NOWHERE, pairs: PAIRS };
/** Cannot detect languages. */
const MODEL = { protocol: 'openai', urls: NOWHERE, pairs: PAIRS, options: { model: 'm' } };

/** Each gateway with what a team of the plan `limited` can reach; all others reach an engine that can do everything. */
const SETUPS = {
  'one engine': { engine: LIMITED },
  'several for the pair': {
    engines: { able: ABLE, limited: LIMITED, other: LIMITED },
    routing: [{ pairs: ['EN-DE'], engines: ['limited', 'other'] }, { engines: ['able'] }],
  },
  'several for the plan': {
    engines: { able: ABLE, limited: LIMITED, other: LIMITED },
    routing: [{ plans: ['limited'], engines: ['other', 'limited'] }, { engines: ['able'] }],
  },
  'one model': { engine: MODEL },
  'several models for the plan': {
    engines: { able: ABLE, small: MODEL, large: MODEL },
    routing: [{ plans: ['limited'], engines: ['small', 'large'] }, { engines: ['able'] }],
  },
} as const;
type Setup = keyof typeof SETUPS;

const ID = '01J00000000000000000000000';
const UUID = '01890000-0000-0000-0000-000000000000';

/** A translation of a front, with parameters changed or added. */
type Change = (front: FrontRequest) => FrontRequest;
const member =
  (members: object): Change =>
  (one) => ({ ...one, body: JSON.stringify({ ...(JSON.parse(one.body) as object), ...members }) });
const field =
  (...fields: readonly string[]): Change =>
  (one) => ({ ...one, body: [one.body, ...fields].join('&') });
const query =
  (text: string): Change =>
  (one) => ({ ...one, path: `${one.path}&${text}` });
/** All but the key. */
const instead =
  (members: object): Change =>
  (one) => ({ ...one, body: JSON.stringify({ ...members, api_key: (JSON.parse(one.body) as { readonly api_key?: string }).api_key }) });

const MARKUP = '<b>Hello</b>';
const LACKS: readonly (readonly [front: Front, lack: string, change: Change])[] = [
  [V1, 'formality', member({ formality: 'more' })],
  [V1, 'a glossary', member({ glossary_id: ID })],
  [V1, 'formality and a glossary', member({ glossary_id: ID, formality: 'less' })],
  [DEEPL, 'formality', field('formality=more')],
  [DEEPL, 'a glossary', field(`glossary_id=${UUID}`)],
  [DEEPL, 'html', field('tag_handling=html')],
  [DEEPL, 'xml, with a preferred formality', field('tag_handling=xml', 'formality=prefer_more')],
  [DEEPL, 'all of them', field('tag_handling=xml', 'formality=less', `glossary_id=${UUID}`)],
  [LIBRETRANSLATE, 'html', member({ format: 'html' })],
  [LIBRETRANSLATE, "html by DeepLX's parameters", instead({ text: 'a', source_lang: 'EN', target_lang: 'DE', tag_handling: 'html' })],
  [AZURE, 'html', query('textType=html')],
  [AZURE, 'html for one of two targets', query('to=fr&textType=html')],
  [GOOGLE, 'html', member({ q: MARKUP, format: 'html' })],
  [GOOGLE, 'html by default', instead({ q: MARKUP, source: 'en', target: 'de' })],
];

const DETECTIONS: readonly (readonly [front: Front, path: string])[] = [
  [LIBRETRANSLATE, '/detect'],
  [AZURE, '/translator/text/v3.0/detect?api-version=3.0'],
  [GOOGLE, '/language/translate/v2/detect'],
];

describe('refused in the same words', () => {
  const gateways = {} as Record<Setup, TestGateway>;
  const keys = {} as Record<Setup, string>;
  const started = startedUntil(afterAll);

  beforeAll(async () => {
    for (const name of Object.keys(SETUPS) as Setup[]) {
      const plans = { limited: QUOTA_PLAN };
      const gateway = await started.gateway({ config: { plugins: FACADES, plans, ...SETUPS[name] } });
      gateways[name] = gateway;
      const { teamId, key } = await gateway.team();
      answered(await gateway.store.teams.updateTeam(teamId, { plan: { name: 'limited', limits: limitsOf(QUOTA_PLAN) } }));
      keys[name] = key;
    }
  });

  /** Without what differs between two requests: ids, ports. */
  async function answer(setup: Setup, made: (key: string) => FrontRequest): Promise<object> {
    const { status, body, headers } = await request({ port: gateways[setup].port, ...made(keys[setup]) });
    const words = body.replaceAll(/[0-7][0-9A-HJKMNP-TV-Z]{25}/g, 'ID').replaceAll(/:\d{4,5}\b/g, ':PORT');
    return { status, body: words, type: headers['content-type'] };
  }

  const SEVERAL = ['several for the pair', 'several for the plan'] as const;
  describe.each(SEVERAL)('%s', (setup) => {
    test.each(LACKS.map(([front, lack, change]) => [front.name, lack, front, change] as const))('%s: %s', async (_n, _l, front, change) => {
      const made = (key: string): FrontRequest => change(front.translation(key, ['Hello']));
      const expected = await answer('one engine', made);
      expect(expected).toMatchObject({ status: 400 });
      expect(await answer(setup, made)).toEqual(expected);
    });

    test.each(FRONTS.map((front) => [front.name, front] as const))('%s: a pair', async (_name, front) => {
      const made = (key: string): FrontRequest => front.translation(key, ['Hello'], front === V1 || front === DEEPL ? 'IT' : 'it');
      const expected = await answer('one engine', made);
      expect(expected).toMatchObject({ status: 400 });
      expect(await answer(setup, made)).toEqual(expected);
    });
  });

  test.each(DETECTIONS.map(([front, path]) => [front.name, front, path] as const))('%s: detection', async (_name, front, path) => {
    const made = (key: string): FrontRequest => {
      const one = front.translation(key, ['Hello']);
      const body = front === AZURE ? one.body : JSON.stringify({ q: 'Hello', ...(front === LIBRETRANSLATE ? { api_key: key } : {}) });
      return { ...one, path: front === GOOGLE ? `${path}?key=${key}` : path, body };
    };
    const expected = await answer('one model', made);
    expect(expected).toMatchObject({ status: expect.toSatisfy((status: number) => status >= 400) as unknown });
    expect(await answer('several models for the plan', made)).toEqual(expected);
  });
});
