// How long a message is: Content-Length and Transfer-Encoding, both, neither, and what only looks like one of them.
import { AUTH, BODY, JSON_TYPE, LAST_CHUNK, TAIL, TAIL_POST, bare, chunk, get, head, inChunks, row, sized } from './notation.ts';
import { translate, translateKeyless, withTail } from './notation.ts';
import type { Deviating, HttpCase } from './notation.ts';

const LENGTH = BODY.length;
const CHUNKS = chunk(BODY) + LAST_CHUNK;
const IN_HTML: Deviating = ['html:400 close', 3];
const CONFLICT: Deviating = ['html:400 close', 4];

const lengths: readonly HttpCase[] = [
  row('200', 'CL exact', '9112 6.2', sized(BODY)),
  row('200', 'CL with leading zeros', '9110 8.6', `${translate(`Content-Length: 000000000${LENGTH}`)}${BODY}`),
  row('200', 'CL with fifteen digits', '9110 8.6', `${translate(`Content-Length: 0000000000000${LENGTH}`)}${BODY}`),
  row('200', 'CL between blanks', '9110 5.5', `${translate(`Content-Length: \t  ${LENGTH} \t`)}${BODY}`),
  row('200', 'CL without a blank', '9112 5.1', `${translate(`Content-Length:${LENGTH}`)}${BODY}`),
  row('200', 'CL in capitals', '9110 5.1', `${translate(`CONTENT-LENGTH: ${LENGTH}`)}${BODY}`),
  row('400', 'CL 0 on translate', 'decisions 3', translate('Content-Length: 0'), { handled: 1 }),
];

/** Length announced twice, or not at all. The guard refuses it if the library does not. */
const AMBIGUOUS: readonly (readonly [what: string, ...fields: string[]])[] = [
  ['CL twice, equal', 'Content-Length: 0', 'Content-Length: 0'],
  ['CL twice, 0 first', 'Content-Length: 0', `Content-Length: ${TAIL.length}`],
  ['CL twice, in two cases', 'Content-Length: 0', `CONTENT-LENGTH: ${TAIL.length}`],
  ['CL three times', 'Content-Length: 0', 'Content-Length: 0', 'Content-Length: 7'],
  ['CL empty', 'Content-Length:'],
  ['CL of blanks', 'Content-Length:  \t '],
  ['CL of sixteen digits', 'Content-Length: 0000000000000000'],
];

const ambiguous: readonly HttpCase[] = AMBIGUOUS.flatMap(([what, ...fields]) => [
  ...withTail(row('400 close', what, '9112 6.3', translate(...fields))),
  ...withTail(row('400 close', `${what}, keyless`, '9112 6.3', translateKeyless(...fields))),
  ...withTail(row('400 close', `${what}, GET`, '9112 6.3', get('/health', ...fields))),
]);

const NO_NUMBERS: readonly (readonly [what: string, value: string])[] = [
  ['a sign', '+5'],
  ['a minus', '-1'],
  ['hexadecimal', '0x5'],
  ['an exponent', '1e1'],
  ['a list of equals', '5, 5'],
  ['a list of different', '5,6'],
  ['a list with an empty member', '5,'],
  ['two numbers', '5 5'],
  ['a decimal point', '5.0'],
  ['a semicolon', '5;'],
  ['letters behind', '5abc'],
  ['letters only', 'five'],
  ['quotes', '"5"'],
  ['an underscore', '5_0'],
  ['2^64', '18446744073709551616'],
  ['2^64 and 5', '18446744073709551621'],
  ['2^63', '9223372036854775808'],
  ['thirty digits', '9'.repeat(30)],
];

const noNumbers: readonly HttpCase[] = [
  ...NO_NUMBERS.map(([what, value]) =>
    row('400 close', `CL with ${what}`, '9112 6.3', translate(`Content-Length: ${value}`) + TAIL, { uws: IN_HTML }),
  ),
  // Bytes beyond ASCII count as blanks there: the rest is empty, which the guard handles.
  ...withTail(row('400 close', 'CL of an Arabic digit', '9112 6.3', translate('Content-Length: \xd9\xa5'))),
];

