// Teams, plans and the live window as JSON: what the command line prints with --json and the admin API answers.
import type { Static } from 'typebox';
import { minorRoundedDown } from '../domain/money.ts';
import { rfc3339 } from '../domain/period.ts';
import { anchorOf } from '../domain/period-rule.ts';
import type { Plan } from '../domain/plan.ts';
import { overageOf, testKeysOf } from '../domain/usage-report.ts';
import { NO_WINDOWS, windowLimits } from '../domain/window-limits.ts';
import type { WindowLimit } from '../domain/window-limits.ts';
import type { Team } from '../ports/team-registry.ts';
import type { PeriodUse } from '../ports/usage-history.ts';
import { numbersOfAll, numbersOfBilling, planNumbers } from './plan-numbers.ts';
import type { LiveAnswer, PeriodAnswer, TeamAnswer } from './admin-schemas.ts';

type TeamReport = Static<typeof TeamAnswer>;

/** Members in output order: a team's numbers, under the names that plans have for them. */
export function teamReport(team: Team): TeamReport {
  const { limits } = team;
  return {
    team_id: team.teamId,
    name: team.name,
    ...(team.reference === undefined ? {} : { reference: team.reference }),
    plan: team.plan,
    ...numbersOfAll(limits),
    ...numbersOfBilling(limits),
    ...limitsMember(limits.windows),
    ...(limits.billing === 'credit' ? { balance_minor: minorRoundedDown(team.balanceMicro) } : {}),
    ...(anchorOf(limits.period) === 'calendar' ? { period_anchor: 'calendar' } : {}),
    currency: limits.currency,
    created_at: rfc3339(team.createdAtMs),
    ...(team.nextPlan === undefined ? {} : { next_plan: { plan: team.nextPlan.name, ...planNumbers(team.nextPlan.limits) } }),
  };
}

/** The limits by minute to month, as in plans; absent without any. */
function limitsMember(written: string = NO_WINDOWS): { readonly limits?: WindowLimit[] } {
  return written === NO_WINDOWS ? {} : { limits: [...windowLimits(written)] };
}

export type PlanReport = { readonly name: string } & Plan;

export type PeriodReport = Static<typeof PeriodAnswer>;

/** Based on the last plan that applied in the period. */
export function periodReport(period: Omit<PeriodUse, 'number'>): PeriodReport {
  const { startMs, endMs, closed, plan, limits, characters, allowanceUsed, testCharacters } = period;
  const { billing } = limits;
  const base = { period_start: rfc3339(startMs), period_end: rfc3339(endMs), closed, plan, billing, character_count: characters };
  const counts = { ...base, test_character_count: testCharacters, ...testKeysOf(limits, allowanceUsed) };
  if (billing === 'credit') return counts;
  return { ...counts, character_limit: limits.characterLimit, overage: overageOf(characters - allowanceUsed, limits) };
}

/** The figures of one step of five seconds; `app/` adds up those of all processes. */
export interface StepFigures {
  readonly atMs: number;
  readonly requests: Readonly<Record<string, number>>;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  readonly characters: number;
  readonly engineFailures: number;
  readonly inFlight: number;
}

export type LiveReport = Static<typeof LiveAnswer>;

export function liveReport(stepSeconds: number, steps: readonly StepFigures[]): LiveReport {
  return {
    step_seconds: stepSeconds,
    points: steps.map((step) => ({
      at: rfc3339(step.atMs),
      requests: step.requests,
      p50_ms: step.p50Ms,
      p99_ms: step.p99Ms,
      characters: step.characters,
      engine_failures: step.engineFailures,
      in_flight: step.inFlight,
    })),
  };
}
