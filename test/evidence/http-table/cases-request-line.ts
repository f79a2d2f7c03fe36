// Request lines: versions, forms of the target, blanks, line ends, methods, and protocols other than HTTP.
import { AUTH, BODY, JSON_TYPE, bare, get, head, row } from './notation.ts';
import type { Deviating, HttpCase } from './notation.ts';

const IN_HTML: Deviating = ['html:505 close', 1];

const BROKEN: readonly (readonly [what: string, requestLine: string])[] = [
  ['HTTP/1.2', 'GET /health HTTP/1.2'],
  ['HTTP/2.0', 'GET /health HTTP/2.0'],
  ['HTTP/0.9 with its version', 'GET /health HTTP/0.9'],
  ['HTTP/1', 'GET /health HTTP/1'],
  ['HTTP/1.10', 'GET /health HTTP/1.10'],
  ['HTTP/11', 'GET /health HTTP/11'],
  ['the version in lower case', 'GET /health http/1.1'],
  ['another protocol', 'GET /health ICY/1.1'],
  ['words behind the version', 'GET /health HTTP/1.1 x'],
  ['a blank behind the version', 'GET /health HTTP/1.1 '],
  ['a tab before the target', 'GET\t/health HTTP/1.1'],
  ['a tab before the version', 'GET /health\tHTTP/1.1'],
  ['a blank before the method', ' GET /health HTTP/1.1'],
  ['a vertical tab before the target', 'GET\x0b/health HTTP/1.1'],
  ['a blank in the target', 'GET /hea lth HTTP/1.1'],
  ['no method', '/health HTTP/1.1'],
  ['no target', 'GET HTTP/1.1'],
  ['no slash before the target', 'GET health HTTP/1.1'],
  ['a question mark for a target', 'GET ? HTTP/1.1'],
  ['a backslash for a slash', 'GET \\health HTTP/1.1'],
  ['NUL in the target', 'GET /hea\0lth HTTP/1.1'],
  ['a control character in the target', 'GET /hea\x01lth HTTP/1.1'],
  ['a method with NUL', 'GE\0T /health HTTP/1.1'],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0'],
  ['CONNECT', 'CONNECT a:443 HTTP/1.1'],
  ['an authority for GET', 'GET a:80 HTTP/1.1'],
];

/** Forbidden by the grammar but passed on by this build: our router finds no match. */
const UNCHECKED: readonly (readonly [what: string, requestLine: string, outcome: string])[] = [
  ['DEL in the target', 'GET /hea\x7flth HTTP/1.1', '404'],
  ['bytes beyond ASCII in the target', 'GET /hea\xe9lth HTTP/1.1', '404'],
  ['a method with an at', 'G@T /health HTTP/1.1', '405'],
  ['a method with a quote', 'GE"T /health HTTP/1.1', '405'],
  ['CONNECT with a path', 'CONNECT /health HTTP/1.1', '405'],
];

/** Tokens, and so methods, but not ours. */
const UNKNOWN_METHODS: readonly (readonly [what: string, method: string])[] = [
  ['a method in lower case', 'get'],
  ['a method in mixed case', 'Get'],
  ['a method that begins like one', 'GETT'],
  ['an unknown method', 'BREW'],
  ['a method of 300 letters', 'M'.repeat(300)],
];

const forms: readonly HttpCase[] = [
  row('200 close', 'line: HTTP/1.0 with a Host', '9110 2.5', head('GET /health HTTP/1.0'), { uws: IN_HTML }),
  row('200 close', 'line: HTTP/1.0 without a Host', '9112 3.2', bare('GET /health HTTP/1.0', 'X-Case: {case}'), { uws: IN_HTML }),
  row('200', 'line: HTTP/1.0 that keeps alive', '9112 9.3', head('GET /health HTTP/1.0', 'Connection: keep-alive'), { uws: IN_HTML }),
  row(
    '200 close',
    'line: POST in HTTP/1.0',
    '9110 2.5',
    head('POST /v1/translate HTTP/1.0', AUTH, JSON_TYPE, `Content-Length: ${BODY.length}`) + BODY,
    {
      uws: IN_HTML,
    },
  ),
  row(
    '400 close',
    'line: chunks in HTTP/1.0',
    '9112 6.1',
    head('POST /v1/translate HTTP/1.0', AUTH, 'Transfer-Encoding: chunked') + '0\r\n\r\n',
    {
      uws: IN_HTML,
    },
  ),
  row('200', 'line: absolute target', '9112 3.2.2', head('GET http://a/health HTTP/1.1'), { uws: IN_HTML }),
  row('200', 'line: absolute target in capitals', '9112 3.2.2', head('GET HTTP://A/health HTTP/1.1'), { uws: IN_HTML }),
  row('200', 'line: absolute target with https and a port', '9112 3.2.2', head('GET https://a:443/health HTTP/1.1'), { uws: IN_HTML }),
  row('200', 'line: absolute target with a query', '9112 3.2.2', head('GET http://a/v1/languages?type=target HTTP/1.1', AUTH), {
    uws: IN_HTML,
  }),
  row('404', 'line: absolute target without a path', '9112 3.2.2', head('GET http://a HTTP/1.1'), { uws: IN_HTML }),
  row('404', 'line: OPTIONS *', '9112 3.2.4', head('OPTIONS * HTTP/1.1'), { uws: IN_HTML }),
  row('404', 'line: GET *', 'interface Endpoints 1', head('GET * HTTP/1.1'), { uws: IN_HTML }),
  row('404', 'line: a fragment', 'interface Endpoints 1', get('/health#x')),
];

