// GET /v1/usage: what the team has used of its current period, settled counts only.
import { json } from '../core/outcome.ts';
import type { BodyStep } from '../core/step.ts';
import { keyOwnerSlot } from '../domain/slots.ts';
import { STORE_UNAVAILABLE, UNKNOWN_KEY } from '../domain/refusals.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import { usageReport } from '../domain/usage-report.ts';
import type { TeamRegistry } from '../ports/team-registry.ts';

export function usageEndpoint(teams: TeamRegistry): BodyStep {
  return {
    kind: 'body',
    name: 'usage',
    run: async (x) => {
      const usage = await teams.usage(x.need(keyOwnerSlot).teamId);
      if (isUnavailable(usage)) return STORE_UNAVAILABLE;
      return usage === undefined ? UNKNOWN_KEY : json(JSON.stringify(usageReport(usage)));
    },
  };
}
