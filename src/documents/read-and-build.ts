// Reads a file of any format, and builds it with translations; runs in the worker thread.
import type { Built, Extracted } from './formats.ts';
import { look } from './formats.ts';
import type { FormatName } from './formats.ts';
import { htmlPage } from './html-page.ts';
import { orRefused, refuse } from './limits.ts';
import { ZipPackage } from './office-package.ts';
import { openDocument } from './open-document.ts';
import { limitTexts, textOf, textsAmong, translatedPieces } from './passage.ts';
import type { DocumentPart, Passage, ReadDocument, SourceSpan } from './passage.ts';
import { plainText } from './plain-text.ts';
import { decoded, encoded } from './source.ts';
import type { Source } from './source.ts';
import { subtitles } from './subtitles.ts';
import { presentation, wordDocument } from './word-and-slides.ts';
import { workbook } from './workbook.ts';
import { xliff } from './xliff.ts';
import { rewritten } from './zip-archive.ts';

/** What a file is read by. */
type FormatReader = (bytes: Uint8Array) => ReadDocument;

function plain(passagesOf: (source: Source) => readonly Passage[]): FormatReader {
  return (bytes) => {
    const source = decoded(bytes);
    return { parts: [{ source, passages: passagesOf(source) }] };
  };
}

function office(partsOf: (archive: ZipPackage) => ReadDocument): FormatReader {
  return (bytes) => {
    const archive = new ZipPackage(bytes);
    return { ...partsOf(archive), archive };
  };
}

const READERS: Readonly<Record<FormatName, FormatReader>> = {
  docx: office(wordDocument),
  htm: plain(htmlPage),
  html: plain(htmlPage),
  odt: office(openDocument),
  pptx: office(presentation),
  srt: plain((source) => subtitles(source.text, 'srt')),
  txt: plain((source) => plainText(source.text)),
  vtt: plain((source) => subtitles(source.text, 'vtt')),
  xlf: plain(xliff),
  xliff: plain(xliff),
  xlsx: office(workbook),
};

export function extractTexts(format: string, bytes: Uint8Array): Extracted {
  return orRefused(() => {
    const { order, archive } = read(format, bytes);
    archive?.checkOthers();
    return { kind: 'extracted', texts: order.map(({ pieces }) => textOf(pieces)) };
  });
}

export function buildFile(format: string, bytes: Uint8Array, translations: readonly string[], targetLang?: string): Built {
  return orRefused(() => {
    const { parts, order, archive } = read(format, bytes);
    if (translations.length !== order.length)
      refuse(`the file has ${order.length} texts, and ${translations.length} translations were given`);
    const given = new Map(order.map((passage, index) => [passage, translations[index]!]));
    const language = targetLang && languageTag(targetLang);
    const changed = parts.flatMap((part) => {
      const text = spliced(part, (passage, raw) => replacement(passage, given, raw, language));
      return text === part.source.text ? [] : [{ entry: part.source.entry, content: encoded(text, part.source) }];
    });
    if (archive === undefined) return { kind: 'built', bytes: changed[0]?.content ?? bytes };
    return { kind: 'built', bytes: rewritten(archive.directory, new Map(changed.map(({ entry, content }) => [entry!, content]))) };
  });
}

function read(format: string, bytes: Uint8Array) {
  // Whoever sends a file here need not have looked.
  look(format, bytes);
  const { parts, order = textsAmong(parts.flatMap(({ passages }) => passages)), archive } = READERS[format as FormatName](bytes);
  limitTexts(order.length);
  return { parts, order, archive };
}

type Raw = (span: SourceSpan) => string;

/** `undefined` if the passage stays as it is. */
function replacement(passage: Passage, given: ReadonlyMap<Passage, string>, raw: Raw, language: string | undefined): string | undefined {
  const { pieces, always = false, copyOf = passage } = passage;
  if (pieces.length === 0) return language && passage.render(pieces, raw, language);
  const translation = given.get(copyOf);
  if (translation === undefined || (!always && translation === textOf(pieces).text)) return undefined;
  return passage.render(translatedPieces(translation, pieces), raw, language ?? '');
}

/** The source with what `written` gives for passages; otherwise these stay. */
function spliced({ source: { text }, passages }: DocumentPart, written: (passage: Passage, raw: Raw) => string | undefined): string {
  const sorted = passages.toSorted((a, b) => a.from - b.from || b.to - a.to);
  const raw: Raw = ({ from, to }) => {
    const parts: string[] = [];
    let at = from;
    for (let index = firstFrom(sorted, from); index < sorted.length && sorted[index]!.from <= to; index++) {
      const passage = sorted[index]!;
      if (passage.from < at || passage.to > to) continue;
      const replaced = written(passage, raw);
      if (replaced === undefined) continue;
      parts.push(text.slice(at, passage.from), replaced);
      at = passage.to;
    }
    parts.push(text.slice(at, to));
    return parts.join('');
  };
  return raw({ from: 0, to: text.length });
}

/** The index of the first passage that begins at `from` or later. */
function firstFrom(sorted: readonly Passage[], from: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]!.from < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** `PT-BR` is `pt-BR`, `ZH-HANS` is `zh-Hans`. */
function languageTag(code: string): string {
  const [language = '', region = ''] = code.toLowerCase().split('-');
  const isScript = region.length === 4;
  return region === '' ? language : `${language}-${isScript ? region[0]!.toUpperCase() + region.slice(1) : region.toUpperCase()}`;
}
