// Tables of the members of a body, generated from its JSON Schema.
import type { SchemaNode } from '../domain/option-schema.ts';
import { html, prose } from './html.ts';
import type { Html } from './html.ts';

export interface Row {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
}

/** One row per member; members of nested objects by their path. Empty if there are no members. */
export function rowsOf(schema: SchemaNode): Row[] {
  return rowsAt(schema, '');
}

/** The row of a single value. */
export function rowOf(name: string, schema: SchemaNode, description: string): Row {
  return { name, type: typeOf(schema), required: false, description };
}

/** Longer lists of values have a place of their own on the page. */
const LISTED_MAX = 20;

/** The words for required and optional members. */
const PRESENCE = { request: ['required', 'optional'], answer: ['always', 'not always'] } as const;

export function schemaTable(label: string, kind: keyof typeof PRESENCE, rows: readonly Row[]): Html {
  const [always, sometimes] = PRESENCE[kind];
  return scrolledTable(
    label,
    ['Name', 'Meaning'],
    rows.map(({ name, type, required, description }) => [
      html`<code>${breakable(name)}</code><span class="type">${required ? always : sometimes}</span>`,
      html`${prose(description)}<span class="type">${type}</span>`,
    ]),
  );
}

/** A table that scrolls sideways where the page is narrow. */
export function scrolledTable(label: string, ...content: Parameters<typeof table>): Html {
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0">${table(...content)}</div>`;
}

export function table(heads: readonly string[], rows: readonly (readonly (Html | string)[])[]): Html {
  return html`<table>
    <thead>
      <tr>
        ${heads.map((head) => html`<th scope="col">${head}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (cells) =>
          html`<tr>
            ${cells.map((cell) => html`<td>${cell}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function rowsAt(schema: SchemaNode, path: string): Row[] {
  if (schema.items !== undefined) return rowsAt(schema.items, `${path}[]`);
  const { properties, required = [] } = flattened(schema);
  return Object.entries(properties ?? {}).flatMap(([name, member]) => {
    const at = path === '' ? name : `${path}.${name}`;
    const row = { name: at, type: typeOf(member), required: required.includes(name), description: member.description ?? '' };
    return [row, ...rowsAt(member, at)];
  });
}

/** For alternatives, the members of all of them; required are those that each of them requires. */
function flattened(schema: SchemaNode): SchemaNode {
  const options = schema.anyOf?.filter((option) => option.properties !== undefined) ?? [];
  const [first] = options;
  if (first === undefined) return schema;
  const properties: Record<string, SchemaNode> = {};
  for (const [name, member] of options.flatMap((option) => Object.entries(option.properties ?? {}))) {
    const known = properties[name];
    properties[name] = known?.const === undefined ? (known ?? member) : { ...known, ...alternatives(known, member) };
  }
  return { properties, required: (first.required ?? []).filter((name) => options.every((option) => option.required?.includes(name))) };
}

function alternatives(one: SchemaNode, other: SchemaNode): SchemaNode {
  const values = [...new Set([...(one.enum ?? [one.const]), other.const])];
  return values.length === 1 ? {} : { enum: values };
}

function typeOf(schema: SchemaNode): string {
  if (schema.enum !== undefined && schema.enum.length > LISTED_MAX) return `${schema.type ?? 'any'}, one of ${schema.enum.length}`;
  if (schema.enum !== undefined)
    return (
      schema.enum.join(' · ') + (schema.default === undefined ? '' : `; ${JSON.stringify(schema.default).replaceAll('"', '')} by default`)
    );
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf !== undefined) return schema.anyOf.map((option) => typeOf(option)).join(' or ');
  if (schema.items !== undefined) return arrayOf(schema.items, schema.maxItems);
  return [wordFor(schema), ...limitsOf(schema)].join(', ');
}

function wordFor({ type = 'any', format }: SchemaNode): string {
  return format === 'date-time' ? 'date and time (RFC 3339, UTC)' : type;
}

function arrayOf(items: SchemaNode, maxItems: number | undefined): string {
  const many = typeOf(items).replace(/^(string|object|integer)/, '$1s');
  return `array of ${maxItems === undefined ? '' : `at most ${maxItems} `}${many}`;
}

function limitsOf({ minLength, maxLength, maxProperties }: SchemaNode): string[] {
  const limits: string[] = [];
  if (minLength === 1) limits.push('not empty');
  if (maxLength !== undefined) limits.push(`at most ${maxLength.toLocaleString('en')} characters`);
  if (maxProperties !== undefined) limits.push(`at most ${maxProperties.toLocaleString('en')} members`);
  return limits;
}

/** Allows a line break after each dot of a path. */
function breakable(name: string): Html[] {
  return name.split('.').map((part, index, all) => (index < all.length - 1 ? html`${part}.<wbr />` : html`${part}`));
}
