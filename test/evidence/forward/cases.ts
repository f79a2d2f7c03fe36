// Raw requests to forward routes: paths, bodies, framing and fields, and their allowed outcomes.

export interface ForwardCase {
  readonly name: string;
  /** One character is one byte. `ID` is replaced by a word unique to the case, `KEY` by a key. */
  readonly bytes: string;
  /**
   * `passes`: the upstream gets this one request, with `target` unchanged. `refused`: it is answered with this status, and
   * the upstream gets nothing. `contained`: the libraries differ in whether they accept it; what is sent upstream, if anything,
   * is the one request at the front.
   */
  readonly expect: 'passes' | 400 | 404 | 405 | 'contained';
  readonly target?: string;
}

const AUTH = 'Host: a\r\nAuthorization: Bearer KEY\r\n';
/** A whole request that must never be seen: it would have come out of another's body. */
const SMUGGLED = 'GET /v1/documents/SMUGGLED HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\n\r\n';
/** With a key in it, which is 48 characters long. */
const SMUGGLED_BYTES = SMUGGLED.length - 'KEY'.length + 48;
const BASE = '/v1/documents';

const words = (...lines: readonly string[]): string[] => lines.join(' ').split(' ');

const get = (target: string, fields = ''): string => `GET ${target} HTTP/1.1\r\n${AUTH}${fields}\r\n`;
const post = (fields: string, body: string): string => `POST ${BASE}/sink/ID HTTP/1.1\r\n${AUTH}${fields}\r\n${body}`;

const BAD_PATHS = words(
  '/../admin /ID/../admin /ID/.. /./ID /ID/. /ID/./x //ID /ID//x /ID/ / /%2e%2e/admin /%2E%2E/admin /.%2e/admin /%2e./admin',
  '/ID/%2e /ID%2f..%2fadmin /ID%2F%2e%2e /ID%5c..%5cadmin /ID%5C /ID\\..\\admin /\\ID /%252e%252e/admin /ID%252f /%25252e%25252e/x',
  '/%25%32%65%25%32%65/admin /%252%65%252%65/admin /ID%25%32f..%25%32fadmin /..%3b/admin /.%3Bx/ID /..%253b/admin /;/admin',
  '/%e0%80%ae%e0%80%ae/admin /%f0%80%80%ae/admin /%25c0%25ae/admin /%25e0%2580%25ae/admin',
  '/..;/admin /..;x=1/admin /ID/.;/x /%2e%2e;/admin /%c0%ae%c0%ae/admin /%c0%af /ID%00 /ID%0d%0aX-Evil:1 /ID%0aX /ID%7f /ID% /ID%zz /ID%2',
  '/ID#x /ID"x /ID<x> /ID{x} /ID|x /ID^x /ID`x',
);

const GOOD_PATHS = words(
  '/ID /ID/a/b/c /ID/a%20b /ID/a;b=1 /ID/a:b@c /ID/%C3%A9 /ID/a.b..c /ID/... /ID/.hidden /ID/~x /ID/a,b /ID/x%2Bx /ID/(x) /ID/a=b&c /ID/100%25 /ID/a%2520b /ID/a..;b /ID/%e0%a4%85',
  '/ID/$\'!* /ID?a=../.. /ID?x=%2e%2e%2f /ID?a=b?c=/d /ID?[]{}|^` /ID?%zz /ID?a="<> /ID?\\',
);

const paths: ForwardCase[] = [
  ...BAD_PATHS.map((path): ForwardCase => ({
    name: `path ${path}`,
    bytes: get(`${BASE}${path}`),
    expect: path.includes('#') ? 'contained' : 404,
  })),
  ...GOOD_PATHS.map((path): ForwardCase => ({
    name: `path ${path}`,
    bytes: get(`${BASE}${path}`),
    expect: 'passes',
    target: `${BASE}${path}`,
  })),
  { name: 'another case is another path', bytes: get('/v1/DOCUMENTS/ID'), expect: 404 },
  { name: 'a sibling that begins alike', bytes: get('/v1/documentsID'), expect: 404 },
  { name: 'an exact path and more', bytes: get('/v1/voices/ID'), expect: 404 },
  { name: 'a query with a byte that is none', bytes: get(`${BASE}/ID?\u00ff`), expect: 400 },
  { name: 'an absolute target', bytes: get(`http://upstream.internal${BASE}/ID`), expect: 'contained' },
  { name: 'an absolute target that climbs', bytes: get(`http://upstream.internal${BASE}/../ID`), expect: 'contained' },
  { name: 'a method that is not listed', bytes: `PUT ${BASE}/ID HTTP/1.1\r\n${AUTH}Content-Length: 0\r\n\r\n`, expect: 405 },
  { name: 'a method nobody knows', bytes: `HACK ${BASE}/ID HTTP/1.1\r\n${AUTH}\r\n`, expect: 'contained' },
  { name: 'HEAD where only GET is listed', bytes: `HEAD ${BASE}/ID HTTP/1.1\r\n${AUTH}\r\n`, expect: 405 },
];

