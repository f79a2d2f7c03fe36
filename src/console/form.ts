// The only place that writes forms: for changes, each with an anti-forgery token, and for searches;
// their fields, how they are read, which origins are accepted.
import { randomBytes } from 'node:crypto';
import type { Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { decimalsOf, MINOR_MAX } from '../domain/money.ts';
import { FORM_BODY_HEADERS, readFormBody } from '../domain/form-body.ts';
import type { OpsRequest } from '../ops/ops-listener.ts';
import { CONSOLE_PREFIX } from './console-route.ts';

export const TOKEN_FIELD = 'csrf_token';
/** A random name for this showing of the form, so that it takes effect once even if sent twice. */
export const ONCE_FIELD = 'once';

interface PostForm {
  /** Below `/console`. */
  readonly action: string;
  readonly formToken: string;
  readonly fields?: Html;
  /** The button's text. */
  readonly submit: string;
  readonly danger?: boolean;
  /** The link back, below `/console`. */
  readonly cancel?: string;
}

export function postForm({ action, formToken, fields, submit, danger = false, cancel }: PostForm): Html {
  const beside = cancel === undefined ? undefined : html`<a href="${CONSOLE_PREFIX}${cancel}">Cancel</a>`;
  return html`<form method="post" action="${CONSOLE_PREFIX}${action}">
    ${tokenField(formToken)}<input type="hidden" name="${ONCE_FIELD}" value="${randomBytes(16).toString('base64url')}" />${fields}
    <p class="buttons"><button class="${danger ? 'danger' : 'primary'}">${submit}</button> ${beside}</p>
  </form>`;
}

/** On every page, beside the navigation; sending it twice does no harm. */
export function signOutForm(formToken: string): Html {
  return html`<form method="post" action="${CONSOLE_PREFIX}/sign-out">
    ${tokenField(formToken)}<button class="quiet">Sign out</button>
  </form>`;
}

function tokenField(formToken: string): Html {
  return hiddenField(TOKEN_FIELD, formToken);
}

export function hiddenField(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}" />`;
}

/** The texts of a form's fields by their names, and what was wrong with those sent. */
export interface FieldTexts {
  readonly form: Form;
  readonly faults: FieldFaults;
}

/** A field: a text, a choice, or lines of a text. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint?: Html | string;
  readonly required?: boolean;
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
  /** How many lines are shown. */
  readonly rows?: number;
  /** HTML attributes of a text: `type`, `autocomplete`, `maxlength`, …; all names and values are ours. */
  readonly attributes?: Readonly<Record<string, string | number>>;
}

/** With its label, error and hint, to which the control refers. */
export function fieldOf(field: Field, { form, faults }: FieldTexts): Html {
  const { name, label, hint } = field;
  const [id, fault] = [`field-${name}`, faults[name]];
  const notes = Object.entries({ fault, hint }).filter(([, note]) => note !== undefined);
  const described = notes.length === 0 ? undefined : html` aria-describedby="${notes.map(([kind]) => `${id}-${kind}`).join(' ')}"`;
  const wrong = fault === undefined ? undefined : html` aria-invalid="true" autofocus`;
  const named = html`id="${id}" name="${name}"${described}${wrong}`;
  return html`<div class="field">
    <label for="${id}">${label}</label>
    ${controlOf(field, named, form(name))} ${notes.map(([kind, note]) => html`<p class="${kind}" id="${id}-${kind}">${note}</p>`)}
  </div>`;
}

function controlOf({ choices, rows, required, attributes }: Field, named: Html, text: string): Html {
  if (choices !== undefined) {
    const options = choices.map(
      ({ value, label }) => html`<option value="${value}" ${value === text ? html` selected` : undefined}>${label}</option>`,
    );
    return html`<select ${named}>
      ${options}
    </select>`;
  }
  if (rows !== undefined) return html`<textarea ${named} rows="${rows}" autocomplete="off" spellcheck="false">${text}</textarea>`;
  const more = Object.entries({ type: 'text', value: text, ...attributes }).map(([name, value]) => html` ${name}="${value}"`);
  return html`<input ${named}${more}${required === true ? html` required` : undefined} />`;
}

