// The result of an operation of the admin API.
import type { Refusal } from '../core/outcome.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import { refusalOf } from './admin-refusals.ts';
import { replicatedMember } from './admin-result.ts';
import type { AdminResult } from './admin-result.ts';

/** A value to answer, with the members that its audit line adds; or a refusal. */
export type Handled = { readonly value: unknown; readonly audit?: Readonly<Record<string, string | number>> } | Refusal;

/** Calls `use` with the id that the segment holds; answers `none` when it is not a ULID. */
export async function withId(segment: string, none: Refusal, use: (id: string) => Promise<Handled>): Promise<Handled> {
  const id = canonicalUlid(segment);
  return id === undefined ? none : use(id);
}

/** `planIn` as in `refusalOf`. */
export function done<T>(result: AdminResult<T>, handled: (value: T) => Handled, planIn?: 'body' | 'path'): Handled {
  if (result.kind !== 'done') return refusalOf(result, planIn);
  const made = handled(result.value);
  // Answers are objects.
  return 'value' in made ? { ...made, value: { ...(made.value as object), ...replicatedMember(result) } } : made;
}
