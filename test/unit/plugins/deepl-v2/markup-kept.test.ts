// Markup that is free of charge comes back as it was sent, whatever an engine does to it.
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { keptMarkup } from '../../../../src/plugins/deepl-v2/markup-kept.ts';
import { measureMarkup } from '../../../../src/plugins/deepl-v2/markup-text.ts';
import type { MarkupFormat } from '../../../../src/plugins/deepl-v2/markup-text.ts';

const RUNS = { numRuns: 2000, seed: 20_261_124 };
const FORMATS: readonly MarkupFormat[] = ['xml', 'html'];

// The parser is loaded by the measuring that comes before.
beforeAll(async () => {
  await measureMarkup(['x'], 'html');
});

const CASES: readonly (readonly [source: string, translation: string, kept: string])[] = [
  ['<p title="a">b</p>', '<p title="a">B</p>', '<p title="a">B</p>'],
  ['<p title="a">b</p>', '<p title="A">B</p>', '<p title="a">B</p>'],
  ['<b x="1"/>c<b x="2"/>', '<b x="2"/>C<b x="1"/>', '<b x="2"/>C<b x="1"/>'],
  ['<b x="1"/>c<b x="2"/>', '<b x="9"/>C<b x="1"/>', '<b x="2"/>C<b x="1"/>'],
  ['<br/>a', '<br />A', '<br/>A'],
  ['a', '<i title="new">A</i>', '<i>A</i>'],
  ['<a t="x">y</a>', '<a t="x">Y</a><a t="x">Y</a>', '<a t="x">Y</a><a>Y</a>'],
  ['<!-- words -->a', '<!-- Wörter -->A', '<!-- words -->A'],
  ['a', 'A<!-- more -->', 'A'],
  ['<?x words?>a', '<?x Wörter?>A', '<?x words?>A'],
  ['<a t="x">y</a>', 'Y', 'Y'],
  // What does not end is text.
  ['<a t="x">y', '<a t="X', '<a t="X'],
  ['a < b', 'A < B', 'A < B'],
];

test.each(CASES)('%j, translated as %j: %j', async (source, translation, kept) => {
  expect(await keptMarkup(source, translation, 'html')).toBe(kept);
});

test.each([
  ['<![CDATA[<a t="x">]]>', '<![CDATA[<A T="X">]]>', '<![CDATA[<A T="X">]]>'],
  ['<é t="words">a</é>', '<é t="Wörter">A</é>', '<é t="words">A</é>'],
  ['<?x a > words?>b', '<?x a > Wörter?>B', '<?x a > words?>B'],
  ['<!DOCTYPE a [<!ENTITY b "words">]><a/>', '<!DOCTYPE a [<!ENTITY b "Wörter">]><a/>', '<!DOCTYPE a [<!ENTITY b "words">]><a/>'],
  ["<a t='>words'/>b", "<a t='>Wörter'/>B", "<a t='>words'/>B"],
])('XML: %j, translated as %j: %j', async (source, translation, kept) => {
  expect(await keptMarkup(source, translation, 'xml')).toBe(kept);
});

const word = fc.constantFrom('a', 'hidden words', ' ', '😀', '&amp;', '>');
const name = fc.constantFrom('p', 'b', 'x-1', 'i');
const attributes = fc
  .uniqueArray(fc.tuple(fc.constantFrom('title', 'alt', 'b'), fc.constantFrom('', 'hidden words', '1')), {
    maxLength: 3,
    selector: ([key]) => key,
  })
  .map((list) => list.map(([key, value]) => ` ${key}="${value}"`).join(''));
const piece = fc.oneof(
  word,
  fc.constantFrom('<!-- hidden words -->', '<?x hidden words?>', '<br/>'),
  fc.tuple(name, attributes, word).map(([tag, more, inside]) => `<${tag}${more}>${inside}</${tag}>`),
);
const markup = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));

/** An engine that translates all words, wherever they are, and may drop, double or turn round what it gets. */
const whims = fc.constantFrom<(text: string) => string>(
  (text) => text,
  (text) => text + text,
  (text) => text.slice(0, text.length / 2),
  (text) => text.split(/(?=<)/).toReversed().join(''),
);
const translated = (text: string): string => text.replaceAll('hidden words', 'verborgene Wörter');

describe('over random markup and whims of engines', () => {
  test('nothing that an engine has translated is in the markup that comes back', async () => {
    await fc.assert(
      fc.asyncProperty(markup, whims, fc.constantFrom(...FORMATS), async (source, whim, format) => {
        const kept = await keptMarkup(source, whim(translated(source)), format);
        const tags = kept.match(/<[^<]*?(?:-->|\?>|>)/g) ?? [];
        for (const tag of tags) expect(tag).not.toContain('Wörter');
      }),
      RUNS,
    );
  });

  test('a translation that keeps the markup is not touched', async () => {
    await fc.assert(
      fc.asyncProperty(markup, fc.constantFrom(...FORMATS), async (source, format) => {
        const translation = source.replaceAll(/>hidden words</g, '>Wörter<');
        expect(await keptMarkup(source, translation, format)).toBe(translation);
      }),
      RUNS,
    );
  });
});

test.each(FORMATS)('%s: the work is linear in the length, whatever is in it', async (format) => {
  const long = (text: string): string => text.repeat(Math.ceil(200_000 / text.length));
  const texts = [
    long('<a b="c">'),
    long('<'),
    long('<!--'),
    `<a ${long('b ')}>`,
    long('<a b="'),
    long('<![CDATA['),
    long('[<!'),
    long("<a '"),
  ];
  const cpuMsOf = async (text: string): Promise<number> => {
    const before = process.cpuUsage();
    await keptMarkup(text, text.toUpperCase(), format);
    return process.cpuUsage(before).user / 1000;
  };
  for (const text of texts) {
    const [short, whole] = [await cpuMsOf(text.slice(0, 20_000)), await cpuMsOf(text)];
    // Quadratic work would take a hundred times as long.
    expect(whole).toBeLessThan(50 * Math.max(short, 20));
  }
});