const CODINGS: readonly (readonly [what: string, field: string])[] = [
  ['a letter before', 'Transfer-Encoding: xchunked'],
  ['a letter behind', 'Transfer-Encoding: chunkedx'],
  ['a letter missing', 'Transfer-Encoding: chunke'],
  ['a comma behind', 'Transfer-Encoding: chunked,'],
  ['a comma before', 'Transfer-Encoding: , chunked'],
  ['chunked twice in a list', 'Transfer-Encoding: chunked, chunked'],
  ['gzip before', 'Transfer-Encoding: gzip, chunked'],
  ['gzip behind', 'Transfer-Encoding: chunked, gzip'],
  ['identity', 'Transfer-Encoding: identity'],
  ['identity before', 'Transfer-Encoding: identity, chunked'],
  ['a parameter', 'Transfer-Encoding: chunked;q=1'],
  ['quotes', 'Transfer-Encoding: "chunked"'],
  ['a Kelvin sign', 'Transfer-Encoding: chun\xe2\x84\xaaed'],
];

const codings: readonly HttpCase[] = CODINGS.flatMap(([what, field]) => [
  ...withTail(row('400 close', `TE with ${what}`, '9112 6.1', translate(field) + LAST_CHUNK)),
  row('400 close', `TE with ${what}, and CL`, '9112 6.3', translate(field, `Content-Length: ${LAST_CHUNK.length}`) + LAST_CHUNK + TAIL, {
    uws: CONFLICT,
  }),
]);

const oddCodings: readonly HttpCase[] = [
  row('400 close', 'TE with nothing', '9112 6.1', translate('Transfer-Encoding:')),
  ...withTail(
    row('400 close', 'TE with nothing, and CL', '9112 6.3', `${translate('Transfer-Encoding:', 'Content-Length: 5')}${LAST_CHUNK}`),
  ),
  row('400 close', 'TE behind a no-break space', '9112 6.1', `${translate('Transfer-Encoding: \xa0chunked')}${CHUNKS}`, {
    uws: ['200 close', 8],
  }),
  row('400 close', 'TE behind a vertical tab', '9112 6.1', `${translate('Transfer-Encoding: \x0bchunked')}${CHUNKS}`, {
    uws: ['timer close', 6],
    newer: ['html:400 close', 6],
  }),
  row('400 close', 'TE before a form feed', '9112 6.1', `${translate('Transfer-Encoding: chunked\x0c')}${CHUNKS}`, {
    uws: ['timer close', 6],
    newer: ['html:400 close', 6],
  }),
];

const both: readonly HttpCase[] = [
  row('400 close', 'CL before TE', '9112 6.3', translate('Content-Length: 5', 'Transfer-Encoding: chunked') + LAST_CHUNK + TAIL, {
    uws: CONFLICT,
  }),
  row('400 close', 'TE before CL', '9112 6.3', translate('Transfer-Encoding: chunked', 'Content-Length: 5') + LAST_CHUNK + TAIL, {
    uws: CONFLICT,
  }),
  row('400 close', 'CL 0 and TE', '9112 6.3', translate('Content-Length: 0', 'Transfer-Encoding: chunked') + LAST_CHUNK + TAIL, {
    uws: CONFLICT,
  }),
  row('400 close', 'CL and TE on GET', '9112 6.3', get('/health', 'Content-Length: 5', 'Transfer-Encoding: chunked') + LAST_CHUNK + TAIL, {
    uws: CONFLICT,
  }),
  ...withTail(row('400 close', 'TE twice', '9112 6.1', translate('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked') + CHUNKS)),
  ...withTail(
    row('400 close', 'TE twice, the second unknown', '9112 6.1', translate('Transfer-Encoding: chunked', 'Transfer-Encoding: x') + CHUNKS),
  ),
  ...withTail(
    row('400 close', 'TE twice, the first unknown', '9112 6.1', translate('Transfer-Encoding: x', 'Transfer-Encoding: chunked') + CHUNKS),
  ),
  ...withTail(row('200 close', 'TE in capitals', '9112 7', translate('TRANSFER-ENCODING: CHUNKED') + CHUNKS)),
  row('200 close', 'TE between blanks', '9110 5.5', `${translate('Transfer-Encoding: \t chunked \t')}${CHUNKS}`, {
    node: ['400 close', 106],
    handled: 1,
  }),
  ...withTail(row('200 close', 'TE without a blank', '9112 5.1', translate('Transfer-Encoding:chunked') + CHUNKS)),
  row('400 close', 'Transfer_Encoding is no TE', '9112 6.3', translate('Transfer_Encoding: chunked')),
  ...withTail(row('400 close', 'Content_Length is no CL', '9112 6.3', translate(`Content_Length: ${TAIL.length}`))),
  row('400', 'Content-Encoding: chunked is no TE', 'decisions 3', sized(BODY, 'Content-Encoding: chunked'), { handled: 1 }),
  row('200', 'TE: chunked says nothing of the body', '9110 10.1.4', sized(BODY, 'TE: chunked')),
  row('200', 'Trailer is only an announcement', '9110 6.6.2', sized(BODY, 'Trailer: X-One')),
];

