// Clones, fills in and checks values by the plain part of JSON Schema, like TypeBox; for anything beyond that TypeBox is loaded.
import { createRequire } from 'node:module';
import type { TSchema } from 'typebox';
import type * as TypeBoxSystem from 'typebox/system';
import type * as TypeBoxValue from 'typebox/value';
import { countCharacters } from '../domain/characters.ts';
import { STRING_KEY } from '../domain/schema-type.ts';

/** A schema as it is read here: its members depend on its kind. */
interface Node {
  readonly '~kind'?: string;
  readonly '~refine'?: readonly { readonly check: (value: unknown) => boolean }[];
  readonly properties: Readonly<Record<string, Node>>;
  readonly patternProperties: Readonly<Record<string, Node>>;
  readonly items: Node;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly default?: unknown;
  readonly enum: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

type Named = Record<string, unknown>;

const EVERYWHERE = ['type', 'default', 'description', 'is', 'secret', '~kind', '~optional', '~refine'];
/** The keywords supported here, by TypeBox's kind of schema. */
const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  Object: ['properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties'],
  Record: ['patternProperties', 'minProperties', 'maxProperties'],
  Array: ['items', 'minItems', 'maxItems', 'uniqueItems'],
  String: ['minLength', 'maxLength'],
  Integer: ['minimum', 'maximum'],
  Number: ['minimum', 'maximum'],
  Boolean: [],
  Unknown: [],
  Enum: ['enum'],
  Literal: ['const'],
};
/** Names that TypeBox leaves out of clones. */
const UNSAFE: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** Everything that `STRING_KEY` does not match. */
const LINE_BREAK = /[\r\n\u2028\u2029]/;

const load = createRequire(import.meta.url);

/** TypeBox itself, for error messages, and for schemas beyond the plain part. */
export function typeBoxValue(): typeof TypeBoxValue {
  // The library stops at eight by default; an operator wants to see every fault at once.
  (load('typebox/system') as typeof TypeBoxSystem).Settings.Set({ maxErrors: 1000 });
  return load('typebox/value') as typeof TypeBoxValue;
}

/** A deep copy of values from YAML, JSON and schema defaults. */
export function clone(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(clone);
  const prototype: unknown = Object.getPrototypeOf(value);
  if ((prototype !== Object.prototype && prototype !== null) || Object.hasOwn(value, '~kind')) return typeBoxValue().Clone(value);
  const names = Object.keys(value).filter((name) => !UNSAFE.includes(name));
  return Object.fromEntries(names.map((name) => [name, clone((value as Named)[name])]));
}

/** Fills in defaults for missing members, in the value itself, and returns it. */
export function withDefaults(schema: TSchema, value: unknown): unknown {
  return isPlain(schema as Node) ? filled(schema as Node, value) : typeBoxValue().Default(schema, value);
}

/** `false` if a value is wrong, and if only TypeBox can decide. */
export function isSurelyRight(schema: TSchema, value: unknown): boolean {
  return isPlain(schema as Node) && passes(schema as Node, value);
}

/** Whether everything in the schema is supported here. */
function isPlain(schema: Node): boolean {
  const known = KEYWORDS[schema['~kind'] ?? ''];
  if (known === undefined) return false;
  if (!Object.getOwnPropertyNames(schema).every((name) => EVERYWHERE.includes(name) || known.includes(name))) return false;
  if (typeof schema.default === 'function') return false;
  switch (schema['~kind'] ?? '') {
    case 'Object':
      return typeof (schema.additionalProperties ?? false) === 'boolean' && Object.values(schema.properties).every(isPlain);
    case 'Record':
      return Object.keys(schema.patternProperties).join() === STRING_KEY && isPlain(schema.patternProperties[STRING_KEY]!);
    case 'Array':
      return isPlain(schema.items);
    default:
      return true;
  }
}

