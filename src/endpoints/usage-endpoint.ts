// GET /v1/usage: the team's usage in its current period and, if requested, by day; settled counts only.
import { json } from '../core/outcome.ts';
import type { Outcome, Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import type { BodyStep } from '../core/step.ts';
import { keyOwnerSlot } from '../domain/slots.ts';
import { STORE_UNAVAILABLE, UNKNOWN_KEY } from '../domain/refusals.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import { dayReports, readDayRange, usageReport } from '../domain/usage-days.ts';
import type { DayRange } from '../domain/usage-days.ts';
import type { TeamRegistry } from '../ports/team-registry.ts';
import type { UsageHistory } from '../ports/usage-history.ts';

const KEEPS_NO_DAYS = refuse('validation_error', 'from: this gateway does not count days; omit from and to.');

/** `history` is `undefined` if the store keeps none. */
export function usageEndpoint(teams: Pick<TeamRegistry, 'usage'>, history?: Pick<UsageHistory, 'days'>): BodyStep {
  return {
    kind: 'body',
    name: 'usage',
    run: async (x) => {
      const { teamId } = x.need(keyOwnerSlot);
      const range = x.head.query === '' ? undefined : rangeOf(x.head.query);
      if (range !== undefined) return 'kind' in range ? range : withDays(teams, history, teamId, range);
      const usage = await teams.usage(teamId);
      if (isUnavailable(usage)) return STORE_UNAVAILABLE;
      return usage === undefined ? UNKNOWN_KEY : json(JSON.stringify(usageReport(usage)));
    },
  };
}

/** `undefined` if no days are requested; other parameters have always been ignored here. */
function rangeOf(query: string): DayRange | Refusal | undefined {
  // With a `?` in front, because URLSearchParams drops a leading one, which would otherwise be one that belongs to the query.
  const parameters = new URLSearchParams(`?${query}`);
  for (const name of ['from', 'to']) {
    if (parameters.getAll(name).length > 1) return refuse('validation_error', `${name}: is given twice; give it once.`);
  }
  const range = readDayRange(parameters.get('from') ?? undefined, parameters.get('to') ?? undefined);
  return range !== undefined && 'fault' in range ? refuse('validation_error', `${range.field}: ${range.fault}.`) : range;
}

async function withDays(
  teams: Pick<TeamRegistry, 'usage'>,
  history: Pick<UsageHistory, 'days'> | undefined,
  teamId: string,
  range: DayRange,
): Promise<Outcome> {
  if (history === undefined) return KEEPS_NO_DAYS;
  const [usage, days] = await Promise.all([teams.usage(teamId), history.days(teamId, range)]);
  if (isUnavailable(usage) || isUnavailable(days)) return STORE_UNAVAILABLE;
  if (usage === undefined || days === undefined) return UNKNOWN_KEY;
  return json(JSON.stringify({ ...usageReport(usage), days: dayReports(days.days) }));
}
