// Methods, HEAD, Expect, Connection and Upgrade.
import { AUTH, BODY, JSON_TYPE, TAIL, get, head, row, sized, translate, translateKeyless, withTail } from './notation.ts';
import type { HttpCase } from './notation.ts';

const ULID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';

const methods: readonly HttpCase[] = [
  row('405', 'HEAD /health', 'decisions 4', head('HEAD /health HTTP/1.1')),
  row('404', 'HEAD of a path that is none', '9110 9.3.2', head('HEAD /nowhere HTTP/1.1')),
  row('405', 'HEAD with a key', 'decisions 4', head('HEAD /v1/usage HTTP/1.1', AUTH)),
  row('405 close', 'HEAD that closes', '9110 9.3.2', head('HEAD /health HTTP/1.1', 'Connection: close'), {
    uws: ['405 close', 19],
    newer: 'as expected',
  }),
  ...withTail(
    row('400 close', 'HEAD with broken framing', '9112 6.3', head('HEAD /health HTTP/1.1', 'Content-Length: 0', 'Content-Length: 1')),
  ),
  row('405', 'OPTIONS /health', 'decisions 4', head('OPTIONS /health HTTP/1.1')),
  row(
    '405',
    'a preflight',
    'decisions 4',
    head('OPTIONS /v1/translate HTTP/1.1', 'Origin: http://b', 'Access-Control-Request-Method: POST'),
  ),
  row('405', 'TRACE /health', '9110 9.3.8', head('TRACE /health HTTP/1.1')),
  row('405', 'TRACE with a key', '9110 9.3.8', head('TRACE /v1/usage HTTP/1.1', AUTH)),
  row('405', 'GET /v1/translate', 'interface Endpoints 2', get('/v1/translate', AUTH)),
  row('405', 'POST /health', 'interface Endpoints 2', head('POST /health HTTP/1.1', 'Content-Length: 0')),
  row('401', 'DELETE of a glossary without a key', 'decisions 1', head(`DELETE /v1/glossaries/${ULID} HTTP/1.1`)),
  row('404', 'DELETE of a glossary that is none', 'interface Errors', head(`DELETE /v1/glossaries/${ULID} HTTP/1.1`, AUTH), { handled: 1 }),
  row('405', 'PUT of a glossary', 'interface Endpoints 2', head(`PUT /v1/glossaries/${ULID} HTTP/1.1`, AUTH, 'Content-Length: 0')),
  row('200', 'X-HTTP-Method-Override is none of ours', 'interface Endpoints', get('/health', 'X-HTTP-Method-Override: DELETE')),
  row('405', 'SEARCH /health', 'interface Endpoints 2', head('SEARCH /health HTTP/1.1')),
  row('405', 'M-SEARCH /health', 'interface Endpoints 2', head('M-SEARCH /health HTTP/1.1')),
];

const EXPECT = 'Expect: 100-continue';

const expectations: readonly HttpCase[] = [
  row('100 200', 'Expect: 100-continue', '9110 10.1.1', [translate(EXPECT, `Content-Length: ${BODY.length}`), BODY]),
  row('100 200', 'Expect: 100-continue with the body at once', '9110 10.1.1', sized(BODY, EXPECT)),
  row('100 200', 'Expect: 100-Continue', '9110 10.1.1', sized(BODY, 'Expect: 100-Continue'), { uws: ['200', 20] }),
  row('200', 'Expect that is unknown', '9110 10.1.1', sized(BODY, 'Expect: 200-ok')),
  row('200', 'Expect twice', '9110 10.1.1', sized(BODY, 'Expect: x', 'Expect: y')),
  row('200', 'Expect with another word before', '9110 10.1.1', sized(BODY, 'Expect: x 100-continue'), { node: ['100 200', 104] }),
  row('100 200', 'Expect on GET', '9110 10.1.1', get('/health', EXPECT)),
  row('100 401', 'Expect without a key', '9110 10.1.1', [translateKeyless(EXPECT, `Content-Length: ${TAIL.length}`), TAIL]),
  row('100 400', 'Expect with a request for a body', '9110 10.1.1', translate(EXPECT, `Content-Length: ${TAIL.length}`) + TAIL, {
    handled: 1,
  }),
  ...withTail(row('400 close', 'Expect with broken framing', '9112 6.3', translate('Expect: x', 'Content-Length: 0', 'Content-Length: 9'))),
  row('400 close', 'Expect: 100-continue with broken framing', '9112 6.3', translate(EXPECT, 'Content-Length: 0', 'Content-Length: 9'), {
    uws: ['100 400 close', 20],
  }),
  row(
    '200 close',
    'Expect in HTTP/1.0',
    '9110 10.1.1',
    head('POST /v1/translate HTTP/1.0', AUTH, JSON_TYPE, EXPECT, `Content-Length: ${BODY.length}`) + BODY,
    { uws: ['html:505 close', 1] },
  ),
];

