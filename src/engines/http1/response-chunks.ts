// Parses the framing of a chunked body: sizes, extensions and line ends; the content in between is only counted.
import { CR, HEX_DIGITS, LF, SEMICOLON, TEXT_BYTES } from './http-bytes.ts';
import type { Reading } from './response-head.ts';

/** Further digits could only be leading zeros. */
const SIZE_DIGITS_MAX = 8;
/** Limit for all extensions of one body together. */
const EXTENSION_BYTES_MAX = 16_384;

const [IN_SIZE, IN_EXTENSION, SIZE_END, IN_CONTENT, CONTENT_END_CR, CONTENT_END_LF] = [0, 1, 2, 3, 4, 5];

export class ChunkedBodyParser {
  /** `complete` after the line of the last chunk; trailer fields follow. */
  reading: Reading = 'open';
  /** Remaining bytes of the chunk's content. */
  contentLeft = 0;
  #place = IN_SIZE;
  #digits = 0;
  #extensionBytes = 0;

  begin(): void {
    this.reading = 'open';
    this.contentLeft = 0;
    this.#place = IN_SIZE;
    this.#digits = 0;
    this.#extensionBytes = 0;
  }

  /** Whether content comes next. */
  get inContent(): boolean {
    return this.#place === IN_CONTENT;
  }

  /** The caller has consumed content between two reads. */
  took(bytes: number): void {
    this.contentLeft -= bytes;
    if (this.contentLeft === 0) this.#place = CONTENT_END_CR;
  }

  /** Parses up to the next content; a chunk above `sizeMax` is too large. Returns the position after the last byte consumed. */
  read(bytes: Uint8Array, from: number, to: number, sizeMax: number): number {
    let at = from;
    while (at < to && this.reading === 'open' && this.#place !== IN_CONTENT) {
      const byte = bytes[at++]!;
      if (this.#place === IN_SIZE) this.#readSize(byte, sizeMax);
      else if (this.#place === IN_EXTENSION) this.#readExtension(byte);
      else if (this.#place === SIZE_END) this.#endSize(byte);
      else if (this.#place === CONTENT_END_CR) this.#pass(byte === CR, CONTENT_END_LF);
      else this.#endContent(byte);
    }
    return at;
  }

  #readSize(byte: number, sizeMax: number): void {
    const digit = HEX_DIGITS[byte]!;
    if (digit < 16) {
      this.contentLeft = this.contentLeft * 16 + digit;
      if (++this.#digits > SIZE_DIGITS_MAX) this.reading = 'malformed';
      else if (this.contentLeft > sizeMax) this.reading = 'too_large';
    } else if (byte === SEMICOLON && this.#digits > 0) {
      this.#place = IN_EXTENSION;
    } else {
      this.#pass(byte === CR && this.#digits > 0, SIZE_END);
    }
  }

  #readExtension(byte: number): void {
    if (TEXT_BYTES[byte] === 0) this.#pass(byte === CR, SIZE_END);
    else if (++this.#extensionBytes > EXTENSION_BYTES_MAX) this.reading = 'too_large';
  }

  #endSize(byte: number): void {
    if (this.contentLeft > 0) this.#pass(byte === LF, IN_CONTENT);
    else this.reading = byte === LF ? 'complete' : 'malformed';
  }

  #endContent(byte: number): void {
    this.#digits = 0;
    this.#pass(byte === LF, IN_SIZE);
  }

  #pass(right: boolean, place: number): void {
    if (right) this.#place = place;
    else this.reading = 'malformed';
  }
}
