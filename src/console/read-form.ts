// Reads what a form of the console sends: each field once.
import { refuse } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';
import { FORM_BODY_HEADERS, readFormBody } from '../domain/form-body.ts';
import type { OpsRequest } from '../ops/ops-request.ts';

export const CONSOLE_BODY_BYTES_MAX = 16_384;

/** Field by name; empty for one that did not come. */
export type Form = (name: string) => string;

export const EMPTY_FORM: Form = () => '';

export function readForm({ headers, body }: OpsRequest): { readonly form: Form } | Refusal {
  const told = FORM_BODY_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]] as const]));
  const read = readFormBody(Object.fromEntries(told), body, CONSOLE_BODY_BYTES_MAX);
  if (read.kind === 'refused') return read.refusal;
  const fields = new Map(read.fields);
  if (fields.size < read.fields.length) return refuse('validation_error', 'body: holds a field twice.');
  return { form: (name) => fields.get(name) ?? '' };
}
