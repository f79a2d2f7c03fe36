// Teams, keys and plans as JSON: what the command line prints with --json and the admin API answers.
import type { KeyLimits } from '../domain/key-limits.ts';
import { minorRoundedDown } from '../domain/money.ts';
import { rfc3339 } from '../domain/period.ts';
import { anchorOf, lengthOf } from '../domain/period-rule.ts';
import type { PeriodAnchor } from '../domain/period-rule.ts';
import type { Plan } from '../domain/plan.ts';
import type { FoundKey, KeyRecord, KeyStatus, Team } from '../ports/team-registry.ts';

export interface TeamReport {
  readonly team_id: string;
  readonly name: string;
  readonly plan: string;
  readonly billing: 'quota' | 'credit';
  readonly requests_per_second: number;
  readonly max_characters_per_request: number;
  readonly max_glossaries: number;
  /** With quota billing only. */
  readonly characters?: number;
  readonly period?: string;
  readonly overage_cap_minor?: number;
  readonly overage_minor_per_million?: number;
  /** With credit billing only. */
  readonly credit_minor_per_million?: number;
  readonly balance_minor?: number;
  /** Only if it is `calendar`. */
  readonly period_anchor?: PeriodAnchor;
  readonly currency: string;
  readonly created_at: string;
}

/** Members in output order: a team's numbers, under the names that plans have for them. */
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
    ...(anchorOf(limits.period) === 'calendar' ? { period_anchor: 'calendar' } : {}),
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
    period: lengthOf(limits.period),
    overage_cap_minor: limits.overageCapMinor,
    overage_minor_per_million: limits.minorPerMillion,
  };
}

/** A key's limits, under the names that operators use; absent if the key has no such limit. */
export interface LimitsReport {
  readonly expires_at?: string;
  readonly requests_per_second?: number;
  readonly characters?: number;
  readonly allowed_addresses?: readonly string[];
}

export function limitsReport({ expiresAtMs, requestsPerSecond, characters, allowedAddresses }: KeyLimits): LimitsReport {
  return {
    ...(expiresAtMs === undefined ? {} : { expires_at: rfc3339(expiresAtMs) }),
    ...(requestsPerSecond === undefined ? {} : { requests_per_second: requestsPerSecond }),
    ...(characters === undefined ? {} : { characters }),
    ...(allowedAddresses === undefined ? {} : { allowed_addresses: allowedAddresses }),
  };
}

/** Limits come last, absent if the key has none. */
export interface KeyReport extends LimitsReport {
  readonly key_id: string;
  /** The key's first twelve characters. */
  readonly display: string;
  readonly label: string;
  readonly mode: 'live' | 'test';
  readonly status: KeyStatus;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

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
export interface FoundKeyReport extends LimitsReport {
  readonly key_id: string;
  readonly display: string;
  readonly label: string;
  readonly mode: 'live' | 'test';
  readonly status: KeyStatus;
  readonly team_id: string;
  readonly team_name: string;
  readonly last_used_at: string | null;
}

export function foundKeyReport(key: FoundKey): FoundKeyReport {
  const { key_id, display, label, mode, status, last_used_at } = keyReport(key);
  const of = { team_id: key.teamId, team_name: key.teamName };
  return { key_id, display, label, mode, status, ...of, last_used_at, ...limitsReport(key.limits) };
}

/** A key that was just created; the only time that it is shown whole. */
export interface NewKeyReport extends LimitsReport {
  readonly key_id: string;
  readonly key: string;
  readonly display: string;
  readonly mode: 'live' | 'test';
  readonly team_id: string;
}

export function newKeyReport(key: string, { keyId, display, mode, teamId, limits }: KeyRecord): NewKeyReport {
  return { key_id: keyId, key, display, mode, team_id: teamId, ...limitsReport(limits) };
}

export type PlanReport = { readonly name: string } & Plan;

export function planReport(name: string, plan: Plan): PlanReport {
  return { name, ...plan };
}
