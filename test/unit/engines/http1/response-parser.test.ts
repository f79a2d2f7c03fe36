// The parser of engines' answers: every rule, however the bytes are split, and never laxer than Node's own client.
import { once } from 'node:events';
import { get } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HEAD_BYTES_MAX, INTERIMS_MAX, ResponseParser } from '../../../../src/engines/http1/response-parser.ts';
import { draws } from '../../../support/seed.ts';

/** The limit of the parser under test. */
const BODY_BYTES_MAX = 64;

interface Read {
  readonly status: number;
  readonly body: string;
  /** 0 if the connection must not be reused. */
  readonly keepsSeconds: number;
}

/** An `open` answer is incomplete, and stays so when the connection ends; `atEnd` is complete then. */
type Expected = Read | 'malformed' | 'too_large' | 'foreign' | 'open' | { readonly atEnd: Read };

type Row = readonly [name: string, bytes: string, expected: Expected];

function read(status: number, body: string, keepsSeconds = Infinity): Read {
  return { status, body, keepsSeconds };
}

/** An answer with status 200 and these fields. */
function answer(fields: readonly string[], body = ''): string {
  return `HTTP/1.1 200 OK\r\n${fields.map((field) => `${field}\r\n`).join('')}\r\n${body}`;
}

const length = (value: string, body = 'hello') => answer([`Content-Length: ${value}`], body);
const chunked = (body: string) => answer(['Transfer-Encoding: chunked'], body);
const hello = read(200, 'hello');
const last = read(200, 'hello', 0);
const padding = (bytes: number) => `X-Padding: ${'x'.repeat(bytes - 13)}`;
/** As long as all extensions may be together. */
const extended = `1;${'x'.repeat(HEAD_BYTES_MAX / 64 - 1)}\r\ny\r\n`.repeat(64);
const emptyHead = answer(['Content-Length: 0']).length;

const START_LINES: readonly Row[] = [
  ['a plain answer', length('5'), hello],
  ['a status without a text', 'HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n', read(200, '')],
  ['a status without the space after it', 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n', read(200, '')],
  ['a status text of several words and bytes', 'HTTP/1.1 404 N\xf6t\tFound here\r\nContent-Length: 0\r\n\r\n', read(404, '')],
  ['an unknown status', 'HTTP/1.1 799 ?\r\nContent-Length: 0\r\n\r\n', read(799, '')],
  ['HTTP/1.0, whose connection ends with it', 'HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello', last],
  ['HTTP/2', 'HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n', 'malformed'],
  ['HTTP/1.2', 'HTTP/1.2 200 OK\r\n\r\n', 'malformed'],
  ['HTTP/1.10', 'HTTP/1.10 200 OK\r\n\r\n', 'malformed'],
  ['small letters', 'http/1.1 200 OK\r\n\r\n', 'malformed'],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n', 'malformed'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n', 'malformed'],
  ['a status below 100', 'HTTP/1.1 099 OK\r\n\r\n', 'malformed'],
  ['a status with a sign', 'HTTP/1.1 +20 OK\r\n\r\n', 'malformed'],
  ['two spaces before the status', 'HTTP/1.1  200 OK\r\n\r\n', 'malformed'],
  ['a tab before the status', 'HTTP/1.1\t200 OK\r\n\r\n', 'malformed'],
  ['an empty line in front', '\r\nHTTP/1.1 200 OK\r\n\r\n', 'malformed'],
  ['a space in front', ' HTTP/1.1 200 OK\r\n\r\n', 'malformed'],
  ['a bare LF after the status', 'HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n', 'malformed'],
  ['a bare CR in the status text', 'HTTP/1.1 200 O\rK\r\n\r\n', 'malformed'],
  ['a NUL in the status text', 'HTTP/1.1 200 O\0K\r\n\r\n', 'malformed'],
  ['a request', 'GET / HTTP/1.1\r\n\r\n', 'malformed'],
  ['another protocol, at once', 'SSH-2.0-OpenSSH\r\n', 'malformed'],
  ['TLS', '\x15\x03\x01\x00\x02\x02\x16', 'malformed'],
  ['nothing', '', 'open'],
  ['half a status line', 'HTTP/1.1 20', 'open'],
];

