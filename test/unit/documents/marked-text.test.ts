// Elements in a text, and what becomes of a translation that has lost or broken them: formatting may go, texts and pictures never.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { textOf, translatedPieces } from '../../../src/documents/passage.ts';
import type { Mark, TextPiece } from '../../../src/documents/passage.ts';

const NOWHERE = { from: 0, to: 0 };
const text = (value: string): TextPiece => ({ kind: 'text', text: value, span: NOWHERE });
const pair: Mark = { open: { from: 1, to: 1 }, close: { from: 2, to: 2 }, ordered: false };
const begin: Mark = { open: { from: 3, to: 3 }, close: undefined, ordered: true };
const end: Mark = { open: { from: 4, to: 4 }, close: undefined, ordered: true };
const picture: Mark = { open: { from: 5, to: 5 }, close: undefined, ordered: false };
const NAMES = new Map([
  [pair, 'pair'],
  [begin, 'begin'],
  [end, 'end'],
  [picture, 'picture'],
]);

const original: readonly TextPiece[] = [
  text('a & '),
  { kind: 'begin', mark: pair },
  text('<b>'),
  { kind: 'end', mark: pair },
  { kind: 'begin', mark: begin },
  text('c'),
  { kind: 'begin', mark: end },
  { kind: 'begin', mark: picture },
  text('d'),
];

function shown(pieces: readonly TextPiece[]): string {
  return pieces
    .map((piece) => {
      if (piece.kind === 'text') return piece.text;
      return piece.kind === 'end' ? `[/${NAMES.get(piece.mark)!}]` : `[${NAMES.get(piece.mark)!}]`;
    })
    .join('');
}

describe('a text with elements', () => {
  test('numbers them in order of their beginning, and escapes what is no element', () => {
    expect(textOf(original)).toEqual({ text: 'a &amp; <x1>&lt;b&gt;</x1><x2/>c<x3/><x4/>d', format: 'xml' });
    expect(textOf([text('a & <b>')])).toEqual({ text: 'a & <b>', format: 'text' });
  });

  test.each([
    ['as it was', 'A &amp; <x1>&lt;B&gt;</x1><x2/>C<x3/><x4/>D', 'A & [pair]<B>[/pair][begin]C[end][picture]D'],
    ['in another order', '<x4/>D <x1>B</x1> A<x2/>C<x3/>', '[picture]D [pair]B[/pair] A[begin]C[end]'],
    ['with white space and capitals in tags', 'A <X1 >B</ x1><x2 />C< x3/><x4></x4>D', 'A [pair]B[/pair][begin]C[end][picture]D'],
    [
      'with entities of any kind, and some that are none',
      '&#65; &#x42; &quot;&unknown; & <x2/><x3/><x4/>',
      'A B "&unknown; & [begin][end][picture]',
    ],
    ['without any', 'All of it', 'All of it[begin][end][picture]'],
    ['with an unknown one', '<x9>A</x9><x2/><x3/><x4/>', 'A[begin][end][picture]'],
    ['that ends before it begins', '</x1>A<x1><x2/><x3/><x4/>', 'A[begin][end][picture]'],
    ['one of them twice', '<x4/>A<x4/> &amp; B', 'A & B[begin][end][picture]'],
    ['those with an order out of it', 'A<x3/>B<x2/><x4/>', 'AB[begin][end][picture]'],
    ['nested wrongly', '<x1>A<x2/></x3></x1>', '[pair]A[begin][/pair][end][picture]'],
  ])('%s', (_name, translation, expected) => {
    expect(shown(translatedPieces(translation, original))).toBe(expected);
  });

  test('whatever an engine answers: every mark within the text is there once, pairs are closed, those with an order keep it', () => {
    const part = fc.constantFrom('word ', ...'<x1> </x1> <x2/> <x3/> <x4/> <x2> </x4> &amp; < > <x1/> <x99/>'.split(' '));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 14 }), (parts) => {
        const result = shown(translatedPieces(parts.join(''), original));
        for (const name of ['[begin]', '[end]', '[picture]']) expect(result.split(name)).toHaveLength(2);
        expect(result.indexOf('[begin]')).toBeLessThan(result.indexOf('[end]'));
        expect(result.split('[pair]').length).toBe(result.split('[/pair]').length);
        expect(result.split('word ')).toHaveLength(parts.join('').split('word ').length);
      }),
    );
  });
});
