// What operators do with teams, keys and plans: one implementation below the command line, the admin API and the console.
import { digestOf, displayOf, newKey } from '../domain/api-key.ts';
import type { KeyMode } from '../domain/api-key.ts';
import { MINOR_MAX, minorRoundedUp, toMicro } from '../domain/money.ts';
import { limitsOf } from '../domain/plan.ts';
import type { Plan, TeamLimits } from '../domain/plan.ts';
import { usageReport } from '../domain/usage-report.ts';
import type { UsageReport } from '../domain/usage-report.ts';
import type { KeyRecord, Team, TeamChange, TeamPage, TeamRegistry, TeamSummary, Usage } from '../ports/team-registry.ts';
import { planReport } from './reports.ts';
import type { NewKeyReport, PlanReport } from './reports.ts';

/** What was asked for cannot be done; each front says it in its own words. */
export type AdminRefusal =
  | { readonly kind: 'no_such_team'; readonly teamId: string }
  | { readonly kind: 'no_such_key'; readonly keyId: string }
  | { readonly kind: 'no_such_plan'; readonly plan: string; readonly plans: readonly string[] }
  /** Credit for a team whose plan has billing quota. */
  | { readonly kind: 'plan_takes_no_credit'; readonly plan: string }
  /** The balance would pass what a team can have. */
  | { readonly kind: 'balance_too_large'; readonly maxMinor: number };

export type AdminResult<T> = { readonly kind: 'done'; readonly value: T } | AdminRefusal;

export interface AdminOptions {
  readonly teams: TeamRegistry;
  /** Asked anew for each operation: the operator may change the plans while we run. */
  readonly plans: () => ReadonlyMap<string, Plan>;
  /** Makes ids of records: ULIDs. */
  readonly newId: () => string;
}

export interface TeamDraft {
  readonly name: string;
  readonly plan: string;
  /** `undefined` when none was named: then any plan will do. */
  readonly creditMinor: number | undefined;
}

export interface TeamEdit {
  readonly name?: string | undefined;
  readonly plan?: string | undefined;
  readonly addCreditMinor?: number | undefined;
}

export interface KeyDraft {
  readonly teamId: string;
  readonly mode: KeyMode;
  readonly label: string;
}

export interface PlanApplied {
  readonly plan: string;
  /** Teams on the plan. */
  readonly teams: number;
  /** Those of them that were held to other numbers. */
  readonly changed: number;
}

/** Ids are canonical ULIDs, names have been checked. Store failures reject with a `StoreError`. */
export class AdminOperations {
  readonly #options: AdminOptions;

  constructor(options: AdminOptions) {
    this.#options = options;
  }

