// A secret from standard input: everything from a pipe, or one line at a terminal, which is not shown.
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { readSecret } from '../../../src/cli/secret-input.ts';

const KEY = `la_live_${'Ab3d'.repeat(10)}`;
const PROMPT = 'Key: ';

/** A standard input like Node's, at a terminal or not, which records the calls and what is printed, in order. */
function input(isTTY: boolean) {
  const done: string[] = [];
  const stream = Object.assign(new PassThrough(), {
    isTTY,
    setRawMode(raw: boolean) {
      done.push(`raw ${raw}`);
      return stream;
    },
  });
  const read = (): Promise<string> =>
    readSecret(
      stream as unknown as Parameters<typeof readSecret>[0],
      (text) => void done.push(text),
      PROMPT,
      () => void done.push('interrupted'),
    );
  return { stream, done, read };
}

test.each([
  ['a line', [`${KEY}\n`]],
  ['a line in pieces', [KEY.slice(0, 7), KEY.slice(7), '\r\n']],
  ['no line end', [KEY]],
  ['surrounding white space', ['\n  ', KEY, ' \n\n']],
])('a pipe is read to its end: %s', async (_what, pieces) => {
  const { stream, done, read } = input(false);
  const secret = read();
  for (const piece of pieces) stream.write(piece);
  stream.end();
  expect([await secret, done]).toEqual([KEY, []]);
});

test('a pipe that never ends is read only up to a limit', async () => {
  const { stream, read } = input(false);
  const secret = read();
  stream.write('x'.repeat(5000));
  expect((await secret).length).toBe(5000);
});

test.each([
  ['typed', [...Array.from(KEY), '\r']],
  ['pasted', [`${KEY}\r`]],
  ['pasted with a line feed', [`${KEY}\n`]],
  ['with corrections', ['xx\u007f\b', `${KEY}z\u007f`, '\r']],
  ['ended by Control-D', [KEY, '\u0004']],
])('a terminal shows none of it: %s', async (_how, pieces) => {
  const { stream, done, read } = input(true);
  const secret = read();
  for (const piece of pieces) stream.write(piece);
  expect(await secret).toBe(KEY);
  // Raw mode comes before the prompt, or the first pasted characters would be shown.
  expect(done).toEqual(['raw true', PROMPT, 'raw false', '\n']);
  expect(stream.destroyed).toBe(true);
});

test('Control-C ends it, and the terminal’s mode is restored', async () => {
  const { stream, done, read } = input(true);
  const secret = read();
  stream.write(`${KEY.slice(0, 9)}\u0003`);
  await secret;
  expect(done).toEqual(['raw true', PROMPT, 'interrupted', 'raw false', '\n']);
});
