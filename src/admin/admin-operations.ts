// The operations on teams, with those on plans and the audit: one implementation for command line, admin API and console.
import { minorRoundedDown, toMicro } from '../domain/money.ts';
import type { Micro } from '../domain/money.ts';
import { dayOf } from '../domain/period.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { usageReport } from '../domain/usage-report.ts';
import type { UsageReport } from '../domain/usage-report.ts';
import type { RefusalCounts } from '../ports/refusal-days.ts';
import type { Team, TeamChange, TeamPage, TeamRegistry, TeamSummary, Usage } from '../ports/team-registry.ts';
import { done, ofTeam } from './admin-result.ts';
import type { AdminRefusal, AdminResult, Page } from './admin-result.ts';
import { AuditOperations } from './audit-operations.ts';
import { orderedPage } from './listing.ts';
import { OperationContext } from './operation-context.ts';
import type { AdminOptions } from './operation-context.ts';
import { PlanOperations } from './plan-operations.ts';
import type { TeamFilter } from './team-filter.ts';
import { BALANCE_TOO_LARGE, judgeNewTeam, judgeTeamEdit } from './team-terms.ts';
import type { TeamDraft, TeamEdit } from './team-terms.ts';

/** With a filter: how much a page reads together, which holds the event loop for some milliseconds, and how much at most. */
const TEAMS_CHECKED = { pieceSize: 50, checkedMax: 5000 } as const;

export interface TeamUse {
  readonly figures: Usage;
  readonly report: UsageReport;
  /** `undefined` if they are not counted. */
  readonly refusals: RefusalCounts | undefined;
}

/** Ids are canonical ULIDs, names have been checked. */
export class AdminOperations {
  readonly plans: PlanOperations;
  readonly audit: AuditOperations;
  readonly #context: OperationContext;

