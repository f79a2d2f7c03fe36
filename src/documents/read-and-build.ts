// Reads a file of any format, and builds it with translations; runs in the worker thread.
import type { Built, DocumentText } from '../ports/document-formats.ts';
import { firstLook } from './first-look.ts';
import { declaredInHtml, htmlPage } from './html-page.ts';
import { textOf } from './marked-text.ts';
import { ZipPackage } from './office-package.ts';
import { openDocument } from './open-document.ts';
import type { PassageSource } from './passage.ts';
import { limitTexts } from './passage.ts';
import { plainText } from './plain-text.ts';
import { presentation } from './presentation.ts';
import { builtParts } from './read-document.ts';
import type { ReadDocument } from './read-document.ts';
import { RefusedFile, refuse } from './refused-file.ts';
import { decoded, limitDeclared } from './source-text.ts';
import type { SourceText } from './source-text.ts';
import { subtitles } from './subtitles.ts';
import { wordDocument } from './word-document.ts';
import { workbook } from './workbook.ts';
import { xliff } from './xliff.ts';
import { rewritten } from './zip-archive.ts';
import type { ZipEntry } from './zip-directory.ts';
import type { FormatName } from './format-table.ts';

type TextReader = (given: SourceText) => PassageSource;
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
  const source = reader.text(given);
  return { document: { parts: [{ ...source, given, entry: undefined }], order: source.passages }, archive: undefined };
}

function orRefused<T>(work: () => T): T | { readonly kind: 'refused'; readonly reason: string } {
  try {
    return work();
  } catch (error) {
    if (error instanceof RefusedFile) return { kind: 'refused', reason: error.message };
    throw error;
  }
}
