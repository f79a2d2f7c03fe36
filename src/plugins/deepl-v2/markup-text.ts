// Finds how much of a text stands outside of markup: slice by slice, so that no text holds the event loop for long.
import { countCharacters, nextTurn } from 'lingate';
import type { htmlReader as htmlReaderOf } from './html-text.ts';

export type MarkupFormat = 'html' | 'xml';

/** Reads one text, given in slices. */
export interface MarkupReader {
  /** Code points outside of markup so far; an entity counts as the characters that it stands for. */
  readonly characters: number;
  /** `false` if the text does not parse; it is not called again then. */
  write(slice: string, isLast: boolean): boolean;
}

/** A tag, a comment, an instruction or a declaration: what is free of charge. */
export interface MarkupPart {
  /** UTF-16 code units. */
  readonly from: number;
  readonly to: number;
  /** The name of the tag, with a slash in front for an end tag; `!` for others. */
  readonly key: string;
}

type MakeReader = (text: string) => MarkupReader;

/** Code points outside of markup; `undefined` for a text that does not parse. */
export type Measured = number | undefined;

/** Takes a millisecond or two at most. */
const SLICE_UNITS = 4096;
/** In the turn in which the request is read, over all of its texts. */
const AT_ONCE_UNITS = 2 * SLICE_UNITS;

let makeHtmlReader: typeof htmlReaderOf | undefined;

const LOADERS: Readonly<Record<MarkupFormat, () => Promise<MakeReader>>> = {
  async html() {
    const { htmlReader } = await import('./html-text.ts');
    makeHtmlReader = htmlReader;
    return (text) => htmlReader(text);
  },
  xml: async () => (await import('./xml-text.ts')).xmlReader,
};
const loaded: Partial<Record<MarkupFormat, MakeReader>> = {};

/** Measures each text. The parser is loaded when it is first needed: most gateways never do. */
export function measureMarkup(texts: readonly string[], format: MarkupFormat): readonly Measured[] | Promise<readonly Measured[]> {
  const make = loaded[format];
  if (make !== undefined) return inTurns(measure(texts, make));
  return LOADERS[format]().then((made) => inTurns(measure(texts, (loaded[format] = made))));
}

/** Yields the length of each slice that it has read. */
function* measure(texts: readonly string[], make: MakeReader): Work<readonly Measured[]> {
  const found: Measured[] = [];
  for (const text of texts) found.push(yield* measureOne(text, make));
  return found;
}

function* measureOne(text: string, make: MakeReader): Work<Measured> {
  if (text === '') return 0;
  const reader = make(text);
  if (!(yield* readAllOf(text, reader))) return undefined;
  // A few entities stand for more characters than one; none for more than it has.
  return Math.min(reader.characters, countCharacters(text));
}

/** Whether it parses. */
function* readAllOf(text: string, reader: MarkupReader): Work<boolean> {
  for (let from = 0; from < text.length;) {
    const to = sliceEnd(text, from + SLICE_UNITS);
    if (!reader.write(text.slice(from, to), to === text.length)) return false;
    yield to - from;
    from = to;
  }
  return true;
}

/** Only after HTML was measured. */
export function* htmlParts(text: string): Work<readonly MarkupPart[]> {
  const parts: MarkupPart[] = [];
  yield* readAllOf(
    text,
    makeHtmlReader!(text, (part) => parts.push(part)),
  );
  return parts;
}

/** Not between the halves of a surrogate pair. */
function sliceEnd(text: string, wanted: number): number {
  if (wanted >= text.length) return text.length;
  const last = text.charCodeAt(wanted - 1);
  return last >= 0xd800 && last < 0xdc00 ? wanted + 1 : wanted;
}

/** Work in slices, each of which yields its length. */
type Work<Result> = Generator<number, Result>;

/** Does the first slices at once, and each of the others in a turn of its own. */
export function inTurns<Result>(work: Work<Result>): Result | Promise<Result> {
  for (let units = 0; units < AT_ONCE_UNITS;) {
    const step = work.next();
    if (step.done === true) return step.value;
    units += step.value;
  }
  return goOn(work);
}

async function goOn<Result>(work: Work<Result>): Promise<Result> {
  for (;;) {
    await nextTurn();
    for (let units = 0; units < SLICE_UNITS;) {
      const step = work.next();
      if (step.done === true) return step.value;
      units += step.value;
    }
  }
}
