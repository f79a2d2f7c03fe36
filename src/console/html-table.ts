// Tables that turn into cards on a phone: each cell carries its column's name, and roles that survive the change of display.
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';

export interface Column {
  readonly label: string;
  /** Aligned to the right. */
  readonly figures?: boolean;
  /** What people have written, of any length: may be broken anywhere. */
  readonly text?: boolean;
}

export interface Table {
  /** What it is a table of; read out, and not shown where a heading says it already. */
  readonly caption: string;
  readonly columns: readonly Column[];
  /** Few, short columns: stays a table on a phone. */
  readonly compact?: boolean;
  /** As many cells as columns; the first names its row. */
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
