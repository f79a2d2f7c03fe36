// The one place that writes forms which change something: each carries the anti-forgery token, and a name of its own.
import { randomBytes } from 'node:crypto';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { CONSOLE_PREFIX } from './prefix.ts';

export const TOKEN_FIELD = 'csrf_token';
/** A random name for this showing of the form: sent twice, it acts once. */
export const ONCE_FIELD = 'once';

export interface PostForm {
  /** Below `/console`. */
  readonly action: string;
  readonly formToken: string;
  readonly fields: Html;
  /** What the button says. */
  readonly submit: string;
  readonly danger?: boolean;
  /** Stands beside the button: the way back. */
  readonly beside?: Html;
}

export function postForm({ action, formToken, fields, submit, danger = false, beside }: PostForm): Html {
  return html`<form method="post" action="${CONSOLE_PREFIX}${action}">
    ${tokenField(formToken)}<input type="hidden" name="${ONCE_FIELD}" value="${randomBytes(16).toString('base64url')}" />${fields}
    <p class="buttons"><button class="${danger ? 'danger' : 'primary'}">${submit}</button> ${beside}</p>
  </form>`;
}

/** Stands on every page, beside the navigation; sent twice it does no harm. */
export function signOutForm(formToken: string): Html {
  return html`<form method="post" action="${CONSOLE_PREFIX}/sign-out">
    ${tokenField(formToken)}<button class="quiet">Sign out</button>
  </form>`;
}

function tokenField(formToken: string): Html {
  return html`<input type="hidden" name="${TOKEN_FIELD}" value="${formToken}" />`;
}

interface FieldBase {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** What was wrong with what was sent. */
  readonly fault?: string | undefined;
}

export interface TextField extends FieldBase {
  readonly value?: string;
  readonly type?: 'text' | 'password';
  readonly required?: boolean;
  /** As HTML writes them: `autocomplete`, `maxlength`, `inputmode`, …; names are ours. */
  readonly more?: Readonly<Record<string, string | number>>;
}

export function textField({ value = '', type = 'text', required = false, more = {}, ...field }: TextField): Html {
  const attributes = Object.entries({ type, value, ...more }).map(([name, text]) => html` ${name}="${text}"`);
  return labelled(field, (named) => html`<input ${named}${attributes}${required ? html` required` : undefined} />`);
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

export interface SelectField extends FieldBase {
  readonly choices: readonly Choice[];
  readonly chosen: string;
}

export function selectField({ choices, chosen, ...field }: SelectField): Html {
  const options = choices.map(({ value, label }) => {
    const mark = value === chosen ? html` selected` : undefined;
    return html`<option value="${value}" ${mark}>${label}</option>`;
  });
  return labelled(
    field,
    (named) =>
      html`<select ${named}>
        ${options}
      </select>`,
  );
}

/** A control with its label, its fault and its hint; the control is given the attributes that name these. */
function labelled({ name, label, hint, fault }: FieldBase, control: (named: Html) => Html): Html {
  const id = `field-${name}`;
  const notes = [
    ['fault', fault],
    ['hint', hint],
  ].filter((note): note is [string, string] => note[1] !== undefined);
  const described = notes.map(([kind]) => `${id}-${kind}`).join(' ');
  const named = html` id="${id}"
  name="${name}"${described === '' ? undefined : html` aria-describedby="${described}"`}${
    fault === undefined ? undefined : html` aria-invalid="true" autofocus`
  }`;
  return html`<div class="field">
    <label for="${id}">${label}</label>
    ${control(named)} ${notes.map(([kind, text]) => html`<p class="${kind}" id="${id}-${kind}">${text}</p>`)}
  </div>`;
}
