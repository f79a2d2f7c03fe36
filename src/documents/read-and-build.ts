// Reads a file of any format, and builds it with translations; runs in the worker thread.
import type { Built, DocumentText } from '../ports/document-formats.ts';
import { firstLook } from './formats.ts';
import { declaredInHtml, htmlPage } from './html-page.ts';
import { ZipPackage } from './office-package.ts';
import { openDocument } from './open-document.ts';
import type { DocumentPart, Passage, ReadDocument } from './passage.ts';
import { limitTexts, spliced, textOf, textsAmong, translatedPieces } from './passage.ts';
import { plainText } from './plain-text.ts';
import { presentation, wordDocument } from './office-part.ts';
import { orRefused, refuse } from './limits.ts';
import { decoded, encoded, limitDeclared } from './source-text.ts';
import type { SourceText } from './source-text.ts';
import { subtitles } from './subtitles.ts';
import { workbook } from './workbook.ts';
import { xliff } from './xliff.ts';
import { rewritten } from './zip-archive.ts';
import type { ZipEntry } from './zip-archive.ts';
import type { FormatName } from './formats.ts';

type TextReader = (given: SourceText) => readonly Passage[];
type ArchiveReader = (archive: ZipPackage) => ReadDocument;

const html: TextReader = (given) => {
  limitDeclared(declaredInHtml(given.text), given);
  return htmlPage(given.text);
};

const FORMAT_READERS: Readonly<Record<FormatName, { readonly text: TextReader } | { readonly archive: ArchiveReader }>> = {
  docx: { archive: wordDocument },
  htm: { text: html },
  html: { text: html },
  odt: { archive: openDocument },
  pptx: { archive: presentation },
  srt: { text: ({ text }) => subtitles(text, 'srt') },
  txt: { text: ({ text }) => plainText(text) },
  vtt: { text: ({ text }) => subtitles(text, 'vtt') },
  xlf: { text: xliff },
  xliff: { text: xliff },
  xlsx: { archive: workbook },
};

type DocumentTexts = { readonly kind: 'extracted'; readonly texts: DocumentText[] } | { readonly kind: 'refused'; readonly reason: string };

export function extractTexts(format: string, bytes: Uint8Array): DocumentTexts {
  return orRefused(() => {
    const { document, archive } = read(format, bytes);
    archive?.checkOthers();
    return { kind: 'extracted', texts: document.order.map(({ pieces }) => textOf(pieces)) };
  });
}

export function buildFile(format: string, bytes: Uint8Array, translations: readonly string[], targetLang?: string): Built {
  return orRefused(() => {
    const { document, archive } = read(format, bytes);
    const parts = builtParts(document, translations, targetLang);
    if (archive === undefined) return { kind: 'built', bytes: [...parts.values()][0] ?? bytes };
    const entries = [...parts].map(([{ entry }, content]): [ZipEntry, Uint8Array] => [entry!, content]);
    return { kind: 'built', bytes: rewritten(archive.directory, new Map(entries)) };
  });
}

function read(format: string, bytes: Uint8Array): { document: ReadDocument; archive: ZipPackage | undefined } {
  // Whoever sends a file here need not have looked.
  const reason = firstLook({ name: format, mediaType: '' }, bytes);
  if (reason !== undefined) refuse(reason);
  const reader = FORMAT_READERS[format as FormatName];
  if ('archive' in reader) {
    const archive = new ZipPackage(bytes);
    const document = reader.archive(archive);
    limitTexts(document.order.length);
    return { document, archive };
  }
  const given = decoded(bytes);
  const passages = reader.text(given);
  return { document: { parts: [{ given, entry: undefined, passages }], order: textsAmong(passages) }, archive: undefined };
}

/** The bytes of the parts that the translations, one for each passage in order, have changed. */
function builtParts(
  { parts, order }: ReadDocument,
  translations: readonly string[],
  targetLang: string | undefined,
): ReadonlyMap<DocumentPart, Uint8Array> {
  if (translations.length !== order.length)
    refuse(`the file has ${order.length} texts, and ${translations.length} translations were given`);
  const given = new Map(order.map((passage, index) => [passage, translations[index]!]));
  const language = targetLang && languageTag(targetLang);
  const built = new Map<DocumentPart, Uint8Array>();
  for (const part of parts) {
    const { text } = part.given;
    const source = spliced(text, part.passages, (passage, raw) => {
      const { pieces, always, copyOf = passage } = passage;
      if (pieces.length === 0) return language && passage.render(pieces, raw, language);
      const translation = given.get(copyOf);
      if (translation === undefined || (!always && translation === textOf(pieces).text)) return undefined;
      return passage.render(translatedPieces(translation, pieces), raw, language ?? '');
    });
    if (source !== text) built.set(part, encoded(source, part.given));
  }
  return built;
}

/** `PT-BR` is `pt-BR`, `ZH-HANS` is `zh-Hans`. */
function languageTag(code: string): string {
  const [language, ...rest] = code.toLowerCase().split('-');
  const others = rest.map((part) => (part.length === 4 ? part[0]!.toUpperCase() + part.slice(1) : part.toUpperCase()));
  return [language, ...others].join('-');
}
