// HTML: text between borders of blocks, with inline elements as marks, and visible attributes.
import { Tokenizer, TokenizerMode } from 'parse5';
import type { Token, TokenHandler } from 'parse5';
import { escapeMarkup, labelPassage, plainPassage } from './passage.ts';
import type { Passage, SourceSpan } from './passage.ts';
import { PassageBuilder } from './passage-builder.ts';
import { limitDeclared } from './source.ts';
import type { Source } from './source.ts';

/** Elements within a line of text; all others begin and end a text. */
const INLINE: ReadonlySet<string> = new Set(
  (
    'a abbr acronym b bdi bdo big cite data del dfn em font i ins label mark q s small span strike strong sub sup time tt u ' +
    'ruby rb rt rp'
  ).split(' '),
);
/** Stand within a line and contain no text. */
const VOID: ReadonlySet<string> = new Set('br img input wbr'.split(' '));
/** What they contain is not translated. */
const OPAQUE: ReadonlySet<string> = new Set(
  'script style svg math code kbd samp var template iframe noembed noframes xmp plaintext'.split(' '),
);
/** Their content is text up to their end tag. */
const CONTENT: ReadonlyMap<string, Tokenizer['state']> = new Map([
  ...['title', 'textarea'].map((name) => [name, TokenizerMode.RCDATA] as const),
  ...['style', 'xmp', 'iframe', 'noembed', 'noframes'].map((name) => [name, TokenizerMode.RAWTEXT] as const),
  ['script', TokenizerMode.SCRIPT_DATA],
  ['plaintext', TokenizerMode.PLAINTEXT],
]);
const SEEN_ATTRIBUTES: ReadonlySet<string> = new Set(['alt', 'title', 'placeholder', 'aria-label', 'summary']);
/** Attributes that readers see on some elements only. */
const SEEN_ON: ReadonlyMap<string, ReadonlySet<string>> = new Map([['label', new Set(['option', 'optgroup', 'track'])]]);
/** Inputs that show their value as a text of the page. */
const BUTTONS: ReadonlySet<string> = new Set(['button', 'reset', 'submit']);
const SEEN_METAS: ReadonlySet<string> = new Set(['description', 'og:title', 'og:description', 'twitter:title', 'twitter:description']);
/** An element without an end tag. */
const NEVER_CLOSED: ReadonlySet<string> = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '));

/** By a parser's tokens: a tree would take quadratic time for some files, and has no more. */
export function htmlPage(source: Source): readonly Passage[] {
  limitDeclared(declaredIn(source.text), source);
  return new HtmlReader(source.text).read();
}

class HtmlReader implements TokenHandler {
  readonly #source: string;
  readonly #builder: PassageBuilder;
  readonly #tokenizer: Tokenizer;
  /** The untranslated element, how many of its name are open, and where it begins. */
  #opaque: { readonly name: string; depth: number; readonly from: number } | undefined;
  /** How many `pre` or `textarea` are open: there white space matters. */
  #spaced = 0;

  constructor(source: string) {
    this.#source = source;
    this.#builder = new PassageBuilder(source, { write: escapeHtml, collapses: true });
    this.#tokenizer = new Tokenizer({ sourceCodeLocationInfo: true }, this);
  }

  read(): readonly Passage[] {
    this.#tokenizer.write(this.#source, true);
    // Attributes come between the texts of the page.
    return this.#builder.found.all.toSorted((a, b) => a.from - b.from);
  }

  onStartTag(tag: Token.TagToken): void {
    this.#start(tag);
    this.#tokenizer.state = CONTENT.get(tag.tagName) ?? this.#tokenizer.state;
  }

  #start(tag: Token.TagToken): void {
    const { tagName: name, location } = tag;
    const span = spanOf(location!);
    if (this.#opaque !== undefined) {
      if (name === this.#opaque.name && !NEVER_CLOSED.has(name) && !tag.selfClosing) this.#opaque.depth++;
      return;
    }
    const isOpaque = OPAQUE.has(name) || isMarkedOpaque(tag);
    const hasEnd = !NEVER_CLOSED.has(name) && !(tag.selfClosing && OPAQUE.has(name));
    if (!isOpaque) this.#addAttributes(tag);
    if (isOpaque && hasEnd) {
      if (!INLINE.has(name) && !OPAQUE.has(name)) this.#flush();
      this.#opaque = { name, depth: 1, from: span.from };
    } else if (INLINE.has(name)) {
      this.#builder.open(name, span);
    } else if (VOID.has(name) || isOpaque) {
      this.#builder.empty(span);
    } else {
      this.#flush();
      if (name === 'pre' || name === 'textarea') this.#spaced++;
    }
  }

