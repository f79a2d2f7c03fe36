// Endpoints whose store becomes unreachable answer service_unavailable, without the store's own words.
import { expect, test } from 'vitest';
import { Exchange, NO_CALLER } from '../../../src/core/exchange.ts';
import { compileRoute } from '../../../src/core/route.ts';
import type { BodyStep } from '../../../src/core/pipeline.ts';
import { Languages } from '../../../src/domain/languages.ts';
import { keyOwnerSlot } from '../../../src/domain/slots.ts';
import { glossarySteps } from '../../../src/endpoints/glossary-endpoints.ts';
import { usageEndpoint } from '../../../src/endpoints/read-endpoints.ts';
import { AWAY_GLOSSARIES, AWAY_TEAMS } from '../../support/away-store.ts';

const ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const GLOSSARY = { name: 'Terms', source_lang: 'EN', target_lang: 'DE', entries: { a: 'b' } };
const LANGUAGES = new Languages({
  sources: [{ code: 'EN', name: 'English' }],
  targets: [{ code: 'DE', name: 'German', formality: true }],
});

const AWAY_HISTORY = { days: () => Promise.resolve({ kind: 'unavailable', cause: 'closed' } as const) };

const { 'read-glossary': readGlossary, ...OF_GLOSSARIES } = glossarySteps({
  glossaries: AWAY_GLOSSARIES,
  languages: () => LANGUAGES,
  bodyBytesMax: 1000,
  newId: () => ID,
});
const USAGE: BodyStep = usageEndpoint(AWAY_TEAMS, AWAY_HISTORY);

function asked(query: string): Exchange {
  const route = compileRoute({ method: 'POST', path: '/v1/glossaries/{id}', takesBody: true, steps: [] });
  const head = { method: 'POST', path: `/v1/glossaries/${ID}`, query, headers: { 'content-type': 'application/json' } };
  const x = new Exchange(ID, head, NO_CALLER, route, 0);
  x.pathParameter = ID;
  x.set(keyOwnerSlot, { keyId: 'K', teamId: 'T', mode: 'live' });
  x.body = Buffer.from(JSON.stringify(GLOSSARY));
  void readGlossary.run(x);
  return x;
}

test.each([
  ...[USAGE, ...Object.values(OF_GLOSSARIES)].map((endpoint) => [endpoint.name, '', endpoint] as const),
  [USAGE.name, 'from=2026-11-01&to=2026-11-30', USAGE] as const,
])('%s answers service_unavailable (%s)', async (_name, query, endpoint) => {
  expect(await endpoint.run(asked(query))).toMatchObject({ kind: 'problem', problem: { code: 'service_unavailable' } });
});
