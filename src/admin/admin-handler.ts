// What a handler of the admin API gets and answers; handlers for the record whose id is in the path.
import type { Refusal } from '../core/outcome.ts';
import type { JsonMembers } from '../domain/json-body.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import type { ChangeOnce } from '../ports/team-registry.ts';
import type { AdminOperations } from './admin-operations.ts';
import type { Handled } from './admin-refusals.ts';

/** What a handler gets: the operations, in the name of the caller; the path's variable segments by their names, the checked body, the query. */
export interface Input {
  readonly operations: AdminOperations;
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: JsonMembers;
  readonly query: URLSearchParams;
  /** The id for the record to create; a request with the same `Idempotency-Key` gets the same id. */
  readonly id: string | undefined;
  /** The same for a change of an existing record. */
  readonly once: ChangeOnce | undefined;
}

export type AdminHandler = (input: Input) => Promise<Handled>;

/** A handler for the record whose id is in the path; answers `none` if it is not a ULID. */
export function ofRecord(none: Refusal, handle: (input: Input, id: string) => Promise<Handled>): AdminHandler {
  return async (input) => {
    const id = canonicalUlid(input.parameters['id'] ?? '');
    return id === undefined ? none : handle(input, id);
  };
}
