// The language list: canonical codes, lookup in any case, what targets support, offered pairs.

/** A language that a text may be in. Regional variants are targets only. */
export interface SourceLanguage {
  /** Canonical: upper case. */
  readonly code: string;
  /** In English. */
  readonly name: string;
}

export interface TargetLanguage extends SourceLanguage {
  readonly formality: boolean;
}

/** The languages file, parsed. Codes are unique within each list. */
export interface LanguageTable {
  readonly sources: readonly SourceLanguage[];
  readonly targets: readonly TargetLanguage[];
}

/** Whether a pair is translated. Codes are canonical. */
export type PairTest = (sourceLang: string, targetLang: string) => boolean;

/** The same, also for a source that is not named. Called for every request. */
type OfferTest = (sourceLang: string | undefined, targetLang: string) => boolean;

/** The canonical form of a code: `DE`, `PT-BR`. */
export const LANGUAGE_CODE = /^[A-Z]{2,3}(?:-[A-Z0-9]{2,8})?$/;

const CODE_LENGTH_MAX = 12;
const ASCII_CODE = /^[A-Za-z0-9-]+$/;

/** Lookups cover the whole table; the lists contain only what is offered. */
export class Languages implements LanguageTable {
  /** Languages that texts can be translated from. */
  readonly sources: readonly SourceLanguage[];
  /** Languages that texts can be translated into, from at least one source. */
  readonly targets: readonly TargetLanguage[];
  /** All codes, offered or not. */
  readonly all: LanguageTable;
  readonly #sources: ReadonlySet<string>;
  readonly #targets: ReadonlyMap<string, TargetLanguage>;
  readonly #names: ReadonlyMap<string, string>;
  /** Without a source: whether the target is available for such texts. Codes are canonical. */
  readonly offers: OfferTest;

  /** By default every pair is offered. */
  constructor(table: LanguageTable, offers: OfferTest = () => true) {
    this.all = table;
    this.#sources = new Set(table.sources.map(({ code }) => code));
    this.#targets = new Map(table.targets.map((target) => [target.code, target]));
    this.#names = new Map([...table.targets, ...table.sources].map(({ code, name }) => [code, name]));
    this.offers = offers;
    this.sources = table.sources.filter(({ code }) => this.targetsFrom(code).length > 0);
    this.targets = table.targets.filter(({ code }) => this.isReached(code));
  }

  /** Whether a target can be reached from some source, or without one. */
  isReached(targetLang: string): boolean {
    return this.offers(undefined, targetLang) || this.all.sources.some(({ code }) => this.offers(code, targetLang));
  }

  /** The targets of a source, or those available without naming one. */
  targetsFrom(sourceLang: string | undefined): readonly TargetLanguage[] {
    return this.all.targets.filter(({ code }) => this.offers(sourceLang, code));
  }

  /** The canonical form of a source code, or `undefined`. Accepts any value of any size. */
  source(value: unknown): string | undefined {
    const code = canonical(value);
    return code !== undefined && this.#sources.has(code) ? code : undefined;
  }

  /** The canonical form of a target code, or `undefined`. */
  target(value: unknown): string | undefined {
    const code = canonical(value);
    return code !== undefined && this.#targets.has(code) ? code : undefined;
  }

  /** The source code that a code equals or is a variant of: `EN` for `en-GB`. */
  base(value: unknown): string | undefined {
    const code = canonical(value);
    if (code === undefined || this.#sources.has(code)) return code;
    const dash = code.indexOf('-');
    const base = dash === -1 ? code : code.slice(0, dash);
    return this.#sources.has(base) ? base : undefined;
  }

  /** Whether `more` and `less` have an effect for this target, at least for some source. */
  supportsFormality(target: string, _sourceLang?: string): boolean {
    return this.#targets.get(target)?.formality ?? false;
  }

  /** The English name of a canonical code. */
  nameOf(code: string): string | undefined {
    return this.#names.get(code);
  }
}

function canonical(value: unknown): string | undefined {
  // ASCII only: Unicode uppercasing would turn a dotless i into an I and let it pass.
  if (typeof value !== 'string' || value.length > CODE_LENGTH_MAX || !ASCII_CODE.test(value)) return undefined;
  return value.toUpperCase();
}
