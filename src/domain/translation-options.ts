// A translation and its options, listed once: engine work, its body and the batch key follow.

/** `text` is plain text; in the other formats, markup is preserved. */
export type TextFormat = 'text' | 'html' | 'xml';

/** A glossary as passed to engines. */
export interface EngineGlossary {
  readonly id: string;
  /** For a large glossary, built on first access: adapters that can should use `pieces`. */
  readonly entries: Readonly<Record<string, string>>;
  /** As JSON in UTF-8, sent unchanged: entries separated by commas, without the braces. */
  readonly pieces?: readonly Uint8Array[];
}

export interface Translation {
  readonly text: string;
  /** As reported by the engine, unverified; `undefined` if it reported none. */
  readonly detectedSourceLanguage: string | undefined;
  /** Answered without the engine, and not charged (`spareCharacters`). */
  readonly isSpared?: true;
}

/** The wording, beyond formality: only engines that declare it get such requests. */
export interface StyleRules {
  /** Sentences of the caller's. */
  readonly instructions: readonly string[] | undefined;
  /** Rules that are stored at the engine, by their id there. */
  readonly styleId: string | undefined;
  /** A translation memory that is stored at the engine, by its id there. */
  readonly memoryId: string | undefined;
  /** How similar a text of the memory must be, in per cent. */
  readonly memoryThreshold: number | undefined;
}

/** Texts in one call share all of these. Codes are canonical; unset options are `undefined`. */
export interface TranslationOptions {
  readonly sourceLang: string | undefined;
  readonly targetLang: string;
  /** Also `undefined` for `default`, and for a `prefer_` form that the target does not support. */
  readonly formality: string | undefined;
  /** A hint, which an engine may ignore. */
  readonly context: string | undefined;
  readonly glossary: EngineGlossary | undefined;
  readonly format: TextFormat;
  /** Elements whose content is left unchanged; with `xml` only. */
  readonly ignoreTags: readonly string[] | undefined;
  readonly style: StyleRules | undefined;
}

/** The default values; there is no default target. */
export const NOTHING_CHOSEN: Omit<TranslationOptions, 'targetLang'> = {
  sourceLang: undefined,
  formality: undefined,
  context: undefined,
  glossary: undefined,
  format: 'text',
  ignoreTags: undefined,
  style: undefined,
};

export const TRANSLATION_OPTIONS = ['targetLang', ...Object.keys(NOTHING_CHOSEN)] as readonly (keyof TranslationOptions)[];

/**
 * By JSON name, in the order in which they are sent; `JSON.stringify` omits `undefined`. As a literal:
 * iterating over options takes twice as long. Without `style`, which engines of ours do not take.
 */
export function namedOptions(text: readonly string[], options: TranslationOptions) {
  const { glossary, format } = options;
  return {
    text,
    source_lang: options.sourceLang,
    target_lang: options.targetLang,
    formality: options.formality,
    context: options.context,
    glossary: glossary === undefined ? undefined : { id: glossary.id, entries: glossary.entries },
    // Plain text is the engine's default.
    format: format === 'text' ? undefined : format,
    ignore_tags: options.ignoreTags,
  };
}

/** Equal if and only if the options are; a glossary is represented by its id. */
export function keyOfOptions(options: TranslationOptions): string {
  let key = '';
  for (const name of TRANSLATION_OPTIONS) {
    const value = options[name];
    // The length prefix prevents different values from producing the same key.
    if (typeof value === 'string') key += `${value.length}:${value}`;
    else if (value !== undefined) key += JSON.stringify(keyPartOf(value));
    key += '|';
  }
  return key;
}

function keyPartOf(value: EngineGlossary | StyleRules | readonly string[]): unknown {
  if ('id' in value) return value.id;
  // The order of an object's members is its maker's.
  return 'instructions' in value ? [value.styleId, value.memoryId, value.memoryThreshold, value.instructions] : value;
}

/**
 * Whether all are identical, comparing glossaries, lists and rules by reference. Much cheaper than
 * comparing keys; `false` proves nothing.
 */
export function sameOptions(one: TranslationOptions, other: TranslationOptions): boolean {
  return TRANSLATION_OPTIONS.every((name) => one[name] === other[name]);
}
