// An operation as a form: its fields with their words, what was sent in them, how that is carried
// out, and what is wrong with it.
import { checked, fieldsOf, labelOf, valueOf, wordsWith } from '../admin/input.ts';
import type { GivenMembers, InputField } from '../admin/input.ts';
import { audited, RefusedError } from '../admin/operation.ts';
import type { AdminOperation, AskedBefore, Done, OperationAttempt, OperationRefusal } from '../admin/operation.ts';
import { prose } from '../docs/html.ts';
import { audit } from './console-route.ts';
import type { SignedInVisit } from './console-route.ts';
import type { Field, FieldFaults, Form } from './form.ts';

/** A member of the input as a form asks for it. */
export function memberField({ input, clears = [] }: Pick<AdminOperation, 'input' | 'clears'>, name: string): Field {
  const member = fieldsOf({ input }).get(name)!;
  const { type, description = '', given = {} } = member;
  const label = labelOf(name, member);
  if (member.enum !== undefined) return { name, label, choices: choicesOf(member) };
  const words = given.flagWords === undefined ? description : `${given.flagWords[0]}.`;
  const parts = [type === 'array' ? 'One per line.' : '', words, clears.includes(name) ? 'Empty: none.' : ''];
  const hint = prose(parts.filter(Boolean).join(' '));
  if (type === 'array') return { name, label, hint, rows: 3 };
  const numeric: Field['attributes'] = type === 'integer' ? { inputmode: 'numeric', maxlength: 40 } : {};
  const attributes = { autocomplete: 'off', ...numeric, ...given.attributes };
  return { name, label, hint, required: input.required.includes(name), attributes };
}

/** The values that a member takes, in words. */
export function choicesOf({ enum: choices = [], given = {} }: InputField): NonNullable<Field['choices']> {
  return choices.map((value) => ({ value, label: given.words?.[value] ?? value }));
}

/** What was edited; an empty field removes it, if it can. What was `before` is not given. */
export function sentIn(one: AdminOperation, names: readonly string[], form: Form, before: Form, nowMs: number): GivenMembers {
  const fields = fieldsOf(one);
  return Object.fromEntries(
    names.flatMap((name) => {
      const field = fields.get(name);
      const texts = field?.type === 'array' ? form(name).split(/[\r\n]+/) : [form(name)];
      const lines = texts.map((text) => text.trim()).filter((text) => text !== '');
      if (field === undefined || lines.join('\n') === before(name)) return [];
      if (lines.length > 0) return [[name, valueOf(field, lines, nowMs)]];
      if (one.clears?.includes(name) === true) return [[name, null]];
      return field.given?.blank === true ? [[name, '']] : [];
    }),
  );
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
  attempt: OperationAttempt = {},
): Promise<Done<unknown> | Faulty> {
  return orFaults(one, async () => {
    const made = await one.run!(visit.context, checked(one, given, visit.nowMs), attempt);
    audit(visit, one.id, audited(one, given, made));
    return made;
  });
}

/** What is asked before a form is carried out; `undefined` if nothing. */
export function askedBy(
  one: AdminOperation,
  given: GivenMembers,
  { nowMs, context }: SignedInVisit,
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