  async createTeam({ name, plan, creditMinor }: TeamDraft): Promise<AdminResult<Team>> {
    const limits = this.#limitsOf(plan);
    if ('kind' in limits) return limits;
    if (creditMinor !== undefined && limits.billing !== 'credit') return { kind: 'plan_takes_no_credit', plan };
    const teamId = this.#options.newId();
    return done(await this.#options.teams.createTeam({ teamId, name, plan, limits, balanceMicro: toMicro(creditMinor ?? 0) }));
  }

  /** `next` is where the next page begins, if there is one. */
  async listTeams(page: TeamPage): Promise<{ readonly teams: readonly Team[]; readonly next: string | undefined }> {
    const { shown, hasMore } = cut(await this.#options.teams.pageTeams(oneMore(page)), page);
    return { teams: shown, next: hasMore ? shown.at(-1)?.teamId : undefined };
  }

  /** The same page with what its teams have used, however many they are in as many questions to the store. */
  async listSummaries(page: TeamPage): Promise<{ readonly teams: readonly TeamSummary[]; readonly next: string | undefined }> {
    const { shown, hasMore } = cut(await this.#options.teams.pageSummaries(oneMore(page)), page);
    return { teams: shown, next: hasMore ? shown.at(-1)?.team.teamId : undefined };
  }

  async showTeam(teamId: string): Promise<AdminResult<Team>> {
    const team = await this.#options.teams.findTeam(teamId);
    return team === undefined ? { kind: 'no_such_team', teamId } : done(team);
  }

  async updateTeam(teamId: string, edit: TeamEdit): Promise<AdminResult<Team>> {
    const before = await this.#options.teams.findTeam(teamId);
    if (before === undefined) return { kind: 'no_such_team', teamId };
    const change = this.#changeOf(before, edit);
    if ('kind' in change) return change;
    const after = await this.#options.teams.updateTeam(teamId, change);
    return after === undefined ? { kind: 'no_such_team', teamId } : done(after);
  }

  async usage(teamId: string): Promise<AdminResult<{ readonly figures: Usage; readonly report: UsageReport }>> {
    const figures = await this.#options.teams.usage(teamId);
    return figures === undefined ? { kind: 'no_such_team', teamId } : done({ figures, report: usageReport(figures) });
  }

  async listKeys(teamId: string): Promise<AdminResult<readonly KeyRecord[]>> {
    const keys = await this.#options.teams.listKeys(teamId);
    return keys === undefined ? { kind: 'no_such_team', teamId } : done(keys);
  }

  async createKey({ teamId, mode, label }: KeyDraft): Promise<AdminResult<NewKeyReport>> {
    const key = newKey(mode);
    const keyId = this.#options.newId();
    const record = { keyId, teamId, digest: digestOf(key), display: displayOf(key), label, mode };
    const created = await this.#options.teams.createKey(record);
    if (created === undefined) return { kind: 'no_such_team', teamId };
    return done({ key_id: keyId, key, display: created.display, mode, team_id: teamId });
  }

  async revokeKey(keyId: string): Promise<AdminResult<KeyRecord>> {
    const key = await this.#options.teams.revokeKey(keyId);
    return key === undefined ? { kind: 'no_such_key', keyId } : done(key);
  }

  listPlans(): readonly PlanReport[] {
    return [...this.#options.plans()].map(([name, plan]) => planReport(name, plan));
  }

  /** `onProgress` is told after each team that was changed. Run again, it goes on where it was stopped. */
  async applyPlan(name: string, onProgress?: (changed: number, behind: number) => void): Promise<AdminResult<PlanApplied>> {
    const limits = this.#limitsOf(name);
    if ('kind' in limits) return limits;
    const { teams } = this.#options;
    const members = (await teams.listTeams()).filter((team) => team.plan === name);
    const behind = members.filter((team) => !sameLimits(team.limits, limits));
    let changed = 0;
    for (const { teamId } of behind) {
      if ((await teams.updateTeam(teamId, { plan: { name, limits } })) !== undefined) changed++;
      onProgress?.(changed, behind.length);
    }
    return done({ plan: name, teams: members.length, changed });
  }

  #changeOf(team: Team, { name, plan, addCreditMinor = 0 }: TeamEdit): TeamChange | AdminRefusal {
    const limits = plan === undefined ? team.limits : this.#limitsOf(plan);
    if ('kind' in limits) return limits;
    if (addCreditMinor > 0 && limits.billing !== 'credit') return { kind: 'plan_takes_no_credit', plan: plan ?? team.plan };
    // Beyond this, millionths of a minor unit are no exact integers any more.
    if (minorRoundedUp(team.balanceMicro) + addCreditMinor > MINOR_MAX) return { kind: 'balance_too_large', maxMinor: MINOR_MAX };
    return {
      ...(name === undefined ? {} : { name }),
      ...(plan === undefined ? {} : { plan: { name: plan, limits } }),
      ...(addCreditMinor === 0 ? {} : { addMicro: toMicro(addCreditMinor) }),
    };
  }

  #limitsOf(name: string): TeamLimits | AdminRefusal {
    const plans = this.#options.plans();
    const plan = plans.get(name);
    return plan === undefined ? { kind: 'no_such_plan', plan: name, plans: [...plans.keys()] } : limitsOf(plan);
  }
}

function done<T>(value: T): { readonly kind: 'done'; readonly value: T } {
  return { kind: 'done', value };
}

/** One more than is shown tells whether there is more. */
function oneMore(page: TeamPage): TeamPage {
  return { ...page, limit: page.limit + 1 };
}

function cut<T>(found: readonly T[], { limit }: TeamPage): { readonly shown: readonly T[]; readonly hasMore: boolean } {
  return { shown: found.slice(0, limit), hasMore: found.length > limit };
}

/** Whether a team is held to just these numbers. */
function sameLimits(a: TeamLimits, b: TeamLimits): boolean {
  return (Object.keys(b) as (keyof TeamLimits)[]).every((member) => a[member] === b[member]);
}
