// The checks without TypeBox clone, fill in defaults and accept exactly as TypeBox does; what they do not support is left to TypeBox.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { Type as TypeBox } from 'typebox';
import type { TSchema } from 'typebox';
import { Check, Clone, Default } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { clone, isSurelyRight, withDefaults } from '../../../src/config/plain-schema.ts';
import { ConfigFile, CreditPlanSchema, LanguagesFile, QuotaPlanSchema } from '../../../src/config/schema.ts';
import { secret } from '../../../src/domain/option-schema.ts';
import { Type } from '../../../src/domain/schema-type.ts';

const packaged = (name: string): unknown => parse(readFileSync(new URL(`../../../config/${name}`, import.meta.url), 'utf8'));

/** One schema for each supported keyword, and for their nesting. */
const SCHEMAS: readonly TSchema[] = [
  Type.Object({ a: Type.Integer({ minimum: 1, maximum: 3 }), b: Type.Optional(Type.String()) }, { additionalProperties: false }),
  Type.Object({ a: Type.Unknown(), b: Type.Boolean({ default: true }) }, { default: {}, minProperties: 1, maxProperties: 2 }),
  Type.Object({ a: Type.Object({ b: Type.Number({ default: 0.5, minimum: 0, maximum: 1 }) }, { default: {} }) }),
  Type.Record(Type.String(), Type.Integer(), { maxProperties: 2 }),
  Type.Record(Type.String(), Type.Object({ a: Type.Boolean({ default: false }) }, { default: { a: true } }), { default: { b: {} } }),
  Type.Array(Type.String(), { minItems: 1, maxItems: 2, uniqueItems: true }),
  Type.Array(Type.Unknown(), { uniqueItems: true }),
  Type.Array(Type.Object({ a: Type.Integer({ default: 7 }) }), { default: [{}] }),
  Type.String({ minLength: 1, maxLength: 2 }),
  Type.String({ minLength: 2 }),
  Type.Refine(
    Type.String({ default: 'a' }),
    (value) => value === 'a' || value === '\u{1f600}',
    () => 'a',
  ),
  Type.Refine(
    Type.Unknown(),
    (value) => typeof value === 'number',
    () => 'a number',
  ),
  Type.Enum(['a', 'b', 1], { default: 'a' }),
  Type.Literal('a'),
  Type.Number({ minimum: -1 }),
  secret('A secret.'),
];

/** Schemas that are not supported. */
const FURTHER: readonly TSchema[] = [
  Type.Union([Type.String({ default: 'a' }), Type.Null()]),
  Type.Object({ a: Type.Array(Type.Union([Type.Integer(), Type.Object({ b: Type.Integer({ default: 1 }) })])) }),
  TypeBox.String({ pattern: '^a$' }),
  TypeBox.String({ format: 'email' }),
  TypeBox.Integer({ multipleOf: 2 }),
  TypeBox.Intersect([TypeBox.Object({ a: TypeBox.Integer({ default: 1 }) }), TypeBox.Object({ b: TypeBox.Integer() })]),
  TypeBox.Object({ a: TypeBox.Optional(TypeBox.Integer()) }, { additionalProperties: TypeBox.Integer() }),
  TypeBox.Tuple([TypeBox.Integer({ default: 1 })]),
];

const leaf = fc.constantFrom<unknown>(
  'a',
  'b',
  'ab',
  'abc',
  '',
  '\u{1f600}',
  'e\u0301',
  0,
  -0,
  1,
  2,
  1.5,
  -1,
  4,
  NaN,
  Infinity,
  true,
  false,
  null,
  undefined,
  {},
  [],
);
const name = fc.constantFrom('a', 'b', 'c', 'a\nb', '', 'constructor', 'toString');
const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('any'), { maxLength: 3 }),
    fc
      .uniqueArray(fc.tuple(name, tie('any')), { maxLength: 3, selector: ([key]) => key })
      .map((entries) => Object.fromEntries(entries) as unknown),
  ),
})).any;

// Of one seed: by this many of any other, a schema might accept none.
const SAMPLES = fc.sample(value, { seed: 20, numRuns: 2000 });

describe('without TypeBox', () => {
  test('a copy is equal, and another object', () => {
    fc.assert(
      fc.property(value, (given) => {
        expect(clone(given)).toStrictEqual(Clone(given));
      }),
      { numRuns: 500 },
    );
    const odd = { __proto__: { inherited: 1 }, when: new Date(0), bytes: new Uint8Array(2), like: new Map([[1, { a: 1 }]]) };
    expect(clone(odd)).toStrictEqual(Clone(odd));
    const inner = { a: [1] };
    expect((clone({ inner }) as { inner: typeof inner }).inner.a).not.toBe(inner.a);
  });

  test.each([...SCHEMAS, ...FURTHER].map((schema) => [JSON.stringify(schema), schema] as const))(
    'the same defaults are filled in: %s',
    (_text, schema) => {
      fc.assert(
        fc.property(value, (given) => {
          expect(withDefaults(schema, Clone(given))).toStrictEqual(Default(schema, Clone(given)));
        }),
        { numRuns: 200 },
      );
    },
  );

  test.each([...SCHEMAS, ...FURTHER].map((schema) => [JSON.stringify(schema), schema] as const))(
    'nothing invalid is accepted: %s',
    (_text, schema) => {
      fc.assert(
        fc.property(value, (given) => {
          if (isSurelyRight(schema, given)) expect(Check(schema, given)).toBe(true);
        }),
        { numRuns: 200 },
      );
    },
  );

  test.each(SCHEMAS.map((schema) => [JSON.stringify(schema), schema] as const))(
    'everything valid is accepted, except for what is left to TypeBox: %s',
    (_text, schema) => {
      const given = SAMPLES.map((one) => Default(schema, Clone(one)));
      const right = given.filter((one) => Check(schema, one) && !isLeftToTypeBox(one));
      expect(right.length).toBeGreaterThan(0);
      if (schema !== SCHEMAS[6]) expect(right.filter((one) => !isSurelyRight(schema, one))).toEqual([]);
    },
  );

  test('our own files and plans are accepted', () => {
    const file = withDefaults(ConfigFile, packaged('lingate.yaml')) as ConfigFile;
    expect(isSurelyRight(ConfigFile, file)).toBe(true);
    expect(isSurelyRight(LanguagesFile, withDefaults(LanguagesFile, packaged('languages.yaml')))).toBe(true);
    const plans = Object.values(file.plans) as { readonly billing: string }[];
    expect(
      plans.map((plan) =>
        isSurelyRight(
          plan.billing === 'quota' ? QuotaPlanSchema : CreditPlanSchema,
          withDefaults(plan.billing === 'quota' ? QuotaPlanSchema : CreditPlanSchema, plan),
        ),
      ),
    ).toEqual(plans.map(() => true));
  });

  test('a schema that is not supported never accepts anything without TypeBox', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(...FURTHER), (given, schema) => {
        expect(isSurelyRight(schema, given)).toBe(false);
      }),
    );
  });
});

/** Values that are left to TypeBox: members that are `undefined`, names with a line break, names that TypeBox does not clone. */
function isLeftToTypeBox(given: unknown): boolean {
  if (typeof given !== 'object' || given === null) return false;
  return Object.entries(given).some(([key, member]) => member === undefined || /\n|constructor/.test(key) || isLeftToTypeBox(member));
}
