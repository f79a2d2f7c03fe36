// The parsers that connections share: one that comes back is as good as new, and holds nothing of the answer before.
import { expect, test } from 'vitest';
import { ResponseParsers } from '../../../../src/engines/http1/response-parsers.ts';

const WHOLE = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi', 'latin1');

test.each([
  ['nothing', ''],
  ['half a head', 'HTTP/1.1 200 OK\r\nContent-Le'],
  ['half a body', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'],
  ['half a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf'],
  ['an answer that ends its connection', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'],
  ['what is no answer', '\0'],
])('a parser that has read %s and was given back reads the next answer', (_name, before) => {
  const parsers = new ResponseParsers(100);
  const parser = parsers.take();
  parser.read(Buffer.from(before, 'latin1'));
  parsers.giveBack(parser);
  const again = parsers.take();
  expect(again).toBe(parser);
  expect(again.read(WHOLE)).toBe('complete');
  expect(again.keepsSeconds).toBe(Infinity);
  const { status, body } = again.take();
  expect([status, body.toString()]).toEqual([200, 'hi']);
});

test('two answers that arrive at once are read by two parsers', () => {
  const parsers = new ResponseParsers(100);
  const [one, other] = [parsers.take(), parsers.take()];
  expect(one.read(WHOLE.subarray(0, 20))).toBe('open');
  expect(other.read(WHOLE)).toBe('complete');
  expect(one.read(WHOLE.subarray(20))).toBe('complete');
});
