// Cache keys: everything that determines a translation, as unambiguous strings; in the process as bytes and their hash, in Redis as a digest.
import { hash, randomBytes } from 'node:crypto';
import { keyOfOptions, sameOptions } from 'lingate';
import type { TranslationOptions } from 'lingate';

/** Change it when the content of keys changes; entries with older keys are then not found. */
const KEY_VERSION = 'lingate memory 1';

const TARGETS_MAX = 200;

/** A digest: 43 ASCII characters. */
export type TextKey = string;

/** The start of all keys of a team. */
export function teamPart(teamId: string): string {
  return counted(teamId);
}

/** The part of keys after the team. The last one for each target language is kept: most requests have the same options. */
export class OptionsParts {
  readonly #last = new Map<string, { readonly engine: string; readonly options: TranslationOptions; readonly part: string }>();

  of(engine: string, options: TranslationOptions): string {
    const last = this.#last.get(options.targetLang);
    if (last !== undefined && last.engine === engine && sameOptions(last.options, options)) return last.part;
    const part = counted(engine) + keyOfOptions(options);
    // Others rarely repeat and may be long.
    if (
      options.context === undefined &&
      options.glossary === undefined &&
      options.ignoreTags === undefined &&
      options.style === undefined
    ) {
      if (this.#last.size >= TARGETS_MAX) this.#last.clear();
      this.#last.set(options.targetLang, { engine, options, part });
    }
    return part;
  }
}

/** The start of what the digests of a piece of work are made from. */
export function keyBeginning(team: string, options: string): string {
  return counted(`${KEY_VERSION}|${team}${options}`);
}

/** `undefined` if there is a lone surrogate, which UTF-8 cannot represent. */
export function keyOfText(beginning: string, text: string): TextKey | undefined {
  return text.isWellFormed() && beginning.isWellFormed() ? hash('sha256', beginning + text, 'base64url') : undefined;
}

/** The length in front prevents ambiguity. */
function counted(part: string): string {
  return `${part.length}:${part}`;
}

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
