// Puts the parts of a script together, with names in capitals replaced by what they stand for.
const DECLARATION = /^local ([A-Z][A-Z0-9_]*(?:, [A-Z][A-Z0-9_]*)*) = (.+)$/gm;
/** Comments and strings are left as they are; a string in a declaration may hold a comma. */
const TOKEN = /--[^\n]*|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\b[A-Z][A-Z0-9_]*\b/g;
const VALUES = /(?:'(?:[^'\\]|\\.)*'|[^,'])+/g;
/** What would be made anew at each place. */
const IS_MADE = /\w\(|\{/;

/**
 * `local NAME = text` at the beginning of a line says what NAME stands for all over the script, an expression of whatever is
 * known there. Redis makes a script's functions anew each time it runs, and each thing outside of a function that it refers to
 * costs as much as some of its instructions: a name that stands for a text costs nothing, and a rule is written once without
 * being called. What is made, by a call or as a table, is left a variable.
 */
export function joinLua(parts: readonly string[]): string {
  const texts = new Map<string, string>();
  const rest = parts.join('\n').replace(DECLARATION, (line, names: string, values: string) => {
    const [declared, stoodFor] = [names.split(', '), values.match(VALUES)!];
    if (IS_MADE.test(values.replace(/'[^']*'/g, "''")) || declared.length !== stoodFor.length) return line;
    for (const [i, name] of declared.entries()) texts.set(name, stoodFor[i]!.trim());
    return '';
  });
  return replaced(rest, texts);
}

function replaced(lua: string, texts: ReadonlyMap<string, string>): string {
  return lua.replace(TOKEN, (token) => {
    const text = texts.get(token);
    return text === undefined ? token : `(${replaced(text, texts)})`;
  });
}
