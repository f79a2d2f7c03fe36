// The bounds on JSON: strings are skipped as a parser reads them, so that what stands in them is never counted.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonFault, utf8Text } from '../../../src/domain/json-body.ts';

const fault = (text: string): string | undefined => jsonFault(Buffer.from(text))?.words;
const PADDING = ' '.repeat(20_000);
const piece = fc.constantFrom('"', '\\', '\\\\', '\\"', '[', '{', ',', ':', 'a'.repeat(31), 'a'.repeat(32), 'é😀', '[{'.repeat(40));
const written = fc.array(piece, { maxLength: 60 }).map((pieces) => JSON.stringify(pieces.join('')));

describe('in texts of any length', () => {
  test('strings end where a parser ends them: what they contain counts for nothing', () => {
    fc.assert(
      fc.property(fc.array(written, { maxLength: 20 }), (strings) => {
        expect(fault(`[${strings.join(',')}]${PADDING}`)).toBeUndefined();
      }),
    );
  });

  test('and what stands behind them counts', () => {
    fc.assert(
      fc.property(written, (string) => {
        expect(fault(`[${string},${'['.repeat(64)}${PADDING}`)).toMatch(/at most 64 levels/);
      }),
    );
  });
});

test('bounds of their own are judged and named', () => {
  const text = `[[],[],[]]${PADDING}`;
  const bounds = { containersMax: 3, membersMax: 10, valuesMax: 10 };
  expect(jsonFault(Buffer.from(text), bounds)?.words).toBe('may hold at most 3 lists and objects, 10 members and 10 values');
  expect(jsonFault(Buffer.from(text), { ...bounds, containersMax: 4 })).toBeUndefined();
});

test('bytes that are not UTF-8 are no text', () => {
  expect(utf8Text(Buffer.from('"é"'))).toBe('"é"');
  expect(utf8Text(Buffer.from([0x22, 0xc3, 0x22]))).toBeUndefined();
  expect(utf8Text(Buffer.from([0xed, 0xa0, 0x80]))).toBeUndefined();
});
