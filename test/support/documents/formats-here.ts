// Formats of documents without a thread, for files that are no threat: a thread for each of many hundred takes minutes.
import type { DocumentFormats } from '../../../src/documents/formats.ts';
import { ALL_FORMATS, buildFile, extractTexts, firstLook, formatOf } from '../door/gateways.ts';

export const formatsHere: DocumentFormats = {
  all: ALL_FORMATS,
  formatOf,
  firstLook,
  extract: async ({ name }, bytes) => extractTexts(name, bytes),
  build: async ({ name }, bytes, translations, targetLang) => buildFile(name, bytes, translations, targetLang),
  close: async () => undefined,
};
