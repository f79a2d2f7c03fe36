// Every parser takes time proportional to its input: 64 KB of input that would make a careless pattern backtrack.
import { expect, test } from 'vitest';
import { capabilitiesOf } from '../../../src/domain/engine-offer.ts';
import { isAddressOrRange, parseNetworkAddress } from '../../../src/config/network-address.ts';
import { matchesKeyPattern } from '../../../src/domain/api-key.ts';
import { shownWord, unknownAmong } from '../../../src/domain/caller-words.ts';
import { credentialReader } from '../../../src/domain/api-key.ts';
import { readFormBody, readMultipartBody } from '../../../src/domain/form-body.ts';
import { judgeGlossaryBody } from '../../../src/domain/glossary.ts';
import { readJsonBody } from '../../../src/domain/json-body.ts';
import { Languages } from '../../../src/domain/languages.ts';
import { parseDuration } from '../../../src/domain/period.ts';
import { storeKindOf, withoutCredentials } from '../../../src/domain/store-url.ts';
import { traceparentForward } from '../../../src/domain/request-trace.ts';
import { judgeTranslateBody } from '../../../src/domain/translate-request.ts';
import { readTag } from '../../../src/domain/request-tag.ts';
import { canonicalUlid } from '../../../src/domain/ulid.ts';
import { readEngineUrl } from '../../../src/engines/http1/origin.ts';
import { nativeProtocol } from '../../../src/engines/protocols/native-protocol.ts';
import { readTranslation } from '../../../src/plugins/azure-v3/azure-operations.ts';
import { orderOf } from '../../../src/plugins/libretranslate/translation.ts';
import { HeaderFields } from '../../../src/server/request-message.ts';
import { parseRedisUrl } from '../../../src/stores/redis/redis-url.ts';

const SIZE = 65_536;
/** Far more than one pass over the input takes; a quadratic pattern takes seconds. The best of a few: others use this machine, too. */
const BOUND_MS = 100;
const TRIES = 5;

const LANGUAGES = new Languages({ sources: [{ code: 'EN', name: 'English' }], targets: [{ code: 'DE', name: 'German', formality: true }] });
const RULES = { languages: LANGUAGES, variants: { EN: 'EN-GB', PT: 'PT-PT' }, canFor: () => capabilitiesOf(nativeProtocol.can) };
function azure(query: string): unknown {
  const read = readTranslation(query, { valid: [{ Text: 'a' }] });
  return 'problem' in read ? read : read.valid.judge(RULES);
}
const asked = (members: object): ReadonlyMap<string, unknown> =>
  new Map(Object.entries({ q: 'a', source: 'en', target: 'de', ...members }));
const credentials = credentialReader(['Vendor-Auth-Key']);
const encoder = new TextEncoder();
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const PARTS = { 'content-type': 'multipart/form-data; boundary=B' };
const partOf = (head: string, value: string): string => `--B\r\nContent-Disposition: form-data; name="a"${head}\r\n\r\n${value}\r\n--B--`;
const jsonOf = (text: string): unknown => readJsonBody({ 'content-type': 'application/json' }, encoder.encode(text), SIZE * 2);

function framed(name: string) {
  return (value: string): unknown => {
    const guard = new HeaderFields(new Set());
    guard.field('host', name === 'host' ? value : 'a');
    if (name !== 'host') guard.field(name, value);
    return guard.judge('POST');
  };
}

