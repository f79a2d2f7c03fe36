// Tables that become cards on a phone: each cell has its column's name, and roles that survive the change of display. Pagers and facts.
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { count } from './shown.ts';

interface Column {
  readonly label: string;
  /** Numbers are right-aligned; text by users, of any length, may be broken anywhere. */
  readonly kind?: 'figures' | 'text';
}

export function numeric(label: string): Column {
  return { label, kind: 'figures' };
}

export function freeText(label: string): Column {
  return { label, kind: 'text' };
}

interface Table {
  /** The table's caption, for screen readers; not shown if a heading already says it. */
  readonly caption: string;
  readonly columns: readonly (Column | string)[];
  /** Few, short columns: stays a table on a phone. */
  readonly compact?: boolean;
  /** Many columns: they are closer together, and their heads may take two lines. */
  readonly wide?: boolean;
  /** As many cells as columns; the first is the row's header. */
  readonly rows: readonly (readonly (Html | string)[])[];
}

export function htmlTable({ caption, columns: given, rows, compact = false, wide = false }: Table): Html {
  const columns = given.map((column) => (typeof column === 'string' ? { label: column } : column));
  const kindOf = ({ kind }: Column): Html | undefined => kind && html` class="${kind}"`;
  const heads = columns.map((column) => html`<th role="columnheader" scope="col" ${kindOf(column)}>${column.label}</th>`);
  const cells = (row: readonly (Html | string)[]): Html[] =>
    columns.map((column, index) => {
      const value = row[index];
      if (index === 0) return html`<th role="rowheader" scope="row">${value}</th>`;
      return html`<td role="cell" data-label="${column.label}" ${kindOf(column)}>${value}</td>`;
    });
  return html`<table role="table" ${compact ? html` class="compact"` : wide ? html` class="wide"` : undefined}>
    <caption class="unseen">
      ${caption}
    </caption>
    <thead role="rowgroup">
      <tr role="row">
        ${heads}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map(
        (row) =>
          html`<tr role="row">
            ${cells(row)}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

/** Links to the first page, unless this is it, and to the next, if there is one. `first` and `next` are addresses. */
export function pager(first: string | undefined, next: string | undefined, words: readonly [first: string, next: string]): Html {
  return html`<nav class="pager" aria-label="Pages">
    ${first === undefined ? undefined : html`<a href="${first}">${words[0]}</a>`}
    ${next === undefined ? undefined : html`<a href="${next}" rel="next">${words[1]}</a>`}
  </nav>`;
}

/** For a page that a filter ended early. */
export function checkedNote(checkedMax: number | undefined, what: string): Html | undefined {
  if (checkedMax === undefined) return undefined;
  return html`<p class="soft">${count(checkedMax)} ${what} were checked for this page; the next one goes on behind them.</p>`;
}

/** Facts by name; those that are undefined do not apply. */
export type Fact = readonly [name: string, value: Html | string | undefined];

export function factList(...facts: readonly Fact[]): Html {
  const some = facts.filter(([, value]) => value !== undefined);
  return html`<dl class="facts">
    ${some.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}