const hidden = (start: string): string =>
  bare(start, 'Host: a', 'X-Case: {case}', AUTH, JSON_TYPE, ': b', `Content-Length: ${TAIL.length}`);

const neither: readonly HttpCase[] = [
  ...withTail(row('400 close', 'POST with neither CL nor TE', 'decisions 11', translate())),
  ...withTail(row('400 close', 'POST with neither, keyless', 'decisions 11', translateKeyless())),
  ...withTail(row('400 close', 'POST with neither, to a path that is none', 'decisions 11', head('POST /nowhere HTTP/1.1'))),
  ...withTail(row('405 close', 'PUT with neither', 'decisions 11', head('PUT /health HTTP/1.1'))),
  ...withTail(row('405 close', 'PATCH with neither', 'decisions 11', head('PATCH /health HTTP/1.1'))),
  row('405', 'DELETE with neither has no body', '9110 9.3.5', head('DELETE /health HTTP/1.1')),
  ...withTail(row('400 close', 'POST with a length hidden behind an empty name', '9112 5.1', hidden('POST /v1/translate HTTP/1.1'))),
  row('400 close', 'PUT with a length hidden behind an empty name', '9112 5.1', hidden('PUT /health HTTP/1.1'), { uws: ['405 close', 7] }),
  row('400 close', 'PUT with a length hidden behind an empty name, and a body', '9112 5.1', hidden('PUT /health HTTP/1.1') + TAIL, {
    uws: ['close', 17],
  }),
];

const carried = (requestLine: string, ...fields: readonly string[]): string =>
  `${head(requestLine, ...fields, `Content-Length: ${TAIL.length}`)}${TAIL}`;

/** A request inside a body is part of the body. */
const bodies: readonly HttpCase[] = [
  row('200', 'GET with a request in its body', '9110 9.3.1', carried('GET /health HTTP/1.1')),
  row('200', 'GET of a store answer with a request in its body', '9110 9.3.1', carried('GET /v1/usage HTTP/1.1', AUTH)),
  row('200 close', 'GET with a request in a chunk', '9110 9.3.1', get('/health', 'Transfer-Encoding: chunked') + chunk(TAIL) + LAST_CHUNK),
  row('405', 'DELETE with a request in its body', '9110 9.3.5', carried('DELETE /health HTTP/1.1')),
  row('405', 'HEAD with a request in its body', '9110 9.3.2', carried('HEAD /health HTTP/1.1')),
  row('405', 'OPTIONS with a request in its body', '9110 9.3.7', carried('OPTIONS /health HTTP/1.1')),
  row('405', 'TRACE with a request in its body', '9110 9.3.8', carried('TRACE /health HTTP/1.1')),
  row('404', 'a path that is none with a request in its body', '9112 6', carried('POST /nowhere HTTP/1.1')),
  row('401', 'a keyless translation with a request for a body', '9112 6', carried('POST /v1/translate HTTP/1.1')),
  row('400', 'a translation with a request for a body', '9112 6', sized(TAIL), { handled: 1 }),
  row('400', 'a translation with a translation for a body', '9112 6', sized(TAIL_POST), { handled: 1 }),
  row('timer 400 close', 'a body that does not come to its end', 'decisions 11', translate(`Content-Length: ${LENGTH + 1}`) + BODY, {
    handled: 1,
  }),
  row('timer 400 close', 'chunks that do not come to their end', 'decisions 11', inChunks(chunk(BODY)), { handled: 1 }),
  row('timer 400 close', 'nearly 10^15 bytes announced', 'decisions 11', translate('Content-Length: 999999999999999') + TAIL, {
    handled: 1,
  }),
  row('timer 400 close', '2^32 and 5 bytes announced', 'decisions 11', translate('Content-Length: 4294967301') + TAIL, { handled: 1 }),
];

export const framingCases: readonly HttpCase[] = [
  ...lengths,
  ...ambiguous,
  ...noNumbers,
  ...codings,
  ...oddCodings,
  ...both,
  ...neither,
  ...bodies,
];
