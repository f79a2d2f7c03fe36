// Nearly valid texts: a good one with a few characters changed, which random text would never come close to.
import fc from 'fast-check';

/** What parsers stumble over: line ends, blanks, look-alikes beyond ASCII, and the separators of every format that is parsed here. */
const TROUBLE = [
  ' ',
  '\t',
  '\n',
  '\r',
  '\0',
  '\u00a0',
  '\u2028',
  '\u212a',
  '\u0131',
  'é',
  'ſ',
  '٣',
  '１',
  '-',
  '_',
  ':',
  '/',
  '.',
  ',',
  '@',
  '?',
  '#',
  '+',
  '%',
  '[',
  ']',
];
const PLAIN = ['0', '1', '7', '8', '9', 'a', 'f', 'g', 'A', 'F', 'G', 'I', 'P', 'T', 'z', 'Z'];

interface Change {
  readonly kind: 'insert' | 'delete' | 'replace' | 'case' | 'double';
  readonly at: number;
  readonly character: string;
}

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('insert', 'delete', 'replace', 'case', 'double'),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  character: fc.constantFrom(...TROUBLE, ...PLAIN),
});

/** Any code points but lone surrogates. The library's own generator takes seconds for its first one: it maps all of Unicode. */
export const anyText: fc.Arbitrary<string> = fc
  .array(fc.integer({ min: 0, max: 0x10_ffff - 0x800 }), { maxLength: 12 })
  .map((points) => String.fromCodePoint(...points.map((point) => (point < 0xd800 ? point : point + 0x800))));

/** The good texts, the same with up to three changes, and some unrelated ones. */
export function nearMisses(good: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const changed = fc.tuple(good, fc.array(change, { maxLength: 3 })).map(([text, changes]) => changes.reduce(apply, text));
  return fc.oneof({ weight: 8, arbitrary: changed }, { weight: 1, arbitrary: anyText }, { weight: 1, arbitrary: fc.string() });
}

function apply(text: string, { kind, at, character }: Change): string {
  const place = Math.min(text.length, Math.floor(at * (text.length + 1)));
  const before = text.slice(0, place);
  const here = text.slice(place, place + 1);
  const behind = text.slice(place + 1);
  switch (kind) {
    case 'insert':
      return before + character + here + behind;
    case 'delete':
      return before + behind;
    case 'replace':
      return before + character + behind;
    case 'case':
      return before + (here === here.toUpperCase() ? here.toLowerCase() : here.toUpperCase()) + behind;
    case 'double':
      return text + text;
  }
}
