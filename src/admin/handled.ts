// What an operation of the admin API comes to: a value with what the audit line names, or a refusal.
import type { Refusal } from '../core/outcome.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import { refusalOf } from './admin-refusals.ts';
import type { AdminResult } from './admin-operations.ts';

/** A value to answer, with what the audit line names; or a refusal. */
export type Handled = { readonly value: unknown; readonly audit?: Readonly<Record<string, string | number>> } | Refusal;

/** `none` is told where the segment is no id at all. */
export async function withId(segment: string, none: Refusal, use: (id: string) => Promise<Handled>): Promise<Handled> {
  const id = canonicalUlid(segment);
  return id === undefined ? none : use(id);
}

export function done<T>(result: AdminResult<T>, handled: (value: T) => Handled): Handled {
  return result.kind === 'done' ? handled(result.value) : refusalOf(result);
}
