// Teams with the name, reference or id that an operator wrote: the one that is asked for, or others that are called as a new one is.
import { answered, isUnavailable } from '../domain/store-unavailable.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import type { Team, TeamChange, TeamRegistry } from '../ports/team-registry.ts';
import type { OperationContext } from './operation-context.ts';
import { RefusedError, refused } from './operation.ts';

/** More need not be told apart: a longer word is needed in any case. */
const MATCHING_MAX = 200;
/** How many of several a refusal names. */
const NAMED_MAX = 5;

/**
 * The team of an id, or of another word: one with this name or reference, otherwise one that contains it, whatever the case. Of an id
 * nothing is asked: deleted teams have ids too.
 */
export async function matchingTeam({ options: { teams } }: OperationContext, word: string): Promise<string> {
  const id = canonicalUlid(word);
  if (id !== undefined) return id;
  const page = { after: undefined, limit: MATCHING_MAX, search: word } as const;
  const same: readonly Team[] = answered(await teams.pageTeams({ ...page, exact: true }));
  const found: readonly Team[] = same.length > 0 ? same : answered(await teams.pageTeams(page));
  const [team, ...others] = found;
  if (team === undefined) throw new RefusedError(refused('team', 'there is no team with this name, reference or id'));
  if (others.length === 0) return team.teamId;
  const some = found.slice(0, NAMED_MAX).map(({ teamId, name }) => `${name} (${teamId})`);
  const more = found.length > NAMED_MAX ? `; and ${found.length - NAMED_MAX} more` : '';
  throw new RefusedError(refused('team', `${found.length} teams are meant; enter the id of one: ${some.join('; ')}${more}`));
}

/** What of a team was just set. */
type Given = Pick<TeamChange, 'name' | 'reference'>;

/** One sentence for each of the given texts that an earlier team has too, naming the first such team; none if the store does not answer. */
export async function warningsOfAlike(teams: Pick<TeamRegistry, 'pageTeams'>, { teamId }: Team, given: Given): Promise<readonly string[]> {
  const warnings: string[] = [];
  for (const member of ['name', 'reference'] as const) {
    const text = given[member];
    if (text === undefined || text === null) continue;
    const same = await teams.pageTeams({ after: undefined, limit: MATCHING_MAX, search: text, exact: true });
    const others = isUnavailable(same) ? [] : same.filter((team) => team.teamId !== teamId);
    const first = others.find((team) => team[member]?.toLowerCase() === text.toLowerCase());
    if (first !== undefined) warnings.push(`team ${first.teamId}, ${JSON.stringify(first.name)}, has the same ${member} already.`);
  }
  return warnings;
}
