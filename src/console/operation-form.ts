// An operation as a form: its fields with their words, what was sent in them, how that is carried
// out, and what is wrong with it.
import { checked, fieldsOf, labelOf, valueOf, wordsWith } from '../admin/input.ts';
import type { GivenMembers, InputField } from '../admin/input.ts';
import { audited, RefusedError } from '../admin/operation.ts';
import type { AdminOperation, AskedBefore, Done, OperationAttempt, OperationRefusal } from '../admin/operation.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
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
  const words = given.flagWords === undefined ? description : `${given.flagWords[0]}.`;
  const hint = [type === 'array' ? 'One per line.' : '', words, clears.includes(name) ? 'Empty: none.' : ''].filter(Boolean).join(' ');
  if (type === 'array') return areaField(texts, name, label, { rows: 3, hint });
  if (choices !== undefined) {
    return selectField(texts, name, label, choicesOf(field));
  }
  const numeric: Record<string, string | number> = type === 'integer' ? { inputmode: 'numeric', maxlength: 40 } : {};
  const required = input.required.includes(name);
  return textField(texts, name, label, { hint, required, more: { autocomplete: 'off', ...numeric, ...given.attributes } });
}

/** What was edited; an empty field removes it, if it can. What was `before` is not given. */
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

/** The faults of a form's fields, instead of what it asks for. */
export interface Faulty {
  readonly faults: FieldFaults;
}

/** Carries out what a form asks for. */
export function carriedOut(
  one: AdminOperation,
  given: GivenMembers,
  visit: SignedInVisit,
  parts: ConsoleParts,
  attempt: OperationAttempt = {},
): Promise<Done<unknown> | Faulty> {
  return orFaults(one, async () => {
    const made = await one.run!(parts.context, checked(one, given, visit.nowMs), attempt);
    audit(parts, visit, one.id, audited(one, given, made));
    return made;
  });
}

/** What is asked before a form is carried out; `undefined` if nothing. */
export function askedBy(
  one: AdminOperation,
  given: GivenMembers,
  { nowMs }: SignedInVisit,
  { context }: ConsoleParts,
): Promise<AskedBefore | Faulty | undefined> {
  return orFaults(one, async () => one.asks!(context, checked(one, given, nowMs)));
}

/** A refusal that is not about a field is a page of its own. */
async function orFaults<T>(one: AdminOperation, work: () => Promise<T>): Promise<T | Faulty> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RefusedError) || error.refusal.code !== 'validation_error' || error.refusal.field === undefined) throw error;
    return { faults: faultsOf(one, error.refusal) };
  }
}

function faultsOf(one: AdminOperation, refusal: OperationRefusal): FieldFaults {
  const fields = fieldsOf(one);
  const faults = [refusal, ...(refusal.more ?? [])].map(({ field = '', words }) => {
    const said = wordsWith(words, (name) => `“${labelOf(name, fields.get(name) ?? {})}”`);
    const whole = /^(?:is|has|holds|limits) /.test(said) ? `This ${said}` : said;
    return [field.split('.', 1)[0]!, `${whole.charAt(0).toUpperCase()}${whole.slice(1)}.`] as const;
  });
  return Object.fromEntries(faults);
}
