// Builds the same schemas as TypeBox's `Type` without loading it: its 680 modules take longer to load than a command takes to
// run.
import type { TSchema, Type as TypeBox } from 'typebox';

type Options = Readonly<Record<string, unknown>>;
type Refinement = Readonly<Record<'check' | 'error', (value: unknown) => unknown>>;

const makers = {
  Object: (properties: Readonly<Record<string, TSchema>>, options?: Options) => {
    const required = Object.keys(properties).filter((name) => !Object.hasOwn(properties[name]!, '~optional'));
    return made('Object', { type: 'object', ...(required.length === 0 ? {} : { required }), properties }, options);
  },
  Array: (items: TSchema, options?: Options) => made('Array', { type: 'array', items }, options),
  /** Accepts any string as key. */
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

/** The pattern of a record that accepts any string as key. */
export const STRING_KEY = '^.*$';

/** Typed like TypeBox's own `Type`. Add further makers when needed. */
export const Type = makers as unknown as Pick<typeof TypeBox, keyof typeof makers>;

function made(kind: string, schema: object, options: Options = {}): TSchema {
  return Object.defineProperty({ ...schema, ...options }, '~kind', hidden(kind));
}

function marked(schema: TSchema, mark: string, value: unknown): TSchema {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema));
  return Object.defineProperty(copy, mark, hidden(value));
}

/** Non-enumerable, as in TypeBox, to keep it out of JSON Schema documents. */
function hidden(value: unknown): PropertyDescriptor {
  return { configurable: true, writable: true, enumerable: false, value };
}
