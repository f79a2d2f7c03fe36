// Descriptions in the API reference that several APIs share, and short forms of their schemas.
import Type from 'typebox';
import type { TSchema } from 'typebox';
import type { RouteDoc } from 'lingate';

export type QueryDoc = NonNullable<RouteDoc['query']>[number];

export const JSON_OR_FORM = ['application/json', 'application/x-www-form-urlencoded'] as const;

export const string = (description: string) => Type.String({ description });

export const boolean = (description: string) => Type.Boolean({ description });

export const number = (description: string) => Type.Number({ description });

export const integer = (description: string) => Type.Integer({ description });

export const arrayOf = <Item extends TSchema>(item: Item, description: string) => Type.Array(item, { description });

export const optional = (description: string) => Type.Optional(string(description));

/** A text, or a list with at most this many. */
export const oneOrMore = (maxItems: number, description: string) =>
  Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems })], { description });

export function parameter(name: string, example: string, description: string): QueryDoc {
  return { name, description, schema: Type.String(), example };
}

export function required(name: string, example: string, description: string): QueryDoc {
  return { name, description, schema: Type.String(), required: true, example };
}

export function answered(description: string, schema: TSchema, example: unknown): RouteDoc['answer'] {
  return { status: 200, description, schema, example };
}

/** An answer's members by their names, anywhere; a schema where an example is not enough. */
type MemberWords = Readonly<Record<string, string | TSchema>>;

/** The schema of all of these values: a member that one of them lacks is optional. */
export function schemaOf(values: readonly unknown[], words: MemberWords): TSchema {
  const [first] = values;
  if (Array.isArray(first)) return Type.Array(schemaOf(values.flat(), words));
  if (typeof first === 'object' && first !== null) {
    const objects = values as readonly Readonly<Record<string, unknown>>[];
    const names = new Set(objects.flatMap((one) => Object.keys(one)));
    return Type.Object(Object.fromEntries(Array.from(names, (name) => [name, memberOf(objects, name, words)])));
  }
  return typeof first === 'boolean' ? Type.Boolean() : typeof first === 'number' ? Type.Number() : Type.String();
}

function memberOf(objects: readonly Readonly<Record<string, unknown>>[], name: string, words: MemberWords): TSchema {
  const having = objects.filter((one) => name in one).map((one) => one[name]);
  const word = words[name];
  const schema = typeof word === 'object' ? word : { ...schemaOf(having, words), ...(word !== undefined && { description: word }) };
  return having.length === objects.length ? schema : Type.Optional(schema);
}

/** An answer by its examples, of which the first is shown. */
export function shown(
  description: string,
  words: MemberWords,
  example: unknown,
  examples?: NonNullable<RouteDoc['answer']['examples']>,
): RouteDoc['answer'] {
  const values = [example, ...Object.values(examples ?? {}).map(({ value }) => value)];
  return { ...answered(description, schemaOf(values, words), example), ...(examples && { examples }) };
}
