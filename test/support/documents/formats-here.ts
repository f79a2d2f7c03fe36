// Formats of documents without a thread, for files that are no threat: a thread for each of many hundred takes minutes.
import type { DocumentFormats, DocumentText } from '../../../src/documents/formats.ts';
import { ALL_FORMATS, buildFile, extractTexts, firstLook, formatOf } from '../door/gateways.ts';

export const formatsHere: DocumentFormats = {
  all: ALL_FORMATS,
  formatOf,
  firstLook,
  extract: async ({ name }, bytes) => extractTexts(name, bytes),
  build: async ({ name }, bytes, translations, targetLang) => buildFile(name, bytes, translations, targetLang),
  close: async () => undefined,
};

/** Of a file that must be read. */
export function textsOf(format: string, bytes: Uint8Array): readonly DocumentText[] {
  const found = extractTexts(format, bytes);
  if (found.kind === 'refused') throw new Error(found.reason);
  return found.texts;
}

/** The file with these instead of its texts. */
export function builtWith(format: string, bytes: Uint8Array, translations: readonly string[], targetLang?: string): Buffer {
  const result = buildFile(format, bytes, translations, targetLang);
  if (result.kind === 'refused') throw new Error(result.reason);
  return Buffer.from(result.bytes);
}
