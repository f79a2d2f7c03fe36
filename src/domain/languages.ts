// The language list: canonical codes, looked up whatever their case, what each target supports, and which pairs are offered.

/** A code that a text may be in. Regional variants are targets only. */
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

/** Whether texts in one language are translated to another. Codes are canonical. */
export type PairTest = (sourceLang: string, targetLang: string) => boolean;

/** The table; without `supported`, no target has formality. */
export function withFormality(table: LanguageTable, supported: boolean): LanguageTable {
  return supported ? table : { ...table, targets: table.targets.map((target) => ({ ...target, formality: false })) };
}

/** What a code looks like in its canonical form: `DE`, `PT-BR`. */
export const LANGUAGE_CODE = /^[A-Z]{2,3}(?:-[A-Z0-9]{2,8})?$/;

const CODE_LENGTH_MAX = 12;
const ASCII_CODE = /^[A-Za-z0-9-]+$/;

/** Codes are looked up among all of the table; the lists hold what is offered. */
export class Languages implements LanguageTable {
  /** Those that texts can be translated from. */
  readonly sources: readonly SourceLanguage[];
  /** Those that texts can be translated to, from some source. */
  readonly targets: readonly TargetLanguage[];
  /** Every code, offered or not. */
  readonly all: LanguageTable;
  readonly #sources: ReadonlySet<string>;
  readonly #targets: ReadonlyMap<string, TargetLanguage>;
  readonly #names: ReadonlyMap<string, string>;
  /** The targets of each source, and under `undefined` those of any; `undefined` where every pair is offered. */
  readonly #offered: ReadonlyMap<string | undefined, ReadonlySet<string>> | undefined;

  /** Without `offered` every pair is. */
  constructor(table: LanguageTable, offered?: PairTest) {
    this.all = table;
    this.#sources = new Set(table.sources.map(({ code }) => code));
    this.#targets = new Map(table.targets.map((target) => [target.code, target]));
    this.#names = new Map([...table.targets, ...table.sources].map(({ code, name }) => [code, name]));
    this.#offered = offered && offeredTargets(table, offered);
    this.sources = offered === undefined ? table.sources : table.sources.filter(({ code }) => this.targetsFrom(code).length > 0);
    this.targets = offered === undefined ? table.targets : this.targetsFrom(undefined);
  }

  /** Whether a target can be reached from a source, or without one from any. Codes are canonical. */
  offers(sourceLang: string | undefined, targetLang: string): boolean {
    // On the path of every request: no key is put together.
    return this.#offered === undefined || this.#offered.get(sourceLang)?.has(targetLang) === true;
  }

  /** The targets of a source, or without one of any. */
  targetsFrom(sourceLang: string | undefined): readonly TargetLanguage[] {
    return this.all.targets.filter(({ code }) => this.offers(sourceLang, code));
  }

  /** The canonical form of a source code; `undefined` for whatever is none. Takes any value, of any size. */
  source(value: unknown): string | undefined {
    const code = canonical(value);
    return code !== undefined && this.#sources.has(code) ? code : undefined;
  }

  /** The canonical form of a target code; `undefined` for whatever is none. */
  target(value: unknown): string | undefined {
    const code = canonical(value);
    return code !== undefined && this.#targets.has(code) ? code : undefined;
  }

  /** The source code that a code stands for or is a variant of: `EN` for `en-GB`. */
  base(value: unknown): string | undefined {
    const code = canonical(value);
    if (code === undefined || this.#sources.has(code)) return code;
    const dash = code.indexOf('-');
    const base = dash === -1 ? code : code.slice(0, dash);
    return this.#sources.has(base) ? base : undefined;
  }

  /** Whether `more` and `less` mean something for a canonical target code. */
  supportsFormality(target: string): boolean {
    return this.#targets.get(target)?.formality ?? false;
  }

  /** The English name of a canonical code. */
  nameOf(code: string): string | undefined {
    return this.#names.get(code);
  }
}

function offeredTargets({ sources, targets }: LanguageTable, offered: PairTest): Map<string | undefined, ReadonlySet<string>> {
  const of = new Map<string | undefined, ReadonlySet<string>>(
    sources.map(({ code: source }) => [source, new Set(targets.map(({ code }) => code).filter((target) => offered(source, target)))]),
  );
  return of.set(undefined, new Set([...of.values()].flatMap((reachable) => [...reachable])));
}

function canonical(value: unknown): string | undefined {
  // ASCII only: Unicode's case mapping would turn a dotless i into an I and let it pass.
  if (typeof value !== 'string' || value.length > CODE_LENGTH_MAX || !ASCII_CODE.test(value)) return undefined;
  return value.toUpperCase();
}