const bodiless: ForwardCase[] = ['GET', 'DELETE', 'OPTIONS'].flatMap((method): ForwardCase[] => {
  const line = `${method} ${BASE}/ID HTTP/1.1\r\n${AUTH}`;
  return [
    { name: `${method} with a body`, bytes: `${line}Content-Length: 5\r\n\r\nhello`, expect: 400 },
    { name: `${method} with a request for a body`, bytes: `${line}Content-Length: ${SMUGGLED_BYTES}\r\n\r\n${SMUGGLED}`, expect: 400 },
    {
      name: `${method} with a chunked request for a body`,
      bytes: `${line}Transfer-Encoding: chunked\r\n\r\n${SMUGGLED_BYTES.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`,
      expect: 'contained',
    },
    { name: `${method} with an empty chunked body`, bytes: `${line}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, expect: 400 },
    { name: `${method} that says it has none`, bytes: `${line}Content-Length: 0\r\n\r\n`, expect: 'passes', target: `${BASE}/ID` },
  ];
});

const BAD_LENGTHS = ['+5', '-1', '0x5', '5, 5', '5;x', '"5"', '1e1', '', '99999999999999999999'];
const CODINGS = [
  'xchunked',
  'chunked, identity',
  'gzip, chunked',
  'identity',
  'chunked\u000b',
  'CHUNKED\u212a',
  'chunked;q=1',
  '"chunked"',
  'cow',
];
const CHUNKS = [
  `5;ext=1\r\nhello\r\n0\r\n\r\n`,
  `05\r\nhello\r\n0\r\n\r\n`,
  `g\r\nhello\r\n0\r\n\r\n`,
  `5\nhello\n0\n\n`,
  `5\r\nhelloX\r\n0\r\n\r\n`,
  `ffffffffffffffff1\r\nhello\r\n0\r\n\r\n`,
  `-5\r\nhello\r\n0\r\n\r\n`,
  `\r\nhello\r\n0\r\n\r\n`,
  `5\r\nhello\r\n0\r\nContent-Length: 5\r\n\r\n`,
  `5\r\nhello\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n`,
];

const framing: ForwardCase[] = [
  { name: 'a length', bytes: post('Content-Length: 5\r\n', 'hello'), expect: 'passes', target: `${BASE}/sink/ID` },
  { name: 'chunks', bytes: post('Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n0\r\n\r\n'), expect: 'passes', target: `${BASE}/sink/ID` },
  {
    name: 'chunks, in capitals',
    bytes: post('Transfer-Encoding: CHUNKED\r\n', '5\r\nhello\r\n0\r\n\r\n'),
    expect: 'passes',
    target: `${BASE}/sink/ID`,
  },
  {
    name: 'a request in a body',
    bytes: post(`Content-Length: ${SMUGGLED_BYTES}\r\n`, SMUGGLED),
    expect: 'passes',
    target: `${BASE}/sink/ID`,
  },
  { name: 'a request behind a body', bytes: post('Content-Length: 5\r\n', `hello${SMUGGLED}`), expect: 'contained' },
  {
    name: 'a request behind chunks',
    bytes: post('Transfer-Encoding: chunked\r\n', `5\r\nhello\r\n0\r\n\r\n${SMUGGLED}`),
    expect: 'contained',
  },
  { name: 'two lengths', bytes: post('Content-Length: 5\r\nContent-Length: 0\r\n', `hello${SMUGGLED}`), expect: 'contained' },
  { name: 'two equal lengths', bytes: post('Content-Length: 5\r\nContent-Length: 5\r\n', 'hello'), expect: 'contained' },
  {
    name: 'length and coding',
    bytes: post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${SMUGGLED}`),
    expect: 'contained',
  },
  {
    name: 'coding and length',
    bytes: post('Transfer-Encoding: chunked\r\nContent-Length: 500\r\n', `0\r\n\r\n${SMUGGLED}`),
    expect: 'contained',
  },
  {
    name: 'two codings',
    bytes: post('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n', `0\r\n\r\n${SMUGGLED}`),
    expect: 'contained',
  },
  { name: 'neither', bytes: post('', SMUGGLED), expect: 'contained' },
  { name: 'a length behind a blank name', bytes: post(': x\r\nContent-Length: 5\r\n', `hello${SMUGGLED}`), expect: 'contained' },
  { name: 'a length with a space before the colon', bytes: post('Content-Length : 5\r\n', `hello${SMUGGLED}`), expect: 'contained' },
  { name: 'a folded coding', bytes: post('Transfer-Encoding:\r\n chunked\r\n', `0\r\n\r\n${SMUGGLED}`), expect: 'contained' },
  {
    name: 'an expectation',
    bytes: post('Expect: 100-continue\r\nContent-Length: 5\r\n', 'hello'),
    expect: 'passes',
    target: `${BASE}/sink/ID`,
  },
  ...BAD_LENGTHS.map((length): ForwardCase => ({
    name: `length ${JSON.stringify(length)}`,
    bytes: post(`Content-Length: ${length}\r\n`, `hello${SMUGGLED}`),
    expect: 'contained',
  })),
  ...CODINGS.map((coding): ForwardCase => ({
    name: `coding ${JSON.stringify(coding)}`,
    bytes: post(`Transfer-Encoding: ${coding}\r\n`, `0\r\n\r\n${SMUGGLED}`),
    expect: 'contained',
  })),
  ...CHUNKS.map((chunks): ForwardCase => ({
    name: `chunks ${JSON.stringify(chunks)}`,
    bytes: post('Transfer-Encoding: chunked\r\n', chunks + SMUGGLED),
    expect: 'contained',
  })),
];

/** The upstream may see none of them, in any case. */
const FIELDS = [
  'Connection: keep-alive, x-kind',
  'Connection: content-type',
  'Connection: upgrade\r\nUpgrade: websocket',
  'Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ',
  'Keep-Alive: timeout=1000',
  'Proxy-Authorization: Basic eDp5',
  'Proxy-Connection: keep-alive',
  'TE: trailers',
  'Trailer: X-Evil',
  'Vendor-Auth-Key: something',
  'Cookie: session=1',
  'X-Forwarded-For: 127.0.0.1',
  'X-Forwarded-Host: admin.internal',
  'Forwarded: for=127.0.0.1',
  'X-Original-URL: /admin',
  'X-HTTP-Method-Override: DELETE',
  'X-Request-Id: mine',
  'Accept-Encoding: gzip',
  'Range: bytes=0-1',
  'Via: 1.1 a',
  'Max-Forwards: 0',
  '__proto__: x',
  'constructor: x',
];

const fields: ForwardCase[] = [
  ...FIELDS.map((field): ForwardCase => ({
    name: `field ${field}`,
    bytes: get(`${BASE}/ID`, `${field}\r\n`),
    expect: 'passes',
    target: `${BASE}/ID`,
  })),
  { name: 'two hosts', bytes: get(`${BASE}/ID`, 'Host: b\r\n'), expect: 'contained' },
  { name: 'two keys', bytes: get(`${BASE}/ID`, 'Authorization: Bearer other\r\n'), expect: 'contained' },
  { name: 'a listed field twice', bytes: get(`${BASE}/ID`, 'X-Kind: a\r\nX-Kind: b\r\n'), expect: 'passes', target: `${BASE}/ID` },
  { name: 'a listed field with a byte that is none', bytes: get(`${BASE}/ID`, 'X-Kind: a\u00ffb\r\n'), expect: 400 },
];

export const FORWARD_CASES: readonly ForwardCase[] = [...paths, ...bodiless, ...framing, ...fields];
