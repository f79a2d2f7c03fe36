// What of markup is charged: never more than all of it, what an XML parser finds as text in XML that is well-formed, and nothing for
// what hides in tags. Markup that is free of charge comes back as it was sent, whatever an engine does to it.
import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { describe, expect, test } from 'vitest';
import { restoredMarkup, measureMarkup } from '../../../../src/plugins/deepl-v2/markup.ts';
import type { MarkupFormat } from '../../../../src/plugins/deepl-v2/markup.ts';
import { draws } from '../../../support/seed.ts';

const RUNS = { numRuns: draws(500) };
const FORMATS: readonly MarkupFormat[] = ['xml', 'html'];

const length = (text: string): number => Array.from(text).length;

/** What an XML parser finds; `undefined` if it does not parse. */
function xmlText(text: string): string | undefined {
  let found = '';
  try {
    const parser = new SaxesParser({ fragment: true });
    parser.on('text', (one) => (found += one));
    parser.on('cdata', (one) => (found += one));
    parser.on('error', (error) => {
      throw error;
    });
    parser.write(text).close();
    return found;
  } catch {
    return undefined;
  }
}

/** `undefined`: nothing of it is free. */
const CASES: readonly (readonly [text: string, xml: string | undefined, html: string | undefined])[] = [
  ['', '', ''],
  ['Hello', 'Hello', 'Hello'],
  ['a<b>c</b>d', 'acd', 'acd'],
  ['<a title="hidden words" b=\'more\'/>', '', ''],
  ['<!-- a comment -->x', 'x', 'x'],
  ['<?php echo 1 ?>x', 'x', 'x'],
  ['<![CDATA[x < y]]>', 'x < y', 'x < y'],
  ['&amp;&#65;&#x1F600;', '&A😀', '&A😀'],
  ['&nbsp;&copy;', undefined, '\u00a0©'],
  ['&words;', undefined, '&words;'],
  ['a\r\nb', 'a\nb', 'a\nb'],
  ['😀<b>é</b>', '😀é', '😀é'],
  ['<?xml version="1.0"?><a>b</a>', 'b', 'b'],
  ['<!DOCTYPE html><p>b</p>', 'b', 'b'],
  ['<!DOCTYPE p><p>b</p>', 'b', 'b'],
  ['<p>b</p><!DOCTYPE p>', undefined, 'b'],
  ['<p>not closed', undefined, 'not closed'],
  ['a < b & c', undefined, 'a < b & c'],
  ['<p>a</q>', undefined, 'a'],
  ['</p>a', undefined, 'a'],
  ['<br>x', undefined, 'x'],
  ['a<b title="words', undefined, undefined],
  ['a<!-- words', undefined, undefined],
  ['a<!-- words --', undefined, undefined],
  ['a</b words', undefined, undefined],
  ['<b/>a<![CDATA[words', undefined, undefined],
  ['a<? words', undefined, undefined],
  ['<![CDATA[]]>', '', ''],
  ['<x y=z>a', undefined, 'a'],
  ['<x y="1" y="2"/>a', undefined, 'a'],
  ['<x y="&z;"/>a', undefined, 'a'],
  ['<x y="1"z="2"/>a', undefined, 'a'],
  ['<!-- a -- b -->c', undefined, 'c'],
  ['a]]>b', undefined, 'a]]>b'],
  ['<a/>\u0000', undefined, '\u0000'],
  ['<script>alert(1)</script>x', 'alert(1)x', 'alert(1)x'],
  ['<svg><title/><b>x</b></svg>', 'x', 'x'],
  ['<a b="&lt;words&gt;">c</a>', 'c', 'c'],
  ['<!DOCTYPE a [<!ENTITY w "words">]><a>&w;</a>', undefined, '&w;'],
  ['<b>]]&gt;</b>', ']]>', ']]>'],
  ['<!--c--><!DOCTYPE a><a>x</a>', 'x', 'x'],
  ['\n<!DOCTYPE a><a>x</a>', 'x', '\nx'],
  ['</a><a>', undefined, ''],
];

test.each(CASES)('%j', (text, xml, html) => {
  const lengthOf = (found?: string): number | undefined => (found === undefined ? undefined : length(found));
  expect([measureMarkup(text, 'xml'), measureMarkup(text, 'html')]).toEqual([lengthOf(xml), lengthOf(html)]);
});

const word = fc.constantFrom('a', 'hidden words', 'é', '😀', ' ', '\n', '\r\n', '&amp;', '&lt;', '&#65;', '"', "'", '>');
const name = fc.constantFrom('a', 'b', 'p', 'x-1', 'title', 'style', 'svg', 'é');
const value = fc.constantFrom('', 'hidden words', '1', '&lt;b&gt;', '/', '😀');
const attributes = fc
  .uniqueArray(fc.tuple(fc.constantFrom('title', 'alt', 'b', 'translate'), value), { maxLength: 3, selector: ([key]) => key })
  .map((list) => list.map(([key, given]) => ` ${key}="${given}"`).join(''));

/** Well-formed. */
const markup = fc.letrec<{ piece: string; all: string }>((tie) => ({
  piece: fc.oneof(
    { weight: 5, arbitrary: word },
    fc.constantFrom('<!-- hidden words -->', '<?x hidden words?>', '<![CDATA[words <b>]]>', '<br/>'),
    fc.tuple(name, attributes, tie('all')).map(([tag, more, inside]) => `<${tag}${more}>${inside}</${tag}>`),
    fc.tuple(name, attributes).map(([tag, more]) => `<${tag}${more}/>`),
  ),
  all: fc.array(tie('piece'), { maxLength: 5 }).map((pieces) => pieces.join('')),
})).all;

