// Source text as words and single characters, so that two texts are compared without their formatting and comments.

export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Token extends Span {
  readonly text: string;
  /** End of a comma behind this token that only the formatter needs: the next token closes a bracket. */
  readonly commaEnd?: number;
}

const TOKEN = /[\w$\u0080-\uffff]+|\S/gu;
const CLOSING = new Set([')', ']', '}']);

/** `comments` are left out; they must be in order. */
export function tokensOf(text: string, comments: readonly Span[] = []): Token[] {
  const all: Token[] = [];
  let next = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [start, end] = [match.index, match.index + match[0].length];
    while (next < comments.length && comments[next]!.end <= start) next++;
    if (next < comments.length && comments[next]!.start <= start) continue;
    all.push({ text: match[0], start, end });
  }
  return withoutTrailingCommas(all);
}

function withoutTrailingCommas(all: readonly Token[]): Token[] {
  const left: Token[] = [];
  for (const [i, token] of all.entries()) {
    const before = left.at(-1);
    if (token.text === ',' && before !== undefined && CLOSING.has(all[i + 1]?.text ?? '')) {
      left[left.length - 1] = { ...before, commaEnd: token.end };
    } else left.push(token);
  }
  return left;
}

/** Every place in `source` where the tokens of `find` follow each other. */
export function placesOf(find: readonly Token[], source: readonly Token[]): Span[] {
  const places: Span[] = [];
  for (let at = 0; at < source.length; at++) {
    const end = endOfMatch(find, source, at);
    if (end !== undefined) places.push({ start: source[at]!.start, end });
  }
  return places;
}

function endOfMatch(find: readonly Token[], source: readonly Token[], at: number): number | undefined {
  const matched = matchedFrom(find, source, at);
  const last = source[at + matched - 1];
  if (matched === find.length) return last?.end;
  // A comma at the end, where the formatter may have none.
  const isComma = matched === find.length - 1 && find[matched]!.text === ',';
  return isComma && last !== undefined && CLOSING.has(source[at + matched]?.text ?? ')') ? (last.commaEnd ?? last.end) : undefined;
}

function matchedFrom(find: readonly Token[], source: readonly Token[], at: number): number {
  let matched = 0;
  while (matched < find.length && source[at + matched]?.text === find[matched]!.text) matched++;
  return matched;
}

/** Where most of the first tokens of `find` are, up to the end of the tokens that differ; `undefined` where there is nothing like it. */
export function nearestPlace(find: readonly Token[], source: readonly Token[]): (Span & { readonly matched: number }) | undefined {
  let best = { at: 0, matched: 0 };
  for (let at = 0; at < source.length; at++) {
    const matched = matchedFrom(find, source, at);
    if (matched > best.matched) best = { at, matched };
  }
  if (best.matched === 0) return undefined;
  const last = Math.min(best.at + find.length, source.length) - 1;
  return { start: source[best.at]!.start, end: source[last]!.end, matched: best.matched };
}
