// What of markup is charged: never more than all of it, never less than what parsers find as text, and nothing for what hides in tags.
import fc from 'fast-check';
import { parseFragment } from 'parse5';
import type { DefaultTreeAdapterTypes } from 'parse5';
import { SaxesParser } from 'saxes';
import { describe, expect, test } from 'vitest';
import { measureMarkup } from '../../../../src/plugins/deepl-v2/markup-text.ts';
import type { MarkupFormat, Measured } from '../../../../src/plugins/deepl-v2/markup-text.ts';

const RUNS = { numRuns: 3000, seed: 20_261_123 };

const measured = async (text: string, format: MarkupFormat): Promise<Measured> => (await measureMarkup([text], format))[0];
const length = (text: string): number => Array.from(text).length;

/** What an XML parser finds; `undefined` if it does not parse. In one piece, unlike what is tested. */
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

/** The text nodes of an HTML parser's tree. */
function htmlText(text: string): string {
  const of = (node: DefaultTreeAdapterTypes.Node): string => {
    if ('value' in node) return node.value;
    if ('content' in node) return of(node.content);
    return 'childNodes' in node ? node.childNodes.map(of).join('') : '';
  };
  return of(parseFragment(text, { scriptingEnabled: false }));
}

const CASES: readonly (readonly [text: string, xml: string | undefined, html: string])[] = [
  ['', '', ''],
  ['Hello', 'Hello', 'Hello'],
  ['a<b>c</b>d', 'acd', 'acd'],
  ['<a title="hidden words" b=\'more\'/>', '', ''],
  ['<!-- a comment -->x', 'x', 'x'],
  ['<?php echo 1 ?>x', 'x', 'x'],
  ['<![CDATA[x < y]]>', 'x < y', 'x < y'],
  ['&amp;&#65;&#x1F600;', '&A😀', '&A😀'],
  ['&nbsp;&copy;', undefined, '\u00a0©'],
  ['a\r\nb', 'a\nb', 'a\nb'],
  ['😀<b>é</b>', '😀é', '😀é'],
  ['<?xml version="1.0"?><a>b</a>', 'b', 'b'],
  ['<!DOCTYPE html><p>b</p>', 'b', 'b'],
  ['<!DOCTYPE p><p>b</p>', 'b', 'b'],
  ['<p>not closed', undefined, 'not closed'],
  ['a < b & c', undefined, 'a < b & c'],
  ['<p>a</q>', undefined, 'a'],
  ['<br>x', undefined, 'x'],
  // What does not end is text.
  ['a<b title="words', undefined, 'a<b title="words'],
  ['a<!-- words', undefined, 'a<!-- words'],
  ['a<!-- words --', undefined, 'a<!-- words --'],
  ['a</b words', undefined, 'a</b words'],
  ['a<![CDATA[words', undefined, 'awords'],
  ['a<? words', undefined, 'a<? words'],
  ['<![CDATA[]]>', '', ''],
  ['<![CDATA[]]><b title="words', undefined, '<b title="words'],
  ['<x y=z>a', undefined, 'a'],
  ['<!-->words-->', '', 'words-->'],
  ['<script>if (a<b) "</b>"</script>x', undefined, 'if (a<b) "</b>"x'],
  ['<title><b>t</b></title>', 't', '<b>t</b>'],
  ['<textarea><b></textarea>y', undefined, '<b>y'],
  ['<plaintext><b>', undefined, '<b>'],
  ['<svg><title/><b>x</b></svg>', 'x', 'x'],
  ['<a b="&lt;words&gt;">c</a>', 'c', 'c'],
  ['<!DOCTYPE a [<!ENTITY w "words">]><a>&w;</a>', undefined, ']>&w;'],
];

describe('what is counted', () => {
  test.each(CASES)('%j', async (text, xml, html) => {
    expect(await measured(text, 'xml')).toBe(xml === undefined ? undefined : length(xml));
    expect(await measured(text, 'html')).toBe(length(html));
  });

  test('several texts, each by itself', async () => {
    expect(await measureMarkup(['<a>', 'b', '', '<c/>d'], 'xml')).toEqual([undefined, 1, 0, 1]);
    expect(await measureMarkup(['<script>', 'b<i>', ''], 'html')).toEqual([0, 1, 0]);
  });

  test('a tag with very many attributes is not XML here, and is no more in HTML', async () => {
    const tag = (count: number): string => `<a ${Array.from({ length: count }, (_none, i) => `a${i}=""`).join(' ')}/>x`;
    expect([await measured(tag(1000), 'xml'), await measured(tag(1001), 'xml'), await measured(tag(1001), 'html')]).toEqual([
      1,
      undefined,
      1,
    ]);
  });
});

const word = fc.constantFrom('a', 'words', 'é', '😀', ' ', '\n', '\r\n', '&amp;', '&lt;', '&#65;', ']]', '"', "'", '>');
const name = fc.constantFrom('a', 'b', 'p', 'x-1', 'title', 'style', 'svg', 'td', 'table', 'select', 'pre', 'br', 'template');
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
    fc.constantFrom('', '<', '>', '&', '"', '</', '<!', '<!--', '-->', '<![CDATA[', ']]>', '<?', '\0'),
  )
  .map(([text, at, cut, put]) => {
    const units = Array.from(text);
    const from = units.length === 0 ? 0 : at % units.length;
    return [...units.slice(0, from), put, ...units.slice(from + cut)].join('');
  });
const anything = fc.oneof(markup, broken, fc.string({ unit: 'grapheme', maxLength: 40 }));
const format = fc.constantFrom<MarkupFormat>('xml', 'html');

describe('over random and broken markup', () => {
  test('never more than all of it, and never less than the text that an XML parser finds', async () => {
    await fc.assert(
      fc.asyncProperty(anything, format, async (text, as) => {
        const [count, found] = [await measured(text, as), xmlText(text)];
        if (count === undefined) expect([as, found]).toEqual(['xml', undefined]);
        expect(count ?? length(text)).toBeLessThanOrEqual(length(text));
        if (found !== undefined) expect(count).toBeGreaterThanOrEqual(length(found));
        if (found !== undefined && as === 'xml') expect(count).toBe(length(found));
      }),
      RUNS,
    );
  });

  test('HTML: never less than the text in the tree of an HTML parser', async () => {
    await fc.assert(
      fc.asyncProperty(anything, async (text) => {
        expect(await measured(text, 'html')).toBeGreaterThanOrEqual(length(htmlText(text).replaceAll('\0', '')));
      }),
      RUNS,
    );
  });

  test('what is hidden in attributes, comments and instructions changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(markup, format, async (text, as) => {
        const without = text.replaceAll('hidden words', '');
        // In elements whose content is text, tags are words like others.
        if (as === 'html' && /<(?:title|style)/.test(text)) return;
        expect(await measured(text, as)).toBe(await measured(without, as));
      }),
      RUNS,
    );
  });

  test('slices do not matter', async () => {
    await fc.assert(
      fc.asyncProperty(anything, format, fc.integer({ min: 4080, max: 4100 }), async (text, as, before) => {
        const filler = 'é'.repeat(before);
        const alone = await measured(text, as);
        expect(await measured(filler + text, as)).toBe(alone === undefined ? undefined : before + alone);
      }),
      { ...RUNS, numRuns: 500 },
    );
  });
});
