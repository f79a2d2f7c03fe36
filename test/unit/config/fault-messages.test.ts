// Every fault of every member of every schema says what is wrong and what would be right.
import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import type { Fault } from '../../../src/config/config-error.ts';
import { faultsOf } from '../../../src/config/faults.ts';
import { ConfigFile, LanguagesFile } from '../../../src/config/schema.ts';
import { CreditPlanSchema, QuotaPlanSchema } from '../../../src/domain/plan.ts';
import { isSecret } from '../../../src/domain/option-schema.ts';
import type { SchemaNode } from '../../../src/domain/option-schema.ts';
import { builtInProtocols, optionsSchemaOf } from '../../../src/engines/protocols/built-in.ts';

const PLUGINS = new URL('../../../src/plugins/', import.meta.url);
const shipped = await Promise.all(
  readdirSync(PLUGINS)
    .filter((name) => name.endsWith('.ts'))
    .map(
      async (name) => [name, ((await import(new URL(name, PLUGINS).href)) as { default: { options: TSchema } }).default.options] as const,
    ),
);

const SCHEMAS: readonly (readonly [name: string, schema: TSchema])[] = [
  ['lingate.yaml', ConfigFile],
  ['a plan with a quota', QuotaPlanSchema],
  ['a plan with credit', CreditPlanSchema],
  ['languages.yaml', LanguagesFile],
  ...[...builtInProtocols].map(([name, protocol]) => [`the options of ${name}`, optionsSchemaOf(protocol)] as const),
  ...shipped.map(([name, schema]) => [`the options of ${name}`, schema] as const),
];

const many = Array.from({ length: 300 }, (_, index) => index);
/** At least one is wrong for every kind of member. */
const WRONG: readonly unknown[] = [
  null,
  true,
  'wrong',
  '',
  'x'.repeat(20_000),
  -1,
  0.5,
  1e300,
  [],
  {},
  { unheard: 1 },
  { 'not a name': 1 },
  [null],
  ['a', 'a'],
  many.map((index) => `http://h${index}`),
  Object.fromEntries(many.map((index) => [`m${index}`, 1])),
];

/** Every member of a schema, as its path in a value. */
function* membersOf(
  schema: SchemaNode,
  path: readonly (string | number)[] = [],
): Generator<{ path: readonly (string | number)[]; schema: SchemaNode }> {
  yield { path, schema };
  for (const [name, member] of Object.entries(schema.properties ?? {})) yield* membersOf(member, [...path, name]);
  for (const member of Object.values(schema.patternProperties ?? {})) yield* membersOf(member, [...path, 'name']);
  if (schema.items !== undefined) yield* membersOf(schema.items, [...path, 0]);
  for (const one of schema.anyOf ?? []) yield* membersOf(one, path);
}

function valueWith(path: readonly (string | number)[], value: unknown): unknown {
  return path.reduceRight((inner, step) => (typeof step === 'number' ? [inner] : { [step]: inner }), value);
}

const HELPS =
  /; (?:it (?:must|may)|leave|give|did you mean|the known ones|there are no members|write|its members)|^(?!member|value).* is not [^ ]/;
const EMPTY_WORDS = /undefined|something|NaN|Infinity|\[object|\bvalid value\b| to \.|from {2}/;

function judge({ path, reason }: Fault): string[] {
  const line = `${path}: ${reason}`;
  const faults = [];
  if (EMPTY_WORDS.test(reason)) faults.push(`says nothing: ${line}`);
  if (!HELPS.test(reason) && !/has an entry twice/.test(reason)) faults.push(`does not help: ${line}`);
  if (/\n/.test(line) || reason.length > 600) faults.push(`is long: ${line}`);
  return faults;
}

describe.each(SCHEMAS)('%s', (_name, schema) => {
  test('every member with a wrong value is a fault that helps', () => {
    const members = [...membersOf(schema)];
    expect(members.length).toBeGreaterThan(0);
    for (const { path, schema: member } of members) {
      const found = WRONG.map((value) => faultsOf(schema, valueWith(path, value)).filter((fault) => isAbout(fault, path)));
      expect([...new Set(found.flat().flatMap(judge))], path.join('.')).toEqual([]);
      const isAny = member.type === undefined && member.enum === undefined && member.anyOf === undefined;
      // A secret is judged when it is read.
      const takesAll = isAny && (member.is === undefined || isSecret(member));
      if (!takesAll && !('const' in member)) expect(found.flat(), path.join('.')).not.toEqual([]);
      // One fault for each thing that is wrong.
      for (const faults of found) expect(new Set(faults.map((fault) => JSON.stringify(fault))).size, path.join('.')).toBe(faults.length);
    }
  });
});

function isAbout({ path }: Fault, member: readonly (string | number)[]): boolean {
  return path === '' || path.startsWith(member.slice(0, -1).join('.'));
}

describe('a schema of any kind', () => {
  const about = (schema: TSchema, value: unknown): string[] =>
    faultsOf(schema, value, 'at').map(({ path, reason }) => `${path}: ${reason}`);

  test.each<[schema: TSchema, value: unknown, line: string]>([
    [Type.Integer({ minimum: 1 }), 'x', 'at: "x" is not a whole number of at least 1'],
    [Type.Integer({ maximum: 9 }), 1.5, 'at: 1.5 is not a whole number of at most 9'],
    [Type.Number({ minimum: 0.01, maximum: 1 }), 'x', 'at: "x" is not a number from 0.01 to 1'],
    [Type.Number({ exclusiveMinimum: 0 }), 0, 'at: 0 is too small; it must be more than 0'],
    [Type.Number({ multipleOf: 5 }), 3, 'at: 3 is not a number, a multiple of 5'],
    [Type.Number(), [], 'at: this is not a number'],
    [Type.String({ minLength: 1 }), '', 'at: "" is too short; it must have at least 1 character'],
    [Type.String({ minLength: 1, maxLength: 3 }), 'four', 'at: "four" is too long; it must have at most 3 characters'],
    [Type.String({ pattern: '^a+$' }), 'b', 'at: "b" is not a string that matches ^a+$'],
    [Type.String({ format: 'date' }), 'b', 'at: "b" is not a string of the format date'],
    [Type.Literal('on'), 'off', 'at: "off" is not on'],
    [Type.Null(), 1, 'at: 1 is not null'],
    [Type.Union([Type.Literal('full'), Type.Literal('none')]), 'nome', 'at: "nome" is not one of full, none; did you mean none?'],
    [Type.Union([Type.String(), Type.Object({ env: Type.String() })]), 7, 'at: 7 is not a string or a mapping with env'],
    [
      Type.Refine(
        Type.Unknown(),
        () => false,
        () => 'must be even',
      ),
      7,
      'at: must be even',
    ],
    [Type.Object({}, { additionalProperties: false }), { a: 1 }, 'at.a: is not known; there are no members here, leave it out'],
  ])('%j', (schema, value, line) => {
    expect(about(schema, value)).toEqual([line]);
  });
});
