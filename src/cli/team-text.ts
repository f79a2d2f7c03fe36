// A team as people read it on the command line.
import { teamReport } from '../admin/reports.ts';
import { minorRoundedDown } from '../domain/money.ts';
import { anchorOf, lengthOf } from '../domain/period-rule.ts';
import { rfc3339 } from '../domain/period.ts';
import type { Team } from '../ports/team-registry.ts';
import { labelled, textTable } from './text-table.ts';

export function teamText(team: Team): string {
  return labelled({ ...teamReport(team) });
}

export function teamTable(teams: readonly Team[]): string {
  if (teams.length === 0) return 'There are no teams yet; create one with "lingate team create".';
  const rows = teams.map((team) => {
    const { limits } = team;
    const has =
      limits.billing === 'credit'
        ? `${minorRoundedDown(team.balanceMicro)} minor ${limits.currency}`
        : `${limits.characterLimit} per ${anchorOf(limits.period) === 'calendar' ? 'calendar ' : ''}${lengthOf(limits.period)}`;
    return [team.teamId, team.name, team.plan, limits.billing, `${limits.requestsPerSecond}/s`, has, rfc3339(team.createdAtMs)];
  });
  return textTable(['TEAM', 'NAME', 'PLAN', 'BILLING', 'RATE', 'CHARACTERS OR BALANCE', 'CREATED'], rows);
}
