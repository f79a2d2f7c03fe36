// The declarations of a Lua file, by its tokens: functions, tables and other named values.
import type { Declaration, Outline } from './declarations.ts';
import type { Span } from './tokens.ts';

interface LuaToken extends Span {
  readonly text: string;
}

const LUA_TOKEN = /(--(?:\[\[[^]*?\]\]|.*))|\[\[[^]*?\]\]|'(?:\\[^]|[^'\\])*'|"(?:\\[^]|[^"\\])*"|\w+(?:\.\w+)*|\S/g;
const OPENING = new Set(['function', 'do', 'if', 'repeat', '{', '(', '[']);
const CLOSING = new Set(['end', 'until', '}', ')', ']']);
const NAME = /^[A-Za-z_][\w.]*$/;

export function luaOutline(text: string): Outline {
  const comments: Span[] = [];
  const tokens: LuaToken[] = [];
  for (const match of text.matchAll(LUA_TOKEN)) {
    const token = { text: match[0], start: match.index, end: match.index + match[0].length };
    if (match[1] === undefined) tokens.push(token);
    else comments.push(token);
  }
  return { declarations: declarationsOf(text, tokens), comments };
}

interface Open {
  /** Of the declaration that is still open. */
  readonly name: string;
  readonly start: number;
  readonly depth: number;
  /** Whether it ends with its line: a value that is neither a function nor a table. */
  readonly byLine: boolean;
}

function declarationsOf(text: string, tokens: readonly LuaToken[]): Declaration[] {
  const declarations: Declaration[] = [];
  const open: Open[] = [];
  let depth = 0;
  let end = 0;
  const close = (): void => {
    const { start } = open.at(-1)!;
    declarations.push({ path: open.flatMap(({ name }) => name.split('.')), start, end });
    open.pop();
  };
  for (const [i, token] of tokens.entries()) {
    while (open.at(-1)?.byLine === true && depth <= open.at(-1)!.depth && text.slice(end, token.start).includes('\n')) close();
    const declared = declaredAt(tokens, i);
    const before = tokens[i - 1];
    const start = before?.text === 'local' ? before.start : token.start;
    // Values within functions have no names here.
    if (declared !== undefined && (!declared.byLine || open.length === 0)) open.push({ ...declared, start, depth });
    if (OPENING.has(token.text)) depth++;
    if (CLOSING.has(token.text)) depth--;
    end = token.end;
    while (open.at(-1)?.byLine === false && depth === open.at(-1)!.depth && CLOSING.has(token.text) && isEndOf(token)) close();
  }
  while (open.length > 0) close();
  return declarations;
}

/** The bracket of a function's parameters is no end. */
const isEndOf = ({ text }: LuaToken): boolean => text === 'end' || text === '}';

/** The declaration whose name, or whose keyword `function`, is token `i`. */
function declaredAt(tokens: readonly LuaToken[], i: number): Pick<Open, 'name' | 'byLine'> | undefined {
  const [token, next, after] = [tokens[i]!, tokens[i + 1], tokens[i + 2]];
  if (token.text === 'function' && next !== undefined && NAME.test(next.text)) return { name: next.text, byLine: false };
  if (!NAME.test(token.text) || next?.text !== '=' || after === undefined || after.text === '=') return undefined;
  return { name: token.text, byLine: after.text !== 'function' && after.text !== '{' };
}
