// A team's usage as shown to callers and operators: the body of GET /v1/usage.
import type { KeyMode } from './api-key.ts';
import { costMicro, minorRoundedDown } from './money.ts';
import type { Micro } from './money.ts';
import { rfc3339 } from './period.ts';
import type { TeamLimits } from './plan.ts';

/** Settled counts of a team's current period, as the stores report them. */
export interface UsageFigures {
  readonly team: { readonly teamId: string; readonly plan: string; readonly limits: TeamLimits; readonly balanceMicro: Micro };
  readonly periodStartMs: number;
  readonly periodEndMs: number;
  readonly characters: number;
  readonly keys: readonly {
    readonly display: string;
    readonly label: string;
    readonly mode: KeyMode;
    readonly characters: number;
    readonly requests: number;
    readonly lastUsedAtMs: number | undefined;
  }[];
}

export interface KeyUsageReport {
  readonly display: string;
  readonly label: string;
  readonly mode: KeyMode;
  readonly character_count: number;
  readonly request_count: number;
  readonly last_used_at: string | null;
}

interface UsageReportBase {
  readonly team_id: string;
  readonly plan: string;
  readonly requests_per_second: number;
  readonly period_start: string;
  readonly period_end: string;
  readonly character_count: number;
  readonly keys: readonly KeyUsageReport[];
}

export interface QuotaUsageReport extends UsageReportBase {
  readonly billing: 'quota';
  readonly character_limit: number;
  readonly overage: {
    readonly character_count: number;
    readonly cost_minor: number;
    readonly cap_minor: number;
    readonly currency: string;
  };
}

export interface CreditUsageReport extends UsageReportBase {
  readonly billing: 'credit';
  readonly credit: { readonly balance_minor: number; readonly currency: string };
}

export type UsageReport = QuotaUsageReport | CreditUsageReport;

/** Members are in output order. */
export function usageReport(usage: UsageFigures): UsageReport {
  const { team, characters } = usage;
  const { limits } = team;
  const base = {
    requests_per_second: limits.requestsPerSecond,
    period_start: rfc3339(usage.periodStartMs),
    period_end: rfc3339(usage.periodEndMs),
    character_count: characters,
  };
  const keys = usage.keys.map((key) => ({
    display: key.display,
    label: key.label,
    mode: key.mode,
    character_count: key.characters,
    request_count: key.requests,
    last_used_at: key.lastUsedAtMs === undefined ? null : rfc3339(key.lastUsedAtMs),
  }));
  if (limits.billing === 'credit') {
    const credit = { balance_minor: minorRoundedDown(team.balanceMicro), currency: limits.currency };
    return { team_id: team.teamId, plan: team.plan, billing: 'credit', ...base, credit, keys };
  }
  const overage = overageOf(characters, limits);
  return { team_id: team.teamId, plan: team.plan, billing: 'quota', ...base, character_limit: limits.characterLimit, overage, keys };
}

/** A period of a team, as reported by stores. */
export interface PeriodFigures {
  readonly startMs: number;
  readonly endMs: number;
  readonly closed: boolean;
  readonly plan: string;
  readonly limits: TeamLimits;
  readonly characters: number;
}

export interface PeriodReport {
  readonly period_start: string;
  readonly period_end: string;
  /** Whether it is final. */
  readonly closed: boolean;
  readonly plan: string;
  readonly billing: 'quota' | 'credit';
  readonly character_count: number;
  /** Like `overage`, only with quota billing. */
  readonly character_limit?: number;
  readonly overage?: QuotaUsageReport['overage'];
}

/** Based on the last plan that applied in the period. */
export function periodReport({ startMs, endMs, closed, plan, limits, characters }: PeriodFigures): PeriodReport {
  const { billing } = limits;
  const base = { period_start: rfc3339(startMs), period_end: rfc3339(endMs), closed, plan, billing, character_count: characters };
  if (billing === 'credit') return base;
  return { ...base, character_limit: limits.characterLimit, overage: overageOf(characters, limits) };
}

function overageOf(characters: number, limits: TeamLimits): QuotaUsageReport['overage'] {
  const beyond = Math.max(0, characters - limits.characterLimit);
  return {
    character_count: beyond,
    // Rounded down to whole minor units that are due so far. Never above the cap: after a plan change within the period it
    // could otherwise appear to exceed it.
    cost_minor: Math.min(limits.overageCapMinor, minorRoundedDown(costMicro(beyond, limits.minorPerMillion))),
    cap_minor: limits.overageCapMinor,
    currency: limits.currency,
  };
}
