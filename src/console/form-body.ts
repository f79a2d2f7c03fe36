// Reads what a form sends: application/x-www-form-urlencoded, each field once.
import { refuse } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';
import type { OpsRequest } from '../ops/ops-request.ts';

/** Field by name; empty for one that did not come. */
export type Form = (name: string) => string;

export const EMPTY_FORM: Form = () => '';

const FIELDS_MAX = 32;

export function readForm({ headers, body }: OpsRequest): { readonly form: Form } | Refusal {
  const type = (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded') {
    return refuse('validation_error', 'Content-Type: must be application/x-www-form-urlencoded.');
  }
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(body.toString('utf8'))) {
    if (fields.has(name) || fields.size === FIELDS_MAX) return refuse('validation_error', 'body: holds a field twice, or too many fields.');
    // What stands for bytes that are no UTF-8.
    if (value.includes('\uFFFD')) return refuse('validation_error', 'body: must be UTF-8.');
    fields.set(name, value);
  }
  return { form: (name) => fields.get(name) ?? '' };
}