const CLOSING = ['close', 'Close', 'CLOSE', 'close, te', 'te, close', 'keep-alive, close', 'te,close', '  close  '];
const KEEPING = [
  'keep-alive',
  'te',
  'closed',
  'x-close',
  'close-x',
  'upgrade',
  'keep-alive, te',
  'Authorization',
  'Content-Length',
  'Host, X-Case',
];

const connections: readonly HttpCase[] = [
  ...CLOSING.flatMap((value) => withTail(row('200 close', `Connection: ${value}`, '9112 9.6', get('/health', `Connection: ${value}`)))),
  ...KEEPING.map((value) => row('200', `Connection: ${value}`, '9112 9.3', get('/v1/usage', AUTH, `Connection: ${value}`))),
  row('200', 'Connection empty', '9110 7.6.1', get('/health', 'Connection:')),
  ...withTail(row('200 close', 'Connection: close with a store answer', '9112 9.6', get('/v1/usage', AUTH, 'Connection: close'))),
  ...withTail(row('200 close', 'Connection twice, close last', '9110 5.3', get('/health', 'Connection: te', 'Connection: close'))),
  ...withTail(row('200 close', 'Connection twice, close first', '9110 5.3', get('/health', 'Connection: close', 'Connection: te'))),
  row('200', 'Connection of five letters', '9110 7.6.1', get('/health', 'Connection: abcde'), { uws: ['200 close', 21] }),
  row('200', 'Keep-Alive alone', '9112 9.3', get('/health', 'Keep-Alive: timeout=600')),
  row('200', 'Proxy-Connection: close is no Connection', '9112 C.2.2', get('/health', 'Proxy-Connection: close'), {
    node: ['200 close', 105],
  }),
];

const WEBSOCKET = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='];
const H2C = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA'];

const upgrades: readonly HttpCase[] = [
  row('200', 'Upgrade: websocket on /health', '9110 7.8', get('/health', ...WEBSOCKET)),
  row('200', 'Upgrade: websocket with a store answer', '9110 7.8', get('/v1/usage', AUTH, ...WEBSOCKET)),
  row('404', 'Upgrade: websocket on a path that is none', '9110 7.8', get('/nowhere', ...WEBSOCKET)),
  row('200', 'Upgrade: h2c', '9110 7.8', get('/health', ...H2C)),
  row('200', 'Upgrade on POST', '9110 7.8', sized(BODY, ...WEBSOCKET)),
  row('200', 'Upgrade without Connection', '9110 7.8', get('/health', 'Upgrade: websocket')),
  row('200', 'Upgrade that is unknown', '9110 7.8', get('/health', 'Connection: Upgrade', 'Upgrade: nonsense/9')),
  row('200', 'Upgrade with a request in its body', '9110 7.8', get('/health', ...WEBSOCKET, `Content-Length: ${TAIL.length}`) + TAIL),
];

export const methodCases: readonly HttpCase[] = [...methods, ...expectations, ...connections, ...upgrades];