const blanks: readonly HttpCase[] = [
  row('400 close', 'line: two blanks before the target', '9112 3', head('GET  /health HTTP/1.1'), { uws: IN_HTML, node: ['200', 102] }),
  row('400 close', 'line: two blanks before the version', '9112 3', head('GET /health  HTTP/1.1'), { uws: IN_HTML, node: ['200', 102] }),
  row('200', 'line: an empty line before it', '9112 2.2', `\r\n${get('/health')}`, { uws: ['timer close', 15] }),
  row('200', 'line: many empty lines before it', '9112 2.2', `\r\n\r\n\r\n${get('/health')}`, { uws: ['timer close', 15] }),
  row('200', 'line: a bare LF before it', '9112 2.2', `\n${get('/health')}`, { uws: IN_HTML }),
  row('400 close', 'line: a bare CR before it', '9112 2.2', `\r${get('/health')}`, { uws: ['timer close', 15], node: ['200', 102] }),
  row('400 close', 'line: it ends in a bare LF', '9112 2.2', `GET /health HTTP/1.1\nHost: a\r\nX-Case: {case}\r\n\r\n`, { uws: IN_HTML }),
  row('400 close', 'line: it ends in a bare CR', '9112 2.2', `GET /health HTTP/1.1\rHost: a\r\nX-Case: {case}\r\n\r\n`, { uws: IN_HTML }),
  row('400 close', 'line: HTTP/0.9', '9112 3', 'GET /health\r\n\r\n', { uws: ['timer close', 6], newer: IN_HTML }),
];

const otherProtocols: readonly HttpCase[] = [
  row('400 close', 'TLS', '9112 2.2', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03abcdefghijklmnopqrstuvwxyz\r\n\r\n', { uws: IN_HTML }),
  row('400 close', 'PROXY protocol, version 1', 'decisions 11', `PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n${get('/health')}`, {
    uws: IN_HTML,
  }),
  row(
    '400 close',
    'PROXY protocol, version 2',
    'decisions 11',
    `\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x01\xc0\0\x02\x02\0\x01\0\x02${get('/health')}`,
    { uws: ['200', 22] },
  ),
  row('400 close', 'SSH', '9112 2.2', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', { uws: ['timer close', 6] }),
  row('400 close', 'SMTP', '9112 2.2', 'EHLO a\r\n\r\n', { uws: IN_HTML }),
  row('400 close', 'a Redis command', '9112 2.2', '*1\r\n$4\r\nPING\r\n\r\n', { uws: ['timer close', 6] }),
  row('400 close', 'zeros', '9112 2.2', '\0'.repeat(64), { uws: IN_HTML }),
];

export const requestLineCases: readonly HttpCase[] = [
  ...BROKEN.map(([what, line]) => row('400 close', `line: ${what}`, '9112 3', head(line), { uws: IN_HTML })),
  ...UNCHECKED.map(([what, line, outcome]) => row('400 close', `line: ${what}`, '9112 3', head(line), { uws: [outcome, 2] })),
  ...UNKNOWN_METHODS.map(([what, method]) =>
    row('405', `line: ${what}`, 'interface Endpoints 2', head(`${method} /health HTTP/1.1`), { node: ['400 close', 101] }),
  ),
  ...forms,
  ...blanks,
  ...otherProtocols,
];
