// The label and limits of a key, or the limits of a tag, in forms: as they are set now, as fields, and as a form changes them.
import { KEY_FIELDS, updateKey } from '../admin/operations/keys.ts';
import { limitsReport } from '../admin/operations/key-rows.ts';
import type { GivenMembers } from '../admin/input.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import type { KeyLimits } from '../domain/key-limits.ts';
import { NO_WINDOWS } from '../domain/window-limits.ts';
import type { FieldTexts, Form } from './form.ts';
import { formFields, linesOf, sentIn } from './operation-page.ts';

/** The texts in the fields of these limits; empty if the key has no such limit. */
export function limitTexts(limits: KeyLimits, label = ''): Form {
  const { expires_at = '', requests_per_second = '', characters = '', allowed_addresses = [], scopes = [] } = limitsReport(limits);
  const windows = limits.windows ?? NO_WINDOWS;
  const texts: Record<string, string> = {
    label,
    expires_at,
    requests_per_second: String(requests_per_second),
    characters: String(characters),
    allowed_addresses: allowed_addresses.join('\n'),
    scopes: scopes.join('\n'),
    limits: windows.replaceAll(' ', '\n'),
  };
  return (name) => texts[name] ?? '';
}

/** The limits are collapsed, unless there is something in them to see. */
export function keyFields(texts: FieldTexts): Html {
  const [label, ...limits] = KEY_FIELDS;
  const shown = limits.some((name) => texts.form(name) !== '' || texts.faults[name] !== undefined);
  return html`${formFields(updateKey, [label], texts)}
    <details ${shown ? html` open` : undefined}>
      <summary>Limits</summary>
      ${formFields(updateKey, limits, texts)}
    </details>`;
}

/** What a form changes; a value that was not edited is not checked again. */
export function changedFields(form: Form, shown: Form, nowMs: number): GivenMembers {
  const edited = KEY_FIELDS.filter((name) => linesOf(form(name)).join('\n') !== shown(name));
  return { ...(edited.includes('label') ? { label: '' } : {}), ...sentIn(updateKey, edited, form, nowMs) };
}
