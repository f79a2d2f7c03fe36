// Requests that hide another one: each is framed so that two readers may disagree about where it ends.
import { AUTH, BODY, JSON_TYPE, LAST_CHUNK, TAIL, TAIL_MARK, TAIL_POST, bare, chunk, get, head, translate } from './notation.ts';

export interface Payload {
  readonly name: string;
  /** One character is one byte; pieces are sent separately. */
  readonly pieces: readonly string[];
  /** Either build of uWS finds the hidden request when it is called directly (deviation 7); a front has to stop it. */
  readonly residual?: true;
  /** To us nothing is hidden here: the second request is a separate one. Only a front might read it differently. */
  readonly plain?: true;
}

/** Swallows the start of whatever the next caller sends. */
const PREFIX = `GET /nowhere HTTP/1.1\r\nHost: a\r\nX-Case: ${TAIL_MARK}\r\nX-Swallow: `;
const TAILS = [
  ['a request', TAIL],
  ['a translation', TAIL_POST],
  ['a prefix', PREFIX],
] as const;
const TWO_TAILS = [TAILS[0], TAILS[2]] as const;

type Frame = (hidden: string) => string;

/** The length covers everything, the chunks end before the hidden request. */
const lengthThenChunks =
  (...fields: readonly string[]): Frame =>
  (hidden) =>
    `${translate(...fields, `Content-Length: ${LAST_CHUNK.length + hidden.length}`)}${LAST_CHUNK}${hidden}`;

/** The chunks cover everything, the length ends before the hidden request. */
const chunksThenLength =
  (...fields: readonly string[]): Frame =>
  (hidden) =>
    `${translate(...fields, `Content-Length: ${hidden.length.toString(16).length + 2}`)}${chunk(hidden)}${LAST_CHUNK}`;

