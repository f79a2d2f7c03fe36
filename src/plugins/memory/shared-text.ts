// A remembered translation as bytes in a shared store: with its own key and a checksum, so that what is damaged or another's is noticed.
import { crc32 } from 'node:zlib';
import type { Translation } from 'lingate';

/** A digest: 43 ASCII characters. */
export type TextKey = string;

/** `madeAtMs` by the wall clock of who made it. */
export interface SharedText {
  readonly translation: Translation;
  readonly madeAtMs: number;
}

const MAGIC = 'LGM1';
const KEY_LENGTH = 43;
const MADE_AT = MAGIC.length + KEY_LENGTH;
const LANGUAGE_AT = MADE_AT + 9;
const NO_LANGUAGE = 255;
const SUM_BYTES = 4;

/** `undefined` for what there is no room for: a language code of that length is none. */
export function encodeText(key: TextKey, { translation, madeAtMs }: SharedText): Buffer | undefined {
  const { text, detectedSourceLanguage: language } = translation;
  const code = Buffer.from(language ?? '');
  if (code.length >= NO_LANGUAGE || key.length !== KEY_LENGTH || !text.isWellFormed()) return undefined;
  const textAt = LANGUAGE_AT + code.length;
  const bytes = Buffer.allocUnsafe(textAt + Buffer.byteLength(text) + SUM_BYTES);
  bytes.write(MAGIC + key, 'latin1');
  bytes.writeDoubleLE(madeAtMs, MADE_AT);
  bytes.writeUInt8(language === undefined ? NO_LANGUAGE : code.length, LANGUAGE_AT - 1);
  bytes.set(code, LANGUAGE_AT);
  bytes.write(text, textAt);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, -SUM_BYTES)), bytes.length - SUM_BYTES);
  return bytes;
}

/** `undefined` for anything but what `encodeText` has made for this key. */
export function decodeText(key: TextKey, bytes: Buffer): SharedText | undefined {
  if (bytes.length < LANGUAGE_AT + SUM_BYTES || bytes.toString('latin1', 0, MADE_AT) !== MAGIC + key) return undefined;
  const sumAt = bytes.length - SUM_BYTES;
  if (bytes.readUInt32LE(sumAt) !== crc32(bytes.subarray(0, sumAt))) return undefined;
  const length = bytes.readUInt8(LANGUAGE_AT - 1);
  const textAt = LANGUAGE_AT + (length === NO_LANGUAGE ? 0 : length);
  const detectedSourceLanguage = length === NO_LANGUAGE ? undefined : bytes.toString('utf8', LANGUAGE_AT, textAt);
  return { translation: { text: bytes.toString('utf8', textAt, sumAt), detectedSourceLanguage }, madeAtMs: bytes.readDoubleLE(MADE_AT) };
}
