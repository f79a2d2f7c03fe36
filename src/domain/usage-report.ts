// A team's usage as shown to callers and operators: the body of GET /v1/usage.
import type { Static } from 'typebox';
import type { TestKeysAnswer, UsageAnswer } from './answers.ts';
import type { KeyMode } from './api-key.ts';
import { costMicro, minorRoundedDown } from './money.ts';
import type { Micro } from './money.ts';
import { rfc3339 } from './period.ts';
import type { TeamLimits } from './plan.ts';
import type { WindowUse } from './window-limits.ts';

/** Settled counts of a team's current period, as the stores report them. */
interface UsageFigures {
  readonly team: { readonly teamId: string; readonly plan: string; readonly limits: TeamLimits; readonly balanceMicro: Micro };
  readonly periodStartMs: number;
  readonly periodEndMs: number;
  readonly characters: number;
  readonly allowanceUsed: number;
  readonly windows?: readonly WindowUse[];
  readonly keys: readonly {
    readonly display: string;
    readonly label: string;
    readonly mode: KeyMode;
    readonly characters: number;
    readonly requests: number;
    readonly lastUsedAtMs: number | undefined;
    readonly windows?: readonly WindowUse[];
  }[];
}

export type UsageReport = Static<typeof UsageAnswer>;

/** Members are in output order. */
export function usageReport(usage: UsageFigures): UsageReport {
  const { team, characters, allowanceUsed } = usage;
  const { limits } = team;
  const base = {
    requests_per_second: limits.requestsPerSecond,
    period_start: rfc3339(usage.periodStartMs),
    period_end: rfc3339(usage.periodEndMs),
    character_count: characters,
    ...testCharactersOf(usage),
    ...testKeysOf(limits, allowanceUsed),
    ...usedLimits(usage.windows),
  };
  const keys = usage.keys.map((key) => ({
    display: key.display,
    label: key.label,
    mode: key.mode,
    character_count: key.characters,
    request_count: key.requests,
    last_used_at: key.lastUsedAtMs === undefined ? null : rfc3339(key.lastUsedAtMs),
    ...usedLimits(key.windows),
  }));
  if (limits.billing === 'credit') {
    const credit = { balance_minor: minorRoundedDown(team.balanceMicro), currency: limits.currency };
    return { team_id: team.teamId, plan: team.plan, billing: 'credit', ...base, credit, keys };
  }
  const overage = overageOf(characters - allowanceUsed, limits);
  return { team_id: team.teamId, plan: team.plan, billing: 'quota', ...base, character_limit: limits.characterLimit, overage, keys };
}

/** Limits by minute to month, with what is used of them; absent without such limits. */
export function usedLimits(windows: readonly WindowUse[] | undefined): Pick<UsageReport, 'limits'> {
  if (windows === undefined) return {};
  const limits = windows.map(({ per, requests, characters, usedRequests, usedCharacters, endMs }) => ({
    per,
    ...(requests === undefined ? {} : { requests, used_requests: usedRequests }),
    ...(characters === undefined ? {} : { characters, used_characters: usedCharacters }),
    resets_at: rfc3339(endMs),
  }));
  return { limits };
}

/** What was charged to test keys; absent where it is not known which keys were used. */
function testCharactersOf({ characters, keys }: UsageFigures): { test_character_count?: number } {
  if (characters > 0 && keys.length === 0) return {};
  return { test_character_count: keys.reduce((sum, key) => (key.mode === 'test' ? sum + key.characters : sum), 0) };
}

/** Of a plan that lets test keys use characters for nothing: how many, and how many they have used. */
export function testKeysOf({ testAllowance }: TeamLimits, allowanceUsed: number): { test_keys?: Static<typeof TestKeysAnswer> } {
  if (testAllowance + allowanceUsed === 0) return {};
  return { test_keys: { character_count: allowanceUsed, character_limit: testAllowance } };
}

/** What was used beyond the included characters, and what it costs. `characters` are those that are charged. */
export function overageOf(characters: number, limits: TeamLimits): Extract<UsageReport, { billing: 'quota' }>['overage'] {
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
