// An operation as a form: its fields with their words, what was sent in them, how that is carried out, and what is wrong with it.
import { checked, fieldsOf, labelOf, valueOf, wordsWith } from '../admin/input.ts';
import type { GivenMembers, InputField } from '../admin/input.ts';
import { audited } from '../admin/operation.ts';
import type { AdminOperation, AskedBefore, Done, OperationAttempt, OperationRefusal, Result } from '../admin/operation.ts';
import { refusalOf } from '../admin/admin-refusals.ts';
import type { Refusal } from '../core/outcome.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { audit } from './console-route.ts';
import type { ConsoleParts, SignedInVisit } from './console-route.ts';
import { areaField, selectField, textField } from './form.ts';
import type { FieldFaults, FieldTexts, Form } from './form.ts';

export function formFields(one: AdminOperation, names: readonly string[], texts: FieldTexts): Html {
  const fields = fieldsOf(one);
  return html`${names.map((name) => formField(name, fields.get(name)!, texts, one))}`;
}

/** The values that a field takes, in words. */
export function choicesOf({ enum: choices = [], given = {} }: InputField): readonly { readonly value: string; readonly label: string }[] {
  return choices.map((value) => ({ value, label: given.words?.[value] ?? value }));
}

function formField(name: string, field: InputField, texts: FieldTexts, { clears = [], input }: AdminOperation): Html {
  const { type, enum: choices, description = '', given = {} } = field;
  const label = labelOf(name, field);
  const hint = given.hint ?? `${description}${clears.includes(name) ? ' Empty: none.' : ''}`;
  if (type === 'array') return areaField(texts, name, label, { rows: 3, hint });
  if (choices !== undefined) {
    return selectField(texts, name, label, choicesOf(field));
  }
  const numeric: Record<string, string | number> = type === 'integer' ? { inputmode: 'numeric', maxlength: 40 } : {};
  const required = input.required.includes(name);
  return textField(texts, name, label, { hint, required, more: { autocomplete: 'off', ...numeric, ...given.attributes } });
}

/** What was edited, which an empty field removes, if it can be removed. What was `before` in a field is not given again. */
export function sentIn(one: AdminOperation, names: readonly string[], form: Form, before: Form, nowMs: number): GivenMembers {
  const fields = fieldsOf(one);
  return Object.fromEntries(
    names.flatMap((name) => {
      const field = fields.get(name);
      const lines = field?.type === 'array' ? linesOf(form(name)) : [form(name).trim()].filter((text) => text !== '');
      if (field === undefined || lines.join('\n') === before(name)) return [];
      if (lines.length > 0) return [[name, valueOf(field, lines, nowMs)]];
      if (one.clears?.includes(name) === true) return [[name, null]];
      return field.given?.blank === true ? [[name, '']] : [];
    }),
  );
}

/** The lines of a field that have something in them. */
function linesOf(text: string): readonly string[] {
  return text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Carries out what a form asks for. A fault is that of a field; anything else is a page of its own. */
export async function carriedOut<T = unknown>(
  one: AdminOperation,
  given: GivenMembers,
  visit: SignedInVisit,
  parts: ConsoleParts,
  attempt: OperationAttempt = {},
): Promise<Done<T> | { readonly faults: FieldFaults } | Refusal> {
  const read = checked(one, given, visit.nowMs);
  const result: Result<unknown> = 'kind' in read ? read : await one.run!(parts.context, read.input, attempt);
  if (result.kind === 'done') {
    audit(parts, visit, one.id, audited(one, given, result));
    return { ...result, value: result.value as T };
  }
  return faultsIn(one, result) ?? refusalOf(result);
}

/** What is asked before a form is carried out; `undefined` if nothing. */
export async function askedBy(
  one: AdminOperation,
  given: GivenMembers,
  { nowMs }: SignedInVisit,
  { context }: ConsoleParts,
): Promise<AskedBefore | { readonly faults: FieldFaults } | Refusal | undefined> {
  const read = checked(one, given, nowMs);
  const result = 'kind' in read ? read : await one.asks!(context, read.input);
  return result.kind === 'done' ? result.value : (faultsIn(one, result) ?? refusalOf(result));
}

function faultsIn(one: AdminOperation, result: OperationRefusal | StoreUnavailable): { readonly faults: FieldFaults } | undefined {
  if (result.kind !== 'refused' || result.code !== 'validation_error' || result.field === undefined) return undefined;
  const fields = fieldsOf(one);
  const faults = [result, ...(result.more ?? [])].map(({ field = '', words }) => {
    const said = wordsWith(words, (name) => `“${labelOf(name, fields.get(name) ?? {})}”`);
    const whole = /^(?:is|has|holds|limits) /.test(said) ? `This ${said}` : said;
    return [field.split('.', 1)[0]!, `${whole.charAt(0).toUpperCase()}${whole.slice(1)}.`] as const;
  });
  return { faults: Object.fromEntries(faults) };
}
