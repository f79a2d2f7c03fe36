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

const contained = (name: string, bytes: string): ForwardCase => ({ name, bytes, expect: 'contained' });
const refused = (status: 400 | 404 | 405, name: string, bytes: string): ForwardCase => ({ name, bytes, expect: status });
const passes = (name: string, bytes: string, target = `${BASE}/ID`): ForwardCase => ({ name, bytes, expect: 'passes', target });
/** What its body has is not looked at. */
const sunk = (name: string, fields: string, body: string): ForwardCase => passes(name, post(fields, body), `${BASE}/sink/ID`);

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
  ...BAD_PATHS.map((path) => {
    const [name, bytes] = [`path ${path}`, get(`${BASE}${path}`)];
    return path.includes('#') ? contained(name, bytes) : refused(404, name, bytes);
  }),
  ...GOOD_PATHS.map((path) => passes(`path ${path}`, get(`${BASE}${path}`), `${BASE}${path}`)),
  refused(404, 'another case is another path', get('/v1/DOCUMENTS/ID')),
  refused(404, 'a sibling that begins alike', get('/v1/documentsID')),
  refused(404, 'an exact path and more', get('/v1/voices/ID')),
  refused(400, 'a query with a byte that is none', get(`${BASE}/ID?\u00ff`)),
  contained('an absolute target', get(`http://upstream.internal${BASE}/ID`)),
  contained('an absolute target that climbs', get(`http://upstream.internal${BASE}/../ID`)),
  refused(405, 'a method that is not listed', `PUT ${BASE}/ID HTTP/1.1\r\n${AUTH}Content-Length: 0\r\n\r\n`),
  contained('a method nobody knows', `HACK ${BASE}/ID HTTP/1.1\r\n${AUTH}\r\n`),
  refused(405, 'HEAD where only GET is listed', `HEAD ${BASE}/ID HTTP/1.1\r\n${AUTH}\r\n`),
];

const bodiless: ForwardCase[] = ['GET', 'DELETE', 'OPTIONS'].flatMap((method): ForwardCase[] => {
  const line = `${method} ${BASE}/ID HTTP/1.1\r\n${AUTH}`;
  return [
    refused(400, `${method} with a body`, `${line}Content-Length: 5\r\n\r\nhello`),
    refused(400, `${method} with a request for a body`, `${line}Content-Length: ${SMUGGLED_BYTES}\r\n\r\n${SMUGGLED}`),
    contained(
      `${method} with a chunked request for a body`,
      `${line}Transfer-Encoding: chunked\r\n\r\n${SMUGGLED_BYTES.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`,
    ),
    refused(400, `${method} with an empty chunked body`, `${line}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`),
    passes(`${method} that says it has none`, `${line}Content-Length: 0\r\n\r\n`),
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
  sunk('a length', 'Content-Length: 5\r\n', 'hello'),
  sunk('chunks', 'Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n0\r\n\r\n'),
  sunk('chunks, in capitals', 'Transfer-Encoding: CHUNKED\r\n', '5\r\nhello\r\n0\r\n\r\n'),
  sunk('a request in a body', `Content-Length: ${SMUGGLED_BYTES}\r\n`, SMUGGLED),
  contained('a request behind a body', post('Content-Length: 5\r\n', `hello${SMUGGLED}`)),
  contained('a request behind chunks', post('Transfer-Encoding: chunked\r\n', `5\r\nhello\r\n0\r\n\r\n${SMUGGLED}`)),
  contained('two lengths', post('Content-Length: 5\r\nContent-Length: 0\r\n', `hello${SMUGGLED}`)),
  contained('two equal lengths', post('Content-Length: 5\r\nContent-Length: 5\r\n', 'hello')),
  contained('length and coding', post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${SMUGGLED}`)),
  contained('coding and length', post('Transfer-Encoding: chunked\r\nContent-Length: 500\r\n', `0\r\n\r\n${SMUGGLED}`)),
  contained('two codings', post('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n', `0\r\n\r\n${SMUGGLED}`)),
  contained('neither', post('', SMUGGLED)),
  contained('a length behind a blank name', post(': x\r\nContent-Length: 5\r\n', `hello${SMUGGLED}`)),
  contained('a length with a space before the colon', post('Content-Length : 5\r\n', `hello${SMUGGLED}`)),
  contained('a folded coding', post('Transfer-Encoding:\r\n chunked\r\n', `0\r\n\r\n${SMUGGLED}`)),
  sunk('an expectation', 'Expect: 100-continue\r\nContent-Length: 5\r\n', 'hello'),
  ...BAD_LENGTHS.map((length) => contained(`length ${JSON.stringify(length)}`, post(`Content-Length: ${length}\r\n`, `hello${SMUGGLED}`))),
  ...CODINGS.map((coding) =>
    contained(`coding ${JSON.stringify(coding)}`, post(`Transfer-Encoding: ${coding}\r\n`, `0\r\n\r\n${SMUGGLED}`)),
  ),
  ...CHUNKS.map((chunks) => contained(`chunks ${JSON.stringify(chunks)}`, post('Transfer-Encoding: chunked\r\n', chunks + SMUGGLED))),
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
  ...FIELDS.map((field) => passes(`field ${field}`, get(`${BASE}/ID`, `${field}\r\n`))),
  contained('two hosts', get(`${BASE}/ID`, 'Host: b\r\n')),
  contained('two keys', get(`${BASE}/ID`, 'Authorization: Bearer other\r\n')),
  passes('a listed field twice', get(`${BASE}/ID`, 'X-Kind: a\r\nX-Kind: b\r\n')),
  refused(400, 'a listed field with a byte that is none', get(`${BASE}/ID`, 'X-Kind: a\u00ffb\r\n')),
];

export const FORWARD_CASES: readonly ForwardCase[] = [...paths, ...bodiless, ...framing, ...fields];
