// The few assertions that the contract suites need, based on `node:assert`, so that running them requires no library.
import assert from 'node:assert/strict';

interface Expectation {
  toBe(expected: unknown): void;
  /** `undefined` members count as absent, on both sides. */
  toEqual(expected: unknown): void;
  /** Compares only the expected members of objects; arrays must have the expected length. */
  toMatchObject(expected: unknown): void;
  toHaveLength(expected: number): void;
  toBeUndefined(): void;
  toBeAtLeast(expected: number): void;
  notToContain(word: string): void;
}

export function expect(actual: unknown): Expectation {
  return {
    toBe: (expected) => assert.strictEqual(actual, expected),
    toEqual: (expected) => assert.deepStrictEqual(plain(actual), plain(expected)),
    toMatchObject: (expected) => assert.deepStrictEqual(asFarAs(plain(expected), plain(actual)), plain(expected)),
    toHaveLength: (expected) => assert.strictEqual((actual as ArrayLike<unknown>).length, expected),
    toBeUndefined: () => assert.strictEqual(actual, undefined),
    toBeAtLeast: (expected) => assert.ok((actual as number) >= expected, `${String(actual)} is less than ${expected}`),
    notToContain: (word) => assert.ok(!(actual as string).includes(word), `${JSON.stringify(actual)} contains ${JSON.stringify(word)}`),
  };
}

/** Removes prototypes and `undefined` members: stores may construct their results in any way. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((entry) => plain(entry));
  if (typeof value !== 'object' || value === null || value instanceof Map || value instanceof Set || value instanceof Date) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, plain(member)]));
}

/** The members of `actual` that `expected` has, at every depth. */
function asFarAs(expected: unknown, actual: unknown): unknown {
  if (typeof expected !== 'object' || expected === null || typeof actual !== 'object' || actual === null) return actual;
  if (Array.isArray(expected)) return Array.isArray(actual) ? actual.map((entry, index) => asFarAs(expected[index], entry)) : actual;
  const members = actual as Readonly<Record<string, unknown>>;
  const names = Object.keys(expected).filter((name) => Object.hasOwn(members, name));
  return Object.fromEntries(names.map((name) => [name, asFarAs((expected as Record<string, unknown>)[name], members[name])]));
}
