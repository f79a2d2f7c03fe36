// The names that a Lua file (5.1) uses without declaring them, and those that it declares outside of any block.

export interface LuaNames {
  /** Used, read or assigned, where no declaration of the file is visible; by name, with the line of the first use. */
  readonly free: ReadonlyMap<string, FreeName>;
  /** Local variables and functions of the file itself, not of a block or function in it. */
  readonly declared: ReadonlySet<string>;
}

interface FreeName {
  readonly line: number;
  readonly isAssigned: boolean;
}

interface Token {
  readonly kind: 'name' | 'word' | 'value' | 'sign' | 'end';
  readonly text: string;
  readonly line: number;
}

/** Comments, texts and numbers, names, signs; in this order, because a comment begins like a sign. */
const TOKEN =
  /(?<comment>--(?:\[\[[^]*?\]\]|.*))|(?<value>'(?:[^'\\\n]|\\[^])*'|"(?:[^"\\\n]|\\[^])*"|\[\[[^]*?\]\]|(?:0[xX][\da-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?))|(?<name>[A-Za-z_]\w*)|(?<sign>\.\.\.|\.\.|[=~<>]=|[-+*/%^#=<>(){}[\];:,.])|(?<space>\s+)|(?<wrong>[^])/g;
const WORDS = new Set(
  'and break do else elseif end false for function if in local nil not or repeat return then true until while'.split(' '),
);
const VALUES = new Set(['nil', 'true', 'false', '...']);
const BEFORE_VALUE = new Set(['not', '-', '#']);
const BETWEEN_VALUES = new Set(['+', '-', '*', '/', '%', '^', '..', '<', '>', '<=', '>=', '==', '~=', 'and', 'or']);
const ENDS_BLOCK = new Set(['end', 'else', 'elseif', 'until', '']);

/** Throws a `SyntaxError` with the line where the text is not Lua. */
export function luaNames(text: string): LuaNames {
  return new Reader(tokensOf(text)).read();
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  for (const { 0: found, groups } of text.matchAll(TOKEN)) {
    const { name, value, sign, wrong } = groups!;
    if (wrong !== undefined) throw new SyntaxError(`line ${line}: unexpected ${JSON.stringify(wrong)}`);
    if (name !== undefined) tokens.push({ kind: WORDS.has(name) ? 'word' : 'name', text: name, line });
    else if (value !== undefined) tokens.push({ kind: 'value', text: value, line });
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign, line });
    line += found.split('\n').length - 1;
  }
  return [...tokens, { kind: 'end', text: '', line }];
}

/** Lua's grammar, as far as scopes depend on it. */
class Reader {
  readonly #tokens: readonly Token[];
  readonly #scopes: Set<string>[] = [new Set()];
  readonly #free = new Map<string, FreeName>();
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  read(): LuaNames {
    this.#statements();
    if (this.#next.kind !== 'end') throw this.#unexpected();
    return { free: this.#free, declared: this.#scopes[0]! };
  }

  get #next(): Token {
    return this.#tokens[this.#at]!;
  }

  #unexpected(): SyntaxError {
    return new SyntaxError(`line ${this.#next.line}: unexpected ${this.#next.text === '' ? 'end of the file' : `"${this.#next.text}"`}`);
  }

