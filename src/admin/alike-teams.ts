// Warns of a team that is named, or referred to, as another one: both are made, because only the operator knows which was meant.
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { Team, TeamChange, TeamRegistry } from '../ports/team-registry.ts';

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
  const wanted = text.toLowerCase();
  for (let after: string | undefined; ;) {
    const page = await teams.pageTeams({ after, limit: PAGE, search: text, exact: true });
    if (isUnavailable(page)) return undefined;
    // A store from a plugin may not know `exact`, and find what only contains the text.
    const first = page.find((team) => team.teamId !== teamId && team[member]?.toLowerCase() === wanted);
    if (first !== undefined || page.length < PAGE) return first;
    after = page.at(-1)!.teamId;
  }
}
