// Field lines: names, values, line ends and folding; and the fields that carry keys.
import { AUTH, BODY, KEY, TAIL, bare, get, row, sized } from './notation.ts';
import type { Deviating, HttpCase } from './notation.ts';

const UNREADABLE: Deviating = ['timer close', 6];
const NOTICED: Deviating = ['html:400 close', 6];
/** The older build waits for more; the newer one reports the error at once. */
const MENDED = { uws: UNREADABLE, newer: NOTICED } as const;

const NAMES: readonly (readonly [what: string, field: string])[] = [
  ['name of a blank', ' : b'],
  ['a blank before the colon', 'X-One : b'],
  ['a tab before the colon', 'X-One\t: b'],
  ['a blank within the name', 'X One: b'],
  ['no colon', 'X-One'],
  ['NUL in the name', 'X\0One: b'],
  ['a control character in the name', 'X\x01One: b'],
  ['DEL in the name', 'X\x7fOne: b'],
  ['a byte beyond ASCII in the name', 'X\xe9: b'],
  ['a parenthesis in the name', 'X(One): b'],
  ['a quote in the name', 'X"One: b'],
  ['a slash in the name', 'X/One: b'],
  ['a bracket in the name', 'X[0]: b'],
  ['an at in the name', 'X@One: b'],
  ['a comma in the name', 'X,One: b'],
  ['a semicolon in the name', 'X;One: b'],
  ['an equals in the name', 'X=One: b'],
];

const VALUES: readonly (readonly [what: string, field: string])[] = [
  ['NUL in the value', 'X-One: a\0b'],
  ['a bare CR in the value', 'X-One: a\rb'],
  ['a bare CR that hides a field', 'X-One: a\rContent-Length: 5'],
  ['a bare CR at the end of the value', 'X-One: a\r'],
  ['a bare LF in the value', 'X-One: a\nb'],
  ['a bare LF before another field', 'X-One: a\nX-Two: b'],
  ['a control character in the value', 'X-One: a\x01b'],
  ['an escape character in the value', 'X-One: a\x1b[31mb'],
  ['a folded line', 'X-One: a\r\n b'],
  ['a line folded by a tab', 'X-One: a\r\n\tb'],
  ['a folded line that would be a length', 'X-One: a\r\n Content-Length: 5'],
];

const TAKEN: readonly (readonly [what: string, rule: string, field: string])[] = [
  ['every character that a name may hold', '9110 5.6.2', "!#$%&'*+-.^_`|~0aZ: b"],
  ['a name of 300 characters', '9110 5.1', `${'X'.repeat(300)}: b`],
  ['__proto__', '9110 5.1', '__proto__: b'],
  ['constructor', '9110 5.1', 'constructor: b'],
  ['an empty value', '9110 5.5', 'X-One:'],
  ['a value of blanks', '9110 5.5', 'X-One: \t \t'],
  ['a tab in the value', '9110 5.5', 'X-One: a\tb'],
  ['bytes beyond ASCII in the value', '9110 5.5', 'X-One: \x80\xe9\xff'],
  ['colons in the value', '9110 5.5', 'X-One: a:b::c'],
  ['no blank behind the colon', '9112 5.1', 'X-One:a'],
  ['the same name twenty times', '9110 5.3', Array.from({ length: 20 }, (_, i) => `X-One: ${i}`).join('\r\n')],
];

