// What stands outside of markup in HTML, and where its markup is, by the tokens of an HTML parser: a tree would take quadratic time
// for some texts.
import { Tokenizer, TokenizerMode } from 'parse5';
import type { Token } from 'parse5';
import { countCharacters } from 'lingate';
import type { MarkupPart, MarkupReader } from './markup-text.ts';

/** Elements whose content is text up to their end tag; of `plaintext`, everything that follows. */
const TEXT_ELEMENTS: ReadonlyMap<string, Tokenizer['state']> = new Map([
  ...['title', 'textarea'].map((name) => [name, TokenizerMode.RCDATA] as const),
  ...['style', 'xmp', 'iframe', 'noembed', 'noframes'].map((name) => [name, TokenizerMode.RAWTEXT] as const),
  ['script', TokenizerMode.SCRIPT_DATA],
  ['plaintext', TokenizerMode.PLAINTEXT],
]);
/** Only in these can an element be empty because its tag ends in a slash. */
const FOREIGN: ReadonlySet<string> = new Set(['svg', 'math']);

/**
 * In doubt it counts more than a browser would show: CDATA anywhere, the content of elements that are text in HTML, and a tag or
 * comment that does not end, which some engines take for text. With `part`, it also tells where markup is.
 */
export function htmlReader(text: string, part?: (part: MarkupPart) => void): MarkupReader {
  return new HtmlText(text, part);
}

class HtmlText implements MarkupReader {
  characters = 0;
  #foreign = 0;
  /** Of the last token. */
  #end = 0;
  readonly #text: string;
  readonly #part: ((part: MarkupPart) => void) | undefined;
  readonly #tokenizer: Tokenizer;

  constructor(text: string, part: ((part: MarkupPart) => void) | undefined) {
    this.#text = text;
    this.#part = part;
    const count = ({ chars, location }: Token.CharacterToken): void => {
      this.characters += countCharacters(chars);
      this.#end = location!.endOffset;
    };
    this.#tokenizer = new Tokenizer(
      { sourceCodeLocationInfo: true },
      {
        onStartTag: (tag) => {
          this.#started(tag);
          this.#tell(tag.tagName, tag.location!);
        },
        onEndTag: ({ tagName, location }) => {
          if (FOREIGN.has(tagName) && this.#foreign > 0) this.#foreign--;
          this.#tell(`/${tagName}`, location!);
        },
        onCharacter: count,
        onWhitespaceCharacter: count,
        onNullCharacter: count,
        onComment: ({ location }) => this.#tell('!', location!),
        onDoctype: ({ location }) => this.#tell('!', location!),
        onEof: () => {
          this.characters += countCharacters(withoutCData(text.slice(this.#end)));
        },
      },
    );
    this.#tokenizer.inForeignNode = true;
  }

  write(slice: string, isLast: boolean): boolean {
    this.#tokenizer.write(slice, isLast);
    return true;
  }

  #tell(key: string, { startOffset: from, endOffset: to }: Token.Location): void {
    this.#end = to;
    if (this.#text[to - 1] === '>') this.#part?.({ from, to, key });
    else this.characters += countCharacters(this.#text.slice(from, to));
  }

  #started({ tagName, selfClosing }: Token.TagToken): void {
    if (selfClosing && this.#foreign > 0) return;
    if (FOREIGN.has(tagName) && !selfClosing) this.#foreign++;
    const state = TEXT_ELEMENTS.get(tagName);
    if (state !== undefined) this.#tokenizer.state = state;
  }
}

const CDATA = '<![CDATA[';

/** The text in CDATA has been counted, and an empty section is no token. */
function withoutCData(rest: string): string {
  let from = 0;
  while (rest.startsWith(CDATA, from)) {
    const end = rest.indexOf(']]>', from);
    if (end === -1) return '';
    from = end + ']]>'.length;
  }
  return rest.slice(from);
}
