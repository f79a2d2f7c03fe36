// Form bodies: how they are parsed, and what is refused instead of being repaired.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isFormType, readFormBody, readQuery } from '../../../src/domain/form-body.ts';

const HEADERS = { 'content-type': 'application/x-www-form-urlencoded' };
const read = (body: string, headers: Readonly<Record<string, string>> = HEADERS) => readFormBody(headers, Buffer.from(body, 'latin1'), 100);

describe('a form', () => {
  test.each([
    ['', []],
    ['q=a', [['q', 'a']]],
    [
      'q=a&q=b&x=',
      [
        ['q', 'a'],
        ['q', 'b'],
        ['x', ''],
      ],
    ],
    ['q', [['q', '']]],
    ['&&q=1&', [['q', '1']]],
    ['a=b=c', [['a', 'b=c']]],
    ['q=a+b%20c%2B', [['q', 'a b c+']]],
    ['%C3%BC=%F0%9F%98%80', [['ü', '😀']]],
    ['dictionaries%5B0%5D.source_lang=EN', [['dictionaries[0].source_lang', 'EN']]],
  ])('%j is %j', (body, fields) => {
    expect(read(body)).toEqual({ kind: 'fields', fields });
  });

  test.each([
    ['q=%', 'escape'],
    ['q=%zz', 'escape'],
    ['q=%ff', 'escape'],
    ['q=%ED%A0%80', 'escape'],
    ['q=\u00fc', 'beyond ASCII'],
  ])('%j is refused because of its %s', (body, reason) => {
    expect(read(body)).toMatchObject({
      kind: 'refused',
      refusal: { problem: { code: 'validation_error', detail: expect.stringContaining(reason) as string } },
    });
  });

  test('has at most 1,000 fields, empty ones not counted', () => {
    const long = (body: string) => readFormBody(HEADERS, Buffer.from(body, 'latin1'), 1_000_000);
    expect(long('a&'.repeat(1000))).toMatchObject({ kind: 'fields', fields: { length: 1000 } });
    expect(long('&&a=1'.repeat(1000))).toMatchObject({ kind: 'fields', fields: { length: 1000 } });
    for (const field of ['a', 'text=a']) {
      expect(long(`${field}&`.repeat(1001))).toMatchObject({
        refusal: { problem: { code: 'validation_error', detail: expect.stringContaining('1000 fields') as string } },
      });
    }
  });

  test('a plus is a space, and an escaped one is not; the received bytes are not changed', () => {
    const bytes = Buffer.from('a+b=%2B+%20');
    expect(readFormBody(HEADERS, bytes, 100)).toEqual({ kind: 'fields', fields: [['a b', '+  ']] });
    expect(bytes.toString()).toBe('a+b=%2B+%20');
  });

  test('is parsed as it was sent, whatever it contains', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }))), (fields) => {
        const sound = fields.filter(([name, value]) => name !== '' && (name + value).isWellFormed());
        expect(read(new URLSearchParams(sound).toString())).toEqual({ kind: 'fields', fields: sound });
      }),
    );
  });

  test.each([
    [{ 'content-type': 'application/json' }, 'Content-Type'],
    [{}, 'Content-Type'],
    [{ ...HEADERS, 'content-encoding': 'gzip' }, 'Content-Encoding'],
  ])('with %j is refused', (headers, field) => {
    expect(read('q=a', headers)).toMatchObject({
      kind: 'refused',
      refusal: { problem: { detail: expect.stringContaining(field) as string } },
    });
  });

  test('has the same length limit as any body', () => {
    expect(readFormBody(HEADERS, 'too_large', 100)).toMatchObject({
      refusal: { problem: { detail: 'body: may be at most 100 bytes long.' } },
    });
    expect(readFormBody(HEADERS, 'none', 100)).toEqual({ kind: 'fields', fields: [] });
  });

  test('is recognized by its media type alone', () => {
    expect(isFormType({ 'content-type': 'Application/X-WWW-Form-Urlencoded; charset=UTF-8' })).toBe(true);
    expect(isFormType({ 'content-type': 'multipart/form-data' })).toBe(false);
    expect(isFormType({})).toBe(false);
  });
});

describe('a query', () => {
  test('is read like a form', () => {
    const query = 'q=a+b&q=%C3%BC&target=de&&x';
    expect(readQuery(query)).toEqual(readFormBody(HEADERS, Buffer.from(query), 100));
    expect(readQuery('')).toEqual({ kind: 'fields', fields: [] });
  });

  test.each([
    ['q=%', 'query: an escape'],
    ['q=%ff', 'query: an escape'],
    ['q=\u00fc', 'query: characters beyond ASCII'],
    ['a&'.repeat(1001), 'query: may have at most 1000 parameters'],
  ])('%.20j is refused: %s', (query, reason) => {
    expect(readQuery(query)).toMatchObject({
      refusal: { problem: { code: 'validation_error', detail: expect.stringContaining(reason) as string } },
    });
  });
});