const blocks: readonly HttpCase[] = [
  row('400 close', 'field: DEL in the value', '9110 5.5', get('/health', 'X-One: a\x7fb'), { uws: ['200', 8] }),
  row('400 close', 'field: empty name', '9112 5.1', get('/health', ': b'), { uws: ['200', 7] }),
  row('400 close', 'field: empty name behind which a length stands', '9112 5.1', get('/health', ': b', 'Content-Length: 5'), {
    uws: ['200', 7],
  }),
  row('400 close', 'field: empty name behind which the key stands', '9112 5.1', get('/v1/usage', ': b', AUTH), { uws: ['401', 7] }),
  row('400 close', 'field: folded at the very first', '9112 2.2', bare('GET /health HTTP/1.1', ' Host: a', 'X-Case: {case}'), MENDED),
  row('400 close', 'field: every line ends in a bare LF', '9112 2.2', 'GET /health HTTP/1.1\nHost: a\nX-Case: {case}\n\n', {
    uws: ['html:505 close', 1],
  }),
  row('400 close', 'field: the block ends in a bare LF', '9112 2.2', `GET /health HTTP/1.1\r\nHost: a\r\n\n${TAIL}`, MENDED),
  row('timer 400 close', 'field: a block that does not come to its end', 'decisions 11', 'GET /health HTTP/1.1\r\nHost: a\r\nX-Ca', {
    uws: UNREADABLE,
  }),
];

const keys: readonly HttpCase[] = [
  row('401', 'field: Authorization twice, equal', 'decisions 11', get('/v1/usage', AUTH, AUTH)),
  row('401', 'field: Authorization twice, the second good', 'decisions 11', get('/v1/usage', 'Authorization: Bearer x', AUTH)),
  row(
    '401',
    'field: Authorization wins',
    'interface Authentication 4',
    get('/v1/usage', 'Authorization: Basic x', `Vendor-Auth-Key: ${KEY}`),
  ),
  row('200', 'field: the dedicated one', 'interface Authentication 3', get('/v1/usage', `DeepL-Auth-Key: ${KEY}`)),
  row('200', 'field: a vendor scheme', 'interface Authentication 3', get('/v1/usage', `Authorization: DEEPL-auth-key ${KEY}`)),
  row(
    '401',
    'field: a vendor scheme with a Kelvin sign',
    'decisions 2',
    get('/v1/usage', `Authorization: DeepL-Auth-\xe2\x84\xaaey ${KEY}`),
  ),
  row(
    '401',
    'field: the dedicated one twice',
    'interface Authentication 5',
    get('/v1/usage', `Vendor-Auth-Key: ${KEY}`, `Vendor-Auth-Key: ${KEY}`),
  ),
  row('401', 'field: a tab behind the scheme', '9110 11.4', get('/v1/usage', `Authorization: Bearer\t${KEY}`)),
  row('200', 'field: three blanks behind the scheme', '9110 11.4', get('/v1/usage', `Authorization: Bearer   ${KEY}`)),
  row('401', 'field: no blank behind the scheme', '9110 11.4', get('/v1/usage', `Authorization: Bearer${KEY}`)),
  row('401', 'field: two keys', 'interface Authentication 5', get('/v1/usage', `Authorization: Bearer ${KEY} ${KEY}`)),
  row('401', 'field: a key in a cookie', 'interface Authentication 1', get('/v1/usage', `Cookie: key=${KEY}`)),
  row('401', 'field: a key in the query', 'interface Authentication 3', get(`/v1/usage?key=${KEY}`)),
  row('400', 'field: Content-Type twice', 'decisions 3', sized(BODY, 'Content-Type: text/plain'), { handled: 1 }),
  row('400', 'field: Content-Encoding empty', 'decisions 3', sized(BODY, 'Content-Encoding:'), { handled: 1 }),
  row('200', 'field: traceparent that is none', 'decisions 2', sized(BODY, 'traceparent: nonsense')),
  row('200', 'field: X-Request-Id of the caller', 'decisions 2', get('/health', 'X-Request-Id: 01ARZ3NDEKTSV4RRFFQ69G5FAV')),
];

export const fieldCases: readonly HttpCase[] = [
  ...NAMES.map(([what, field]) => row('400 close', `field: ${what}`, '9112 5.1', get('/health', field), MENDED)),
  ...VALUES.map(([what, field]) => {
    const waits = /\r(?!\n)/.test(field);
    return row('400 close', `field: ${what}`, '9110 5.5', get('/health', field), waits ? { uws: UNREADABLE } : MENDED);
  }),
  ...TAKEN.map(([what, rule, field]) => row('200', `field: ${what}`, rule, get('/health', field))),
  ...blocks,
  ...keys,
];