const OBFUSCATIONS: readonly (readonly [what: string, ...fields: string[]])[] = [
  ['plain', 'Transfer-Encoding: chunked'],
  ['in capitals', 'TRANSFER-ENCODING: CHUNKED'],
  ['with a letter before', 'Transfer-Encoding: xchunked'],
  ['with a blank before the colon', 'Transfer-Encoding : chunked'],
  ['with a tab before the colon', 'Transfer-Encoding\t: chunked'],
  ['with a tab behind the colon', 'Transfer-Encoding:\tchunked'],
  ['with a vertical tab', 'Transfer-Encoding: \x0bchunked'],
  ['with a no-break space', 'Transfer-Encoding: \xa0chunked'],
  ['with NUL', 'Transfer-Encoding: \0chunked'],
  ['with a Kelvin sign', 'Transfer-Encoding: chun\xe2\x84\xaaed'],
  ['twice', 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
  ['twice, identity last', 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
  ['twice, nonsense first', 'Transfer-Encoding: cow', 'Transfer-Encoding: chunked'],
  ['in a list', 'Transfer-Encoding: identity, chunked'],
  ['in a list, last', 'Transfer-Encoding: chunked, identity'],
  ['in quotes', 'Transfer-Encoding: "chunked"'],
  ['folded', 'Transfer-Encoding:\r\n chunked'],
  ['folded into another field', 'X-One: a\r\n Transfer-Encoding: chunked'],
  ['behind a bare LF', 'X-One: a\nTransfer-Encoding: chunked'],
  ['behind a bare CR', 'X-One: a\rTransfer-Encoding: chunked'],
  ['with an underscore', 'Transfer_Encoding: chunked'],
  ['empty', 'Transfer-Encoding:'],
  ['behind an empty name', ': b', 'Transfer-Encoding: chunked'],
];

const LENGTHS: readonly (readonly [what: string, fields: (length: number) => readonly string[]])[] = [
  ['twice, 0 first', (length) => ['Content-Length: 0', `Content-Length: ${length}`]],
  ['twice, 0 last', (length) => [`Content-Length: ${length}`, 'Content-Length: 0']],
  ['in a list', (length) => [`Content-Length: 0, ${length}`]],
  ['with a sign', (length) => [`Content-Length: +${length}`]],
  ['in hexadecimal', (length) => [`Content-Length: 0x${length.toString(16)}`]],
  ['with zeros before', (length) => [`Content-Length: 0000${length}`]],
  ['empty, then right', (length) => ['Content-Length:', `Content-Length: ${length}`]],
  ['with a blank before the colon', (length) => [`Content-Length : ${length}`]],
  ['with an underscore', (length) => [`Content_Length: ${length}`]],
  ['folded', (length) => [`Content-Length:\r\n ${length}`]],
  ['behind a bare LF', (length) => [`X-One: a\nContent-Length: ${length}`]],
  ['behind a bare CR', (length) => [`X-One: a\rContent-Length: ${length}`]],
  ['behind an empty name', (length) => [': b', `Content-Length: ${length}`]],
  ['nominated by Connection', (length) => ['Connection: Content-Length', `Content-Length: ${length}`]],
  ['with Expect', (length) => ['Expect: 100-continue', `Content-Length: ${length}`]],
  ['with an odd Expect', (length) => ['Expect: y 100-continue', `Content-Length: ${length}`]],
  ['with Upgrade', (length) => ['Connection: Upgrade', 'Upgrade: websocket', `Content-Length: ${length}`]],
  ['of 2^64 more', (length) => [`Content-Length: ${2n ** 64n + BigInt(length)}`]],
];

const STARTS = [
  ['POST', (...fields: readonly string[]) => translate(...fields)],
  ['GET', (...fields: readonly string[]) => get('/health', ...fields)],
  ['PUT', (...fields: readonly string[]) => head('PUT /health HTTP/1.1', ...fields)],
  ['HEAD', (...fields: readonly string[]) => head('HEAD /health HTTP/1.1', ...fields)],
] as const;

const HEX = (text: string): string => text.length.toString(16);
const CHUNKED = 'Transfer-Encoding: chunked';

/** Two readers see these chunks end differently. */
const CHUNKS: readonly (readonly [what: string, frame: Frame])[] = [
  ['an extension with a bare LF', (hidden) => `2;\nxx\r\n${HEX(hidden)}\r\n0\r\n\r\n${hidden}`],
  ['an extension with a bare CR', (hidden) => `2;\rxx\r\n0\r\n\r\n${hidden}`],
  ['an extension as long as a chunk', (hidden) => `1;${'a'.repeat(200)}\r\nx\r\n0\r\n\r\n${hidden}`],
  ['a bare LF behind the size', (hidden) => `1\nx\r\n0\r\n\r\n${hidden}`],
  ['a bare CR behind the size', (hidden) => `1\rx\r\n0\r\n\r\n${hidden}`],
  ['two bytes for a line end', (hidden) => `1\r\nxZZ0\r\n\r\n${hidden}`],
  ['no line end behind the content', (hidden) => `1\r\nx0\r\n\r\n${hidden}`],
  ['a size with 0x', (hidden) => `0x1\r\nx\r\n0\r\n\r\n${hidden}`],
  ['a size with a blank', (hidden) => `1 \r\nx\r\n0\r\n\r\n${hidden}`],
  ['a size of 2^64 and one', (hidden) => `10000000000000001\r\nx\r\n0\r\n\r\n${hidden}`],
  ['an empty size', (hidden) => `1\r\nx\r\n\r\n${hidden}`],
  ['a last one in bare LFs', (hidden) => `1\r\nx\r\n0\n\n${hidden}`],
  ['a last one without its second line end', (hidden) => `1\r\nx\r\n0\r\n${hidden}`],
  ['a trailer that is a length', (hidden) => `1\r\nx\r\n0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`],
  ['a trailer that cannot be read', (hidden) => `1\r\nx\r\n0\r\nnonsense\r\n\r\n${hidden}`],
  ['a negative size', (hidden) => `-1\r\nx\r\n0\r\n\r\n${hidden}`],
];

const OTHERS: readonly (readonly [what: string, frame: Frame])[] = [
  [
    'chunks in HTTP/1.0',
    (hidden) => head('POST /v1/translate HTTP/1.0', AUTH, JSON_TYPE, 'Connection: keep-alive', CHUNKED) + LAST_CHUNK + hidden,
  ],
  ['a POST without any length', (hidden) => translate() + hidden],
  ['a POST without any length in HTTP/1.0', (hidden) => head('POST /v1/translate HTTP/1.0', 'Connection: keep-alive') + hidden],
  ['broken framing and then the hidden one', (hidden) => translate('Content-Length: 0', 'Content-Length: 1') + hidden],
  ['line ends in the target', (hidden) => get(`/health%20HTTP/1.1%0d%0aHost:%20a%0d%0a%0d%0a${encodeURIComponent(hidden)}`)],
  ['line ends in a value', (hidden) => get('/health', `X-One: ${encodeURIComponent(hidden)}`)],
  [
    'two Hosts',
    (hidden) => bare('POST /v1/translate HTTP/1.1', 'Host: a', 'Host: b', 'X-Case: {case}', `Content-Length: ${hidden.length}`) + hidden,
  ],
  ['an absolute target and a length', (hidden) => head('POST http://a/v1/translate HTTP/1.1', `Content-Length: ${hidden.length}`) + hidden],
];

function withAll(name: string, frame: Frame, tails: typeof TAILS | typeof TWO_TAILS = TAILS): Payload[] {
  return tails.map(([kind, hidden]) => ({ name: `${name}: ${kind}`, pieces: [frame(hidden)] }));
}

function withLength(what: string, fields: (length: number) => readonly string[]): Payload[] {
  return STARTS.map(([method, start]) => {
    const plain = what === 'with an underscore' && method !== 'POST' && method !== 'PUT' ? { plain: true as const } : {};
    const payload = { name: `CL ${what}, ${method}: a request`, pieces: [start(...fields(TAIL.length)) + TAIL], ...plain };
    return what === 'behind an empty name' && method !== 'POST' && method !== 'PUT' ? { ...payload, residual: true } : payload;
  });
}

export const PAYLOADS: readonly Payload[] = [
  ...OBFUSCATIONS.flatMap(([what, ...fields]) => [
    ...withAll(`CL.TE, ${what}`, lengthThenChunks(...fields)),
    ...withAll(`TE.CL, ${what}`, chunksThenLength(...fields)).map((payload) =>
      what === 'with an underscore' ? { ...payload, plain: true as const } : payload,
    ),
  ]),
  ...LENGTHS.flatMap(([what, fields]) => withLength(what, fields)),
  ...CHUNKS.flatMap(([what, frame]) => withAll(`chunks, ${what}`, (hidden) => translate(CHUNKED) + frame(hidden), TWO_TAILS)),
  ...OTHERS.flatMap(([what, frame]) => withAll(what, frame, TWO_TAILS)),
  { name: 'the body after a pause', pieces: [translate(`Content-Length: ${TAIL.length}`), TAIL] },
  { name: 'the body after a pause, keyless', pieces: [head('POST /v1/translate HTTP/1.1', `Content-Length: ${TAIL.length}`), TAIL] },
  {
    name: 'the body after a pause, to a path that is none',
    pieces: [head('POST /nowhere HTTP/1.1', `Content-Length: ${TAIL.length}`), TAIL],
  },
  { name: 'an honest translation before', pieces: [`${translate(`Content-Length: ${BODY.length}`, 'Connection: close')}${BODY}${TAIL}`] },
];
