// The operations on teams, keys and plans: one implementation for the command line, the admin API and the console.
import { digestOf, displayOf, newKey } from '../domain/api-key.ts';
import type { KeyMode } from '../domain/api-key.ts';
import { changedWindows } from '../domain/given-windows.ts';
import type { WindowChange } from '../domain/given-windows.ts';
import type { KeyLimits } from '../domain/key-limits.ts';
import { NO_WINDOWS } from '../domain/window-limits.ts';
import { minorRoundedDown, toMicro } from '../domain/money.ts';
import type { Micro } from '../domain/money.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { dayOf } from '../domain/period.ts';
import { usageReport } from '../domain/usage-report.ts';
import type { UsageReport } from '../domain/usage-report.ts';
import { auditIdAlone } from '../domain/audit-entry.ts';
import type { AuditAction, Audited, AuditedPeriod, AuditEntry } from '../domain/audit-entry.ts';
import type { AuditLog, AuditPage } from '../ports/audit-log.ts';
import type {
  FoundKey,
  KeyChange,
  KeyRecord,
  Team,
  TeamChange,
  TeamPage,
  TeamRegistry,
  TeamSummary,
  Usage,
} from '../ports/team-registry.ts';
import type { RefusalCounts, RefusalDays } from '../ports/refusal-days.ts';
import { done, ofTeam, pageWithNext } from './admin-result.ts';
import type { AdminRefusal, AdminResult, Page } from './admin-result.ts';
import { auditFits, pageOfDay } from './audit-filter.ts';
import type { AuditFilter } from './audit-filter.ts';
import { canBeDearer, DearerSum } from './dearer.ts';
import type { Dearer } from './dearer.ts';
import { filteredPage } from './filtered-page.ts';
import { comparePlan, missingPlans, teamsBehind } from './plan-comparison.ts';
import type { PlanChange, PlanComparison, TeamsPlans } from './plan-comparison.ts';
import { newKeyReport } from './reports.ts';
import type { NewKeyReport, PlanReport } from './reports.ts';
import type { TeamFilter } from './team-filter.ts';
import { BALANCE_TOO_LARGE, judgeNewTeam, judgeTeamEdit, limitsOfPlan } from './team-terms.ts';
import type { Plans, PlanTime, TeamDraft, TeamEdit } from './team-terms.ts';

/** With a filter: how much a page reads together, which holds the event loop for some milliseconds, and how much at most. */
const TEAMS_CHECKED = { pieceSize: 50, checkedMax: 5000 } as const;
const ENTRIES_CHECKED = { pieceSize: 100, checkedMax: 5000 } as const;

export interface AdminOptions {
  readonly teams: TeamRegistry;
  /** Called for each operation, because plans can be reloaded. */
  readonly plans: () => Plans;
  /** Generates the ids of records: ULIDs. */
  readonly newId: () => string;
  /** `undefined` if the store keeps none. */
  readonly audit: AuditLog | undefined;
  /** Without it, refusals are not reported. */
  readonly refusals?: RefusalDays;
  /** Called after each change to an existing team or key, made or not, before it is reported: what a gateway remembers is outdated. */
  readonly onChange?: (() => void | Promise<void>) | undefined;
  /** Who makes the changes, for the audit; `undefined` for read-only use. */
  readonly actor?: string;
}

export interface KeyDraft {
  /** The same; but nobody has seen the key created by the first attempt, so it is revoked and another one created. */
  readonly id?: string | undefined;
  readonly teamId: string;
  readonly mode: KeyMode;
  readonly label: string;
  readonly limits?: KeyLimits;
  /** Creates the key disabled, so that nobody can use it before it is enabled. */
  readonly disabled?: boolean;
}

export interface PlanApplied {
  readonly plan: string;
  /** Teams on the plan. */
  readonly teams: number;
  /** Those of them that had other numbers. */
  readonly changed: number;
  readonly changes: readonly PlanChange[];
  /** What became dearer in running periods. */
  readonly dearer: Dearer;
}

export interface PlanApplyOptions {
  /** By default now. */
  readonly when?: PlanTime;
  /** Changes nothing, and returns what would change. */
  readonly dryRun?: boolean;
  /** Whether it may make running periods dearer; otherwise it is refused then, with nothing changed. */
  readonly confirmed?: boolean;
  /** Called after each changed team. */
  readonly onProgress?: (changed: number, behind: number) => void;
}

