// A translation, and its options, listed once: the engine's work, the body sent to it and the key of batches are made from this list.

/** `text` is plain text; in the others markup stays where it is. */
export type TextFormat = 'text' | 'html' | 'xml';

/** A glossary as engines get it. */
export interface EngineGlossary {
  readonly id: string;
  /** Of a large one, made when it is first asked for: an adapter that can should go by `pieces`. */
  readonly entries: Readonly<Record<string, string>>;
  /** The same as JSON in UTF-8, to be sent on as it is: entries with commas between, without the braces around all. */
  readonly pieces?: readonly Uint8Array[];
}

export interface Translation {
  readonly text: string;
  /** As the engine reported it, not yet checked; `undefined` when it reported none. */
  readonly detectedSourceLanguage: string | undefined;
  /** It came without the engine, and its characters were taken off the charge (`spareCharacters`). */
  readonly isSpared?: true;
}

/** Texts that share an engine call share all of them. Codes are canonical; what was not chosen is `undefined`. */
export interface TranslationOptions {
  readonly sourceLang: string | undefined;
  readonly targetLang: string;
  /** `undefined` also for `default`, and for a `prefer_` form that the target does not support. */
  readonly formality: string | undefined;
  /** A hint: an engine may leave it out. */
  readonly context: string | undefined;
  readonly glossary: EngineGlossary | undefined;
  readonly format: TextFormat;
  /** Elements whose content stays as it is; with `xml` only. */
  readonly ignoreTags: readonly string[] | undefined;
}

/** Every option by its name in JSON, in the order in which they are sent. */
const OPTION_NAMES = {
  sourceLang: 'source_lang',
  targetLang: 'target_lang',
  formality: 'formality',
  context: 'context',
  glossary: 'glossary',
  format: 'format',
  ignoreTags: 'ignore_tags',
} as const satisfies Readonly<Record<keyof TranslationOptions, string>>;

/** The options by their names in JSON. None is optional, so that the compiler finds a body that leaves one out. */
export type NamedOptions = {
  readonly [Option in keyof TranslationOptions as (typeof OPTION_NAMES)[Option]]: TranslationOptions[Option] | undefined;
};

/** The values where nothing is chosen; a target always is. */
export const NOTHING_CHOSEN: Omit<TranslationOptions, 'targetLang'> = {
  sourceLang: undefined,
  formality: undefined,
  context: undefined,
  glossary: undefined,
  format: 'text',
  ignoreTags: undefined,
};

export const TRANSLATION_OPTIONS = Object.keys(OPTION_NAMES) as readonly (keyof TranslationOptions)[];

/** Reading by a name that is not written out takes ten times as long. */
const VALUES: { readonly [Option in keyof TranslationOptions]: (options: TranslationOptions) => TranslationOptions[Option] } = {
  sourceLang: ({ sourceLang }) => sourceLang,
  targetLang: ({ targetLang }) => targetLang,
  formality: ({ formality }) => formality,
  context: ({ context }) => context,
  glossary: ({ glossary }) => glossary,
  format: ({ format }) => format,
  ignoreTags: ({ ignoreTags }) => ignoreTags,
};
const READERS = TRANSLATION_OPTIONS.map((name) => VALUES[name]);

/** Equal for equal options, different for different ones; of a glossary it holds the id alone. */
export function keyOfOptions(options: TranslationOptions): string {
  let key = '';
  for (const read of READERS) {
    const value = read(options);
    // With its length before it no value can look like the end of another.
    if (typeof value === 'string') key += `${value.length}:${value}`;
    else if (value !== undefined) key += JSON.stringify('id' in value ? value.id : value);
    key += '|';
  }
  return key;
}

/** Whether each is the same value, a glossary and a list the same object. Much cheaper than two keys; `false` tells nothing. */
export function sameOptions(one: TranslationOptions, other: TranslationOptions): boolean {
  for (const read of READERS) if (read(one) !== read(other)) return false;
  return true;
}
