// Makes the same schemas as TypeBox's `Type`, without loading it: its 680 modules cost a command more than all its work.
import type { TSchema, Type as TypeBox } from 'typebox';

type Options = Readonly<Record<string, unknown>>;
type Refinement = Readonly<Record<'check' | 'error', (value: unknown) => unknown>>;

const makers = {
  Object: (properties: Readonly<Record<string, TSchema>>, options?: Options) => {
    const required = Object.keys(properties).filter((name) => !Object.hasOwn(properties[name]!, '~optional'));
    return made('Object', { type: 'object', ...(required.length === 0 ? {} : { required }), properties }, options);
  },
  Array: (items: TSchema, options?: Options) => made('Array', { type: 'array', items }, options),
  /** Keys are any string. */
  Record: (_key: TSchema, value: TSchema, options?: Options) =>
    made('Record', { type: 'object', patternProperties: { [STRING_KEY]: value } }, options),
  String: (options?: Options) => made('String', { type: 'string' }, options),
  Integer: (options?: Options) => made('Integer', { type: 'integer' }, options),
  Number: (options?: Options) => made('Number', { type: 'number' }, options),
  Boolean: (options?: Options) => made('Boolean', { type: 'boolean' }, options),
  Null: (options?: Options) => made('Null', { type: 'null' }, options),
  Unknown: (options?: Options) => made('Unknown', {}, options),
  Enum: (values: readonly unknown[], options?: Options) => made('Enum', { enum: values }, options),
  Literal: (value: unknown, options?: Options) => made('Literal', { type: typeof value, const: value }, options),
  Union: (anyOf: readonly TSchema[], options?: Options) => made('Union', { anyOf }, options),
  Optional: (schema: TSchema) => marked(schema, '~optional', true),
  Refine: (schema: TSchema & { readonly '~refine'?: readonly Refinement[] }, check: Refinement['check'], error: Refinement['error']) =>
    marked(schema, '~refine', [...(schema['~refine'] ?? []), { check, error }]),
};

/** The pattern of a record whose keys are any string. */
export const STRING_KEY = '^.*$';

/** Typed as TypeBox's own. What is missing here is added when it is needed. */
export const Type = makers as unknown as Pick<typeof TypeBox, keyof typeof makers>;

function made(kind: string, schema: object, options: Options = {}): TSchema {
  return Object.defineProperty({ ...schema, ...options }, '~kind', hidden(kind));
}

function marked(schema: TSchema, mark: string, value: unknown): TSchema {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema));
  return Object.defineProperty(copy, mark, hidden(value));
}

/** As TypeBox keeps what is not JSON Schema out of documents. */
function hidden(value: unknown): PropertyDescriptor {
  return { configurable: true, writable: true, enumerable: false, value };
}