  onEndTag({ tagName: name, location }: Token.TagToken): void {
    const span = spanOf(location!);
    if (this.#opaque !== undefined) {
      if (name !== this.#opaque.name || --this.#opaque.depth > 0) return;
      this.#builder.empty({ from: this.#opaque.from, to: span.to });
      this.#opaque = undefined;
    } else if (INLINE.has(name)) {
      this.#builder.close(name, span);
    } else if (OPAQUE.has(name) || VOID.has(name)) {
      this.#builder.empty(span);
    } else {
      this.#flush();
      if ((name === 'pre' || name === 'textarea') && this.#spaced > 0) this.#spaced--;
    }
  }

  onCharacter({ chars, location }: Token.CharacterToken): void {
    if (this.#opaque === undefined) this.#builder.text(chars, spanOf(location!));
  }

  onWhitespaceCharacter(token: Token.CharacterToken): void {
    this.onCharacter(token);
  }

  onNullCharacter(token: Token.CharacterToken): void {
    this.onCharacter(token);
  }

  onComment({ location }: Token.CommentToken): void {
    if (this.#opaque === undefined) this.#builder.empty(spanOf(location!));
  }

  onDoctype(): void {
    // It is no text.
  }

  onEof(): void {
    this.#flush();
  }

  #flush(): void {
    this.#builder.flush(this.#spaced > 0);
  }

  #addAttributes({ tagName, attrs, location }: Token.TagToken): void {
    for (const { name, value } of attrs) {
      const isLabel = tagName === 'html' && (name === 'lang' || name === 'xml:lang');
      if (!/\p{L}/u.test(value) || !(isLabel || isSeen(tagName, name, attrs))) continue;
      const span = location!.attrs?.[name];
      const start = span && /^[^=]*=\s*/.exec(this.#source.slice(span.startOffset, span.endOffset))?.[0].length;
      if (start === undefined) continue;
      const place = { from: span!.startOffset + start, to: span!.endOffset };
      if (isLabel) this.#builder.found.add(labelPassage(place, (language) => `"${language}"`));
      else this.#builder.found.add(...plainPassage(value.trim(), place, (given) => `"${escapeHtml(given).replaceAll('"', '&quot;')}"`));
    }
  }
}

function isMarkedOpaque({ attrs }: Token.TagToken): boolean {
  return attrs.some(
    ({ name, value }) =>
      (name === 'translate' && value.toLowerCase() === 'no') || (name === 'class' && value.split(/\s+/).includes('notranslate')),
  );
}

function isSeen(tagName: string, name: string, attrs: Token.TagToken['attrs']): boolean {
  if (SEEN_ATTRIBUTES.has(name) || SEEN_ON.get(name)?.has(tagName) === true) return true;
  if (tagName === 'input' && name === 'value') {
    return attrs.some((attribute) => attribute.name === 'type' && BUTTONS.has(attribute.value.trim().toLowerCase()));
  }
  return isSeenMeta(tagName, name, attrs);
}

function isSeenMeta(tagName: string, name: string, attrs: Token.TagToken['attrs']): boolean {
  if (tagName !== 'meta' || name !== 'content') return false;
  return attrs.some(({ name: key, value }) => (key === 'name' || key === 'property') && SEEN_METAS.has(value.toLowerCase()));
}

const CHARSET = /^[^>]*?\bcharset\s*=\s*["']?\s*([\w.:-]+)/i;

/** The encoding that the page declares in its first kilobytes. */
function declaredIn(source: string): string | undefined {
  const head = source.slice(0, 4096);
  for (const meta of head.matchAll(/<meta\b/gi)) {
    const found = CHARSET.exec(head.slice(meta.index));
    if (found !== null) return found[1];
  }
  return undefined;
}

function escapeHtml(text: string): string {
  return escapeMarkup(text).replaceAll('\u00a0', '&nbsp;');
}

function spanOf({ startOffset, endOffset }: Token.Location): SourceSpan {
  return { from: startOffset, to: endOffset };
}
