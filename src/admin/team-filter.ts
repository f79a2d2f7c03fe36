// Which teams an operator asks for. Each criterion is one row: query parameter, flag of `team list`, field of the console.
import type { TeamSummary } from '../ports/team-registry.ts';

export interface QueryFault {
  readonly field: string;
  readonly fault: string;
}

/** Whether a team is among those asked for. */
type Fits = (summary: TeamSummary) => boolean;

interface Criterion {
  /** For the API's document and the command's help. */
  readonly about: string;
  /** What stands for its value in the command's help. */
  readonly value: string;
  readonly read: (text: string) => Fits | { readonly fault: string };
}

export const TEAM_STANDINGS = {
  near_limit: 'has used at least 80 % of its characters, overage included, or has credit for less than one longest request',
  over_quota: 'has used all included characters of its period: further ones are overage, or refused',
  out_of_credit: 'has no credit left for a single character',
} as const;

export type TeamStanding = keyof typeof TEAM_STANDINGS;

const NEAR_RATIO = 0.8;
const PLAN_CHARACTERS_MAX = 100;

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
function chargedIn({ characters, allowanceUsed }: TeamSummary): number {
  return characters - allowanceUsed;
}

function buys({ team: { limits, balanceMicro } }: TeamSummary, characters: number): boolean {
  return balanceMicro >= characters * limits.minorPerMillion;
}

export const TEAM_CRITERIA = {
  plan: {
    about: 'only teams on this plan, which the configuration need not have any more',
    value: 'PLAN',
    read: (text) =>
      text.length > PLAN_CHARACTERS_MAX
        ? { fault: `may be at most ${PLAN_CHARACTERS_MAX} characters long` }
        : ({ team }) => team.plan === text,
  },
  standing: {
    about: `only teams of which this is true: ${Object.entries(TEAM_STANDINGS)
      .map(([name, words]) => `${name} (${words})`)
      .join('; ')}`,
    value: 'STANDING',
    read: (text) =>
      Object.hasOwn(STANDING_FITS, text)
        ? STANDING_FITS[text as TeamStanding]
        : { fault: `must be one of ${Object.keys(TEAM_STANDINGS).join(', ')}` },
  },
} satisfies Readonly<Record<string, Criterion>>;

export type TeamCriterionName = keyof typeof TEAM_CRITERIA;

export const TEAM_CRITERION_NAMES = Object.keys(TEAM_CRITERIA) as readonly TeamCriterionName[];

/** All of the criteria given; `undefined` for all teams. */
export type TeamFilter = Fits | undefined;

/** `given` returns a criterion's text. An empty one, as a form sends it, counts as absent. */
export function readTeamFilter(
  given: (name: TeamCriterionName) => string | null | undefined,
): { readonly filter: TeamFilter } | QueryFault {
  const all: Fits[] = [];
  for (const name of TEAM_CRITERION_NAMES) {
    const text = given(name)?.trim() ?? '';
    if (text === '') continue;
    const read = (TEAM_CRITERIA[name] as Criterion).read(text);
    if (typeof read !== 'function') return { field: name, fault: read.fault };
    all.push(read);
  }
  return { filter: all.length === 0 ? undefined : (summary) => all.every((fits) => fits(summary)) };
}
