// A team as the command line prints it: the numbers it is held to, by the names that plans give them.
import { minorRoundedDown } from '../domain/money.ts';
import { rfc3339 } from '../domain/period.ts';
import type { Team } from '../ports/team-registry.ts';
import { labelled, table } from './table.ts';

export interface TeamReport {
  readonly team_id: string;
  readonly name: string;
  readonly plan: string;
  readonly billing: 'quota' | 'credit';
  readonly requests_per_second: number;
  readonly max_characters_per_request: number;
  readonly max_glossaries: number;
  /** With quota. */
  readonly characters?: number;
  readonly period?: string;
  readonly overage_cap_minor?: number;
  readonly overage_minor_per_million?: number;
  /** With credit. */
  readonly credit_minor_per_million?: number;
  readonly balance_minor?: number;
  readonly currency: string;
  readonly created_at: string;
}

/** Members in the order in which they are written. */
export function teamReport(team: Team): TeamReport {
  const { limits } = team;
  return {
    team_id: team.teamId,
    name: team.name,
    plan: team.plan,
    billing: limits.billing,
    requests_per_second: limits.requestsPerSecond,
    max_characters_per_request: limits.maxCharactersPerRequest,
    max_glossaries: limits.maxGlossaries,
    ...billingPart(team),
    currency: limits.currency,
    created_at: rfc3339(team.createdAtMs),
  };
}

function billingPart({ limits, balanceMicro }: Team): Partial<TeamReport> {
  if (limits.billing === 'credit') {
    return { credit_minor_per_million: limits.minorPerMillion, balance_minor: minorRoundedDown(balanceMicro) };
  }
  return {
    characters: limits.characterLimit,
    period: limits.period,
    overage_cap_minor: limits.overageCapMinor,
    overage_minor_per_million: limits.minorPerMillion,
  };
}

export function teamText(team: Team): string {
  return labelled({ ...teamReport(team) });
}

export function teamTable(teams: readonly Team[]): string {
  if (teams.length === 0) return 'There are no teams yet; make one with "lingate team create".';
  const rows = teams.map((team) => {
    const { limits } = team;
    const has =
      limits.billing === 'credit'
        ? `${minorRoundedDown(team.balanceMicro)} minor ${limits.currency}`
        : `${limits.characterLimit} per ${limits.period}`;
    return [team.teamId, team.name, team.plan, limits.billing, `${limits.requestsPerSecond}/s`, has, rfc3339(team.createdAtMs)];
  });
  return table(['TEAM', 'NAME', 'PLAN', 'BILLING', 'RATE', 'CHARACTERS OR BALANCE', 'CREATED'], rows);
}