const FIELDS: readonly Row[] = [
  ['field names in any case', answer(['cOnTeNt-LeNgTh: 5'], 'hello'), hello],
  ['a value without a space before it', answer(['Content-Length:5'], 'hello'), hello],
  ['spaces and tabs around a value', answer(['Content-Length: \t 5 \t'], 'hello'), hello],
  ['an empty value', answer(['X:', 'Y: ', 'Content-Length: 5'], 'hello'), hello],
  ['bytes beyond ASCII in a value', answer(['X: \x80\xff', 'Content-Length: 5'], 'hello'), hello],
  ['all characters of a name', answer(["!#$%&'*+-.^_`|~0aZ: x", 'Content-Length: 5'], 'hello'), hello],
  [
    'names that only begin or end as one that matters',
    answer(['Content-Length5: 1', 'Xontent-length: 2', 'Connectio: close', 'Content-Length: 5'], 'hello'),
    hello,
  ],
  ['a space before the colon', answer(['Content-Length : 5'], 'hello'), 'malformed'],
  ['a space in a name', answer(['Content Length: 5'], 'hello'), 'malformed'],
  ['a line without a colon', answer(['Content-Length'], 'hello'), 'malformed'],
  ['an empty name', answer([': 5'], 'hello'), 'malformed'],
  ['a name beyond ASCII', answer(['C\xf6ntent-Length: 5'], 'hello'), 'malformed'],
  ['a folded line', answer(['X: a', ' b', 'Content-Length: 5'], 'hello'), 'malformed'],
  ['a line folded with a tab', answer(['X: a', '\tb'], 'hello'), 'malformed'],
  ['a first line that begins with a space', answer([' Content-Length: 5'], 'hello'), 'malformed'],
  ['a bare LF at the end of a field', 'HTTP/1.1 200 OK\r\nX: a\nContent-Length: 5\r\n\r\nhello', 'malformed'],
  ['a bare CR in a value', answer(['X: a\rContent-Length: 5'], 'hello'), 'malformed'],
  ['a CR before the CRLF', answer(['X: a\r', 'Content-Length: 5'], 'hello'), 'malformed'],
  ['a bare LF after the fields', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\nhello', 'malformed'],
  ['a bare CR after the fields', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\rhello', 'malformed'],
  ['a NUL in a value', answer(['X: a\0b'], 'hello'), 'malformed'],
  ['a DEL in a value', answer(['X: a\x7fb'], 'hello'), 'malformed'],
  ['an escape in a value', answer(['X: \x1b[2J'], 'hello'), 'malformed'],
  ['a head of exactly the limit', answer([padding(HEAD_BYTES_MAX - emptyHead), 'Content-Length: 0']), read(200, '')],
  ['a head of one byte more', answer([padding(HEAD_BYTES_MAX - emptyHead + 1), 'Content-Length: 0']), 'too_large'],
  ['an endless head', `HTTP/1.1 200 ${'x'.repeat(HEAD_BYTES_MAX)}`, 'too_large'],
];

const LENGTHS: readonly Row[] = [
  ['a length of zero', length('0', ''), read(200, '')],
  ['zeros before a length', length('00005'), hello],
  ['a body of exactly the limit', length('64', 'x'.repeat(64)), read(200, 'x'.repeat(64))],
  ['a body of one byte more, refused at its length', length('65', ''), 'too_large'],
  ['a length too large for a number', length('9'.repeat(200), ''), 'too_large'],
  ['two equal lengths', answer(['Content-Length: 5', 'Content-Length: 5'], 'hello'), 'malformed'],
  ['two lengths', answer(['Content-Length: 5', 'Content-Length: 4'], 'hello'), 'malformed'],
  ['a length and an empty one', answer(['Content-Length: 5', 'Content-Length:'], 'hello'), 'malformed'],
  ['a list of lengths', length('5, 5'), 'malformed'],
  ['no digits', length(''), 'malformed'],
  ['a sign', length('+5'), 'malformed'],
  ['a negative length', length('-5'), 'malformed'],
  ['a hexadecimal length', length('0x5'), 'malformed'],
  ['a fraction', length('5.0'), 'malformed'],
  ['digits with a space between', length('1 5'), 'malformed'],
  ['digits of another script', length('\xb2'), 'malformed'],
  ['digits after a no-break space', length('\xa05'), 'malformed'],
  ['a length with too many digits', length('0'.repeat(300)), 'malformed'],
  ['less than announced', length('6'), 'open'],
  ['more than announced: read, and the connection dropped', length('4'), read(200, 'hell', 0)],
  ['a second answer after it', `${length('5')}${length('5', 'wrong')}`, last],
  ['a line end after it', `${length('5')}\r\n`, last],
  ['neither length nor chunks', answer([], 'hello'), { atEnd: last }],
  ['neither, and nothing', answer([]), { atEnd: read(200, '', 0) }],
  ['neither, up to the limit', answer([], 'x'.repeat(64)), { atEnd: read(200, 'x'.repeat(64), 0) }],
  ['neither, and beyond the limit', answer([], 'x'.repeat(65)), 'too_large'],
  ['no end of the head', 'HTTP/1.1 200 OK\r\nX: y\r\n', 'open'],
  ['a 204', 'HTTP/1.1 204 No Content\r\n\r\n', read(204, '')],
  ['a 204 with a length', 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n', read(204, '', 0)],
  ['a 304, whose length does not count', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n', read(304, '', 0)],
  ['a 204 with chunks', 'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', read(204, '', 0)],
];

const CHUNKS: readonly Row[] = [
  ['one chunk', chunked('5\r\nhello\r\n0\r\n\r\n'), hello],
  ['several chunks', chunked('1\r\nh\r\n04\r\nello\r\n000\r\n\r\n'), hello],
  ['no chunks', chunked('0\r\n\r\n'), read(200, '')],
  [
    'sizes in hexadecimal of either case',
    chunked(`A\r\n${'x'.repeat(10)}\r\nb\r\n${'y'.repeat(11)}\r\n0\r\n\r\n`),
    read(200, 'x'.repeat(10) + 'y'.repeat(11)),
  ],
  ['line ends and a zero in the content', chunked('7\r\n0\r\n\r\n\0h\r\n0\r\n\r\n'), read(200, '0\r\n\r\n\0h')],
  ['the coding in another case', answer(['transfer-encoding:CHUNKED '], '0\r\n\r\n'), read(200, '')],
  ['extensions', chunked('5;a=b;c="d e"\r\nhello\r\n0;last\r\n\r\n'), hello],
  ['an extension of a kibibyte', chunked(`5;${'x'.repeat(1023)}\r\nhello\r\n0\r\n\r\n`), hello],
  ['extensions of exactly the limit', chunked(`${extended}0\r\n\r\n`), read(200, 'y'.repeat(64))],
  ['extensions of one byte more', chunked(`${extended}0;\r\n\r\n`), 'too_large'],
  ['trailers', chunked('5\r\nhello\r\n0\r\nX: y\r\nContent-Type: z\r\n\r\n'), hello],
  ['a length in the trailers', chunked('0\r\nContent-Length: 1\r\n\r\n'), 'malformed'],
  ['a coding in the trailers', chunked('0\r\nTransfer-Encoding: chunked\r\n\r\n'), 'malformed'],
  ['a connection option in the trailers', chunked('0\r\nConnection: close\r\n\r\n'), 'malformed'],
  ['up to the limit', chunked(`20\r\n${'x'.repeat(32)}\r\n20\r\n${'x'.repeat(32)}\r\n0\r\n\r\n`), read(200, 'x'.repeat(64))],
  ['beyond the limit, at the size', chunked(`20\r\n${'x'.repeat(32)}\r\n21`), 'too_large'],
  ['a size too large for a number', chunked('ffffffffffffffffff\r\n'), 'too_large'],
  ['many zeros before a size', chunked('000000005\r\nhello\r\n0\r\n\r\n'), 'malformed'],
  ['an empty size', chunked('\r\nhello\r\n0\r\n\r\n'), 'malformed'],
  ['an extension without a size', chunked(';a\r\n'), 'malformed'],
  ['a size in other digits', chunked('g\r\n'), 'malformed'],
  ['a size with a prefix', chunked('0x5\r\nhello\r\n0\r\n\r\n'), 'malformed'],
  ['a size with a sign', chunked('-5\r\nhello\r\n0\r\n\r\n'), 'malformed'],
  ['a space before a size', chunked(' 5\r\nhello\r\n0\r\n\r\n'), 'malformed'],
  ['a space after a size', chunked('5 \r\nhello\r\n0\r\n\r\n'), 'malformed'],
  ['a bare LF after a size', chunked('5\nhello\r\n0\r\n\r\n'), 'malformed'],
  ['a bare CR after a size', chunked('5\rhello\r\n0\r\n\r\n'), 'malformed'],
  ['a bare LF in an extension', chunked('5;a\nhello\r\n0\r\n\r\n'), 'malformed'],
  ['a NUL in an extension', chunked('5;a\0\r\nhello\r\n0\r\n\r\n'), 'malformed'],
  ['content longer than its size', chunked('4\r\nhello\r\n0\r\n\r\n'), 'malformed'],
  ['content longer than its size, at once', chunked('5\r\nhelloXYZ'), 'malformed'],
  ['a size in other digits, at once', chunked('5\r\nhello\r\n1g'), 'malformed'],
  ['too many digits, at once', chunked('000000000'), 'malformed'],
  ['content shorter than its size', chunked('6\r\nhello\r\n0\r\n\r\n'), 'malformed'],
  ['a bare LF after content', chunked('5\r\nhello\n0\r\n\r\n'), 'malformed'],
  ['a bare LF after the last size', chunked('0\n\r\n'), 'malformed'],
  ['a bare LF at the end', chunked('0\r\n\n'), 'malformed'],
  ['a trailer that is not a field', chunked('0\r\nx y\r\n\r\n'), 'malformed'],
  ['a folded trailer', chunked('0\r\nX: y\r\n z\r\n\r\n'), 'malformed'],
  ['endless trailers', chunked(`0\r\nX: ${'y'.repeat(HEAD_BYTES_MAX)}`), 'too_large'],
  ['endless extensions', chunked(`5;${'x'.repeat(20_000)}`), 'too_large'],
  ['no last chunk', chunked('5\r\nhello\r\n'), 'open'],
  ['no end of the trailers', chunked('5\r\nhello\r\n0\r\n'), 'open'],
  ['a second answer after it', chunked(`5\r\nhello\r\n0\r\n\r\n${length('5', 'wrong')}`), last],
  ['with a length', answer(['Content-Length: 5', 'Transfer-Encoding: chunked'], '0\r\n\r\n'), 'malformed'],
  ['with a length after it', answer(['Transfer-Encoding: chunked', 'Content-Length: 5'], '0\r\n\r\n'), 'malformed'],
  ['twice', answer(['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], '0\r\n\r\n'), 'malformed'],
  ['after another coding', answer(['Transfer-Encoding: gzip, chunked'], '0\r\n\r\n'), 'malformed'],
  ['under another name', answer(['Transfer-Encoding: xchunked'], '0\r\n\r\n'), 'malformed'],
  ['identity', answer(['Transfer-Encoding: identity'], 'hello'), 'malformed'],
  ['an empty coding', answer(['Transfer-Encoding:'], 'hello'), 'malformed'],
  ['in quotes', answer(['Transfer-Encoding: "chunked"'], '0\r\n\r\n'), 'malformed'],
  ['after a no-break space', answer(['Transfer-Encoding: \xa0chunked'], '0\r\n\r\n'), 'malformed'],
  ['after a vertical tab', answer(['Transfer-Encoding: \x0bchunked'], '0\r\n\r\n'), 'malformed'],
  ['in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 'malformed'],
];

const interim = 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n';

const CONNECTIONS: readonly Row[] = [
  ['close', answer(['Connection: close', 'Content-Length: 5'], 'hello'), last],
  ['close in another case', answer(['CONNECTION: Close', 'Content-Length: 5'], 'hello'), last],
  ['close in a list', answer(['Connection: x , close', 'Content-Length: 5'], 'hello'), last],
  ['close beside keep-alive', answer(['Connection: keep-alive', 'Connection: close', 'Content-Length: 5'], 'hello'), last],
  ['close with chunks', answer(['Connection: close', 'Transfer-Encoding: chunked'], '5\r\nhello\r\n0\r\n\r\n'), last],
  ['an option that only looks like close', answer(['Connection: closed', 'Content-Length: 5'], 'hello'), hello],
  ['a list that is too long', answer([`Connection: ${'x,'.repeat(200)}`, 'Content-Length: 5'], 'hello'), 'malformed'],
  ['a timeout', answer(['Connection: keep-alive', 'Keep-Alive: timeout=7', 'Content-Length: 5'], 'hello'), read(200, 'hello', 7)],
  ['a timeout in a list', answer(['Keep-Alive: max=100, Timeout=3', 'Content-Length: 5'], 'hello'), read(200, 'hello', 3)],
  ['a timeout of 0', answer(['Keep-Alive: timeout=0', 'Content-Length: 5'], 'hello'), last],
  ['a timeout that is not a number', answer(['Keep-Alive: timeout=soon', 'Content-Length: 5'], 'hello'), hello],
  ['an interim response', `HTTP/1.1 100 Continue\r\n\r\n${length('5')}`, hello],
  ['the most interim responses allowed', `${interim.repeat(INTERIMS_MAX)}${length('5')}`, hello],
  ['one more', `${interim.repeat(INTERIMS_MAX + 1)}${length('5')}`, 'malformed'],
  ['an interim response that would close', `HTTP/1.1 103 x\r\nConnection: close\r\n\r\n${length('5')}`, 'malformed'],
  ['an interim response with a body', `HTTP/1.1 103 x\r\nContent-Length: 5\r\n\r\nhello${length('5')}`, 'malformed'],
  ['an interim response with chunks', `HTTP/1.1 103 x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${length('5')}`, 'malformed'],
  ['only an interim response', interim, 'open'],
  ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', 'malformed'],
];

const TABLE: Readonly<Record<string, readonly Row[]>> = {
  'status lines': START_LINES,
  fields: FIELDS,
  lengths: LENGTHS,
  chunks: CHUNKS,
  connections: CONNECTIONS,
};
/** Longer ones are not split at every byte, only near each limit. */
const SPLIT_BYTES_MAX = 2000;

/** Parses these pieces; each is overwritten after it was read, like a connection's buffer. */
function parse(pieces: readonly Uint8Array[], parser = new ResponseParser()): Expected {
  parser.begin(BODY_BYTES_MAX);
  let reading = parser.read(Buffer.alloc(0));
  for (const piece of pieces) {
    const buffer = Buffer.concat([piece, Buffer.from('behind')]);
    reading = parser.read(buffer, piece.length);
    buffer.fill('!');
  }
  if (reading === 'complete') return taken(parser);
  if (reading !== 'open') return reading;
  return parser.end() === 'complete' ? { atEnd: taken(parser) } : 'open';
}

function taken(parser: ResponseParser): Read {
  const { keepsSeconds } = parser;
  const { status, body } = parser.take();
  return read(status, Buffer.from(body).toString('latin1'), keepsSeconds);
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');

function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...new Set([...cuts.filter((place) => place < bytes.length), bytes.length])].toSorted((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

describe.each(Object.entries(TABLE))('%s:', (_group, rows) => {
  test.each(rows)('%s', (_name, text, expected) => {
    const bytes = bytesOf(text);
    expect(parse([bytes])).toEqual(expected);
    expect(parse(Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual(expected);
    const step = Math.ceil(bytes.length / SPLIT_BYTES_MAX);
    for (let at = 1; at < bytes.length; at += step) expect(parse(cut(bytes, [at]))).toEqual(expected);
  });
});

describe('one parser', () => {
  test('reads several answers in sequence, whatever the one before was', () => {
    const parser = new ResponseParser();
    const rows = Object.values(TABLE).flat();
    for (const [name, text, expected] of [...rows, ...rows.toReversed()])
      expect([name, parse([bytesOf(text)], parser)]).toEqual([name, expected]);
  });

  test('returns a body that later answers do not overwrite', () => {
    const parser = new ResponseParser();
    const bodies = ['hello', 'world'].map((body) => {
      parser.begin(BODY_BYTES_MAX);
      parser.read(bytesOf(answer(['Content-Length: 5'], body)));
      return parser.take().body;
    });
    expect(bodies.map(String)).toEqual(['hello', 'world']);
  });
});

describe('at random', () => {
  const token = fc
    .stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/)
    .filter((name) => !/^(?:content-length|transfer-encoding|connection|keep-alive)$/i.test(name));
  const text = fc.stringMatching(/^[\t -~\x80-\xff]{0,40}$/);
  const fields = fc.array(
    fc.tuple(token, text).map(([name, value]) => `${name}:${value}\r\n`),
    { maxLength: 6 },
  );
  const body = fc.uint8Array({ maxLength: BODY_BYTES_MAX }).map((bytes) => Buffer.from(bytes).toString('latin1'));
  const chunksOf = (content: string, size: number, extension: string, trailers: readonly string[]): string => {
    const pieces = content.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    const chunks = pieces.map((piece) => `${piece.length.toString(16)}${extension}\r\n${piece}\r\n`);
    return `${chunks.join('')}0\r\n${trailers.join('')}\r\n`;
  };
  const valid = fc
    .record({ status: fc.integer({ min: 200, max: 599 }), text, fields, body, size: fc.integer({ min: 0, max: 70 }), trailers: fields })
    .filter(({ status }) => status !== 204 && status !== 304)
    .map((parts) => {
      const framing = parts.size === 0 ? `Content-Length: ${parts.body.length}` : 'Transfer-Encoding: chunked';
      const framed = parts.size === 0 ? parts.body : chunksOf(parts.body, parts.size, ';x=y', parts.trailers);
      const bytes = `HTTP/1.1 ${parts.status} ${parts.text}\r\n${parts.fields.join('')}${framing}\r\n\r\n${framed}`;
      return { bytes, expected: read(parts.status, parts.body) };
    });
  const cuts = fc.array(fc.nat({ max: 600 }), { maxLength: 12 });

  test('every valid answer is parsed correctly, however it is split', () => {
    fc.assert(
      fc.property(valid, cuts, ({ bytes, expected }, at) => {
        expect(parse(cut(bytesOf(bytes), at))).toEqual(expected);
      }),
      { numRuns: draws(200) },
    );
  });

  test('no bytes make it throw, and the splits make no difference', () => {
    const damage = fc.record({
      at: fc.nat({ max: 400 }),
      drop: fc.nat({ max: 3 }),
      put: fc.constantFrom('', '\r', '\n', '\0', ' ', ':', '0', 'f', ',', '\r\n', '\r\n\r\n'),
    });
    const damaged = fc.tuple(valid, fc.array(damage, { maxLength: 3 })).map(([{ bytes }, damages]) => {
      let result = bytes;
      for (const { at, drop, put } of damages)
        result = result.slice(0, at % result.length) + put + result.slice((at % result.length) + drop);
      return result;
    });
    const garbage = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
    fc.assert(
      fc.property(
        fc.oneof(
          damaged,
          garbage,
          garbage.map((bytes) => answer([bytes])),
          garbage.map((bytes) => answer(['Transfer-Encoding: chunked'], bytes)),
        ),
        cuts,
        (bytes, at) => {
          expect(parse(cut(bytesOf(bytes), at))).toEqual(parse([bytesOf(bytes)]));
        },
      ),
      { numRuns: draws(400) },
    );
  });
});

test('whatever is accepted is accepted by Node’s own client, with the same result', async () => {
  let bytes: Buffer = Buffer.alloc(0);
  const server = createServer((socket) => {
    socket.on('error', () => undefined).once('data', () => socket.end(bytes));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  let compared = 0;
  try {
    for (const [name, text, expected] of Object.values(TABLE).flat()) {
      const ours = typeof expected === 'string' ? undefined : 'atEnd' in expected ? expected.atEnd : expected;
      if (ours === undefined) continue;
      bytes = bytesOf(text);
      const theirs = await nodeReads(port);
      // It reports an error for bytes after an answer; we use the answer and drop the connection.
      if (ours.keepsSeconds === 0 && typeof theirs === 'string' && /Expected HTTP|Data after/.test(theirs)) continue;
      expect([name, theirs]).toEqual([name, { status: ours.status, body: ours.body }]);
      compared++;
    }
  } finally {
    server.close();
  }
  expect(compared).toBeGreaterThan(40);
});

function nodeReads(port: number): Promise<{ readonly status: number | undefined; readonly body: string } | string> {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, agent: false, maxHeaderSize: 65_536 }, (response) => {
      let body = '';
      response.setEncoding('latin1').on('data', (piece: string) => (body += piece));
      response.on('error', (error) => resolve(error.message)).on('end', () => resolve({ status: response.statusCode, body }));
    });
    request.on('error', (error) => resolve(error.message));
  });
}

/** Connections share parsers. */
test.each([
  ['half a trailer', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nx-requ'],
  ['an answer that ends its connection', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'],
  ['the answer to another request', `HTTP/1.1 200 OK\r\nX-Request-Id: ${'0'.repeat(26)}\r\nContent-Length: 0\r\n\r\n`],
  ['two answers', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'.repeat(2)],
])('a parser that has read %s begins the next answer without a trace of it', (_name, before) => {
  const parser = new ResponseParser();
  parser.begin(BODY_BYTES_MAX, 'ours', true);
  parser.read(bytesOf(before));
  parser.begin(BODY_BYTES_MAX);
  expect(parser.read(bytesOf('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'))).toBe('complete');
  expect([parser.keepsSeconds, parser.excess]).toEqual([Infinity, false]);
  const { status, body, echoedId } = parser.take();
  expect([status, body.toString(), echoedId]).toEqual([200, 'hi', false]);
});
