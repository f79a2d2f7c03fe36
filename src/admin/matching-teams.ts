// Teams with the name, reference or id that an operator wrote: the one that is asked for, or others that are called as a new one is.
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import type { Team, TeamChange, TeamRegistry } from '../ports/team-registry.ts';
import type { OperationContext } from './operation-context.ts';
import { refused } from './operation.ts';
import type { OperationRefusal } from './operation.ts';

/** More need not be told apart: a longer word is needed in any case. */
const MATCHING_MAX = 200;
/** How many of several a refusal names. */
const NAMED_MAX = 5;

/**
 * The team of an id, or of another word: one with this name or reference, otherwise one that contains it, whatever the case. Of an id
 * nothing is asked: deleted teams have ids too.
 */
export async function matchingTeam(
  { options: { teams } }: OperationContext,
  word: string,
): Promise<{ readonly teamId: string } | OperationRefusal | StoreUnavailable> {
  const id = canonicalUlid(word);
  if (id !== undefined) return { teamId: id };
  const required = word.toLowerCase();
  const page = { after: undefined, limit: MATCHING_MAX, search: word } as const;
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

/** What of a team was just set. */
type Given = Pick<TeamChange, 'name' | 'reference'>;

/** One sentence for each of the given texts that an earlier team has too, naming the first such team; none if the store does not answer. */
export async function warningsOfAlike(teams: Pick<TeamRegistry, 'pageTeams'>, { teamId }: Team, given: Given): Promise<readonly string[]> {
  const warnings: string[] = [];
  for (const member of ['name', 'reference'] as const) {
    const text = given[member];
    if (text === undefined || text === null) continue;
    const first = await firstWith(teams, teamId, member, text);
    if (first !== undefined) warnings.push(`team ${first.teamId}, ${JSON.stringify(first.name)}, has the same ${member} already.`);
  }
  return warnings;
}

const PAGE = 50;

async function firstWith(
  teams: Pick<TeamRegistry, 'pageTeams'>,
  teamId: string,
  member: 'name' | 'reference',
  text: string,
): Promise<Team | undefined> {
  const required = text.toLowerCase();
  for (let after: string | undefined; ;) {
    const page = await teams.pageTeams({ after, limit: PAGE, search: text, exact: true });
    if (isUnavailable(page)) return undefined;
    // A store from a plugin may not know `exact`, and find what only contains the text.
    const first = page.find((team) => team.teamId !== teamId && team[member]?.toLowerCase() === required);
    if (first !== undefined || page.length < PAGE) return first;
    after = page.at(-1)!.teamId;
  }
}
