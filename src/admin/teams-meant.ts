// Which teams an operator means by a word that is no id: those with this name or reference, otherwise those that contain it.
import type { Team } from '../ports/team-registry.ts';
import type { AdminOperations } from './admin-operations.ts';
import { done } from './admin-result.ts';
import type { AdminResult } from './admin-result.ts';

/** More need not be told apart: a longer word is needed in any case. */
const MEANT_MAX = 200;

/** At most 200, in order of creation; none if there is no such team. Upper and lower case are alike. */
export async function teamsMeant(operations: Pick<AdminOperations, 'listTeams'>, word: string): Promise<AdminResult<readonly Team[]>> {
  const wanted = word.toLowerCase();
  const page = { after: undefined, limit: MEANT_MAX, search: word } as const;
  const same = await operations.listTeams({ ...page, exact: true });
  if (same.kind !== 'done') return same;
  // A store from a plugin may not know `exact`, and find what only contains the word.
  const named = same.value.items.filter(({ name, reference }) => [name, reference].some((text) => text?.toLowerCase() === wanted));
  if (named.length > 0) return done(named);
  const containing = await operations.listTeams(page);
  return containing.kind === 'done' ? done(containing.value.items) : containing;
}
