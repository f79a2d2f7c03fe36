// The named declarations of a source file: TypeScript by its syntax tree, Lua by its tokens.
import { parseAst } from 'vitest/node';
import type { Span } from './tokens.ts';
import { luaOutline } from './lua-outline.ts';

/** A function, a class or its member, a variable of a module, or a property of an object. */
export interface Declaration extends Span {
  /** Names from the outermost to its own: `SettlementQueue`, `#send`. */
  readonly path: readonly string[];
}

export interface Outline {
  readonly declarations: readonly Declaration[];
  readonly comments: readonly Span[];
}

export function outlineOf(file: string, text: string): Outline {
  if (file.endsWith('.lua')) return luaOutline(text);
  const declarations: Declaration[] = [];
  const literals: Span[] = [];
  visit(parseAst(text, { lang: file.endsWith('.ts') ? 'ts' : 'js' }), {
    path: [],
    inFunction: false,
    declarations,
    literals,
  });
  return { declarations, comments: commentsOf(text, literals) };
}

/** Of ESTree, as far as it matters here. */
interface Node extends Span {
  readonly type: string;
  readonly id?: Node | null;
  readonly key?: Node;
  readonly init?: Node | null;
  readonly declarations?: readonly Node[];
  readonly value?: Node | string | null;
  readonly name?: string;
}

interface Visit {
  readonly path: readonly string[];
  /** The only variable of a statement that has its name already. */
  readonly named?: Node | undefined;
  readonly inFunction: boolean;
  readonly declarations: Declaration[];
  readonly literals: Span[];
}

function visit(node: Node, within: Visit): void {
  if (node.type === 'Literal' || node.type === 'TemplateElement') within.literals.push(node);
  const name = nameOf(node, within.inFunction);
  const path = name === undefined || node === within.named ? within.path : [...within.path, name];
  if (path !== within.path) within.declarations.push({ path, start: node.start, end: node.end });
  const inner = {
    ...within,
    path,
    named: node.declarations?.length === 1 ? node.declarations[0] : undefined,
    inFunction: within.inFunction || isFunction(node),
  };
  for (const child of Object.values(node)) {
    for (const one of Array.isArray(child) ? (child as unknown[]) : [child]) if (isNode(one)) visit(one, inner);
  }
}

/** The name of a declaration. Variables and properties within functions have none unless they are functions. */
function nameOf(node: Node, inFunction: boolean): string | undefined {
  switch (node.type) {
    case 'FunctionDeclaration':
    case 'ClassDeclaration':
    case 'TSInterfaceDeclaration':
      return node.id?.name;
    case 'MethodDefinition':
    case 'PropertyDefinition':
      return keyName(node.key);
    case 'VariableDeclaration':
      // The whole statement.
      return node.declarations?.length === 1 ? nameOf(node.declarations[0]!, inFunction) : undefined;
    case 'VariableDeclarator':
      return !inFunction || isFunction(node.init) ? node.id?.name : undefined;
    case 'Property':
      return !inFunction || isFunction(node.value) ? keyName(node.key) : undefined;
    default:
      return undefined;
  }
}

function keyName(key: Node | undefined): string | undefined {
  if (key?.type === 'PrivateIdentifier') return `#${key.name}`;
  return typeof key?.value === 'string' ? key.value : key?.name;
}

const isFunction = (node: unknown): boolean =>
  isNode(node) && ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'].includes(node.type);

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Partial<Node>).type === 'string';

const COMMENT = /\/\/.*|\/\*[^]*?\*\//y;

/** `//` and `/*` mean something else within strings, templates and regular expressions. */
function commentsOf(text: string, literals: readonly Span[]): Span[] {
  const ends = new Map(literals.map(({ start, end }) => [start, end]));
  const comments: Span[] = [];
  for (let at = text.indexOf('/') === -1 ? text.length : 0; at < text.length;) {
    const literalEnd = ends.get(at) ?? at;
    if (literalEnd > at) {
      at = literalEnd;
      continue;
    }
    COMMENT.lastIndex = at;
    const comment = text[at] === '/' ? COMMENT.exec(text) : null;
    if (comment === null) at++;
    else comments.push({ start: at, end: (at += comment[0].length) });
  }
  return comments;
}
