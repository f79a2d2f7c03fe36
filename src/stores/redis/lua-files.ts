// Lua files state at their start what they use of each other and what they give; order and scopes are derived from that.
import { readFileSync, readdirSync } from 'node:fs';

/**
 * A file begins with such statements, among its comments:
 * - `--@ gives a, b`: local variables of the file that others may use; all others are its own
 * - `--@ uses file: a, b`: what it reads, calls or indexes of another file
 * - `--@ changes file: a, b`: the same for variables of another file that it also assigns
 */
export interface LuaFile {
  readonly name: string;
  readonly text: string;
  readonly gives: readonly string[];
  readonly uses: readonly LuaUse[];
}

interface LuaUse {
  readonly from: string;
  readonly name: string;
  readonly isChanged: boolean;
}

/** By name, without `.lua`. */
export type LuaFiles = ReadonlyMap<string, LuaFile>;

/** What is wrong with a file; the message names it. */
export class LuaFileError extends Error {}

const FOLDER = new URL('lua/', import.meta.url);
const STATEMENT = /^--@(.*)$/gm;
const PARTS = /^ (?:(gives)|(uses|changes) (\w+):) (\w+(?:, \w+)*)$/;

/** All files of `lua/`. Throws `LuaFileError`. */
export function readLuaFiles(): LuaFiles {
  const names = readdirSync(FOLDER).map((file) => file.replace(/\.lua$/, ''));
  return new Map(names.map((name) => [name, luaFile(name, readFileSync(new URL(`${name}.lua`, FOLDER), 'utf8'))]));
}

/** A file from its text. Throws `LuaFileError` for a statement of another form. */
export function luaFile(name: string, text: string): LuaFile {
  const gives: string[] = [];
  const uses: LuaUse[] = [];
  for (const [statement, content] of text.matchAll(STATEMENT)) {
    const [, isGiven, verb, from, listed] = PARTS.exec(content!) ?? [];
    if (listed === undefined)
      throw new LuaFileError(`lua/${name}.lua: "${statement}" must be "--@ gives NAME, …", "--@ uses FILE: NAME, …" or "--@ changes …"`);
    const names = listed.split(', ');
    if (isGiven === undefined) uses.push(...names.map((one) => ({ from: from!, name: one, isChanged: verb === 'changes' })));
    else gives.push(...names);
  }
  return { name, text, gives, uses };
}

/**
 * These files and all that they use, each after those that it uses. Throws `LuaFileError` if a file or a name is missing, if two
 * give the same name, or if files use each other in a circle.
 */
export function inOrder(files: LuaFiles, wanted: readonly string[]): LuaFile[] {
  const ordered = new Set<LuaFile>();
  const givenBy = new Map<string, string>();
  const add = (name: string, path: readonly string[]): void => {
    if (path.includes(name)) throw new LuaFileError(`Lua files use each other in a circle: ${[...path, name].join(' > ')}`);
    const file = files.get(name);
    if (file === undefined) throw new LuaFileError(`lua/${path.at(-1) ?? name}.lua uses "${name}", which is no file`);
    if (ordered.has(file)) return;
    for (const use of file.uses) {
      if (files.get(use.from)?.gives.includes(use.name) === false)
        throw new LuaFileError(`lua/${name}.lua uses "${use.name}" of "${use.from}", which does not give it`);
      add(use.from, [...path, name]);
    }
    for (const one of file.gives) {
      if (givenBy.has(one)) throw new LuaFileError(`lua/${name}.lua and lua/${givenBy.get(one)!}.lua both give "${one}"`);
      givenBy.set(one, name);
    }
    ordered.add(file);
  };
  for (const name of wanted) add(name, []);
  return [...ordered];
}

/**
 * The text of one scope with all these files, in which only the given names that are used are visible to others. A file is a block,
 * because a Lua function may have at most 200 local variables at a time, and those of a block end with it. Given constants are
 * inserted where they are used, and are no variables at all.
 */
export function inOneScope(files: readonly LuaFile[]): string {
  const used = new Set(files.flatMap(({ uses }) => uses.map(({ name }) => name)));
  const constants = new Map(files.flatMap(constantsOf));
  return files
    .map(({ text, gives, uses }) => {
      const visible = gives.filter((one) => used.has(one) && !constants.has(one));
      const declared = visible.length === 0 ? [] : [`local ${visible.join(', ')}`];
      const inserted = withValues(text, new Set(uses.map(({ name }) => name).filter((one) => constants.has(one))), constants);
      return [...declared, 'do', `${declaredOutside(inserted, new Set(visible))}end`].join('\n');
    })
    .join('\n');
}

/** The given names that are declared alone, in capital letters, as a text or a number. */
function constantsOf({ text, gives }: LuaFile): [string, string][] {
  return [...text.matchAll(/^local ([A-Z][A-Z_]*) = ('[^'\\\n]*'|\d+)$/gm)]
    .map(([, name, value]): [string, string] => [name!, value!])
    .filter(([name]) => gives.includes(name));
}

/** Comments and texts stay as they are, and so do members of tables. */
function withValues(text: string, names: ReadonlySet<string>, values: ReadonlyMap<string, string>): string {
  return text.replaceAll(/--.*|'(?:[^'\\\n]|\\.)*'|(?<![.\w])[A-Z][A-Z_]*\b/g, (found) => (names.has(found) ? values.get(found)! : found));
}

/** Turns the declarations of these names, which begin a line, into assignments. */
function declaredOutside(text: string, names: ReadonlySet<string>): string {
  return text
    .replaceAll(/^local function (\w+)/gm, (whole, one: string) => (names.has(one) ? `function ${one}` : whole))
    .replaceAll(/^local (\w+(?:, \w+)*)( =|$)/gm, (whole, listed: string, assigned: string) => {
      const declared = listed.split(', ');
      const others = declared.filter((one) => !names.has(one));
      if (others.length === declared.length) return whole;
      const own = others.length === 0 ? '' : `local ${others.join(', ')}`;
      return assigned === '' ? own : `${own === '' ? '' : `${own} `}${listed}${assigned}`;
    });
}