  #is(text: string): boolean {
    return this.#next.kind !== 'value' && this.#next.text === text;
  }

  #skip(text: string): boolean {
    if (!this.#is(text)) return false;
    this.#at += 1;
    return true;
  }

  #expect(...texts: readonly string[]): void {
    if (!texts.some((text) => this.#skip(text))) throw this.#unexpected();
  }

  #name(): Token {
    const token = this.#next;
    if (token.kind !== 'name') throw this.#unexpected();
    this.#at += 1;
    return token;
  }

  #names(): string[] {
    const names = [this.#name().text];
    while (this.#skip(',')) names.push(this.#name().text);
    return names;
  }

  #declare(names: readonly string[]): void {
    for (const name of names) this.#scopes.at(-1)!.add(name);
  }

  #use({ text, line }: Token, isAssigned = false): void {
    if (this.#scopes.some((scope) => scope.has(text))) return;
    const known = this.#free.get(text);
    this.#free.set(text, { line: known?.line ?? line, isAssigned: isAssigned || known?.isAssigned === true });
  }

  /** `last` reads what ends the block; its names are still visible. */
  #block(declared: readonly string[], last: () => void): void {
    this.#scopes.push(new Set(declared));
    this.#statements();
    last();
    this.#scopes.pop();
  }

  #untilEnd(declared: readonly string[] = []): void {
    this.#block(declared, () => this.#expect('end'));
  }

  #statements(): void {
    while (this.#next.kind === 'value' || !ENDS_BLOCK.has(this.#next.text)) this.#statement();
  }

  #statement(): void {
    if (this.#skip(';') || this.#skip('break')) return;
    if (this.#skip('do')) this.#untilEnd();
    else if (this.#skip('if')) this.#branches();
    else if (this.#skip('while')) this.#loop([]);
    else if (this.#skip('for')) {
      const names = this.#names();
      this.#expect('=', 'in');
      this.#loop(names);
    } else if (this.#skip('repeat'))
      this.#block([], () => {
        this.#expect('until');
        this.#expression();
      });
    else if (this.#skip('function')) this.#namedFunction();
    else if (this.#skip('local')) this.#local();
    else if (this.#skip('return')) {
      if (!this.#is(';') && !ENDS_BLOCK.has(this.#next.text)) this.#expressions();
    } else this.#callOrAssignment();
  }

  #branches(): void {
    do {
      this.#expression();
      this.#expect('then');
      this.#block([], () => undefined);
    } while (this.#skip('elseif'));
    if (this.#skip('else')) this.#untilEnd();
    else this.#expect('end');
  }

  #loop(names: readonly string[]): void {
    this.#expressions();
    this.#expect('do');
    this.#untilEnd(names);
  }

  #namedFunction(): void {
    const name = this.#name();
    const isMember = this.#is('.') || this.#is(':');
    this.#use(name, !isMember);
    let hasSelf = false;
    while (!this.#is('(')) {
      hasSelf = this.#is(':');
      this.#expect('.', ':');
      this.#name();
    }
    this.#function(hasSelf ? ['self'] : []);
  }

  #local(): void {
    if (this.#skip('function')) {
      this.#declare([this.#name().text]);
      this.#function([]);
      return;
    }
    const names = this.#names();
    if (this.#skip('=')) this.#expressions();
    this.#declare(names);
  }

  #callOrAssignment(): void {
    const targets = [this.#suffixed()];
    while (this.#skip(',')) targets.push(this.#suffixed());
    const isAssigned = this.#skip('=');
    for (const target of targets) if (target !== undefined) this.#use(target, isAssigned);
    if (isAssigned) this.#expressions();
  }

  #expressions(): void {
    do this.#expression();
    while (this.#skip(','));
  }

  #expression(): void {
    do {
      while (this.#next.kind !== 'value' && BEFORE_VALUE.has(this.#next.text)) this.#at += 1;
      this.#operand();
    } while (this.#next.kind !== 'value' && BETWEEN_VALUES.has(this.#next.text) && this.#skip(this.#next.text));
  }

  #operand(): void {
    if (this.#next.kind === 'value' || VALUES.has(this.#next.text)) this.#at += 1;
    else if (this.#skip('function')) this.#function([]);
    else if (this.#is('{')) this.#table();
    else {
      const plain = this.#suffixed();
      if (plain !== undefined) this.#use(plain);
    }
  }

  /** A name or parentheses with calls and members behind. Returns the name if there is nothing else; otherwise it has been used. */
  #suffixed(): Token | undefined {
    let plain: Token | undefined;
    if (this.#skip('(')) {
      this.#expression();
      this.#expect(')');
    } else plain = this.#name();
    while (this.#suffix()) {
      if (plain !== undefined) this.#use(plain);
      plain = undefined;
    }
    return plain;
  }

  #suffix(): boolean {
    if (this.#skip('.')) this.#name();
    else if (this.#skip('[')) {
      this.#expression();
      this.#expect(']');
    } else if (this.#skip(':')) {
      this.#name();
      if (!this.#suffix()) throw this.#unexpected();
    } else if (this.#skip('(')) {
      if (!this.#is(')')) this.#expressions();
      this.#expect(')');
    } else if (this.#is('{')) this.#table();
    else if (this.#next.kind === 'value' && /^['"[]/.test(this.#next.text)) this.#at += 1;
    else return false;
    return true;
  }

  #table(): void {
    this.#expect('{');
    while (!this.#skip('}')) {
      if (this.#skip('[')) {
        this.#expression();
        this.#expect(']');
        this.#expect('=');
      } else if (this.#next.kind === 'name' && this.#tokens[this.#at + 1]!.text === '=') this.#at += 2;
      this.#expression();
      if (!this.#is('}')) this.#expect(',', ';');
    }
  }

  #function(declared: readonly string[]): void {
    const names = [...declared];
    this.#expect('(');
    while (!this.#skip(')')) {
      if (!this.#skip('...')) names.push(this.#name().text);
      if (!this.#is(')')) this.#expect(',');
    }
    this.#untilEnd(names);
  }
}
