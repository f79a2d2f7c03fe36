// A request for each problem code that needs no fault of engine or store; what they say can be chosen, for tests that search for it later.
import { answered } from '../../src/index.ts';
import type { ProblemCode } from '../../src/core/problem.ts';
import type { Store } from '../../src/ports/store.ts';
import { newKey } from './door/terms.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from './gateway.ts';
import type { TestGateway } from './gateway.ts';

export interface Ask {
  /** As documented, `POST /v1/translate` by default. */
  readonly route?: string;
  /** By default the route's. */
  readonly path?: string;
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface Said {
  /** Valid in a path. */
  readonly word: string;
  readonly text: string;
  readonly glossary: object;
  /** Of good requests, with changes. */
  readonly translation: (more?: Readonly<Record<string, unknown>>) => object;
  readonly unknownKey?: string;
}

const QUIET: Said = {
  word: 'XX',
  text: 'Hello',
  glossary: { name: 'A', source_lang: 'EN', target_lang: 'DE', entries: { a: 'b' } },
  translation: (more) => ({ text: ['Hello'], target_lang: 'DE', ...more }),
};

/** In this order. The gateway has the plugin `fault`. */
export async function refusedRequests(
  { store, team }: { readonly store: Pick<Store, 'teams'> } & Pick<TestGateway, 'team'>,
  { word, text, glossary, translation, unknownKey = newKey('live') }: Said = QUIET,
): Promise<readonly (readonly [ProblemCode, Ask])[]> {
  const [{ key }, revoked, scoped] = [await team(), await team(), await team()];
  answered(await store.teams.revokeKey(revoked.keyId));
  answered(await store.teams.updateKey(scoped.keyId, { limits: { scopes: ['usage:read'] } }));
  const full = await team({ ...QUOTA_PLAN, max_glossaries: 0 });
  const body = translation();
  return [
    ['validation_error', { key, body: `{"text":["x${word}` }],
    ['invalid_target_lang', { key, body: translation({ target_lang: word }) }],
    ['invalid_source_lang', { key, body: translation({ source_lang: word }) }],
    ['too_many_texts', { key, body: translation({ text: Array.from({ length: 51 }, () => text) }) }],
    ['text_too_long', { key, body: translation({ text: [text.repeat(250)] }) }],
    ['unauthorized', { key: unknownKey, body }],
    ['key_revoked', { key: revoked.key, body }],
    ['quota_exceeded', { key: (await team({ ...QUOTA_PLAN, characters: 1 })).key, body }],
    ['credit_exhausted', { key: (await team(CREDIT_PLAN, 0)).key, body }],
    ['forbidden', { key: scoped.key, body }],
    ['glossary_limit_reached', { route: 'POST /v1/glossaries', key: full.key, body: glossary }],
    ['not_found', { path: `/v1/${word}` }],
    ['glossary_not_found', { route: 'GET /v1/glossaries/{id}', path: `/v1/glossaries/${word}`, key }],
    ['method_not_allowed', { route: 'GET /health', path: '/v1/translate' }],
    ['internal_error', { key, headers: { 'x-test-fault': 'throw' }, body }],
  ];
}
