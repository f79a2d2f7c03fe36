// Formats of documents: take the texts out of a file, and put translations in their place.

/** Translated as a whole: a paragraph, a cell, a message, a cue. Never only white space. */
export interface DocumentText {
  readonly text: string;
  /**
   * `xml` if elements `<x1>…</x1>` or `<x1/>`, numbered in order, stand for what is formatted
   * differently, with the five entities of XML; otherwise it is plain.
   */
  readonly format: 'text' | 'xml';
}

/** What is wrong with a file, in words for its sender. */
export interface FileRefusal {
  readonly kind: 'refused';
  readonly reason: string;
}

export type Extracted = { readonly kind: 'extracted'; readonly texts: readonly DocumentText[] } | FileRefusal;

export type Built = { readonly kind: 'built'; readonly bytes: Uint8Array } | FileRefusal;

/** A format by which files are read, named by the ending of their names. */
export interface DocumentFormat {
  /** Lower case, without the dot: `docx`. */
  readonly name: string;
  readonly mediaType: string;
}

/** Not on the event loop; each call limits bytes, entries, depth, compression and time. */
export interface DocumentFormats {
  /** Every format that can be read, in order of their names. */
  readonly all: readonly DocumentFormat[];
  /** By the name of a file, whatever its case; `undefined` if its ending is none of them. */
  formatOf(fileName: string): DocumentFormat | undefined;
  /** A first look, cheap enough for the event loop: why the file cannot be of this format. */
  firstLook(format: DocumentFormat, bytes: Uint8Array): string | undefined;
  /** The texts in order of reading. */
  extract(format: DocumentFormat, bytes: Uint8Array): Promise<Extracted>;
  /**
   * The file with a translation for each of its texts, in order, of the same `format`. Where the
   * file names its language, it names the target.
   */
  build(format: DocumentFormat, bytes: Uint8Array, translations: readonly string[], targetLang?: string): Promise<Built>;
  close(): Promise<void>;
}
