// A file that has been read: its parts, and its passages in order of reading.
import type { Passage, PassageSource } from './passage.ts';
import { spliced } from './passage.ts';
import { textOf, translatedPieces } from './marked-text.ts';
import { refuse } from './refused-file.ts';
import { encoded } from './source-text.ts';
import type { SourceText } from './source-text.ts';
import type { ZipEntry } from './zip-directory.ts';

export interface DocumentPart extends PassageSource {
  readonly given: SourceText;
  /** `undefined` if the part is the whole file. */
  readonly entry: ZipEntry | undefined;
}

export interface ReadDocument {
  readonly parts: readonly DocumentPart[];
  /** Each passage once, in order of reading. */
  readonly order: readonly Passage[];
}

/** The bytes of the parts that the translations, one for each passage in order, have changed. */
export function builtParts(
  { parts, order }: ReadDocument,
  translations: readonly string[],
  targetLang: string | undefined,
): ReadonlyMap<DocumentPart, Uint8Array> {
  if (translations.length !== order.length)
    refuse(`the file has ${order.length} texts, and ${translations.length} translations were given`);
  const given = new Map(order.map((passage, index) => [passage, translations[index]!]));
  const built = new Map<DocumentPart, Uint8Array>();
  for (const part of parts) {
    const copied = [...part.copies].flatMap(([passage, copies]) => copies.map((copy) => [copy, given.get(passage)] as const));
    const all = new Map<Passage, string | undefined>([
      ...part.passages.map((passage) => [passage, given.get(passage)] as const),
      ...copied,
      ...labelsOf(part, targetLang).map((label) => [label, ''] as const),
    ]);
    const source = spliced(part.source, [...all.keys()], (passage, raw) => {
      const translation = all.get(passage);
      if (translation === undefined || (!passage.always && translation === textOf(passage.pieces).text)) return undefined;
      return passage.render(translatedPieces(translation, passage.pieces), raw);
    });
    if (source !== part.source) built.set(part, encoded(source, part.given));
  }
  return built;
}

function labelsOf({ labels = [] }: DocumentPart, targetLang: string | undefined): Passage[] {
  if (targetLang === undefined) return [];
  const language = languageTag(targetLang);
  return labels.map(({ from, to, write }) => ({ from, to, pieces: [], always: true, render: () => write(language) }));
}

/** `PT-BR` is `pt-BR`, `ZH-HANS` is `zh-Hans`. */
function languageTag(code: string): string {
  const [language, ...rest] = code.toLowerCase().split('-');
  const others = rest.map((part) => (part.length === 4 ? part[0]!.toUpperCase() + part.slice(1) : part.toUpperCase()));
  return [language, ...others].join('-');
}
