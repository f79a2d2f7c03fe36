// Where a listener deviates from what the table expects, by number: what it does, and why that stays.
import type { UwsColumn } from '../../support/listeners.ts';
import { deviatingOn } from './notation.ts';
import type { HttpCase } from './notation.ts';

interface Deviation {
  readonly what: string;
  /** Why it is not fixed. */
  readonly why: string;
}

/** What each build of uWebSockets.js does; a column is absent if a build does as expected. */
interface UwsDeviation {
  readonly older?: string;
  readonly newer?: string;
  readonly why: string;
}

function both(what: string): { readonly older: string; readonly newer: string } {
  return { older: what, newer: what };
}

const BEFORE_US = 'The library decides before any code of ours runs.';
const UNSEEN = 'The library hands over what it has parsed, never the bytes.';

/** uWebSockets.js: the older column is `uws-pack` 20.0.8, the newer one `@btc-vision/uwebsockets.js` 20.57.0. */
export const UWS_DEVIATIONS: Readonly<Record<number, UwsDeviation>> = {
  1: {
    ...both('HTTP/1.0 and other versions, absolute targets, `*`, odd blanks or line ends in the request line: 505 in HTML'),
    why: BEFORE_US,
  },
  2: {
    ...both('methods and targets with characters that no grammar allows are routed: 404 or 405 instead of 400'),
    why: 'Harmless: the router knows none of them.',
  },
  3: { ...both('a Content-Length that is no number: 400 in HTML'), why: BEFORE_US },
  4: { ...both('Content-Length beside Transfer-Encoding: 400 in HTML'), why: BEFORE_US },
  5: { older: 'no Host at all: 400 in HTML', newer: 'no Host at all, or two: 400 in HTML', why: BEFORE_US },
  6: {
    older: 'a field line that cannot be read, or nonsense for a head: no answer, closed by the timer',
    newer: 'a field line that cannot be read: 400 in HTML; a bare CR in a value, or nonsense for a head: no answer, closed by the timer',
    why: `${BEFORE_US} Where nothing comes, it waits for more bytes.`,
  },
  7: {
    ...both('an empty field name ends the block: fields behind it are not seen'),
    why: `${UNSEEN} A POST without a visible length is refused, and a PUT or PATCH closes, so that no body passes for a request.`,
  },
  8: { ...both('DEL in a value is kept, and bytes beyond ASCII around a value are dropped like blanks'), why: UNSEEN },
  9: { ...both('a head over 16 KiB: 431 in HTML'), why: BEFORE_US },
  10: { ...both('more than 98 fields: 431 in HTML'), why: 'The number is compiled into the library.' },
  11: {
    ...both('a chunk extension is read as digits of the size: 400 at the deadline, or 400 in HTML'),
    why: `${BEFORE_US} The connection never outlives a chunked body.`,
  },
  12: { ...both('a chunk size that is none, or is huge: 400 in HTML, and the chain is called off'), why: BEFORE_US },
  13: {
    ...both('bare LF or nothing where a chunk needs CRLF, blanks behind its size: read all the same, or waited for'),
    why: `${UNSEEN} The connection never outlives a chunked body.`,
  },
  14: {
    ...both('trailers: 505 in HTML in place of the answer, or not looked at'),
    why: `${BEFORE_US} What they end is called off and not charged.`,
  },
  15: { ...both('an empty line before a request: no answer, closed by the timer'), why: BEFORE_US },
  16: {
    ...both('a request behind one that is not answered yet: the connection is closed, the first counts as left by its caller'),
    why: BEFORE_US,
  },
  17: {
    ...both('bytes that came together with a request which ends the connection: closed, its answer may be lost'),
    why: 'The answer is written in a later turn so that those bytes are never handled; the library closes when it meets them.',
  },
  18: {
    ...both('a caller who ends its side within a request: closed without 400'),
    why: `${BEFORE_US} It takes that for a caller who has gone.`,
  },
  19: {
    older: 'an answer without a body that closes, to a HEAD or with 204, says `Content-Length: 0`',
    newer: 'a 204 that closes says `Content-Length: 0`',
    why: 'What would end without a length and close does not work.',
  },
  20: { ...both('`Expect: 100-continue` is known in lower case only, and told to go on before the framing is judged'), why: BEFORE_US },
  21: { ...both('any value of `Connection` with five letters closes the connection'), why: 'The library compares the length.' },
  22: { ...both('bytes of the PROXY protocol, version 2, are skipped'), why: `${BEFORE_US} The address in them is never asked for.` },
  23: {
    older: 'a request line in two TCP segments, cut behind its first blank or from the second to its CR: 505 in HTML',
    why: `${BEFORE_US} It takes the first piece for the whole line.`,
  },
  24: {
    ...both('bytes beyond ASCII before and behind the value of Host, Content-Length or Transfer-Encoding are dropped like blanks'),
    why: `${UNSEEN} It reads the length from what is left, as the guard does, so that both see one end of the message.`,
  },
};

/** Covered by tests of their own: of the fragments, and of the listener. */
export const SHOWN_ELSEWHERE: Readonly<Record<UwsColumn, readonly number[]>> = { older: [23], newer: [19] };

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

/** The numbers of the deviations that a listener shows in some case. */
export function numbersShown(cases: readonly HttpCase[], listener: 'uws' | 'node', column: UwsColumn): readonly number[] {
  const numbers = cases.flatMap((whole) => deviatingOn(listener, whole, column)?.[1] ?? []);
  return [...new Set(numbers)].toSorted((a, b) => a - b);
}
