// The key of a text in the process's cache: bytes in a reused buffer, and their hash.
import { hash, randomBytes } from 'node:crypto';

/** Longer parts are replaced by their digest. */
const PLAIN_UNITS_MAX = 1024;
/** Team, options and text, at most three bytes a unit in UTF-8, and the length. */
const BUFFER_BYTES = 4 * 3 * PLAIN_UNITS_MAX;
/** Never a byte of UTF-8, so a digest cannot equal a text. */
const DIGEST_MARK = 0xff;
export const WORD = 4;
/** Offset of the team in a key. */
export const TEAM_AT = WORD;

/**
 * A key is the text's length in bytes, team and options, then the text at the next whole word. Call `begin` for a piece of work and
 * then `add` for each of its texts. Neither `team` nor `options` may be a prefix of another one.
 */
export class KeyBytes {
  readonly #buffer = Buffer.from(new ArrayBuffer(BUFFER_BYTES));
  readonly words = new Uint32Array(this.#buffer.buffer);
  /** Bytes of the key, in whole words. */
  length = 0;
  hash = 0;
  #textAt = 0;
  #hashed = 0;
  /** Random, so that callers cannot construct texts with equal hashes. */
  readonly #seed = randomBytes(WORD).readInt32LE();
  readonly #factor = randomBytes(WORD).readInt32LE() | 1;

  /** `false` if there is no key: a lone surrogate, or an absurdly long team id. */
  begin(team: string, options: string): boolean {
    if (team.length > PLAIN_UNITS_MAX || !team.isWellFormed() || !options.isWellFormed()) return false;
    this.#textAt = this.#padded(this.#put(options, this.#buffer.write(team, TEAM_AT) + TEAM_AT));
    this.#hashed = this.#hashOf(TEAM_AT, this.#textAt, this.#seed);
    return true;
  }

  /** `false` for a text with a lone surrogate, which UTF-8 cannot represent. */
  add(text: string): boolean {
    if (!text.isWellFormed()) return false;
    const end = this.#put(text, this.#textAt);
    this.words[0] = end - this.#textAt;
    this.length = this.#padded(end);
    this.hash = this.#hashOf(this.#textAt, this.length, Math.imul(this.#hashed ^ this.words[0], this.#factor));
    return true;
  }

  /** Returns the end. */
  #put(part: string, at: number): number {
    if (part.length <= PLAIN_UNITS_MAX) return at + this.#buffer.write(part, at);
    this.#buffer[at] = DIGEST_MARK;
    return at + 1 + this.#buffer.write(hash('sha256', part, 'base64url'), at + 1);
  }

  #padded(end: number): number {
    let padded = end;
    while (padded % WORD !== 0) this.#buffer[padded++] = 0;
    return padded;
  }

  #hashOf(from: number, to: number, begun: number): number {
    const { words } = this;
    const factor = this.#factor;
    let mixed = begun;
    for (let i = from / WORD; i < to / WORD; i++) {
      mixed = Math.imul(mixed ^ words[i]!, factor);
      mixed ^= mixed >>> 15;
    }
    return mixed >>> 0;
  }
}
