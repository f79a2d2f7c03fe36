// Forms that search and filter: sent as a query, so that every result has an address; each field has its label above it.
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { CONSOLE_PREFIX } from './console-route.ts';
import { optionsOf } from './form.ts';
import type { Choice } from './form.ts';

interface SearchForm {
  /** Below `/console`. */
  readonly action: string;
  readonly fields: readonly Html[];
  /** Kept in the query as they are. */
  readonly hidden?: Readonly<Record<string, string | undefined>>;
  /** The button's text. */
  readonly submit: string;
  /** What is wrong with the query that was sent. */
  readonly fault?: string | undefined;
  /** Whether anything is asked for: then there is a link that asks for all. */
  readonly isFiltered: boolean;
}

export function searchForm({ action, fields, hidden = {}, submit, fault, isFiltered }: SearchForm): Html {
  const kept = Object.entries(hidden).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return html`${fault === undefined ? undefined : html`<p class="fault" role="alert">${fault}</p>`}
    <form class="search" role="search" action="${CONSOLE_PREFIX}${action}">
      ${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)} ${fields}
      <p class="buttons"><button>${submit}</button> ${isFiltered ? html`<a href="${CONSOLE_PREFIX}${action}">Show all</a>` : undefined}</p>
    </form>`;
}

/** `more` are HTML attributes; all names and values are ours. */
export function searchText(
  name: string,
  label: string,
  value: string,
  more: Readonly<Record<string, string | number>> = {},
  /** The width in which its usual texts fit. */
  width: 'few' | 'short' | 'long' = 'short',
): Html {
  const attributes = Object.entries({ type: 'text', autocomplete: 'off', ...more }).map(([key, text]) => html` ${key}="${text}"`);
  return html`<p class="criterion ${width}">
    <label for="search-${name}">${label}</label>
    <input id="search-${name}" name="${name}" value="${value}" ${attributes} />
  </p>`;
}

export function searchSelect(name: string, label: string, choices: readonly Choice[], chosen: string): Html {
  return html`<p class="criterion">
    <label for="search-${name}">${label}</label>
    <select id="search-${name}" name="${name}">
      ${optionsOf(choices, chosen)}
    </select>
  </p>`;
}

/** The query of a page and the pages behind it: only what is given. */
export function queryOf(given: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams(Object.entries(given).filter((entry): entry is [string, string] => Boolean(entry[1])));
  return query.size === 0 ? '' : `?${query.toString()}`;
}
