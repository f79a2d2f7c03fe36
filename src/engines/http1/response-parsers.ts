// The parsers of a replica's connections: each belongs to a connection only while an answer is arriving on it.
import { ResponseParser } from './response-parser.ts';

/**
 * Most answers come in one piece, and so nearly all of them are read by the same parser, whose fields and tables are then still
 * in the processor's cache; one for each connection has to be fetched anew for each answer.
 */
export class ResponseParsers {
  readonly #bodyBytesMax: number;
  /** Never more than there have been connections at a time. The latest last. */
  readonly #free: ResponseParser[] = [];

  constructor(bodyBytesMax: number) {
    this.#bodyBytesMax = bodyBytesMax;
  }

  /** One that stands at the beginning of an answer to the request with this id; `strict` as in `expect`. */
  take(id = '', strict = false): ResponseParser {
    const parser = this.#free.pop() ?? new ResponseParser(this.#bodyBytesMax);
    parser.expect(id, strict);
    return parser;
  }

  /** Whatever it has come to; not to be used any more by who gives it back. */
  giveBack(parser: ResponseParser): void {
    // Now: a body that was broken off must not be kept.
    parser.begin();
    this.#free.push(parser);
  }
}
