// The cost of JSON: excessive depth and counts are refused before parsing, and valid requests are accepted.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readJsonBody, jsonFault, utf8Text } from '../../../src/domain/json-body.ts';
import { refuse } from '../../../src/core/problem.ts';

const fault = (text: string): string | undefined => jsonFault(Buffer.from(text))?.words;
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const list = (count: number, value: string): string => `[${Array.from({ length: count }, () => value).join(',')}]`;
const object = (count: number): string => `{${Array.from({ length: count }, (_none, index) => `"${index}":1`).join(',')}}`;
const PADDING = ' '.repeat(20_000);

describe('the limits of JSON', () => {
  test.each([
    ['64 levels', nested(64)],
    ['64 levels in a long body', PADDING + nested(64)],
    ['65 lists that are not nested', `[${list(64, '[]')}]`],
    ['brackets in a string', `{"text":["${'['.repeat(1000)}\\"${'{'.repeat(1000)}"]}`],
    ['brackets after an escaped quote', `{"text":["\\\\\\"${'['.repeat(1000)}"]}`],
    ['10,000 texts', list(10_000, '""')],
    ['10,000 members', object(10_000)],
    ['commas and colons in a string', `["${',:'.repeat(100_000)}"]`],
    ['4,999 lists in a list', list(4_999, '[]')],
    ['a string without an end', `["${'a'.repeat(20_000)}\\`],
    ['nothing', ''],
  ])('%s are accepted', (_name, text) => {
    expect(fault(text)).toBeUndefined();
  });

  test.each([
    ['65 levels', nested(65), /64 levels/],
    ['65 levels of objects', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, /64 levels/],
    ['65 levels in a long body', PADDING + nested(65), /64 levels/],
    ['65 levels that never end', `${'['.repeat(65)}${' '.repeat(65)}`, /64 levels/],
    ['65 levels after an escaped backslash', `["\\\\",${'['.repeat(64)}${' '.repeat(65)}`, /64 levels/],
    ['10,002 values', list(10_002, '1'), /10000 values/],
    ['10,001 members', object(10_001), /10000 members/],
    ['5,000 lists in a list', list(5_000, '[]'), /5000 lists/],
  ])('%s are refused', (_name, text, words) => {
    expect(fault(text)).toMatch(words);
  });

  test('65 levels that end too soon are left to the parser: what is shorter than any 65 levels costs nothing', () => {
    const read = readJsonBody({ 'content-type': 'application/json' }, Buffer.from('['.repeat(129)), 1 << 20);
    expect(read.kind === 'refused' && read.refusal.problem.code).toBe('validation_error');
  });

  test('any nesting is refused from 65 levels on, in a short body as in a long one', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    const value = fc.letrec((tie) => ({
      any: fc.oneof({ maxDepth: 80, depthSize: 'max' }, fc.string(), tie('list'), tie('object')),
      list: fc.array(tie('any'), { maxLength: 2 }),
      object: fc.dictionary(fc.string(), tie('any'), { maxKeys: 2 }),
    })).any;
    const deeper = fc.tuple(value, fc.integer({ min: 55, max: 70 }), fc.boolean()).map(([inner, levels, members]) => {
      let made: unknown = inner;
      for (let i = 0; i < levels; i++) made = members ? { '[{': made } : [made, ']}"'];
      return made;
    });
    fc.assert(
      fc.property(fc.oneof(value, deeper), (made) => {
        const text = JSON.stringify(made);
        for (const whole of [text, PADDING + text]) expect(fault(whole) !== undefined).toBe(depthOf(made) > 64);
      }),
      { numRuns: 200 },
    );
  });
});

test('a body with far too many texts is refused as such, unless it is nested too deep', () => {
  const named: [names: readonly string[], member: string | undefined][] = [];
  const codeOf = (body: string): string => {
    const read = readJsonBody({ 'content-type': 'application/json' }, Buffer.from(body), 1 << 20, (names, member) => {
      named.push([names, member]);
      if (member === 'context') return undefined;
      return refuse('too_many_texts', 'too many', { max_texts: 50 });
    });
    return read.kind === 'refused' ? read.refusal.problem.code : 'none';
  };
  expect(codeOf(`{"text":${list(100_000, '"a"')}}`)).toBe('too_many_texts');
  expect(codeOf(list(60_000, '{"Text":"a"}'))).toBe('too_many_texts');
  expect(codeOf(String.raw`{"a":{"b":1},"text":${list(60_000, '"odd:"')},"odd" :1,"text":2}`)).toBe('too_many_texts');
  expect(codeOf(`{"text":["a"],"context":${list(100_000, '"a"')}}`)).toBe('validation_error');
  expect(named).toEqual([
    [['text'], 'text'],
    [[], undefined],
    [['a', 'text', 'odd', 'text'], 'text'],
    [['text', 'context'], 'context'],
  ]);
  expect(codeOf(`{"text":${list(51, '"a"')}}`)).toBe('none');
  expect(codeOf(`{"text":${list(51, nested(63))}}`)).toBe('validation_error');
});

const piece = fc.constantFrom('"', '\\', '\\\\', '\\"', '[', '{', ',', ':', 'a'.repeat(31), 'a'.repeat(32), 'é😀', '[{'.repeat(40));
const written = fc.array(piece, { maxLength: 60 }).map((pieces) => JSON.stringify(pieces.join('')));

// Strings are skipped as a parser reads them, so that what stands in them is never counted.
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
