// Multipart forms in what bodies of a whole front do not show: heads of parts, boundaries, and what clients write.
import { expect, test } from 'vitest';
import { readMultipartBody } from '../../../src/domain/form-body.ts';

const TYPE = 'multipart/form-data; boundary=B';
const read = (body: string | Uint8Array, type = TYPE) => readMultipartBody({ 'content-type': type }, Buffer.from(body as string), 100_000);
const part = (name: string, value: string, more = '') => `--B\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;

test.each([
  ['', []],
  ['--B--\r\n', []],
  [`${part('q', '')}${part('q', 'ü\r\n-B\r\n--😀')}--B--`, ['', 'ü\r\n-B\r\n--😀'].map((value) => ['q', value])],
  [`${part('a%22b%0d%0A%41', '%22')}--B--`, [['a"b\r\n%41', '%22']]],
  [`${part('q', 'a', '\r\nContent-Type: text/plain; charset=UTF-8\r\nContent-Transfer-Encoding: 8bit')}--B--`, [['q', 'a']]],
])('%j is %j', (body, fields) => {
  expect(read(body)).toEqual({ kind: 'fields', fields });
});

test.each([
  ['preamble\r\n--B--', 'well-formed'],
  ['--B\nContent-Disposition: form-data; name="q"\n\na\n--B--', 'well-formed'],
  [`${part('q', 'a')}--Bx--`, 'well-formed'],
  [`${part('q', 'a')}--B--x`, 'well-formed'],
  ['--B\r\nX: y\r\n\r\na\r\n--B--', 'Content-Disposition'],
  ['--B\r\nContent-Disposition: form-data; name=q\r\n\r\na\r\n--B--', 'Content-Disposition'],
  [`${part('q', 'a', '\r\nContent-Disposition: form-data; name="p"')}--B--`, 'Content-Disposition'],
  [`${part('q', 'a', "; filename*=UTF-8''a")}--B--`, 'files'],
  [`${part('q', 'a', `\r\nX: ${'x'.repeat(2000)}`)}--B--`, 'head of a part'],
  [Buffer.from(`${part('\xff', 'a')}--B--`, 'latin1'), 'UTF-8'],
  ...['', '; boundary=', '; boundary=""', `; boundary=${'x'.repeat(71)}`, '; boundary="a "', '; boundary=a*b'].map(
    (more): [string, string, string] => ['', 'boundary', `multipart/form-data${more}`],
  ),
])('%j is refused because of %s', (body, reason, type?: string) => {
  const detail = expect.stringContaining(reason) as string;
  expect(read(body, type)).toMatchObject({ kind: 'refused', refusal: { problem: { code: 'validation_error', detail } } });
});

test('what fetch sends is parsed, name by name', async () => {
  const form = new FormData();
  for (const [name, value] of [
    ['"q"\n', ' a\nb'],
    ['q', '😀--'],
  ] as const)
    form.append(name, value);
  const response = new Response(form);
  const bytes = new Uint8Array(await response.arrayBuffer());
  // As HTML specifies: a line break is always CRLF.
  expect(read(bytes, response.headers.get('content-type')!)).toEqual({
    kind: 'fields',
    fields: [
      ['"q"\r\n', ' a\r\nb'],
      ['q', '😀--'],
    ],
  });
});
