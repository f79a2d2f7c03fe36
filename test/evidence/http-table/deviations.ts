// Where a listener departs from what the table expects, by number: what it does, and why it stays so.
import type { HttpCase } from './notation.ts';

export interface Deviation {
  readonly what: string;
  /** Why it is not mended. */
  readonly why: string;
}

const BEFORE_US = 'The library decides before any code of ours runs.';
const UNSEEN = 'The library hands over what it has parsed, never the bytes.';

/** uWebSockets.js as `uws-pack` 20.0.8 builds it. Number 23 is held by the fragmentation test. */
export const UWS_DEVIATIONS: Readonly<Record<number, Deviation>> = {
  1: {
    what: 'HTTP/1.0 and other versions, absolute targets, `*`, odd blanks or line ends in the request line: 505 in HTML',
    why: BEFORE_US,
  },
  2: {
    what: 'methods and targets with characters that no grammar allows are routed: 404 or 405 instead of 400',
    why: 'Harmless: the router knows none of them.',
  },
  3: { what: 'a Content-Length that is no number: 400 in HTML', why: BEFORE_US },
  4: { what: 'Content-Length beside Transfer-Encoding: 400 in HTML', why: BEFORE_US },
  5: { what: 'no Host at all: 400 in HTML', why: BEFORE_US },
  6: {
    what: 'a field line that cannot be read, or nonsense for a head: no answer, closed by the timer',
    why: `${BEFORE_US} It waits for more bytes.`,
  },
  7: {
    what: 'an empty field name ends the block: fields behind it are not seen',
    why: `${UNSEEN} A POST without a visible length is refused, and a PUT or PATCH closes, so that no body passes for a request.`,
  },
  8: { what: 'DEL in a value is kept, and bytes beyond ASCII around a value are dropped like blanks', why: UNSEEN },
  9: { what: 'a head over 16 KiB: 431 in HTML', why: BEFORE_US },
  10: { what: 'more than 98 fields: 431 in HTML', why: 'The number is compiled into the library.' },
  11: {
    what: 'a chunk extension is read as digits of the size: 400 at the deadline, or 400 in HTML',
    why: `${BEFORE_US} The connection never outlives a chunked body.`,
  },
  12: { what: 'a chunk size that is none, or is huge: 400 in HTML, and the chain is called off', why: BEFORE_US },
  13: {
    what: 'bare LF or nothing where a chunk needs CRLF, blanks behind its size: read all the same, or waited for',
    why: `${UNSEEN} The connection never outlives a chunked body.`,
  },
  14: {
    what: 'trailers: 505 in HTML in place of the answer, or not looked at',
    why: `${BEFORE_US} What they end is called off and not charged.`,
  },
  15: { what: 'an empty line before a request: no answer, closed by the timer', why: BEFORE_US },
  16: {
    what: 'a request behind one that is not answered yet: the connection is closed, the first counts as left by its caller',
    why: BEFORE_US,
  },
  17: {
    what: 'bytes that came together with a request which ends the connection: closed, its answer may be lost',
    why: 'The answer is written in a later turn so that those bytes are never handled; the library closes when it meets them.',
  },
  18: {
    what: 'a caller who ends its side within a request: closed without 400',
    why: `${BEFORE_US} It takes that for a caller who has gone.`,
  },
  19: { what: 'a HEAD that closes says `Content-Length: 0`', why: 'A call of this build that would send no body and close does not work.' },
  20: { what: '`Expect: 100-continue` is known in lower case only, and told to go on before the framing is judged', why: BEFORE_US },
  21: { what: 'any value of `Connection` with five letters closes the connection', why: 'The library compares the length.' },
  22: { what: 'bytes of the PROXY protocol, version 2, are skipped', why: `${BEFORE_US} The address in them is never asked for.` },
};

/** node:http of Node 22. */
export const NODE_DEVIATIONS: Readonly<Record<number, Deviation>> = {
  101: { what: 'a method that Node does not know: 400 instead of 405', why: 'The parser knows a fixed list.' },
  102: { what: 'several blanks in the request line, or a bare CR before it, are forgiven', why: `${UNSEEN} RFC 9112 section 3 allows it.` },
  103: { what: 'a head may be a few bytes longer than 16 KiB', why: 'Node counts fields, not the bytes between them.' },
  104: { what: '`100-continue` within another expectation is told to go on', why: 'Node looks for the words.' },
  105: { what: '`Proxy-Connection: close` closes', why: 'The parser takes it for `Connection`.' },
  106: { what: 'a tab behind `chunked`: 400', why: 'Stricter than need be, and safe.' },
  107: { what: 'a trailer named Content-Length or Transfer-Encoding: 400', why: 'Stricter than need be, and safe.' },
  108: {
    what: 'more of a body than was announced, in one piece with it: 400 in place of the answer',
    why: 'The parser gives up before it reports the end of the body; nothing is charged.',
  },
};

/** The cases that show each number. */
export function casesByDeviation(cases: readonly HttpCase[]): ReadonlyMap<number, readonly string[]> {
  const byNumber = new Map<number, string[]>();
  for (const { name, uws, node } of cases) {
    for (const deviating of [uws, node]) {
      if (deviating === undefined) continue;
      const names = byNumber.get(deviating[1]) ?? [];
      names.push(name);
      byNumber.set(deviating[1], names);
    }
  }
  return byNumber;
}
