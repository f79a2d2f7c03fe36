// Finds where a planted bug belongs: the declaration that it names, anywhere in the sources, and the tokens in it.
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { outlineOf } from './declarations.ts';
import type { Declaration, Outline } from './declarations.ts';
import type { Edit, Mutation } from './mutation.ts';
import { nearestPlace, placesOf, tokensOf } from './tokens.ts';
import type { Span, Token } from './tokens.ts';

/** A place in a file; from the project's root. */
export interface Place extends Span {
  readonly file: string;
}

interface Source extends Outline {
  readonly file: string;
  readonly text: string;
  readonly tokens: readonly Token[];
}

const FILE = /^[\w.-]+\.(?:ts|lua|js)$/;

export class Anchors {
  readonly #texts: ReadonlyMap<string, string>;
  readonly #sources = new Map<string, Source>();

  /** `root` is the project's. */
  constructor(root: string) {
    const files = globSync('src/**/*.{ts,lua,js}', { cwd: root });
    this.#texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
  }

  /** Where the edit's text is, or one sentence about what is there instead. */
  find({ where, find }: Edit): Place | string {
    const found = this.#declared(where);
    if (found.length === 0) return `nothing in src is called ${where}${this.#similar(where)}`;
    if (found.length > 1) {
      const all = found.map(({ source, span }) => `${source.file}:${lineOf(source.text, span.start)}`);
      return `${where} is the name of ${found.length} declarations, at ${all.join(' and ')}; name a class, an outer function or a file (name in file.ts)`;
    }
    const [{ source, span }] = found as [Found];
    const tokens = source.tokens.filter(({ start, end }) => start >= span.start && end <= span.end);
    const wanted = tokensOf(find);
    const places = placesOf(wanted, tokens);
    if (places.length === 1) return { file: source.file, ...places[0]! };
    const at = `${where} (${source.file}:${lineOf(source.text, span.start)})`;
    if (places.length > 1) return `${at} has this ${places.length} times: ${find}`;
    const near = nearestPlace(wanted, tokens);
    const instead =
      near === undefined ? 'nothing like it' : `at line ${lineOf(source.text, near.start)}: ${source.text.slice(near.start, near.end)}`;
    return `${at} lacks: ${find}\n  and has ${instead}`;
  }

  /** A line for each edit whose place is not there exactly once. */
  faultsOf({ name, edits }: Mutation): string[] {
    const places = edits.map((edit) => this.find(edit));
    return places.filter((place) => typeof place === 'string').map((fault) => `OUT OF DATE: ${name}: ${fault}`);
  }

  /** Declarations whose path is that of `where` or, if there is none, ends in it. */
  #declared(where: string): readonly Found[] {
    const found = this.#endingIn(where);
    const length = where.split(' in ')[0]!.split('.').length;
    const exact = found.filter(({ span }) => 'path' in span && (span as Declaration).path.length === length);
    return exact.length > 0 ? exact : found;
  }

  /** `where` may name the file too, or nothing else. */
  #endingIn(where: string): readonly Found[] {
    const [name, file = FILE.test(where) ? where : undefined] = where.split(' in ') as [string, string?];
    const path = name.split('.');
    return [...this.#texts].flatMap(([at, text]) => {
      if (file !== undefined && basename(at) !== file) return [];
      if (file === where) return [{ source: this.#source(at), span: { start: 0, end: text.length } }];
      if (!path.every((part) => part === 'constructor' || text.includes(part))) return [];
      const source = this.#source(at);
      return source.declarations.filter((one) => endsIn(one, path)).map((span) => ({ source, span }));
    });
  }

  #source(file: string): Source {
    let source = this.#sources.get(file);
    if (source === undefined) {
      const text = this.#texts.get(file)!;
      const outline = outlineOf(file, text);
      source = { ...outline, file, text, tokens: tokensOf(text, outline.comments) };
      this.#sources.set(file, source);
    }
    return source;
  }

  /** Declarations that have its last name. */
  #similar(where: string): string {
    const name = where.split(' in ')[0]!.split('.').at(-1)!;
    const others = this.#declared(name).map(({ source, span }) => `${(span as Declaration).path.join('.')} in ${source.file}`);
    return others.length === 0 ? '' : `; there is ${others.slice(0, 5).join(', ')}`;
  }
}

interface Found {
  readonly source: Source;
  readonly span: Span;
}

const endsIn = ({ path }: Declaration, end: readonly string[]): boolean =>
  path.length >= end.length && end.every((name, i) => path[path.length - end.length + i] === name);

const lineOf = (text: string, at: number): number => text.slice(0, at).split('\n').length;
