// Several requests on one connection, requests in pieces, and connections that one side ends early.
import { AUTH, BODY, TAIL, get, head, row, sized, translate, translateKeyless } from './notation.ts';
import type { HttpCase } from './notation.ts';

const NOWHERE = get('/nowhere');
const HEALTH = get('/health');
const USAGE = get('/v1/usage', AUTH);
const KEYLESS = `${translateKeyless(`Content-Length: ${BODY.length}`)}${BODY}`;
/** Refused while its body is being sent. */
const UNWANTED = translateKeyless('Content-Length: 5');
const TWO_LENGTHS = translate('Content-Length: 0', 'Content-Length: 9');

const pipelined: readonly HttpCase[] = [
  row('200 200', 'pipelined: two that are answered at once', '9112 9.3.2', HEALTH + HEALTH),
  row('200 200 200 200 200 200', 'pipelined: six that are answered at once', '9112 9.3.2', HEALTH.repeat(6)),
  row('404 200 404', 'pipelined: refusals among them', '9112 9.3.2', NOWHERE + HEALTH + NOWHERE),
  row('200 401 200', 'pipelined: a body between them', '9112 9.3.2', HEALTH + KEYLESS + HEALTH),
  row('405 200', 'pipelined: HEAD before GET', '9112 9.3.2', head('HEAD /health HTTP/1.1') + HEALTH),
  row('200 200', 'pipelined: one that asks the store is the last', '9112 9.3.2', HEALTH + USAGE),
  row('200 200', 'pipelined: an empty line between them', '9112 2.2', `${HEALTH}\r\n${HEALTH}`, { uws: ['timer 200 close', 15] }),
  row('200 400 close', 'pipelined: broken framing behind it', 'decisions 11', HEALTH + TWO_LENGTHS),
  row('200 400 close', 'pipelined: broken framing behind it, and a request', 'decisions 11', HEALTH + TWO_LENGTHS + TAIL, {
    uws: ['close', 17, 1],
  }),
  row('200 400 close', 'pipelined: nonsense behind it', '9112 2.2', `${HEALTH}nonsense\r\n\r\n`, { uws: ['timer 200 close', 6] }),
  row('200 200 close', 'pipelined: one that closes behind it', '9112 9.6', HEALTH + get('/health', 'Connection: close')),
  row(
    '200 200 close',
    'pipelined: one that closes behind it, and a request',
    '9112 9.6',
    HEALTH + get('/health', 'Connection: close') + TAIL,
    {
      uws: ['close', 17, 2],
    },
  ),
  row('200 200', 'pipelined: behind one that asks the store', '9112 9.3.2', USAGE + HEALTH, { uws: ['close', 16, 1] }),
  row('200 200', 'pipelined: two that ask the store', '9112 9.3.2', USAGE + USAGE, { uws: ['close', 16, 1] }),
  row('200 200', 'pipelined: behind a translation', '9112 9.3.2', sized(BODY) + HEALTH, { uws: ['close', 16, 1] }),
  row('200 200', 'pipelined: two translations', '9112 9.3.2', sized(BODY) + sized(BODY), { uws: ['close', 16, 1] }),
  row('200 close', 'pipelined: nonsense behind one that asks the store', '9112 2.2', `${USAGE}nonsense\r\n\r\n`, {
    uws: ['timer 200 close', 6],
  }),
  row('200 close', 'pipelined: more of a body than was announced', '9112 6.3', `${sized(BODY)}xyz\r\n\r\n`, {
    uws: ['timer 200 close', 6],
    node: ['400 close', 108],
    handled: 1,
  }),
];

const PIECES = '{"text":["pieces"],"target_lang":"DE"}';

const inPieces: readonly HttpCase[] = [
  row('200 200', 'pieces: one request behind the other', '9112 2.1', [HEALTH, HEALTH]),
  row('200', 'pieces: within the last line end', '9112 2.1', [HEALTH.slice(0, -1), HEALTH.slice(-1)]),
  row('200', 'pieces: the body byte by byte', '9112 2.1', [translate(`Content-Length: ${PIECES.length}`), ...Array.from(PIECES)]),
  row('200 200', 'pieces: the end of one with the head of the next', '9112 2.1', [
    HEALTH.slice(0, 35),
    HEALTH.slice(35) + HEALTH.slice(0, 35),
    HEALTH.slice(35),
  ]),
];

const GONE = { uws: ['close', 18] } as const;

const halfClosed: readonly HttpCase[] = [
  row('close', 'half-closed: nothing was sent', '9112 9.6', '', { halfClose: true }),
  row('200 close', 'half-closed: behind a request that is answered at once', '9112 9.6', HEALTH, { halfClose: true }),
  row('close', 'half-closed: behind one that asks the store', 'decisions 11', USAGE, { halfClose: true, handled: 1 }),
  row('close', 'half-closed: behind a translation', 'decisions 11', sized(BODY), { halfClose: true, handled: 1 }),
  row('400 close', 'half-closed: within the head', '9112 8', HEALTH.slice(0, -2), { halfClose: true, ...GONE }),
  row('400 close', 'half-closed: within the request line', '9112 8', 'GET /hea', { halfClose: true, ...GONE }),
  row('400 close', 'half-closed: within a body', '9112 8', translate('Content-Length: 99') + BODY, {
    halfClose: true,
    handled: 1,
    ...GONE,
  }),
  row('400 close', 'half-closed: within a chunk', '9112 8', `${translate('Transfer-Encoding: chunked')}ff\r\nabc`, {
    halfClose: true,
    handled: 1,
    ...GONE,
  }),
  row('401 close', 'half-closed: within a body that nobody wants', '9112 8', translateKeyless('Content-Length: 99') + BODY, {
    halfClose: true,
  }),
];

export const connectionCases: readonly HttpCase[] = [
  ...pipelined,
  ...inPieces,
  ...halfClosed,
  row('timer close', 'silence', 'decisions 11', ''),
  row('timer 200 close', 'silence behind an answer', 'decisions 11', HEALTH),
  row('timer 401 close', 'silence behind a refusal and its whole body', 'decisions 11', KEYLESS),
  row('timer 401 close', 'silence behind a refusal and the body that came after it', 'decisions 11', [UNWANTED, 'hello']),
  row('timer 401 close', 'silence within a body that came after its refusal', 'decisions 11', [UNWANTED, 'hel']),
  row('timer 401 close', 'silence behind a refusal whose body never comes', 'decisions 11', UNWANTED),
  row('timer 200 close', 'silence behind an answer that did not wait for the body of a GET', 'decisions 11', [
    get('/v1/languages', AUTH, 'Content-Length: 5'),
    'hello',
  ]),
];
