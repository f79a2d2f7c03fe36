// Chunked bodies: sizes, extensions, line ends and trailers. A connection never survives one.
import { BODY, JSON_TYPE, LAST_CHUNK, TAIL_POST, chunk, head, inChunks, row, withTail } from './notation.ts';
import type { Deviating, HttpCase } from './notation.ts';

const SIZE = BODY.length.toString(16);
const CODED = 'Transfer-Encoding: chunked';

function read(name: string, rule: string, body: string, more: Partial<HttpCase> = {}): HttpCase {
  return row('200 close', `chunks: ${name}`, rule, inChunks(body), more);
}

/** Refused while the body is being read: the chain has been started, and is aborted. */
function refused(name: string, body: string, uws?: Deviating): HttpCase {
  return row('400 close', `chunks: ${name}`, '9112 7.1', inChunks(body), { handled: 1, ...(uws === undefined ? {} : { uws }) });
}

/** Only the spelling of the size is wrong. */
const sized = (name: string, size: string, uws?: Deviating): HttpCase => refused(name, `${size}\r\n${BODY}\r\n${LAST_CHUNK}`, uws);

const IN_HTML: Deviating = ['html:400 close', 12];
const TAKEN: Deviating = ['200 close', 13];

const wellFormed: readonly HttpCase[] = [
  ...withTail(read('one', '9112 7.1', chunk(BODY) + LAST_CHUNK)),
  read('ten of one byte, and the rest', '9112 7.1', Array.from(BODY.slice(0, 10)).map(chunk).join('') + chunk(BODY.slice(10)) + LAST_CHUNK),
  read('a translation behind the last', 'decisions 11', chunk(BODY) + LAST_CHUNK + TAIL_POST, { uws: ['close', 17, 1] }),
  read('size in capitals', '9112 7.1', `${SIZE.toUpperCase()}\r\n${BODY}\r\n${LAST_CHUNK}`),
  read('size with leading zeros', '9112 7.1', `0000${SIZE}\r\n${BODY}\r\n${LAST_CHUNK}`),
  read('last one with many zeros', '9112 7.1', `${chunk(BODY)}000000\r\n\r\n`),
  row('400 close', 'chunks: none but the last', 'decisions 3', inChunks(LAST_CHUNK), { handled: 1 }),
  ...withTail(
    row('401 close', 'chunks: keyless', 'decisions 11', head('POST /v1/translate HTTP/1.1', JSON_TYPE, CODED) + chunk(BODY) + LAST_CHUNK),
  ),
  ...withTail(
    row('404 close', 'chunks: to a path that is none', 'decisions 11', head('POST /nowhere HTTP/1.1', CODED) + chunk(BODY) + LAST_CHUNK),
  ),
  row('timer 400 close', 'chunks: no last one', 'decisions 11', inChunks(chunk(BODY)), { handled: 1 }),
  row('timer 400 close', 'chunks: one that does not come to its end', 'decisions 11', inChunks(`ff\r\n${BODY}`), { handled: 1 }),
  row('timer 400 close', 'chunks: size of 2^64 - 1', 'decisions 11', inChunks(`ffffffffffffffff\r\n${BODY}`), { handled: 1, uws: IN_HTML }),
  row('timer 400 close', 'chunks: size of 2^63', 'decisions 11', inChunks(`8000000000000000\r\n${BODY}`), { handled: 1, uws: IN_HTML }),
];

const extensions: readonly HttpCase[] = [
  read('an extension', '9112 7.1.1', `${SIZE};a=b\r\n${BODY}\r\n${LAST_CHUNK}`, { uws: ['timer 400 close', 11, 1] }),
  read('an extension without a value', '9112 7.1.1', `${SIZE};a\r\n${BODY}\r\n${LAST_CHUNK}`, { uws: ['timer 400 close', 11, 1] }),
  read('a quoted extension', '9112 7.1.1', `${SIZE};a="b;c"\r\n${BODY}\r\n${LAST_CHUNK}`, { uws: ['html:400 close', 11, 1] }),
  read('an extension of the last one', '9112 7.1.1', `${chunk(BODY)}0;a=b\r\n\r\n`, { uws: ['timer 400 close', 11, 1] }),
  refused('an extension that is never closed', `${SIZE};a="\r\n${BODY}\r\n${LAST_CHUNK}`, ['html:400 close', 11]),
  refused('an extension with a bare CR', `${SIZE};a\rb\r\n${BODY}\r\n${LAST_CHUNK}`, ['timer 400 close', 11]),
  refused('an extension with a bare LF', `${SIZE};a\nb\r\n${BODY}\r\n${LAST_CHUNK}`, ['timer 400 close', 11]),
];