export interface TeamUse {
  readonly figures: Usage;
  readonly report: UsageReport;
  /** `undefined` if they are not counted. */
  readonly refusals: RefusalCounts | undefined;
}

/** Ids are canonical ULIDs, names have been checked. */
export class AdminOperations {
  readonly #options: AdminOptions;

  constructor(options: AdminOptions) {
    this.#options = options;
  }

  /** The same operations, in this operator's name. */
  as(actor: string): AdminOperations {
    return new AdminOperations({ ...this.#options, actor });
  }

  async createTeam({ id, name, reference, plan, creditMinor }: TeamDraft): Promise<AdminResult<Team>> {
    const judged = judgeNewTeam(this.#options.plans(), { plan, creditMinor });
    if (judged.kind !== 'done') return judged;
    const limits = judged.value;
    const teamId = id ?? this.#options.newId();
    const named = reference === undefined ? { name } : { name, reference };
    const draft = { teamId, ...named, plan, limits, balanceMicro: toMicro(creditMinor ?? 0) };
    const team = await this.#options.teams.createTeam(draft, this.#by('createTeam'));
    if (isUnavailable(team)) return team;
    const replicated = team.balanceMicro === 0 ? undefined : await this.#replicated([teamId]);
    return done(team, replicated, await this.#alike(team, named));
  }

  /** With a filter, those that fit; a page checks a bounded number of teams. */
  async listTeams(page: TeamPage, filter?: TeamFilter): Promise<AdminResult<Page<Team>>> {
    if (filter !== undefined) {
      const found = await this.listSummaries(page, filter);
      return found.kind === 'done' ? done({ ...found.value, items: found.value.items.map(({ team }) => team) }) : found;
    }
    return pageWithNext(
      page,
      (more) => this.#options.teams.pageTeams(more),
      ({ teamId }) => teamId,
    );
  }

  /** The same page with the teams' usage, in one call to the store. */
  async listSummaries(page: TeamPage, filter?: TeamFilter): Promise<AdminResult<Page<TeamSummary>>> {
    const read = (more: TeamPage) => this.#options.teams.pageSummaries(more);
    const idOf = ({ team }: TeamSummary): string => team.teamId;
    return filter === undefined ? pageWithNext(page, read, idOf) : filteredPage(page, { read, idOf, fits: filter, ...TEAMS_CHECKED });
  }

  async showTeam(teamId: string): Promise<AdminResult<Team>> {
    return ofTeam(teamId, await this.#options.teams.findTeam(teamId));
  }

  /** With the refusals of the running period, from the day on which it began. */
  async showTeamUse(teamId: string): Promise<AdminResult<TeamUse>> {
    const figures = ofTeam(teamId, await this.#options.teams.usage(teamId));
    if (figures.kind !== 'done') return figures;
    const refusals = await this.#refusals(figures.value);
    if (refusals !== undefined && isUnavailable(refusals)) return refusals;
    return done({ figures: figures.value, report: usageReport(figures.value), refusals });
  }

  async #refusals({ team, periodStartMs, periodEndMs }: Usage): Promise<RefusalCounts | StoreUnavailable | undefined> {
    const range = { from: dayOf(periodStartMs), to: dayOf(periodEndMs) };
    return this.#options.refusals?.sum(team.teamId, range);
  }

  async updateTeam(teamId: string, edit: TeamEdit): Promise<AdminResult<Team>> {
    const before = await this.showTeam(teamId);
    if (before.kind !== 'done') return before;
    const made = judgeTeamEdit(this.#options.plans(), before.value, edit);
    if ('kind' in made) return made;
    const dearer = await this.#dearer(before.value, made);
    if (dearer !== undefined && 'kind' in dearer) return dearer;
    if (dearer !== undefined && edit.confirmed !== true) return { kind: 'dearer', dearer, currency: made.plan!.limits.currency };
    const change = edit.once === undefined ? made : { ...made, once: edit.once };
    const after = await this.#changing(this.#options.teams.updateTeam(teamId, change, this.#by('updateTeam', edit.reason)));
    if (after !== undefined && 'kind' in after) return refusedUpdate(after, before.value.balanceMicro);
    const result = ofTeam(teamId, after);
    const weighty = change.plan !== undefined || change.nextPlan !== undefined || change.addMicro !== undefined;
    if (result.kind !== 'done') return result;
    const replicated = weighty ? await this.#replicated([teamId]) : undefined;
    const changed = done(result.value, replicated, await this.#alike(result.value, made));
    return dearer === undefined ? changed : { ...changed, dearer };
  }

  /** What a change of plan at once makes dearer; `undefined` if nothing. */
  async #dearer({ teamId, limits }: Team, { plan }: TeamChange): Promise<Dearer | StoreUnavailable | undefined> {
    if (plan === undefined || !canBeDearer(limits, plan.limits)) return undefined;
    const used = await this.#options.teams.usage(teamId);
    if (used === undefined || isUnavailable(used)) return used;
    const sum = new DearerSum();
    sum.add(used.team.limits, plan.limits, used);
    return sum.sum.teams === 0 ? undefined : sum.sum;
  }

  /** With `keepUsage` its days and periods stay, without names. */
  async deleteTeam(teamId: string, keepUsage: boolean): Promise<AdminResult<{ readonly teamId: string }>> {
    const { teams } = this.#options;
    const deleted = await this.#changing(teams.deleteTeam(teamId, { keepUsage }, this.#by('deleteTeam')));
    if (isUnavailable(deleted)) return deleted;
    return deleted ? done({ teamId }, await this.#replicated([teamId])) : { kind: 'no_such_team', teamId };
  }

  async usage(teamId: string): Promise<AdminResult<{ readonly figures: Usage; readonly report: UsageReport }>> {
    const figures = ofTeam(teamId, await this.#options.teams.usage(teamId));
    return figures.kind === 'done' ? done({ figures: figures.value, report: usageReport(figures.value) }) : figures;
  }

  async listKeys(teamId: string): Promise<AdminResult<readonly KeyRecord[]>> {
    return ofTeam(teamId, await this.#options.teams.listKeys(teamId));
  }

  async createKey({ id, teamId, mode, label, limits = {}, disabled = false }: KeyDraft): Promise<AdminResult<NewKeyReport>> {
    const { teams } = this.#options;
    const key = newKey(mode);
    const keyId = await this.#idOfKey(id, teamId);
    if (typeof keyId === 'object') return keyId;
    const record = { keyId, teamId, digest: digestOf(key), display: displayOf(key), label, mode, limits };
    const created = ofTeam(teamId, await teams.createKey(record, this.#by('createKey')));
    if (created.kind !== 'done') return created;
    if (!disabled) return done(newKeyReport(key, created.value));
    // The key is only returned now: nobody could have used it before.
    const result = await this.updateKey(keyId, { disabled });
    return result.kind === 'done' ? done(newKeyReport(key, result.value), result.replicated) : result;
  }

  /** The id for a new key. If an earlier attempt created a key with this id, that key is revoked and a new id generated. */
  async #idOfKey(id: string | undefined, teamId: string): Promise<string | StoreUnavailable> {
    if (id === undefined) return this.#options.newId();
    const keys = await this.#options.teams.listKeys(teamId);
    if (isUnavailable(keys)) return keys;
    if (keys?.some(({ keyId }) => keyId === id) !== true) return id;
    const revoked = await this.#changing(this.#options.teams.revokeKey(id, this.#by('revokeKey')));
    return isUnavailable(revoked) ? revoked : this.#options.newId();
  }

  async updateKey(keyId: string, change: KeyChange): Promise<AdminResult<KeyRecord>> {
    const { teams } = this.#options;
    const key = await this.#changing(teams.updateKey(keyId, change, this.#by('updateKey')));
    if (key === undefined) return { kind: 'no_such_key', keyId };
    if (isUnavailable(key)) return key;
    // What restricts a key must survive a failover; a changed label or an enabled key need not.
    const weighty = change.disabled === true || change.limits !== undefined;
    return done(key, weighty ? await this.#replicated([key.teamId]) : undefined);
  }

  /** Changes some of a key's limits by minute to month, and leaves the others. The change before last of two at once may be lost. */
  async updateWindows(keyId: string, change: KeyChange, windowChange: WindowChange): Promise<AdminResult<KeyRecord>> {
    const before = await this.updateKey(keyId, {});
    if (before.kind !== 'done') return before;
    const windows = changedWindows(before.value.limits.windows ?? NO_WINDOWS, windowChange);
    return this.updateKey(keyId, { ...change, limits: { ...change.limits, windows } });
  }

  async revokeKey(keyId: string): Promise<AdminResult<KeyRecord>> {
    const key = await this.#changing(this.#options.teams.revokeKey(keyId, this.#by('revokeKey')));
    if (key === undefined) return { kind: 'no_such_key', keyId };
    return isUnavailable(key) ? key : done(key, await this.#replicated([key.teamId]));
  }

  /** Revokes every key of a team that is not revoked yet, and returns those. After an interruption, a second run revokes the rest. */
  async revokeKeys(teamId: string): Promise<AdminResult<readonly KeyRecord[]>> {
    const { teams } = this.#options;
    const listed = await this.listKeys(teamId);
    if (listed.kind !== 'done') return listed;
    const revoked: KeyRecord[] = [];
    const revoke = async (): Promise<StoreUnavailable | undefined> => {
      for (const { keyId } of listed.value.filter(({ status }) => status !== 'revoked')) {
        const key = await teams.revokeKey(keyId, this.#by('revokeKey'));
        if (isUnavailable(key)) return key;
        if (key !== undefined) revoked.push(key);
      }
      return undefined;
    };
    const failed = await this.#changing(revoke());
    return failed ?? done(revoked, revoked.length === 0 ? undefined : await this.#replicated([teamId]));
  }

  /** Finds keys by a whole key, or by the first twelve characters. */
  async findKeys(search: { readonly key: string } | { readonly display: string }): Promise<AdminResult<readonly FoundKey[]>> {
    const found = await this.#options.teams.findKeys('key' in search ? { digest: digestOf(search.key) } : search);
    return isUnavailable(found) ? found : done(found);
  }

  listPlans(): readonly PlanReport[] {
    return [...this.#options.plans()].map(([name, plan]) => ({ name, ...plan }));
  }

  /** Plans of the first `teamsMax` teams that the configuration lacks. */
  async missingPlans(teamsMax: number): Promise<AdminResult<TeamsPlans>> {
    const checked = await missingPlans(this.#options.teams, this.#options.plans(), teamsMax);
    return isUnavailable(checked) ? checked : done(checked);
  }

  /** Which of the first `teamsMax` teams have other numbers than the plan. */
  async comparePlan(name: string, teamsMax: number): Promise<AdminResult<PlanComparison>> {
    const limits = limitsOfPlan(this.#options.plans(), name);
    if ('kind' in limits) return limits;
    const compared = await comparePlan(this.#options.teams, name, limits, teamsMax);
    return 'kind' in compared ? compared : done(compared);
  }

  /** After an interruption, a second run changes the remaining teams. */
  async applyPlan(name: string, options: PlanApplyOptions = {}): Promise<AdminResult<PlanApplied>> {
    const { when = 'now', dryRun = false, confirmed = false, onProgress } = options;
    const limits = limitsOfPlan(this.#options.plans(), name);
    if ('kind' in limits) return limits;
    const { teams } = this.#options;
    const found = await teamsBehind(teams, name, limits, when);
    if ('kind' in found) return found;
    const { members, changes, dearer } = found;
    if (dryRun) return done({ plan: name, teams: members, changed: found.behind.length, changes, dearer });
    if (dearer.teams > 0 && !confirmed) return { kind: 'dearer', dearer, currency: limits.currency };
    let changed = 0;
    const apply = async (): Promise<StoreUnavailable | undefined> => {
      for (const { teamId, change } of found.behind) {
        const team = await teams.updateTeam(teamId, change, this.#by('applyPlan'));
        if (isUnavailable(team)) return team;
        if (team !== undefined) changed++;
        onProgress?.(changed, found.behind.length);
      }
      return undefined;
    };
    const failed = await this.#changing(apply());
    if (failed !== undefined) return failed;
    return done(
      { plan: name, teams: members, changed, changes, dearer },
      changed === 0 ? undefined : await this.#replicated(found.behind.map(({ teamId }) => teamId)),
    );
  }

  /**
   * Newest first. An unknown team has no entries; a deleted team keeps its entries. With a filter, those that fit; a page checks a
   * bounded number of entries.
   */
  async listAudit(asked: AuditPage, filter?: AuditFilter): Promise<AdminResult<Page<AuditEntry>>> {
    const { audit } = this.#options;
    if (audit === undefined) return { kind: 'no_audit' };
    const page = filter === undefined ? asked : pageOfDay(asked, filter);
    const fits = filter && auditFits(filter);
    const read = (more: AuditPage) => audit.page(more);
    const idOf = ({ id }: AuditEntry): string => id;
    return fits === undefined ? pageWithNext(page, read, idOf) : filteredPage(page, { read, idOf, fits, ...ENTRIES_CHECKED });
  }

  /** Leaves the audit entry on which every gateway clears its cached translations of a team, or of all teams. */
  async clearMemory(teamId: string | undefined, nowMs: number): Promise<AdminResult<undefined>> {
    const { audit } = this.#options;
    if (audit === undefined) return { kind: 'no_audit' };
    const newest = await audit.page({ teamId: undefined, after: undefined, sinceMs: undefined, limit: 1 });
    if (isUnavailable(newest)) return newest;
    // Never before the newest entry, where gateways no longer look.
    const atMs = Math.max(Math.floor(nowMs), newest[0]?.atMs ?? 0);
    return this.#leave(audit, 'clearMemory', atMs, { teamId });
  }

  /** Leaves the audit entry of a clock that an operator has vouched for, by that clock. */
  async clockAccepted(nowMs: number): Promise<AdminResult<undefined>> {
    const { audit } = this.#options;
    return audit === undefined ? { kind: 'no_audit' } : this.#leave(audit, 'acceptClock', nowMs);
  }

  /** Leaves the audit entry of a team whose period was put right (`store check --repair`). */
  async teamRepaired(teamId: string, before: AuditedPeriod, after: AuditedPeriod, nowMs: number): Promise<AdminResult<undefined>> {
    const { audit } = this.#options;
    return audit === undefined ? { kind: 'no_audit' } : this.#leave(audit, 'repairTeam', nowMs, { teamId, before, after });
  }

  async #leave(
    audit: AuditLog,
    action: AuditAction,
    atMs: number,
    of: Partial<Pick<AuditEntry, 'teamId' | 'before' | 'after'>> = {},
  ): Promise<AdminResult<undefined>> {
    const id = auditIdAlone(atMs, Math.random());
    const { teamId, before = {}, after = {} } = of;
    const failed = await audit.restore([{ id, atMs, teamId, keyId: undefined, before, after, ...this.#by(action) }]);
    return failed ?? done(undefined);
  }

  async #alike(team: Team, given: Pick<TeamChange, 'name' | 'reference'>): Promise<readonly string[]> {
    // Imported late, because most commands need none of it.
    const { warningsOfAlike } = await import('./alike-teams.ts');
    return warningsOfAlike(this.#options.teams, team, given);
  }

  #by(action: AuditAction, reason?: string): Audited {
    const { actor } = this.#options;
    if (actor === undefined) throw new Error(`${action} without an actor`);
    return { actor, action, ...(reason === undefined ? {} : { reason }) };
  }

  async #changing<T>(change: Promise<T>): Promise<T> {
    try {
      return await change;
    } finally {
      await this.#options.onChange?.();
    }
  }

  /** Waits until a replica has what was written to these teams, see the port. */
  async #replicated(teamIds: readonly string[]): Promise<boolean | undefined> {
    return this.#options.teams.replicated?.(teamIds);
  }
}

function refusedUpdate(
  refused: Extract<Awaited<ReturnType<TeamRegistry['updateTeam']>>, { kind: string }>,
  balanceMicro: Micro,
): AdminRefusal | StoreUnavailable {
  switch (refused.kind) {
    case 'balance_out_of_bounds':
      return BALANCE_TOO_LARGE;
    case 'credit_not_free':
      return { kind: 'credit_not_free', freeMinor: minorRoundedDown(refused.freeMicro), isHeld: refused.freeMicro < balanceMicro };
    case 'other_request':
    case 'unavailable':
      return refused;
  }
}
