// The one place that writes forms which change something: each carries the anti-forgery token, and a name of its own.
import { randomBytes } from 'node:crypto';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { CONSOLE_PREFIX } from './prefix.ts';

export const TOKEN_FIELD = 'csrf_token';
/** Names the form as it was shown: sent twice, it acts once. */
export const ONCE_FIELD = 'once';

export interface PostForm {
  /** Below `/console`. */
  readonly action: string;
  readonly formToken: string;
  readonly fields: Html;
  /** What the button says. */
  readonly submit: string;
  readonly danger?: boolean;
}

export function postForm({ action, formToken, fields, submit, danger = false }: PostForm): Html {
  return html`<form method="post" action="${CONSOLE_PREFIX}${action}">
    ${tokenField(formToken)}<input type="hidden" name="${ONCE_FIELD}" value="${randomBytes(16).toString('base64url')}" />${fields}
    <p class="buttons"><button class="${danger ? 'danger' : 'primary'}">${submit}</button></p>
  </form>`;
}

export function tokenField(formToken: string): Html {
  return html`<input type="hidden" name="${TOKEN_FIELD}" value="${formToken}" />`;
}

export interface TextField {
  readonly name: string;
  readonly label: string;
  readonly value?: string;
  readonly hint?: string;
  /** What was wrong with what was sent. */
  readonly fault?: string | undefined;
  readonly type?: 'text' | 'password' | 'search';
  readonly required?: boolean;
  /** As HTML writes them: `autocomplete`, `maxlength`, `inputmode`, …; names are ours. */
  readonly more?: Readonly<Record<string, string | number>>;
}

/** A field with its label, its hint and its fault, which the field names as what describes it. */
export function textField({ name, label, value = '', hint, fault, type = 'text', required = false, more = {} }: TextField): Html {
  const id = `field-${name}`;
  const described = [...(fault === undefined ? [] : [`${id}-fault`]), ...(hint === undefined ? [] : [`${id}-hint`])].join(' ');
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <input
      id="${id}"
      name="${name}"
      type="${type}"
      value="${value}"
      ${Object.entries(more).map(([attribute, text]) => html` ${attribute}="${text}"`)}${required ? html` required` : undefined}${
        described === '' ? undefined : html` aria-describedby="${described}"`
      }${fault === undefined ? undefined : html` aria-invalid="true"`}
    />
    ${fault === undefined ? undefined : html`<p class="fault" id="${id}-fault">${fault}</p>`}
    ${hint === undefined ? undefined : html`<p class="hint" id="${id}-hint">${hint}</p>`}
  </div>`;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

export function selectField(name: string, label: string, choices: readonly Choice[], chosen: string): Html {
  return html`<div class="field">
    <label for="field-${name}">${label}</label>
    <select id="field-${name}" name="${name}">
      ${choices.map(({ value, label: text }) => {
        const mark = value === chosen ? html` selected` : undefined;
        return html`<option value="${value}" ${mark}>${text}</option>`;
      })}
    </select>
  </div>`;
}
