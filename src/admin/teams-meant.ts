// Which team an operator means by an id, or by another word: one with this name or reference, otherwise one that contains it.
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import type { OperationContext } from './operation-context.ts';
import { refused } from './operation.ts';
import type { OperationRefusal } from './operation.ts';

/** More need not be told apart: a longer word is needed in any case. */
const MEANT_MAX = 200;
/** How many of several a refusal names. */
const NAMED_MAX = 5;

/** Of an id nothing is asked: deleted teams have ids too. Upper and lower case are alike. */
export async function teamMeant(
  { options: { teams } }: OperationContext,
  word: string,
): Promise<{ readonly teamId: string } | OperationRefusal | StoreUnavailable> {
  const id = canonicalUlid(word);
  if (id !== undefined) return { teamId: id };
  const required = word.toLowerCase();
  const page = { after: undefined, limit: MEANT_MAX, search: word } as const;
  const same = await teams.pageTeams({ ...page, exact: true });
  if (isUnavailable(same)) return same;
  // A store from a plugin may not know `exact`, and find what only contains the word.
  const named = same.filter(({ name, reference }) => [name, reference].some((one) => one?.toLowerCase() === required));
  const found = named.length > 0 ? named : await teams.pageTeams(page);
  if (isUnavailable(found)) return found;
  const [team, ...others] = found;
  if (team === undefined) return refused('team', 'there is no team with this name, reference or id');
  if (others.length === 0) return team;
  const some = found.slice(0, NAMED_MAX).map(({ teamId, name }) => `${name} (${teamId})`);
  const more = found.length > NAMED_MAX ? `; and ${found.length - NAMED_MAX} more` : '';
  return refused('team', `${found.length} teams are meant; enter the id of one: ${some.join('; ')}${more}`);
}
