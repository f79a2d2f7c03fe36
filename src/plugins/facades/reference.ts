// Descriptions in the API reference that several APIs share, and short forms of the schemas in them.
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
