// Puts markup back that an engine has changed, where it is free of charge: so nobody has words translated for nothing that they
// hide in attributes or comments.
import type { MarkupFormat, MarkupPart } from './markup-text.ts';
import { htmlParts, inTurns } from './markup-text.ts';
import { xmlParts } from './xml-parts.ts';

/** The translation with the markup of its source. */
export function keptMarkup(source: string, translation: string, format: MarkupFormat): string | Promise<string> {
  return inTurns(restored(source, translation, format));
}

/** For a tag that the source does not have: without what it may say. */
const BARE = /^<\/?[^\s/>]+/;

type Work<Result> = Generator<number, Result>;

function* restored(source: string, translation: string, format: MarkupFormat): Work<string> {
  const given = yield* partsOf(source, format);
  /** How often each part of the source is not yet found in the translation. */
  const left = new Map<string, number>();
  for (const part of given) {
    const raw = rawOf(source, part);
    left.set(raw, (left.get(raw) ?? 0) + 1);
    yield raw.length;
  }
  const changed: MarkupPart[] = [];
  for (const part of yield* partsOf(translation, format)) {
    const raw = rawOf(translation, part);
    const count = left.get(raw) ?? 0;
    if (count > 0) left.set(raw, count - 1);
    else if (!isBare(raw)) changed.push(part);
    yield raw.length;
  }
  if (changed.length === 0) return translation;
  return yield* replaced(translation, changed, yield* missing(source, given, left));
}

/** The parts of the source that the translation does not have, by key, in order. */
function* missing(source: string, given: readonly MarkupPart[], left: Map<string, number>): Work<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  for (const part of given) {
    const raw = rawOf(source, part);
    const count = left.get(raw)!;
    yield raw.length;
    if (count === 0) continue;
    left.set(raw, count - 1);
    const same = found.get(part.key);
    if (same === undefined) found.set(part.key, [raw]);
    else same.push(raw);
  }
  return found;
}

function* replaced(text: string, changed: readonly MarkupPart[], instead: ReadonlyMap<string, readonly string[]>): Work<string> {
  const used = new Map<string, number>();
  let result = '';
  let done = 0;
  for (const { from, to, key } of changed) {
    const index = used.get(key) ?? 0;
    used.set(key, index + 1);
    result += text.slice(done, from) + (instead.get(key)?.[index] ?? bareOf(text.slice(from, to)));
    done = to;
    yield to - from;
  }
  return result + text.slice(done);
}

function* partsOf(text: string, format: MarkupFormat): Work<readonly MarkupPart[]> {
  if (format === 'html') return yield* htmlParts(text);
  const parts: MarkupPart[] = [];
  for (const part of xmlParts(text)) {
    parts.push(part);
    yield part.to - part.from;
  }
  return parts;
}

function rawOf(text: string, { from, to }: MarkupPart): string {
  return text.slice(from, to);
}

/** A tag that says nothing but its name. */
function isBare(raw: string): boolean {
  return raw === bareOf(raw);
}

function bareOf(raw: string): string {
  if (raw.startsWith('<!') || raw.startsWith('<?')) return '';
  const name = BARE.exec(raw)?.[0];
  return name === undefined ? '' : `${name}${raw.endsWith('/>') ? '/' : ''}>`;
}