  constructor(options: AdminOptions) {
    this.#context = new OperationContext(options);
    this.plans = new PlanOperations(this.#context);
    this.audit = new AuditOperations(this.#context);
  }

  get context(): OperationContext {
    return this.#context;
  }

  /** The same operations, in this operator's name. */
  as(actor: string): AdminOperations {
    return new AdminOperations({ ...this.#context.options, actor });
  }

  async createTeam({ id, name, reference, plan, creditMinor }: TeamDraft): Promise<AdminResult<Team>> {
    const judged = judgeNewTeam(this.#context.options.plans(), { plan, creditMinor });
    if (judged.kind !== 'done') return judged;
    const limits = judged.value;
    const teamId = id ?? this.#context.options.newId();
    const named = reference === undefined ? { name } : { name, reference };
    const draft = { teamId, ...named, plan, limits, balanceMicro: toMicro(creditMinor ?? 0) };
    const team = await this.#context.options.teams.createTeam(draft, this.#context.by('createTeam'));
    if (isUnavailable(team)) return team;
    const replicated = team.balanceMicro === 0 ? undefined : await this.#context.replicated([teamId]);
    return done(team, replicated, await this.#alike(team, named));
  }

  /** With a filter, those that fit; a page checks a bounded number of teams. */
  async listTeams(page: TeamPage, filter?: TeamFilter): Promise<AdminResult<Page<Team>>> {
    if (filter !== undefined) {
      const found = await this.listSummaries(page, filter);
      return found.kind === 'done' ? done({ ...found.value, items: found.value.items.map(({ team }) => team) }) : found;
    }
    return pageOf(
      page,
      undefined,
      (more) => this.#context.options.teams.pageTeams(more),
      ({ teamId }) => teamId,
    );
  }

  /** The same page with the teams' usage, in one call to the store. */
  async listSummaries(page: TeamPage, filter?: TeamFilter): Promise<AdminResult<Page<TeamSummary>>> {
    return pageOf(
      page,
      filter,
      (more) => this.#context.options.teams.pageSummaries(more),
      ({ team }) => team.teamId,
    );
  }

  async showTeam(teamId: string): Promise<AdminResult<Team>> {
    return ofTeam(teamId, await this.#context.options.teams.findTeam(teamId));
  }

  /** With the refusals of the running period, from the day on which it began. */
  async showTeamUse(teamId: string): Promise<AdminResult<TeamUse>> {
    const figures = ofTeam(teamId, await this.#context.options.teams.usage(teamId));
    if (figures.kind !== 'done') return figures;
    const refusals = await this.#refusals(figures.value);
    if (refusals !== undefined && isUnavailable(refusals)) return refusals;
    return done({ figures: figures.value, report: usageReport(figures.value), refusals });
  }

  async #refusals({ team, periodStartMs, periodEndMs }: Usage): Promise<RefusalCounts | StoreUnavailable | undefined> {
    const range = { from: dayOf(periodStartMs), to: dayOf(periodEndMs) };
    return this.#context.options.refusals?.sum(team.teamId, range);
  }

  async updateTeam(teamId: string, edit: TeamEdit): Promise<AdminResult<Team>> {
    const before = await this.showTeam(teamId);
    if (before.kind !== 'done') return before;
    const made = judgeTeamEdit(this.#context.options.plans(), before.value, edit);
    if ('kind' in made) return made;
    const dearer = await this.plans.dearer(before.value, made);
    if (dearer !== undefined && 'kind' in dearer) return dearer;
    if (dearer !== undefined && edit.confirmed !== true) return { kind: 'dearer', dearer, currency: made.plan!.limits.currency };
    const change = edit.once === undefined ? made : { ...made, once: edit.once };
    const after = await this.#context.changing(
      this.#context.options.teams.updateTeam(teamId, change, this.#context.by('updateTeam', edit.reason)),
    );
    if (after !== undefined && 'kind' in after) return refusedUpdate(after, before.value.balanceMicro);
    const result = ofTeam(teamId, after);
    const weighty = change.plan !== undefined || change.nextPlan !== undefined || change.addMicro !== undefined;
    if (result.kind !== 'done') return result;
    const replicated = weighty ? await this.#context.replicated([teamId]) : undefined;
    const changed = done(result.value, replicated, await this.#alike(result.value, made));
    return dearer === undefined ? changed : { ...changed, dearer };
  }

  /** With `keepUsage` its days and periods stay, without names. */
  async deleteTeam(teamId: string, keepUsage: boolean): Promise<AdminResult<{ readonly teamId: string }>> {
    const { teams } = this.#context.options;
    const deleted = await this.#context.changing(teams.deleteTeam(teamId, { keepUsage }, this.#context.by('deleteTeam')));
    if (isUnavailable(deleted)) return deleted;
    return deleted ? done({ teamId }, await this.#context.replicated([teamId])) : { kind: 'no_such_team', teamId };
  }

  async usage(teamId: string): Promise<AdminResult<{ readonly figures: Usage; readonly report: UsageReport }>> {
    const figures = ofTeam(teamId, await this.#context.options.teams.usage(teamId));
    return figures.kind === 'done' ? done({ figures: figures.value, report: usageReport(figures.value) }) : figures;
  }

  async #alike(team: Team, given: Pick<TeamChange, 'name' | 'reference'>): Promise<readonly string[]> {
    if ((given.name ?? given.reference ?? undefined) === undefined) return [];
    // Imported late, because most commands need none of it.
    const { warningsOfAlike } = await import('./alike-teams.ts');
    return warningsOfAlike(this.#context.options.teams, team, given);
  }
}

async function pageOf<T>(
  page: TeamPage,
  fits: ((item: T) => boolean) | undefined,
  read: (more: TeamPage) => Promise<readonly T[] | StoreUnavailable>,
  idOf: (item: T) => string,
): Promise<AdminResult<Page<T>>> {
  const more = (after: string | undefined, limit: number) => read({ ...page, after, limit });
  const found = await orderedPage({ read: more, idOf, fits, ...TEAMS_CHECKED }, page.after, page.limit);
  if (found.kind !== 'done') return found;
  const { rows, next, checkedMax } = found.value;
  return done({ items: rows, next, ...(checkedMax === undefined ? {} : { checkedMax }) });
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
