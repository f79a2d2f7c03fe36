// Turns schema violations into faults: the value, why it is refused, and what would be right.
import type { TSchema } from 'typebox';
import type { TLocalizedValidationError } from 'typebox/error';
import type { SchemaNode } from '../domain/option-schema.ts';
import { Check, Errors } from '../domain/typebox.ts';
import { withoutCredentials } from '../domain/store-url.ts';
import type { Fault } from './config-error.ts';
import { nearest } from './nearest.ts';

const SHOWN_LENGTH_MAX = 80;
const KINDS: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  null: 'null',
  string: 'a string',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping of names to values',
};

/** By TypeBox's keyword of the violated rule; others are a mismatch with the schema. */
const REASONS: Readonly<Record<string, (value: unknown, limit: number) => string>> = {
  minimum: (value, limit) => `${shown(value)} is too small; it must be at least ${limit}`,
  maximum: (value, limit) => `${shown(value)} is too large; it must be at most ${limit}`,
  exclusiveMinimum: (value, limit) => `${shown(value)} is too small; it must be more than ${limit}`,
  exclusiveMaximum: (value, limit) => `${shown(value)} is too large; it must be less than ${limit}`,
  minLength: (value, limit) => `${shown(value)} is too short; it must have at least ${charactersOf(limit)}`,
  maxLength: (value, limit) => `${shown(value)} is too long; it must have at most ${charactersOf(limit)}`,
  minItems: atLeast,
  minProperties: atLeast,
  maxItems: atMost,
  maxProperties: atMost,
  uniqueItems: () => 'has an entry twice; leave one out',
};

/** Of a value against a schema. `at` is the value's own path, empty for a whole file. */
export function faultsOf(schema: TSchema, value: unknown, at = ''): Fault[] {
  if (Check(schema, value)) return [];
  const errors = Errors(schema, value);
  // What is wrong with each alternative, where none fits: the alternatives are reported together.
  const split = errors.filter(({ keyword }) => keyword === 'anyOf').map(({ schemaPath }) => `${schemaPath}/anyOf/`);
  const whole = errors.filter(({ schemaPath }) => !split.some((start) => schemaPath.startsWith(start)));
  return whole.flatMap((error) => explain(error, schema as SchemaNode, value, at));
}

/** A value for an error message: one line, short, without credentials. */
export function shown(value: unknown): string {
  if (typeof value !== 'string') return typeof value === 'object' && value !== null ? 'this' : String(value);
  const bare = value.includes('://') ? withoutCredentials(value) : value;
  return JSON.stringify(bare.length > SHOWN_LENGTH_MAX ? `${bare.slice(0, SHOWN_LENGTH_MAX).toWellFormed()}…` : bare);
}

export function join(at: string, member: string): string {
  return at === '' ? member : `${at}.${member}`;
}

function explain(error: TLocalizedValidationError, root: SchemaNode, rootValue: unknown, at: string): Fault[] {
  const steps = error.instancePath.split('/').slice(1);
  const path = steps.reduce(join, at);
  const { shape, value } = find(root, rootValue, steps);
  if (error.keyword === 'additionalProperties') {
    return error.params.additionalProperties.map((name) => ({ path: join(path, name), reason: unknownKey(name, shape) }));
  }
  if (error.keyword === 'required') {
    return error.params.requiredProperties.map((name) => ({
      path: join(path, name),
      reason: missing(shape.properties?.[name] ?? {}),
    }));
  }
  // TypeBox's second error about a key that `additionalProperties` has already reported.
  if (error.keyword === 'boolean') return [];
  // The listed values say more.
  if (error.keyword === 'type' && shape.enum !== undefined) return [];
  // A rule in code has words of its own, unless the schema says what a value is.
  if (error.keyword === '~refine' && shape.is === undefined) return [{ path, reason: error.message }];
  const limit = 'limit' in error.params ? Number(error.params.limit) : 0;
  return [{ path, reason: REASONS[error.keyword]?.(value, limit) ?? mismatch(value, shape, error.message) }];
}

function charactersOf(limit: number): string {
  return limit === 1 ? '1 character' : `${limit} characters`;
}

function atLeast(_value: unknown, limit: number): string {
  return `has too few entries; it must have at least ${limit}`;
}