const sizes: readonly HttpCase[] = [
  sized('size behind a blank', ` ${SIZE}`),
  sized('size before a blank', `${SIZE} `, TAKEN),
  sized('size before a tab', `${SIZE}\t`, TAKEN),
  sized('size with 0x', `0x${SIZE}`, IN_HTML),
  sized('size with a sign', `+${SIZE}`, IN_HTML),
  sized('size with a minus', `-${SIZE}`, IN_HTML),
  sized('size that is a colon', ':', IN_HTML),
  sized('size that is a g', 'g', IN_HTML),
  sized('size with an underscore', `0_${SIZE}`, IN_HTML),
  sized('size that is empty', ''),
  sized('size of 2^64 and a few', `1000000000000000${SIZE}`, IN_HTML),
  sized('size of seventeen digits', 'fffffffffffffffff', IN_HTML),
  sized('size with a comma', `${SIZE},${SIZE}`, IN_HTML),
];

const lineEnds: readonly HttpCase[] = [
  refused('bare LF behind the size', `${SIZE}\n${BODY}\r\n${LAST_CHUNK}`, TAKEN),
  refused('bare CR behind the size', `${SIZE}\r${BODY}\r\n${LAST_CHUNK}`, ['timer 400 close', 13]),
  refused('bare LF behind the content', `${SIZE}\r\n${BODY}\n${LAST_CHUNK}`, TAKEN),
  refused('no line end behind the content', `${SIZE}\r\n${BODY}${LAST_CHUNK}`, TAKEN),
  refused('content longer than its size', `${SIZE}\r\n${BODY}xx\r\n${LAST_CHUNK}`, TAKEN),
  refused('content shorter than its size', `${(BODY.length + 4).toString(16)}\r\n${BODY}\r\n${LAST_CHUNK}`),
  refused('bare LF behind the last one', `${chunk(BODY)}0\n\n`, TAKEN),
  row('timer 400 close', 'chunks: a last one without its second line end', 'decisions 11', inChunks(`${chunk(BODY)}0\r\n`), {
    handled: 1,
    uws: TAKEN,
  }),
];

const trailers: readonly HttpCase[] = [
  read('a trailer', '9112 7.1.2', `${chunk(BODY)}0\r\nX-One: 1\r\n\r\n`, { uws: ['html:505 close', 14, 1] }),
  read('a trailer with a length', '9110 6.5.1', `${chunk(BODY)}0\r\nContent-Length: 5\r\n\r\n`, {
    uws: ['html:505 close', 14, 1],
    node: ['400 close', 107, 1],
  }),
  read('a trailer with a coding', '9110 6.5.1', `${chunk(BODY)}0\r\nTransfer-Encoding: chunked\r\n\r\n`, {
    uws: ['html:505 close', 14, 1],
    node: ['400 close', 107, 1],
  }),
  read('a trailer with another key', '9110 6.5.1', `${chunk(BODY)}0\r\nAuthorization: Bearer x\r\n\r\n`, {
    uws: ['html:505 close', 14, 1],
  }),
  read('a trailer with another Host', '9110 6.5.1', `${chunk(BODY)}0\r\nHost: b\r\n\r\n`, { uws: ['html:505 close', 14, 1] }),
  refused('a trailer without a colon', `${chunk(BODY)}0\r\nnonsense\r\n\r\n`, ['200 close', 14]),
  refused('a trailer without a name', `${chunk(BODY)}0\r\n: x\r\n\r\n`, ['200 close', 14]),
];

export const chunkCases: readonly HttpCase[] = [...wellFormed, ...extensions, ...sizes, ...lineEnds, ...trailers];