const PARSERS: readonly (readonly [name: string, parse: (text: string) => unknown])[] = [
  ['the key pattern', matchesKeyPattern],
  ['Authorization', (text) => credentials.read({ authorization: text })],
  ['Authorization behind its scheme', (text) => credentials.read({ authorization: `Bearer ${text}` })],
  ['a dedicated field', (text) => credentials.read({ 'vendor-auth-key': text })],
  ['tags', readTag],
  ['ULIDs', canonicalUlid],
  ['traceparent', (text) => traceparentForward(text)],
  ['traceparent of a later version', (text) => traceparentForward(`01-${'a'.repeat(32)}-${'b'.repeat(16)}-01-${text}`)],
  ['durations', parseDuration],
  ['HOST:PORT', parseNetworkAddress],
  ['addresses and ranges', isAddressOrRange],
  ['the kind of a store', storeKindOf],
  ['a store without its credentials', withoutCredentials],
  ['Redis URLs', tolerant(parseRedisUrl)],
  ['engine URLs', tolerant(readEngineUrl)],
  ['Host', framed('host')],
  ['Content-Length', framed('content-length')],
  ['Transfer-Encoding', framed('transfer-encoding')],
  ['Connection', framed('connection')],
  ['JSON', jsonOf],
  ['forms', (text) => readFormBody(FORM, encoder.encode(text), SIZE * 2)],
  ['parts', (text) => readMultipartBody(PARTS, encoder.encode(`--B\r\n${text}`), SIZE * 2)],
  ['the head of a part', (text) => readMultipartBody(PARTS, encoder.encode(partOf(text, '')), SIZE * 2)],
  ['the value of a part', (text) => readMultipartBody(PARTS, encoder.encode(partOf('', text)), SIZE * 2)],
  ['the boundary of parts', (text) => readMultipartBody({ 'content-type': `multipart/form-data; ${text}` }, encoder.encode('--B--'), SIZE)],
  ['the media type', (text) => readJsonBody({ 'content-type': text }, encoder.encode('1'), SIZE)],
  ['a text', (text) => judgeTranslateBody({ text: [text], target_lang: 'DE' }, LANGUAGES)],
  ['a context', (text) => judgeTranslateBody({ text: ['a'], target_lang: 'DE', context: text }, LANGUAGES)],
  ['a language', (text) => judgeTranslateBody({ text: ['a'], target_lang: text }, LANGUAGES)],
  ['a formality', (text) => judgeTranslateBody({ text: ['a'], target_lang: 'DE', formality: text }, LANGUAGES)],
  ['a glossary id', (text) => judgeTranslateBody({ text: ['a'], target_lang: 'DE', source_lang: 'EN', glossary_id: text }, LANGUAGES)],
  ['a glossary', (text) => judgeGlossaryBody({ name: text, source_lang: 'EN', target_lang: 'DE', entries: { [text]: text } }, LANGUAGES)],
  ['unknown members', (text) => unknownAmong([text], new Set(['text']))],
  ['words that are shown', shownWord],
  ['parameters of LibreTranslate', (text) => orderOf(asked({ q: text, alternatives: text }), RULES)],
  ['codes of LibreTranslate', (text) => orderOf(asked({ source: text, target: text, format: text }), RULES)],
  ['the query of Azure', (text) => azure(`api-version=3.0&to=de&${text}`)],
  ['codes of Azure', (text) => azure(`api-version=3.0&to=${text}&from=${text}&category=${text}`)],
  [
    'parameters of DeepLX',
    (text) => orderOf(new Map(Object.entries({ text, source_lang: text, target_lang: 'DE', tag_handling: text })), RULES),
  ],
];

/** Beginnings of good input, and pieces that many patterns could match in several ways. */
const BEGINNINGS = ['', 'la_live_', 'redis://', 'sqlite:', 'http://', 'P1Y', '[', 'close', '"', '{"'];
const PIECES = [
  'a',
  ' ',
  '\t',
  '0',
  'A',
  '/',
  '//',
  '@',
  ':',
  ',',
  ', ',
  '.',
  '-',
  '[',
  '{',
  '"',
  '\\',
  '\\u',
  ';',
  '%',
  '?',
  '%41',
  'a:',
  'a,',
  'a.a@',
  ' close',
  'é',
  '👍',
  '\ud800',
  '\r\n',
];

test.each(PARSERS)('%s', (_name, parse) => {
  const slow: string[] = [];
  for (const beginning of BEGINNINGS) {
    for (const piece of PIECES) {
      const text = beginning + piece.repeat(Math.ceil(SIZE / piece.length));
      const tookMs = bestOf(() => parse(text));
      if (tookMs > BOUND_MS) slow.push(`${JSON.stringify(beginning)} and ${JSON.stringify(piece)}: ${tookMs.toFixed(0)} ms`);
    }
  }
  expect(slow).toEqual([]);
});

function bestOf(action: () => unknown): number {
  let bestMs = Infinity;
  for (let i = 0; i < TRIES && bestMs > BOUND_MS; i++) {
    const startedAtMs = performance.now();
    action();
    bestMs = Math.min(bestMs, performance.now() - startedAtMs);
  }
  return bestMs;
}

/** A refusal by throwing is an answer as well. */
function tolerant(parse: (text: string) => unknown): (text: string) => unknown {
  return (text) => {
    try {
      return parse(text);
    } catch (refusal) {
      return refusal;
    }
  };
}
