// Teams, keys, plans and the live window as JSON: what the command line prints with --json and the admin API answers.
import type { Static } from 'typebox';
import type { KeyLimits } from '../domain/key-limits.ts';
import { minorRoundedDown } from '../domain/money.ts';
import { rfc3339 } from '../domain/period.ts';
import { anchorOf } from '../domain/period-rule.ts';
import type { Plan } from '../domain/plan.ts';
import { overageOf, testKeysOf } from '../domain/usage-report.ts';
import { NO_WINDOWS, windowLimits } from '../domain/window-limits.ts';
import type { WindowLimit } from '../domain/window-limits.ts';
import type { FoundKey, KeyRecord, Team } from '../ports/team-registry.ts';
import type { PeriodUse } from '../ports/usage-history.ts';
import { numbersOfAll, numbersOfBilling, planNumbers } from './plan-numbers.ts';
import type { FoundKeyAnswer, KeyAnswer, LiveAnswer, NewKeyAnswer, PeriodAnswer, TeamAnswer } from './admin-schemas.ts';

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

/** A key's limits, under the names that operators use; absent if the key has no such limit. */
export function limitsReport({ expiresAtMs, requestsPerSecond, characters, allowedAddresses, scopes, windows }: KeyLimits) {
  return {
    ...(expiresAtMs === undefined ? {} : { expires_at: rfc3339(expiresAtMs) }),
    ...(requestsPerSecond === undefined ? {} : { requests_per_second: requestsPerSecond }),
    ...(characters === undefined ? {} : { characters }),
    ...(allowedAddresses === undefined ? {} : { allowed_addresses: [...allowedAddresses] }),
    ...(scopes === undefined ? {} : { scopes: [...scopes] }),
    ...limitsMember(windows),
  };
}

type KeyReport = Static<typeof KeyAnswer>;

export function keyReport(key: KeyRecord): KeyReport {
  return {
    key_id: key.keyId,
    display: key.display,
    label: key.label,
    mode: key.mode,
    status: key.status,
    created_at: rfc3339(key.createdAtMs),
    last_used_at: key.lastUsedAtMs === undefined ? null : rfc3339(key.lastUsedAtMs),
    ...limitsReport(key.limits),
  };
}

/** A key that was changed. */
export type ChangedKeyReport = KeyReport & { readonly team_id: string };

export function changedKeyReport(key: KeyRecord): ChangedKeyReport {
  return { team_id: key.teamId, ...keyReport(key) };
}

/** A key with its team. */
export function foundKeyReport(key: FoundKey): Static<typeof FoundKeyAnswer> {
  const { key_id, display, label, mode, status, last_used_at } = keyReport(key);
  const of = { team_id: key.teamId, team_name: key.teamName };
  return { key_id, display, label, mode, status, ...of, last_used_at, ...limitsReport(key.limits) };
}

/** A key that was just created; the only time that it is shown whole. */
export type NewKeyReport = Static<typeof NewKeyAnswer>;

export function newKeyReport(key: string, { keyId, display, label, mode, teamId, limits }: KeyRecord): NewKeyReport {
  return { key_id: keyId, key, display, label, mode, team_id: teamId, ...limitsReport(limits) };
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