function filled(schema: Node, given: unknown): unknown {
  const value = given === undefined && Object.hasOwn(schema, 'default') ? clone(schema.default) : given;
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Named;
  if (schema['~kind'] === 'Array' && Array.isArray(value)) {
    for (const [index, item] of value.entries()) value[index] = filled(schema.items, item);
  } else if (schema['~kind'] === 'Object') {
    for (const [name, shape] of Object.entries(schema.properties)) {
      const member = filled(shape, members[name]);
      if (member !== undefined) members[name] = member;
    }
  } else if (schema['~kind'] === 'Record') {
    const shape = schema.patternProperties[STRING_KEY]!;
    for (const name of Object.keys(members)) {
      if (Object.hasOwn(shape, 'default') && !LINE_BREAK.test(name)) members[name] = filled(shape, members[name]);
    }
  }
  return value;
}

function passes(schema: Node, value: unknown): boolean {
  return hasKind(schema, value) && (schema['~refine'] ?? []).every(({ check }) => check(value));
}

function hasKind(schema: Node, value: unknown): boolean {
  switch (schema['~kind'] ?? '') {
    case 'Object':
      return isGroup(value) && objectPasses(schema, value);
    case 'Record':
      return isGroup(value) && isCountIn(schema, value) && recordPasses(schema, value);
    case 'Array':
      return Array.isArray(value) && arrayPasses(schema, value);
    case 'String':
      return typeof value === 'string' && isLengthIn(schema, value);
    case 'Integer':
      return Number.isInteger(value) && isIn(schema, value as number);
    case 'Number':
      return Number.isFinite(value) && isIn(schema, value as number);
    case 'Boolean':
      return typeof value === 'boolean';
    case 'Enum':
      return typeof value !== 'object' && schema.enum.includes(value);
    case 'Literal':
      return value === schema.const;
    default:
      return schema['~kind'] === 'Unknown';
  }
}

/** Names like `constructor` are left to TypeBox. */
function isGroup(value: unknown): value is Named {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !Object.keys(value).some((name) => UNSAFE.includes(name));
}

function objectPasses(schema: Node, value: Named): boolean {
  const { properties, required = [], additionalProperties } = schema;
  const names = Object.keys(value);
  if (!isCountIn(schema, value) || !required.every((name) => Object.hasOwn(value, name))) return false;
  return names.every((name) => {
    // A member that is `undefined` has rules of its own.
    if (value[name] === undefined) return false;
    return Object.hasOwn(properties, name) ? passes(properties[name]!, value[name]) : additionalProperties !== false;
  });
}

function recordPasses({ patternProperties }: Node, value: Named): boolean {
  const shape = patternProperties[STRING_KEY]!;
  return Object.entries(value).every(([name, member]) => member !== undefined && !LINE_BREAK.test(name) && passes(shape, member));
}

function arrayPasses({ items, minItems = 0, maxItems = Infinity, uniqueItems = false }: Node, value: readonly unknown[]): boolean {
  if (value.length < minItems || value.length > maxItems || !value.every((item) => passes(items, item))) return false;
  // Only strings are compared here.
  return !uniqueItems || (value.every((item) => typeof item === 'string') && new Set(value).size === value.length);
}

function isCountIn({ minProperties = 0, maxProperties = Infinity }: Pick<Node, 'minProperties' | 'maxProperties'>, value: Named): boolean {
  const count = Object.keys(value).length;
  return count >= minProperties && count <= maxProperties;
}

function isLengthIn({ minLength = 0, maxLength = Infinity }: Node, value: string): boolean {
  if (minLength <= 1 && value.length <= maxLength) return value.length >= minLength;
  if (!value.isWellFormed()) return false;
  const characters = countCharacters(value);
  return characters >= minLength && characters <= maxLength;
}

function isIn({ minimum = -Infinity, maximum = Infinity }: Node, value: number): boolean {
  return value >= minimum && value <= maximum;
}
