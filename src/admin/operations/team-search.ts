// Which teams are asked for: by plan, by how near a limit they are, by a part of their name,
// reference or id; pages of them; the one that an operator's word names; and others that are called
// as a new one is.
import type { Static } from 'typebox';
import { holdsKey } from '../../domain/api-key.ts';
import { minorRoundedDown } from '../../domain/money.ts';
import { rfc3339 } from '../../domain/period.ts';
import type { JudgedText } from '../../domain/record-name.ts';
import { Type } from '../../domain/typebox.ts';
import type { TeamSummary, Team, TeamChange, TeamRegistry } from '../../ports/team-registry.ts';
import { choice, recordText } from '../fields.ts';
import { rowsInOrder } from '../listing.ts';
import type { OperationContext } from '../operation-context.ts';
import type { Cell, MembersGiven, ListPiece, RowColumn } from '../operation.ts';
import { answered, isUnavailable } from '../../domain/store-unavailable.ts';
import { canonicalUlid } from '../../domain/ulid.ts';
import { RefusedError, refused } from '../operation.ts';

export const TEAM_STANDINGS = {
  near_limit: 'has used at least 80 % of its characters, overage included, or has credit for less than one longest request',
  over_quota: 'has used all included characters of its period: further ones are overage, or refused',
  out_of_credit: 'has no credit left for a single character',
} as const;
export type TeamStanding = keyof typeof TEAM_STANDINGS;

/** For people, in short. */
export const STANDING_WORDS: Readonly<Record<TeamStanding, string>> = {
  near_limit: 'near the limit',
  over_quota: 'over quota',
  out_of_credit: 'out of credit',
};

const NEAR_RATIO = 0.8;

type Fits = (summary: TeamSummary) => boolean;

/** Settled characters and balances count; open reservations do not. */
const STANDING_FITS: Readonly<Record<TeamStanding, Fits>> = {
  near_limit: (summary) => {
    const { limits } = summary.team;
    if (limits.billing === 'credit') return !buys(summary, limits.maxCharactersPerRequest);
    return chargedIn(summary) >= NEAR_RATIO * (limits.characterLimit + limits.overageCharacters);
  },
  over_quota: (summary) => summary.team.limits.billing === 'quota' && chargedIn(summary) >= summary.team.limits.characterLimit,
  out_of_credit: (summary) => summary.team.limits.billing === 'credit' && !buys(summary, 1),
};

/** What counts against the quota: not what test keys use for nothing. */
export function chargedIn({ characters, allowanceUsed }: Pick<TeamSummary, 'characters' | 'allowanceUsed'>): number {
  return characters - allowanceUsed;
}

function buys({ team: { limits, balanceMicro } }: TeamSummary, characters: number): boolean {
  return balanceMicro >= characters * limits.minorPerMillion;
}

const SEARCH_MAX = 100;

function judgeSearch(sent: string): JudgedText {
  const text = sent.trim();
  if (text === '') return { fault: 'is blank; give a part of a name, reference or id' };
  if (text.length > SEARCH_MAX) return { fault: `may be at most ${SEARCH_MAX} characters long` };
  if (!holdsKey(text)) return { text };
  return { fault: 'contains a key, which does not belong here: find it with "lingate key find" or POST /admin/v1/keys/find' };
}

export const TeamQuestion = {
  plan: Type.String({
    maxLength: 100,
    description: 'Only teams on this plan, which the configuration need not have any more.',
    given: { value: 'PLAN', fallback: 'all teams' },
  }),
  standing: choice(
    Object.keys(TEAM_STANDINGS) as TeamStanding[],
    `Only teams of which this is true: ${Object.entries(TEAM_STANDINGS)
      .map(([name, words]) => `${name} (${words})`)
      .join('; ')}.`,
    {
      label: 'Limit',
      fallback: 'all teams',
      words: STANDING_WORDS,
    },
  ),
  q: recordText(judgeSearch, SEARCH_MAX, 'Only teams whose name, reference or id contains this, in upper or lower case.', {
    flag: 'search',
    value: 'TEXT',
    fallback: 'all teams',
  }),
};
type TeamsAsked = Static<MembersGiven<typeof TeamQuestion, never>>;

function fitsOf({ plan, standing }: TeamsAsked): Fits | undefined {
  if (plan === undefined && standing === undefined) return undefined;
  return (summary) => (plan === undefined || summary.team.plan === plan) && (standing === undefined || STANDING_FITS[standing](summary));
}

/** A team with its usage, as the console lists it. */
export const summaryColumns: readonly RowColumn<TeamSummary>[] = [
  { head: 'Team', cell: ({ team }) => ({ kind: 'team', id: team.teamId, name: team.name }) },
  { head: 'Reference', cell: ({ team }) => team.reference, holds: 'text' },
  { head: 'Plan', cell: ({ team }) => team.plan },
  { head: 'Used this period', cell: usedCell },
  { head: 'Credit', cell: creditCell, holds: 'figures' },
  { head: 'Keys', cell: ({ activeKeys }) => activeKeys, holds: 'figures' },
  { head: 'Last use', cell: ({ lastUsedAtMs: atMs }) => ({ kind: 'ago', at: atMs === undefined ? null : rfc3339(atMs) }) },
  { head: 'Created', cell: ({ team }) => ({ kind: 'day', at: rfc3339(team.createdAtMs) }) },
];

function usedCell(summary: TeamSummary): Cell {
  const { name, limits } = summary.team;
  const used = chargedIn(summary);
  if (limits.billing === 'credit') return `${used.toLocaleString('en')} characters`;
  return { kind: 'share', what: `Characters of ${name}`, used, of: limits.characterLimit };
}

function creditCell({ team: { limits, balanceMicro } }: TeamSummary): Cell {
  if (limits.billing !== 'credit') return undefined;
  return { kind: 'money', minor: minorRoundedDown(balanceMicro), currency: limits.currency };
}

export function readSummaries<Row>(
  { options: { teams } }: OperationContext,
  asked: TeamsAsked,
  rowOf: (summary: TeamSummary) => Row,
  after: unknown,
  size: number,
): AsyncGenerator<ListPiece<Row>, void, void> {
  const read = (from: string | undefined, limit: number) => teams.pageSummaries({ after: from, limit, search: asked.q?.trim() });
  return rowsInOrder({ read, idOf: ({ team }) => team.teamId, fits: fitsOf(asked), rowsOf: (found) => found.map(rowOf) }, after, size);
}

/** More need not be distinguished: a longer word is needed in any case. */
const MATCHING_MAX = 200;
/** How many of several a refusal names. */
const NAMED_MAX = 5;

/**
 * By its id, or by a name or reference; otherwise the one that contains the word, whatever the
 * case. An id is not looked up: deleted teams have ids too.
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
  throw new RefusedError(refused('team', `${found.length} teams match; enter the id of one: ${some.join('; ')}${more}`));
}

/** What of a team was just set. */
type Given = Pick<TeamChange, 'name' | 'reference'>;

/** A sentence for each text that an earlier team has too; none if the store does not answer. */
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
