// Schemas made without TypeBox equal TypeBox's own, including hidden members.
import { Type as TypeBox } from 'typebox';
import { Check } from 'typebox/value';
import { expect, test } from 'vitest';
import { Type } from '../../../src/domain/schema-type.ts';

type Makers = Pick<typeof TypeBox, keyof typeof Type>;

const error = (): string => 'a word';
const isWord = (value: unknown): boolean => value === 'word';
const OPTIONS = { description: 'A member.', default: 1, is: 'a thing' };

const CASES: Readonly<Record<keyof typeof Type, (type: Makers) => unknown>> = {
  Object: (type) => [
    type.Object({}),
    type.Object({ a: type.String(), b: type.Optional(type.Integer()), c: type.Boolean() }, { additionalProperties: false, default: {} }),
    type.Object({ only: type.Optional(type.Null()) }),
  ],
  Array: (type) => [type.Array(type.String()), type.Array(type.Number(), { minItems: 1, uniqueItems: true })],
  Record: (type) => [
    type.Record(type.String(), type.Unknown()),
    type.Record(type.String({ minLength: 1 }), type.String(), { maxProperties: 3, ...OPTIONS }),
  ],
  String: (type) => [type.String(), type.String({ minLength: 1, ...OPTIONS })],
  Integer: (type) => [type.Integer(), type.Integer({ minimum: 1, ...OPTIONS })],
  Number: (type) => [type.Number(), type.Number({ maximum: 1, ...OPTIONS })],
  Boolean: (type) => [type.Boolean(), type.Boolean(OPTIONS)],
  Null: (type) => [type.Null(), type.Null(OPTIONS)],
  Unknown: (type) => [type.Unknown(), type.Unknown(OPTIONS)],
  Enum: (type) => [type.Enum(['a', 'b']), type.Enum(['a'], { type: 'string', ...OPTIONS })],
  Literal: (type) => [type.Literal('tsv'), type.Literal(1), type.Literal(true, OPTIONS)],
  Union: (type) => [type.Union([type.String(), type.Null()]), type.Union([type.Integer()], OPTIONS)],
  Optional: (type) => [type.Optional(type.String(OPTIONS)), type.Optional(type.Optional(type.Refine(type.String(), isWord, error)))],
  Refine: (type) => [
    type.Refine(type.String(OPTIONS), isWord, error),
    type.Refine(type.Refine(type.Optional(type.String()), isWord, error), isWord, error),
  ],
};

/** A value with all of its members, including hidden ones. */
function described(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(described);
  return Reflect.ownKeys(value).map((name) => {
    const { enumerable, writable, configurable } = Object.getOwnPropertyDescriptor(value, name)!;
    return [name, { enumerable, writable, configurable }, described(Reflect.get(value, name))];
  });
}

/** The order of hidden members does not matter. */
function sorted(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const all = value.map(sorted);
  return all.every((one) => Array.isArray(one) && typeof one[0] === 'string')
    ? all.toSorted((a, b) => String((a as unknown[])[0]).localeCompare(String((b as unknown[])[0])))
    : all;
}

test.each(Object.entries(CASES))('Type.%s makes what TypeBox makes', (_name, make) => {
  expect(sorted(described(make(Type)))).toEqual(sorted(described(make(TypeBox))));
  expect(JSON.stringify(make(Type))).toBe(JSON.stringify(make(TypeBox)));
});

test('TypeBox checks values with them', () => {
  const schema = Type.Object({ word: Type.Optional(Type.Refine(Type.String(), isWord, error)) }, { additionalProperties: false });
  expect([{}, { word: 'word' }, { word: 'other' }, { other: 1 }].map((value) => Check(schema, value))).toEqual([true, true, false, false]);
});
