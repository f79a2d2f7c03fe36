// Paths and queries: matched as they are sent, never decoded, never normalised.
import { AUTH, get, row } from './notation.ts';
import type { HttpCase } from './notation.ts';

const ULID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const SHOWN = 60;

/** None of them contains a blank. */
const words = (...lines: readonly string[]): string[] => lines.join(' ').split(' ');

const NOWHERE = words(
  '/ // //health /health/ /health// /./health /../health /health/. /health/.. /v1 /v1/ /v1/../health /v1/./translate',
  '/%2e%2e/health /%2e/health /v1/%2e%2e/health /..%2fhealth /v1/glossaries/ /v1/glossaries//entries /v1/glossaries/a/b/entries',
  `/v1/glossaries/${ULID}/ /v1/glossaries/${ULID}/entries/ /v1/glossaries/${ULID}/other`,
  '/v1%2ftranslate /v1%5ctranslate /v1\\translate /%68ealth /%48ealth /v1/%74ranslate /health%00 /health%20',
  '/health%0d%0aX-One:%20b /health% /health%zz /health%c0%af /health%ff /health;x=1 /health, /health.json',
  '/HEALTH /V1/usage /v2/usage /metrics /livez /readyz /docs /openapi.json /.git/config /etc/passwd /cgi-bin/.%2e/.%2e/bin/sh',
  `/__proto__ /constructor /toString /hasOwnProperty /${'a'.repeat(4000)} /{id} /*`,
);

const GLOSSARY_IDS = words(
  `${ULID} ${ULID.toLowerCase()} ${ULID}x ${ULID.slice(0, 25)}%56 ${'9'.repeat(26)} ${'x'.repeat(2000)} 8ZZZZZZZZZZZZZZZZZZZZZZZZZ`,
  'x . .. ..; ; ~ % %00 %2e%2e a%2fb * {id} __proto__',
);

const BAD_QUERIES = words(
  'type= type=TARGET type type=a type=source&type=target Type=target type=target&x=1 x = % type=%ff type=target%00 ?type=target',
  'type=target%20 type[]=target __proto__=target type%00=target type=target;x=1',
);

export const pathCases: readonly HttpCase[] = [
  ...NOWHERE.map((path) => row('404', `path: ${path.slice(0, SHOWN)}`, 'interface Endpoints 1', get(path, AUTH))),
  ...GLOSSARY_IDS.map((id) =>
    row('404', `glossary: ${id.slice(0, SHOWN)}`, 'interface Resources, Glossary', get(`/v1/glossaries/${id}`, AUTH), { handled: 1 }),
  ),
  ...BAD_QUERIES.map((query) => row('400', `query: ${query}`, 'decisions 4', get(`/v1/languages?${query}`, AUTH), { handled: 1 })),
  row('200', 'query: empty', 'RFC 3986 3.4', get('/health?')),
  row('200', 'query: another question mark', 'RFC 3986 3.4', get('/health?a=b?c=/d')),
  row('200', 'query: none of ours on /health', 'RFC 3986 3.4', get('/health?x=%zz&__proto__=1')),
  row('200', 'query: type=target', 'decisions 4', get('/v1/languages?type=target', AUTH)),
  row('200', 'query: type, percent-encoded', 'RFC 3986 2.4', get('/v1/languages?t%79pe=%74arget', AUTH)),
  row('200', 'query: empty on languages', 'decisions 4', get('/v1/languages?', AUTH)),
];
