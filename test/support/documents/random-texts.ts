// Texts for generated documents: each is another one, in several scripts, and the same for the same seed.

const WORDS = 'river stone morning Straße façade naïve 漢字 слово שלום مرحبا λόγος R&D <tag> "quoted" emoji😀 snake_case 5*3 it’s'.split(
  ' ',
);

export class RandomTexts {
  #state: number;
  #count = 0;

  constructor(seed: number) {
    this.#state = (seed * 2_654_435_761 + 1) >>> 0;
  }

  /** From 0 to `below - 1`. */
  number(below: number): number {
    // mulberry32
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let value = this.#state;
    value = Math.imul(value ^ (value >>> 15), value | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) % below;
  }

  maybe(): boolean {
    return this.number(2) === 0;
  }

  /** One to six words; `plain` without characters that are markup somewhere. */
  text(plain = false): string {
    const words = plain ? WORDS.filter((word) => !/[<>&"*_]/.test(word)) : WORDS;
    const chosen = Array.from({ length: 1 + this.number(5) }, () => words[this.number(words.length)]!);
    return [`text${++this.#count}`, ...chosen].join(' ');
  }
}

export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A translation that shows where each text has gone; elements and entities of a text with markup stay. */
export function upperCase({ text, format }: { readonly text: string; readonly format: 'text' | 'xml' }): string {
  if (format === 'text') return text.toUpperCase();
  return text.replaceAll(/<[^>]*>|&\w+;|[^<&]+/g, (part) => (/^[<&]/.test(part) ? part : part.toUpperCase()));
}

export interface SampleDocument {
  readonly bytes: Uint8Array;
  /** In order of reading, as they are expected. */
  readonly texts: readonly string[];
}
