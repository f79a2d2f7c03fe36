// Tables that become cards on a phone: each cell has its column's name, and roles that survive the change of display.
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';

export interface Column {
  readonly label: string;
  /** Right-aligned. */
  readonly figures?: boolean;
  /** Text by users, of any length: may be broken anywhere. */
  readonly text?: boolean;
}

export interface Table {
  /** The table's caption, for screen readers; not shown if a heading already says it. */
  readonly caption: string;
  readonly columns: readonly Column[];
  /** Few, short columns: stays a table on a phone. */
  readonly compact?: boolean;
  /** As many cells as columns; the first is the row's header. */
  readonly rows: readonly (readonly (Html | string)[])[];
}

export function htmlTable({ caption, columns, rows, compact = false }: Table): Html {
  const kindOf = ({ figures = false, text = false }: Column): Html | undefined =>
    figures ? html` class="figures"` : text ? html` class="text"` : undefined;
  const heads = columns.map((column) => html`<th role="columnheader" scope="col" ${kindOf(column)}>${column.label}</th>`);
  const cells = (row: readonly (Html | string)[]): Html[] =>
    columns.map((column, index) => {
      const value = row[index];
      if (index === 0) return html`<th role="rowheader" scope="row">${value}</th>`;
      return html`<td role="cell" data-label="${column.label}" ${kindOf(column)}>${value}</td>`;
    });
  return html`<table role="table" ${compact ? html` class="compact"` : undefined}>
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