/** The same with something cut out, put in, or in another place. */
const broken = fc
  .tuple(
    markup,
    fc.nat(),
    fc.nat({ max: 4 }),
    fc.constantFrom('', '<', '>', '&', '"', '</', '<!', '<!--', '-->', '<![CDATA[', '<?', '\0', '='),
  )
  .map(([text, at, cut, put]) => {
    const units = Array.from(text);
    const from = units.length === 0 ? 0 : at % units.length;
    return [...units.slice(0, from), put, ...units.slice(from + cut)].join('');
  });
const anything = fc.oneof(markup, broken, fc.string({ unit: 'grapheme', maxLength: 40 }));

describe('over random and broken markup', () => {
  test('XML is what a parser takes for it, and its text is what the parser finds', () => {
    fc.assert(
      fc.property(anything, (text) => {
        const found = xmlText(text);
        expect(measureMarkup(text, 'xml')).toBe(found === undefined ? undefined : length(found));
      }),
      RUNS,
    );
  });

  test('HTML: never more than all of it', () => {
    fc.assert(
      fc.property(anything, (text) => {
        expect(measureMarkup(text, 'html') ?? 0).toBeLessThanOrEqual(length(text));
      }),
      RUNS,
    );
  });
});

test.each([
  ['<p title="a">b</p>', '<p title="a">B</p>', '<p title="a">B</p>'],
  ['<p title="a">b</p>', '<p title="A">B</p>', '<p title="a">B</p>'],
  ['<b x="1"/>c<b x="2"/>', '<b x="2"/>C<b x="1"/>', '<b x="2"/>C<b x="1"/>'],
  ['<b x="1"/>c<b x="2"/>', '<b x="9"/>C<b x="1"/>', '<b x="2"/>C<b x="1"/>'],
  ['<br/>a', '<br />A', '<br/>A'],
  ['a', '<i title="new">A</i>', '<i>A</i>'],
  ['<a t="x">y</a>', '<a t="x">Y</a><a t="x">Y</a>', '<a t="x">Y</a><a>Y</a>'],
  ['<!-- words -->a', '<!-- Wörter -->A', '<!-- words -->A'],
  ['a', 'A<!-- more -->', 'A'],
  ['<?x a > words?>b', '<?x a > Wörter?>B', '<?x a > words?>B'],
  ['<a t="x">y</a>', 'Y', 'Y'],
  // What does not end is text.
  ['<a t="x">y', '<a t="X', '<a t="X'],
  ['a < b', 'A < B', 'A < B'],
  ['<![CDATA[<a t="x">]]>', '<![CDATA[<A T="X">]]>', '<![CDATA[<A T="X">]]>'],
  ['<é t="words">a</é>', '<é t="Wörter">A</é>', '<é t="words">A</é>'],
  ['<!DOCTYPE a [<!ENTITY b "words">]><a/>', '<!DOCTYPE a [<!ENTITY b "Wörter">]><a/>', '<!DOCTYPE a [<!ENTITY b "words">]><a/>'],
  ["<a t='>words'/>b", "<a t='>Wörter'/>B", "<a t='>words'/>B"],
])('%j, translated as %j: %j', (source, translation, retained) => {
  expect(restoredMarkup(source, translation)).toBe(retained);
});

/** An engine that translates all words, wherever they are, and may drop, double or turn round what it gets. */
const whims = fc.constantFrom<(text: string) => string>(
  (text) => text,
  (text) => text + text,
  (text) => text.slice(0, text.length / 2),
  (text) => text.split(/(?=<)/).toReversed().join(''),
);

test('nothing that an engine has translated for free is in the markup that comes back, and other words of it stay', () => {
  fc.assert(
    fc.property(markup, whims, (source, whim) => {
      // What an engine cuts of a section makes text of what follows.
      fc.pre(!source.includes('<![CDATA['));
      const translation = whim(source.replaceAll('hidden words', 'verborgene Wörter'));
      const retained = restoredMarkup(source, translation);
      for (const tag of retained.match(/<(?!!\[)[^<]*?(?:-->|\?>|>)/g) ?? []) expect(tag).not.toContain('Wörter');
    }),
    RUNS,
  );
  fc.assert(
    fc.property(markup, (source) => {
      const translation = source.replaceAll('>hidden words<', '>Wörter<');
      expect(restoredMarkup(source, translation)).toBe(translation);
    }),
    RUNS,
  );
});

test.each(FORMATS)('%s: the work is linear in the length, whatever is in it', (format) => {
  const long = (text: string): string => text.repeat(Math.ceil(200_000 / text.length));
  const texts = [
    ...['<a b="c">', '<', '<!--', '<a b="', '<![CDATA[', '[<!', "<a '", '<!DOCTYPE a>', '&#', '<a/>', '<?', '<!-- -->'].map(long),
    `<a ${long('b ')}>`,
    `<a ${long('b="" ')}/>`,
    `<a${long(' ')}b="c"`,
  ];
  const cpuMsOf = (text: string): number => {
    const before = process.cpuUsage();
    measureMarkup(text, format);
    restoredMarkup(text, text.toUpperCase());
    return process.cpuUsage(before).user / 1000;
  };
  for (const text of texts) {
    const [short, whole] = [cpuMsOf(text.slice(0, 20_000)), cpuMsOf(text)];
    // Quadratic work would take a hundred times as long.
    expect(whole).toBeLessThan(50 * Math.max(short, 20));
  }
});
