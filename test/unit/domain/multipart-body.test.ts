// Multipart forms: what clients send, how bodies are parsed, and what is refused because it is ambiguous.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isMultipartType, readMultipartBody } from '../../../src/domain/form-body.ts';

const TYPE = 'multipart/form-data; boundary=B';
const read = (body: string | Uint8Array, type = TYPE) => readMultipartBody({ 'content-type': type }, Buffer.from(body as string), 100_000);
const part = (name: string, value: string, more = '') => `--B\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;

function expectRefused(body: string | Uint8Array, reason: string, type?: string): void {
  const detail = expect.stringContaining(reason) as string;
  expect(read(body, type)).toMatchObject({ kind: 'refused', refusal: { problem: { code: 'validation_error', detail } } });
}

async function sent(form: FormData): Promise<{ readonly type: string; readonly bytes: Uint8Array }> {
  const response = new Response(form);
  return { type: response.headers.get('content-type')!, bytes: new Uint8Array(await response.arrayBuffer()) };
}

describe('a multipart form', () => {
  test('has at most 1,000 parts', () => {
    expect(read(`${part('q', 'a').repeat(1000)}--B--`)).toMatchObject({ kind: 'fields', fields: { length: 1000 } });
    expectRefused(`${part('q', 'a').repeat(1001)}--B--`, '1000 fields');
  });

  test.each([
    ['', []],
    ['--B--', []],
    ['--B--\r\n', []],
    [`${part('q', 'a')}--B--\r\n`, [['q', 'a']]],
    [
      `${part('q', 'a')}${part('q', 'b')}--B--`,
      [
        ['q', 'a'],
        ['q', 'b'],
      ],
    ],
    [`${part('q', '')}--B--`, [['q', '']]],
    [`${part('q', 'ü\r\n-B\r\n--😀')}--B--`, [['q', 'ü\r\n-B\r\n--😀']]],
    [`${part('a%22b%0d%0A%41', '%22')}--B--`, [['a"b\r\n%41', '%22']]],
    [`${part('q', 'a', '\r\nContent-Type: text/plain; charset=UTF-8\r\nContent-Transfer-Encoding: 8bit')}--B--`, [['q', 'a']]],
  ])('%j is %j', (body, fields) => {
    expect(read(body)).toEqual({ kind: 'fields', fields });
  });

  test.each([
    ['x', 'well-formed'],
    ['--B', 'well-formed'],
    [part('q', 'a'), 'well-formed'],
    [`${part('q', 'a')}--B`, 'well-formed'],
    [`${part('q', 'a')}--Bx--`, 'well-formed'],
    [`${part('q', 'a')}--B--\r\nq=b`, 'well-formed'],
    [`${part('q', 'a')}--B--x`, 'well-formed'],
    [`preamble\r\n${part('q', 'a')}--B--`, 'well-formed'],
    ['--B\r\nContent-Disposition: form-data; name="q"\r\n--B--', 'well-formed'],
    ['--B\r\n\r\na\r\n--B--', 'well-formed'],
    ['--B\r\nX: y\r\n\r\na\r\n--B--', 'Content-Disposition'],
    ['--B\nContent-Disposition: form-data; name="q"\n\na\n--B--', 'well-formed'],
    ['--B\r\nContent-Disposition: form-data\r\n\r\na\r\n--B--', 'Content-Disposition'],
    ['--B\r\nContent-Disposition: form-data; name=q\r\n\r\na\r\n--B--', 'Content-Disposition'],
    [`${part('q', 'a', '\r\nContent-Disposition: form-data; name="p"')}--B--`, 'Content-Disposition'],
    [`${part('q', 'a', '; filename="a.txt"')}--B--`, 'files'],
    [`${part('q', 'a', "; filename*=UTF-8''a")}--B--`, 'files'],
    [`${part('q', 'a', '\r\nContent-Type: text/plain; charset=utf-16')}--B--`, 'plain text'],
    [`${part('q', 'YQ==', '\r\nContent-Transfer-Encoding: base64')}--B--`, 'plain text'],
    [`${part('q', 'a', `\r\nX: ${'x'.repeat(2000)}`)}--B--`, 'head of a part'],
  ])('%j is refused because of %s', (body, reason) => {
    expectRefused(body, reason);
  });

  test('bytes that are not UTF-8 are refused, in a value and in a name', () => {
    expectRefused(Buffer.from(`${part('q', '\xff')}--B--`, 'latin1'), 'UTF-8');
    expectRefused(Buffer.from(`${part('\xff', 'a')}--B--`, 'latin1'), 'UTF-8');
  });

  test.each([
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=""',
    `multipart/form-data; boundary=${'x'.repeat(71)}`,
    'multipart/form-data; boundary="a "',
    'multipart/form-data; boundary=a*b',
  ])('%s has no valid boundary', (type) => {
    expectRefused('', 'boundary', type);
  });

  test('another media type, a content coding and too many bytes are refused', () => {
    expectRefused('', 'multipart/form-data', 'multipart/mixed; boundary=B');
    expect(isMultipartType({ 'content-type': 'Multipart/Form-Data;boundary=B' })).toBe(true);
    expect(isMultipartType({})).toBe(false);
    expect(readMultipartBody({ 'content-type': TYPE, 'content-encoding': 'gzip' }, 'none', 9)).toMatchObject({ kind: 'refused' });
    expect(readMultipartBody({ 'content-type': TYPE }, 'too_large', 9)).toMatchObject({
      refusal: { problem: { detail: 'body: may be at most 9 bytes long.' } },
    });
  });

  test('any form that fetch sends is parsed, name by name', async () => {
    const texts = fc.string({ unit: 'grapheme' }).map((text) => text.toWellFormed());
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(texts, texts), { maxLength: 5 }), async (fields) => {
        const form = new FormData();
        for (const [name, value] of fields) form.append(name, value);
        const { type, bytes } = await sent(form);
        // As HTML specifies: a line break in a value is always CRLF.
        const whole = (text: string) => text.replaceAll(/\r\n?|\n/g, '\r\n');
        const back = fields.map(([name, value]) => [whole(name), whole(value)]);
        // The escapes of line breaks and quotes cannot be distinguished from the same characters in a name.
        fc.pre(fields.every(([name]) => !name.includes('%')));
        expect(read(bytes, type)).toEqual({ kind: 'fields', fields: back });
      }),
      { numRuns: 200 },
    );
  });

  test('no bytes make it throw, and 1,000 parts are read in their order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('--B', '\r\n', '--', 'Content-Disposition: form-data; name="q"', '"', ';', 'x'), { maxLength: 30 }),
        (pieces) => {
          expect(['fields', 'refused']).toContain(read(pieces.join('')).kind);
        },
      ),
    );
    const many = Array.from({ length: 1000 }, (_, index) => part(`f${index}`, String(index))).join('');
    const result = readMultipartBody({ 'content-type': TYPE }, Buffer.from(`${many}--B--`), 0);
    expect(result.kind === 'fields' && result.fields.length).toBe(1000);
  });
});
