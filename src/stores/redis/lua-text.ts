// Puts the parts of a script together, and replaces names in capitals by their texts.
const DECLARATION = /^local ([A-Z][A-Z0-9_]*(?:, [A-Z][A-Z0-9_]*)*) = (.+)$/gm;
/** Comments and strings are left as they are; a string in a declaration may hold a comma. */
const TOKEN = /--[^\n]*|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\b[A-Z][A-Z0-9_]*\b/g;
const VALUES = /(?:'(?:[^'\\]|\\.)*'|[^,'])+/g;
/** What would be made anew at each place. */
const IS_MADE = /\w\(|\{/;

/**
 * After `local NAME = text` at the beginning of a line, NAME is replaced by that text in the whole script; it may use the
 * variables of the place where NAME stands. Redis makes a script's functions anew each time it runs, and every outer variable
 * that a function refers to costs as much as a few instructions: a replaced name costs nothing, and a rule is written once
 * without a call. Values that are made, by a call or as a table, stay variables.
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
