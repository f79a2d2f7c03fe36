// The admin API's handlers: from a checked request to an operation, and from its result to the answer.
import { refuse } from '../core/problem.ts';
import { ofRecord } from './admin-handler.ts';
import type { AdminHandler } from './admin-handler.ts';
import { nameOf, pageOf, reasonOf, referenceOf } from './admin-input.ts';
import { done, NO_TEAM, refusalOfFault } from './admin-refusals.ts';
import type { HandledRouteId } from './admin-routes.ts';
import { periodReport, teamReport } from './reports.ts';
import type { LiveReport } from './reports.ts';
import { readTeamFilter } from './team-filter.ts';
import type { PlanTime } from './team-terms.ts';
import type { UsageReading } from './usage-reading.ts';

/** What handlers have besides: they are made once. */
export interface HandlerParts {
  readonly usage: UsageReading;
  readonly live: () => Promise<LiveReport>;
}

const NO_AMOUNT = refuse('validation_error', 'add_credit_minor: must not be 0: positive to add credit, negative to deduct it.');
const ONLY_A_REASON = refuse(
  'validation_error',
  'reason: there is nothing that it is for; also give name, reference, plan or add_credit_minor.',
);

const NO_PLAN_TIME = refuse('validation_error', 'when: now and next-period need a plan, never takes none.');

export function adminHandlers({ usage, live }: HandlerParts): Readonly<Record<HandledRouteId, AdminHandler>> {
  return {
    listTeams: async ({ operations, query }) => {
      const page = pageOf(query);
      if ('kind' in page) return page;
      const read = readTeamFilter((name) => query.get(name));
      if ('fault' in read) return refusalOfFault(read);
      return done(await operations.listTeams(page, read.filter), ({ items, next }) => ({
        value: { teams: items.map(teamReport), next: next ?? null },
      }));
    },
    createTeam: async ({ operations, body, id }) => {
      const name = nameOf(body, 'name');
      if (typeof name === 'object') return name;
      const reference = referenceOf(body) ?? undefined;
      if (typeof reference === 'object') return reference;
      const draft = { id, name, reference, plan: body['plan'] as string, creditMinor: body['credit_minor'] as number | undefined };
      return done(await operations.createTeam(draft), (team) => ({
        value: teamReport(team),
        audit: { team_id: team.teamId },
      }));
    },
    showTeam: ofRecord(NO_TEAM, async ({ operations }, id) =>
      done(await operations.showTeamUse(id), ({ figures, refusals }) => ({ value: { ...teamReport(figures.team), refusals } })),
    ),
    updateTeam: ofRecord(NO_TEAM, async ({ operations, body, once }, id) => {
      const name = body['name'] === undefined ? undefined : nameOf(body, 'name');
      if (typeof name === 'object') return name;
      const reference = referenceOf(body);
      if (typeof reference === 'object' && reference !== null) return reference;
      const reason = reasonOf(body);
      if (typeof reason === 'object') return reason;
      const plan = body['plan'] as string | undefined;
      const when = body['when'] as PlanTime | undefined;
      if ((when === 'never') === (plan !== undefined) && when !== undefined) return NO_PLAN_TIME;
      const addCreditMinor = body['add_credit_minor'] as number | undefined;
      if (addCreditMinor === 0) return NO_AMOUNT;
      if (reference === undefined && (name ?? plan ?? when ?? addCreditMinor) === undefined) return ONLY_A_REASON;
      const confirmed = body['confirm'] as boolean | undefined;
      const edit = { name, reference, plan, when, confirmed, addCreditMinor, reason, once };
      return done(await operations.updateTeam(id, edit), (team) => ({ value: teamReport(team), audit: { team_id: id } }));
    }),
    deleteTeam: ofRecord(NO_TEAM, async ({ operations, query }, id) => {
      const keeps = query.get('keep_usage') ?? 'false';
      if (keeps !== 'true' && keeps !== 'false') return refuse('validation_error', 'keep_usage: must be true or false.');
      const deleted = await operations.deleteTeam(id, keeps === 'true');
      return done(deleted, () => ({ value: {}, audit: { team_id: id } }));
    }),
    teamUsage: ofRecord(NO_TEAM, async ({ operations }, id) => done(await operations.usage(id), ({ report }) => ({ value: report }))),
    listPeriods: ofRecord(NO_TEAM, async (_input, id) =>
      done(await usage.periods(id), (periods) => ({ value: { periods: periods.map(periodReport) } })),
    ),
    listPlans: ({ operations }) => Promise.resolve({ value: { plans: operations.plans.list() } }),
    applyPlan: async ({ operations, parameters, body }) =>
      done(
        await operations.plans.apply(parameters['name'] ?? '', {
          when: (body['when'] as PlanTime | undefined) ?? 'now',
          confirmed: body['confirm'] === true,
        }),
        (applied) => ({ value: applied, audit: { plan: applied.plan, teams: applied.teams, changed: applied.changed } }),
        'path',
      ),
    live: async () => ({ value: await live() }),
  };
}
