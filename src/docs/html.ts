// Builds HTML safely: interpolated values are escaped, unless they are HTML already.

/** A piece of finished HTML. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type HtmlValue = string | number | Html | readonly (Html | string)[] | undefined;

/** Strings are escaped, `Html` and lists of it inserted as they are, `undefined` is nothing. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = strings[0]!;
  for (const [index, value] of values.entries()) text += textOf(value) + strings[index + 1]!;
  return new Html(text);
}

function textOf(value: HtmlValue): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map((item) => textOf(item)).join('');
  return escape(String(value));
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;');
}

/** Escaped text in which `code` between backticks becomes a code element. */
export function prose(text: string): Html {
  const parts = text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
  return html`${parts}`;
}