interface SearchForm {
  /** Below `/console`. */
  readonly action: string;
  readonly fields: readonly Field[];
  /** What the fields hold. */
  readonly texts: Readonly<Record<string, string>>;
  /** The button's text. */
  readonly submit: string;
  /** What is wrong with the query that was sent. */
  readonly fault?: string | undefined;
  /** Whether anything is asked for: then there is a link that asks for all. */
  readonly isFiltered?: boolean;
}

/** Sent as a query, so that every result has an address. */
export function searchForm({ action, fields, texts, submit, fault, isFiltered = false }: SearchForm): Html {
  return html`${fault === undefined ? undefined : html`<p class="fault" role="alert">${fault}</p>`}
    <form class="search" role="search" action="${CONSOLE_PREFIX}${action}">
      ${fields.map((field) => fieldOf(field, { form: (name) => texts[name] ?? '', faults: {} }))}
      <p class="buttons"><button>${submit}</button> ${isFiltered ? html`<a href="${CONSOLE_PREFIX}${action}">Show all</a>` : undefined}</p>
    </form>`;
}

/** The query of a page and the pages behind it: only what is given. */
export function queryOf(given: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams(Object.entries(given).filter((entry): entry is [string, string] => Boolean(entry[1])));
  return query.size === 0 ? '' : `?${query.toString()}`;
}

/** The errors of a form's fields, by their names. */
export type FieldFaults = Readonly<Record<string, string>>;

/** An amount in minor units, from digits and a point, with as many decimals as the currency has. */
export function amountField(sent: string, currency: string): { readonly value: number } | { readonly fault: string } {
  const digits = decimalsOf(currency);
  const example = digits === 0 ? '50' : `50.${'0'.repeat(digits)}`;
  const [, whole, , part = ''] = /^(\d{1,12})(\.(\d+))?$/.exec(sent.trim()) ?? [];
  if (whole === undefined || part.length > digits) return { fault: `Enter an amount in ${currency}, for example ${example}.` };
  const minor = Number(whole) * 10 ** digits + Number(part.padEnd(digits, '0'));
  if (minor === 0) return { fault: 'Enter an amount other than 0.' };
  return minor > MINOR_MAX ? { fault: 'This is more than a team can have.' } : { value: minor };
}

export const CONSOLE_BODY_BYTES_MAX = 16_384;

/** A field by its name; empty if it was not sent. */
export type Form = (name: string) => string;

export const EMPTY_FORM: Form = () => '';

export function readForm({ headers, body }: OpsRequest): { readonly form: Form } | Refusal {
  const sent = FORM_BODY_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]] as const]));
  const read = readFormBody(Object.fromEntries(sent), body, CONSOLE_BODY_BYTES_MAX);
  if (read.kind === 'refused') return read.refusal;
  const fields = new Map(read.fields);
  if (fields.size < read.fields.length) return refuse('validation_error', 'body: has a field twice.');
  return { form: (name) => fields.get(name) ?? '' };
}

/** False if `Sec-Fetch-Site` or `Origin` is another site's. Other programs send neither. */
export function isFromHere({ headers }: OpsRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  if (headers.origin === undefined) return true;
  const from = urlOf(headers.origin);
  // The browser omits default ports in both.
  return from !== undefined && from.host === urlOf(`${from.protocol}//${headers.host ?? ''}`)?.host;
}

/** Whether the browser reached us over TLS, terminated by a proxy in front. */
export function isOverTls({ headers }: OpsRequest): boolean {
  return urlOf(headers.origin ?? '')?.protocol === 'https:';
}

function urlOf(text: string): URL | undefined {
  return URL.parse(text) ?? undefined;
}
