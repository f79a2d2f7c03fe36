// Formats of documents: what takes the texts out of a file, and puts their translations in their place.

/** A text of a document, which is translated as a whole: a paragraph, a cell, a message, a cue. Never empty, never only white space. */
export interface DocumentText {
  readonly text: string;
  /**
   * `xml` if it contains elements `<x1>…</x1>` or `<x1/>`, numbered from 1 in order of their beginning, which stand for what is
   * formatted differently within the text, and the five entities of XML; otherwise it is plain.
   */
  readonly format: 'text' | 'xml';
}

export type Extracted =
  | { readonly kind: 'extracted'; readonly texts: readonly DocumentText[] }
  /** What is wrong with the file, in words for its sender. */
  | { readonly kind: 'refused'; readonly reason: string };

export type Built = { readonly kind: 'built'; readonly bytes: Uint8Array } | { readonly kind: 'refused'; readonly reason: string };

/** A format by which files are read, named by the ending of their names. */
export interface DocumentFormat {
  /** Lower case, without the dot: `docx`. */
  readonly name: string;
  readonly mediaType: string;
}

/** Nothing of this happens on the event loop; every call has limits on bytes, entries, depth, compression and time. */
export interface DocumentFormats {
  /** Every format that can be read, in order of their names. */
  readonly all: readonly DocumentFormat[];
  /** By the name of a file, whatever its case; `undefined` if its ending is none of them. */
  formatOf(fileName: string): DocumentFormat | undefined;
  /** A first look that is cheap enough for the event loop: why the file cannot be one of this format; `undefined` if it may be. */
  firstLook(format: DocumentFormat, bytes: Uint8Array): string | undefined;
  /** The texts in order of reading. */
  extract(format: DocumentFormat, bytes: Uint8Array): Promise<Extracted>;
  /**
   * The same file with the translations, one for each of its texts, in the same order and of the same `format`. With a target
   * language, where the file says which language it is in, it says that one.
   */
  build(format: DocumentFormat, bytes: Uint8Array, translations: readonly string[], targetLang?: string): Promise<Built>;
  close(): Promise<void>;
}