function atMost(_value: unknown, limit: number): string {
  return `has too many entries; it may have at most ${limit}`;
}

function missing(shape: SchemaNode): string {
  const right = expectation(shape);
  return right === undefined ? 'is missing; give it a value' : `is missing; it must be ${right}`;
}

/** `message` is the library's own, for what a schema does not describe. */
function mismatch(value: unknown, shape: SchemaNode, message: string): string {
  // A member that was left empty: YAML reads it as null.
  if (value === null) return 'is empty; give it a value or leave it out';
  const right = expectation(shape);
  if (right === undefined) return `${shown(value)} is not allowed: ${message}`;
  return `${shown(value)} is not ${right}${suggestion(value, shape) || rightForm(value, shape)}`;
}

/** What would have been right, as far as the schema tells. */
function expectation(shape: SchemaNode): string | undefined {
  if (shape.is !== undefined) return shape.is;
  const values = valuesOf(shape);
  if (values !== undefined) return values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`;
  if (shape.anyOf !== undefined) return alternatives(shape.anyOf);
  const kind = KINDS[shape.type ?? ''];
  return kind === undefined ? undefined : kind + detail(shape);
}

/** The values that there are, if they are listed. */
function valuesOf({ enum: listed, anyOf, ...shape }: SchemaNode): readonly unknown[] | undefined {
  if (listed !== undefined) return listed;
  if (Object.hasOwn(shape, 'const')) return [shape.const];
  const all = anyOf?.map(valuesOf);
  return all?.every((values) => values !== undefined) === true ? all.flat() : undefined;
}

function alternatives(anyOf: readonly SchemaNode[]): string | undefined {
  const known = anyOf.map((shape) => {
    const members = shape.type === 'object' ? Object.keys(shape.properties ?? {}) : [];
    return members.length === 0 ? expectation(shape) : `a mapping with ${members.join(', ')}`;
  });
  return known.includes(undefined) ? undefined : [...new Set(known)].join(' or ');
}

function detail({ minimum, maximum, pattern, format, multipleOf }: SchemaNode): string {
  if (minimum !== undefined || maximum !== undefined) return range(minimum, maximum);
  if (pattern !== undefined) return ` that matches ${pattern}`;
  if (format !== undefined) return ` of the format ${format}`;
  return multipleOf === undefined ? '' : `, a multiple of ${multipleOf}`;
}

function range(least: number | undefined, most: number | undefined): string {
  if (least === undefined) return ` of at most ${most}`;
  return most === undefined ? ` of at least ${least}` : ` from ${least} to ${most}`;
}

function suggestion(value: unknown, shape: SchemaNode): string {
  const known = valuesOf(shape);
  const nearby = typeof value === 'string' && known !== undefined ? nearest(value, known.map(String)) : undefined;
  return nearby === undefined ? '' : `; did you mean ${nearby}?`;
}

/** For a single value in place of a list or a mapping. */
function rightForm(value: unknown, shape: SchemaNode): string {
  if (shape.is !== undefined || typeof value === 'object') return '';
  if (shape.type === 'array') return `; write [${shown(value)}]`;
  const members = Object.keys(shape.properties ?? {});
  return shape.type === 'object' && members.length > 0 ? `; its members are ${members.join(', ')}` : '';
}

function unknownKey(name: string, shape: SchemaNode): string {
  const known = Object.keys(shape.properties ?? {});
  if (known.length === 0) return 'is not known; there are no members here, leave it out';
  const nearby = nearest(name, known);
  return nearby === undefined ? `is not known; the known ones are ${known.join(', ')}` : `is not known; did you mean ${nearby}?`;
}

function find(root: SchemaNode, rootValue: unknown, steps: readonly string[]): { shape: SchemaNode; value: unknown } {
  let shape = root;
  let value = rootValue;
  for (const step of steps) {
    shape = memberOf(shape, step) ?? {};
    value = (value as Readonly<Record<string, unknown>> | null | undefined)?.[step];
  }
  return { shape, value };
}

function memberOf({ properties, patternProperties, items, anyOf }: SchemaNode, step: string): SchemaNode | undefined {
  const own = properties?.[step] ?? Object.values(patternProperties ?? {})[0] ?? items;
  return own ?? anyOf?.map((shape) => memberOf(shape, step)).find((found) => found !== undefined);
}
