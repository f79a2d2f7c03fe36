// The form of an upload: one file beside fields, and what is told about anything else.
import { describe, expect, test } from 'vitest';
import { plainName, readUploadForm, uploadHeadFault } from '../../../src/domain/form-body.ts';

const HEADERS = { 'content-type': 'multipart/form-data; boundary=b' };
const FILE = 'Content-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nDear\r\n--b is no delimiter';
const TARGET = 'Content-Disposition: form-data; name="target_lang"\r\n\r\nDE';
const form = (...parts: readonly string[]): Buffer => Buffer.from(`${parts.map((part) => `--b\r\n${part}\r\n`).join('')}--b--\r\n`);
const read = (body: Buffer) => readUploadForm(HEADERS, body, ['target_lang']);

test('a file and fields are read, in any order and byte for byte', () => {
  const file = 'Content-Disposition: form-data; filename="a.txt"; name="file"\r\nContent-Type: text/plain\r\n\r\n\u0000ÿ\r\n\r\n';
  for (const parts of [
    [file, TARGET],
    [TARGET, file],
  ]) {
    expect(read(form(...parts))).toEqual({
      kind: 'form',
      fields: { target_lang: 'DE' },
      fileName: 'a.txt',
      bytes: Buffer.from('\u0000ÿ\r\n\r\n'),
    });
  }
});

describe('a wrong form is refused:', () => {
  test.each([
    ['no file', form(TARGET), /^file: is missing/],
    ['two files', form(FILE, FILE), /^(file: send one|body: )/],
    ['an unknown field', form('Content-Disposition: form-data; name="x"\r\n\r\n1'), /^Unknown parameter/],
    ['a field twice', form(TARGET, TARGET), /^target_lang: send it once/],
    ['a file as a field', form('Content-Disposition: form-data; name="target_lang"; filename="a"\r\n\r\nDE'), /^target_lang: must be text/],
    ['an empty file', form('Content-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'), /^file: is empty/],
    ['a file without a name', form('Content-Disposition: form-data; name="file"\r\n\r\n1'), /^file: must have a file name/],
    ['no end', Buffer.from(`--b\r\n${TARGET}`), /^body: is not well-formed/],
    ['something after the end', Buffer.concat([form(TARGET), Buffer.from('more')]), /^body: is not well-formed/],
    ['no form', Buffer.from('target_lang=DE'), /^body: is not well-formed/],
    ['an encoded part', form(`Content-Transfer-Encoding: base64\r\n${TARGET}`), /^body: is not well-formed/],
    ['a head without an end', form('x'.repeat(3000)), /^body: the head of a part/],
  ])('%s', (_what, body, detail) => {
    expect(read(body)).toMatchObject({
      kind: 'problem',
      problem: { code: 'validation_error', detail: expect.stringMatching(detail) as string },
    });
  });
});

test('the head says that it is a form, not encoded, with a boundary', () => {
  expect(uploadHeadFault(HEADERS)).toBeUndefined();
  const others: Record<string, string>[] = [
    {},
    { 'content-type': 'application/json' },
    { 'content-type': 'multipart/form-data' },
    { ...HEADERS, 'content-encoding': 'gzip' },
  ];
  for (const headers of others) {
    expect(uploadHeadFault(headers)).toMatchObject({ problem: { code: 'validation_error' } });
  }
});

test('a file’s name has no folders and no control characters, and an ending', () => {
  expect(['a.txt', 'C:\\x\\a.txt', '../../a.txt', 'ä ö.txt'].map(plainName)).toEqual(['a.txt', 'a.txt', 'a.txt', 'ä ö.txt']);
  expect([undefined, '', 'a', 'a\n.txt', `${'a'.repeat(300)}.txt`].map(plainName)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
