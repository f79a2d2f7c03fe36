// Splits long work into pieces, of which each turn of the event loop runs at most one.
import { Readable } from 'node:stream';
import { NO_HEADERS } from './outcome.ts';
import type { StreamReply } from './outcome.ts';
import { refuse } from './problem.ts';

/** In request order, so that several jobs make progress in parallel. */
const waiting: (() => void)[] = [];

/** Calls `piece` in a turn of the event loop in which no other piece runs. It must not throw. */
export function inOwnTurn(piece: () => void): void {
  waiting.push(piece);
  if (waiting.length === 1) setImmediate(run);
}

function run(): void {
  const piece = waiting.shift()!;
  if (waiting.length > 0) setImmediate(run);
  piece();
}

/** Await it between two pieces, each of about a millisecond at most. */
export function nextTurn(): Promise<void> {
  return new Promise(inOwnTurn);
}

/** What a turn handles, about a millisecond: each entry counts for more than its length. */
const TURN_LENGTH = 50_000;
const ENTRY_LENGTH = 100;

/** A list in parts for a turn each: several entries, or one that is long. */
export function* partsForTurns<T>(list: readonly T[], lengthOf: (entry: T) => number): Generator<readonly T[], void> {
  for (let from = 0, to = 0; from < list.length; from = to) {
    for (let length = 0; to < list.length && length < TURN_LENGTH; to++) length += lengthOf(list[to]!) + ENTRY_LENGTH;
    yield list.slice(from, to);
  }
}

/** Each piece is generated when the reader needs it, in a turn of its own. */
async function* paced(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const each = pieces[Symbol.iterator]();
  for (;;) {
    await nextTurn();
    const next = each.next();
    if (next.done === true) return;
    if (next.value.length > 0) yield next.value;
  }
}

const BROKEN = refuse('internal_error', 'The answer could not be written.');

/**
 * A 200 whose body is generated while it is read; `bytes` is its length, if known. A generator that
 * throws breaks the answer off: what it reads is damaged.
 */
export function pacedReply(contentType: string, pieces: Iterable<Uint8Array>, bytes?: number): StreamReply {
  const body = Readable.from(paced(pieces), { objectMode: false, highWaterMark: 1 });
  return { kind: 'stream', status: 200, contentType, headers: NO_HEADERS, bytes, body, broken: BROKEN };
}
