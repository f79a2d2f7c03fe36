// The parser of engines' answers: every rule, however the bytes are split, and never laxer than Node's own client.
import { once } from 'node:events';
import { get } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ResponseParser } from '../../../../src/engines/http1/response-parser.ts';
import { answer, BODY_BYTES_MAX, CHUNKS, CONNECTIONS, FIELDS, LENGTHS, read, START_LINES } from './response-table.ts';
import type { Expected, Read, Row } from './response-table.ts';
import { draws } from '../../../support/seed.ts';

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

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set([...places, bytes.length])].toSorted((a, b) => a - b);
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
  const places = fc.array(fc.nat({ max: 600 }), { maxLength: 12 });

  test('every valid answer is parsed correctly, however it is split', () => {
    fc.assert(
      fc.property(valid, places, ({ bytes, expected }, at) => {
        expect(
          parse(
            cut(
              bytesOf(bytes),
              at.filter((place) => place < bytes.length),
            ),
          ),
        ).toEqual(expected);
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
        places,
        (bytes, at) => {
          expect(
            parse(
              cut(
                bytesOf(bytes),
                at.filter((place) => place < bytes.length),
              ),
            ),
          ).toEqual(parse([bytesOf(bytes)]));
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
  ['nothing', ''],
  ['half a head', 'HTTP/1.1 200 OK\r\nContent-Le'],
  ['half a body', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'],
  ['half a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf'],
  ['half a trailer', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nx-requ'],
  ['an answer that ends its connection', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'],
  ['the answer to another request', `HTTP/1.1 200 OK\r\nX-Request-Id: ${'0'.repeat(26)}\r\nContent-Length: 0\r\n\r\n`],
  ['two answers', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'.repeat(2)],
  ['something that is not an answer', '\0'],
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
