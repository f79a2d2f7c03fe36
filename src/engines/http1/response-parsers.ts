// A pool of parsers for a replica's connections: a connection uses one only while an answer is arriving.
import { ResponseParser } from './response-parser.ts';

/**
 * Most answers arrive in one read, so nearly all are parsed by the same parser, whose state is still in the processor's cache.
 * With a parser per connection, it would have to be fetched from memory for each answer.
 */
export class ResponseParsers {
  readonly #bodyBytesMax: number;
  /** At most as many as there were connections at a time. Most recent last. */
  readonly #free: ResponseParser[] = [];

  constructor(bodyBytesMax: number) {
    this.#bodyBytesMax = bodyBytesMax;
  }

  /** A parser at the start of an answer to the request with this id; `strict` as in `expect`. */
  take(id = '', strict = false): ResponseParser {
    const parser = this.#free.pop() ?? new ResponseParser(this.#bodyBytesMax);
    parser.expect(id, strict);
    return parser;
  }

  /** Returns a parser in any state; the caller must not use it any more. */
  giveBack(parser: ResponseParser): void {
    // Reset now, so that the body of an aborted answer is not kept.
    parser.begin();
    this.#free.push(parser);
  }
}
