// Turns schema violations into faults: the value, why it is refused, and what would be right.
import type { TSchema } from 'typebox';
import type { TLocalizedValidationError } from 'typebox/error';
import type { SchemaNode } from '../domain/option-schema.ts';
import { withoutCredentials } from '../domain/store-url.ts';
import type { Fault } from './config-error.ts';
import { nearest } from './nearest.ts';
import { isSurelyRight, typeBoxValue } from './plain-schema.ts';

const SHOWN_LENGTH_MAX = 80;
const KINDS: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  string: 'a string',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping of names to values',
};

/** By TypeBox's keyword for the violated rule; any other keyword is reported as a mismatch. */
const REASONS: Readonly<Record<string, (value: unknown, limit: number) => string>> = {
  minimum: (value, limit) => `${shown(value)} is too small; it must be at least ${limit}`,
  maximum: (value, limit) => `${shown(value)} is too large; it must be at most ${limit}`,
  minItems: atLeast,
  minProperties: atLeast,
  maxItems: atMost,
  maxProperties: atMost,
  uniqueItems: () => 'has an entry twice; leave one out',
};

/** All faults of a value against a schema. `at` is the path of the value itself, empty for a whole file. */
export function faultsOf(schema: TSchema, value: unknown, at = ''): Fault[] {
  if (isSurelyRight(schema, value)) return [];
  return typeBoxValue()
    .Errors(schema, value)
    .flatMap((error) => explain(error, schema as SchemaNode, value, at));
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
      reason: `is missing; it must be ${expectation(shape.properties?.[name] ?? {})}`,
    }));
  }
  // TypeBox's second error about a key that `additionalProperties` has already reported.
  if (error.keyword === 'boolean') return [];
  const limit = 'limit' in error.params ? Number(error.params.limit) : 0;
  return [{ path, reason: REASONS[error.keyword]?.(value, limit) ?? mismatch(value, shape) }];
}

function atLeast(_value: unknown, limit: number): string {
  return `has too few entries; it must have at least ${limit}`;
}

function atMost(_value: unknown, limit: number): string {
  return `has too many entries; it may have at most ${limit}`;
}

function mismatch(value: unknown, shape: SchemaNode): string {
  // A member that was left empty: YAML reads it as null.
  if (value === null) return 'is empty; give it a value or leave it out';
  return `${shown(value)} is not ${expectation(shape)}${suggestion(value, shape) || rightForm(value, shape)}`;
}

/** What would have been right. */
function expectation(shape: SchemaNode): string {
  if (shape.is !== undefined) return shape.is;
  if (shape.enum !== undefined) return shape.enum.length === 1 ? String(shape.enum[0]) : `one of ${shape.enum.join(', ')}`;
  const kind = KINDS[shape.type ?? ''] ?? 'something else';
  return shape.minimum === undefined ? kind : `${kind} from ${shape.minimum} to ${shape.maximum}`;
}

function suggestion(value: unknown, shape: SchemaNode): string {
  const meant = typeof value === 'string' && shape.enum !== undefined ? nearest(value, shape.enum.map(String)) : undefined;
  return meant === undefined ? '' : `; did you mean ${meant}?`;
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
  const meant = nearest(name, known);
  return meant === undefined ? `is not known; the known ones are ${known.join(', ')}` : `is not known; did you mean ${meant}?`;
}

function find(root: SchemaNode, rootValue: unknown, steps: readonly string[]): { shape: SchemaNode; value: unknown } {
  let shape = root;
  let value = rootValue;
  for (const step of steps) {
    shape = shape.properties?.[step] ?? Object.values(shape.patternProperties ?? {})[0] ?? shape.items ?? {};
    value = (value as Readonly<Record<string, unknown>> | null | undefined)?.[step];
  }
  return { shape, value };
}
