// What a log says of a bug: class, kind of mistake and places of our code, and never what a caller sent.
import { expect, test } from 'vitest';
import { placeOf } from '../../../src/core/error-place.ts';

const SECRET = 'TOP SECRET text';
const EMPTY = {} as { run: () => void };

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('it did not throw');
}

test.each<[name: string, run: () => unknown, begin: RegExp]>([
  ['a member of nothing', () => (undefined as unknown as { a: { b: 1 } }).a.b, /^TypeError: Cannot read properties of undefined at /],
  [
    'a member whose name a caller chose',
    () => (null as unknown as Record<string, string>)[SECRET],
    /^TypeError: Cannot read properties of null at /,
  ],
  ['a call of nothing', () => EMPTY.run(), /^TypeError: .* is not a function at /],
  ['JSON that quotes its text', () => JSON.parse(SECRET) as unknown, /^SyntaxError at /],
  ['a number that quotes its text', () => BigInt(SECRET), /^SyntaxError at /],
  ['an error of somebody else with a text in it', () => thrower(new Error(`cannot translate ${SECRET}`)), /^Error at /],
  ['a name that is no name', () => thrower(Object.assign(new Error('x'), { name: SECRET })), /^Error/],
])('%s', (_name, run, begin) => {
  const said = placeOf(thrownBy(run));
  expect(said).toMatch(begin);
  expect(said).toContain('error-place.test.ts');
  expect(said).not.toMatch(/SECRET/);
  expect(said).not.toMatch(/node:|node_modules/);
});

function thrower(error: Error): never {
  throw error;
}

test('what is no error has only its type, and an error without a stack only its class', () => {
  expect(placeOf('TOP SECRET')).toBe('string');
  const bare = new RangeError('x');
  Object.defineProperty(bare, 'stack', { value: 7 });
  expect(placeOf(bare)).toBe('RangeError');
});

test('a long stack is cut, places are shown from the folder of the sources', () => {
  const error = new TypeError('x');
  const here = new URL('../../../src/', import.meta.url).pathname;
  error.stack = `TypeError: x\n${['a', 'b', 'c', 'd'].map((name) => `    at ${name} (file://${here}core/${name}.ts:1:2)`).join('\n')}`;
  expect(placeOf(error)).toBe('TypeError at a (core/a.ts:1:2), b (core/b.ts:1:2), c (core/c.ts:1:2)');
});
