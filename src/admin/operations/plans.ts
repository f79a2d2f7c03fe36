// The plans of the configuration: listing them, comparing one with its teams, and applying it.
import type { Static } from 'typebox';
import type { Plan } from '../../domain/plan.ts';
import { answered } from '../../domain/store-unavailable.ts';
import { Type } from '../../domain/typebox.ts';
import { choice, whole } from '../fields.ts';
import type { OperationContext } from '../operation-context.ts';
import { done, operation, RefusedError, refused } from '../operation.ts';
import type { AdminOperation, AskedBefore } from '../operation.ts';
import { comparedWithTeams, CostlierAnswer, costlierText, PLAN_TIMES, planNamed, questionOf, unconfirmed } from '../plan-change.ts';
import type { ComparedPlan, PlanTime } from '../plan-change.ts';

export type PlanReport = { readonly name: string } & Plan;

export function planReports({ options: { plans } }: OperationContext): readonly PlanReport[] {
  return [...plans()].map(([name, plan]) => ({ name, ...plan }));
}

export const listPlans = operation({
  id: 'listPlans',
  http: 'GET /plans',
  summary: 'Lists the plans of the configuration.',
  input: {},
  row: Type.Object({ name: Type.String() }),
  list: 'plans',
  columns: [{ head: 'Plan', cell: (row) => row.name }],
  run: (context) => Promise.resolve(planReports(context)),
});

/** A plan of the path, with what applying it would change. */
export function comparedPlan({ options: { plans, teams } }: OperationContext, name: string, when: PlanTime = 'now'): Promise<ComparedPlan> {
  return comparedWithTeams(teams, planNamed(plans(), name, { code: 'not_found', field: undefined }), when);
}

/** Before a plan is applied: which teams get which numbers, and for how many that is costlier. */
export function questionOfPlan({ plan, behind, costlier }: ComparedPlan): AskedBefore {
  const teams = behind.map(({ team: { teamId, plan: of, limits, nextPlan }, change }) => [teamId, of, limits, nextPlan, change]);
  return questionOf(costlier, plan, teams);
}

/** What was agreed to is not what applying the plan does now. */
export class OutdatedPlanError extends RefusedError {
  readonly compared: ComparedPlan;

  constructor(compared: ComparedPlan) {
    super(refused('confirm', 'what applying the plan does has changed since it was shown; compare the plan again, and apply it then'));
    this.compared = compared;
  }
}

const numberValue = Type.Union([Type.String(), Type.Number(), Type.Null()]);
const PlanApplied = Type.Object({
  plan: Type.String(),
  teams: Type.Integer({ minimum: 0, description: 'Teams on the plan.' }),
  changed: Type.Integer({ minimum: 0, description: 'Those of them whose numbers were changed.' }),
  changes: Type.Array(Type.Object({ number: Type.String(), from: numberValue, to: numberValue, teams: whole }), {
    description: 'Which numbers changed, from what to what, for how many teams; `null` if a billing does not have the number.',
  }),
  dearer: CostlierAnswer,
});
export type PlanAppliedRow = Static<typeof PlanApplied>;

export const applyPlan: AdminOperation = operation({
  id: 'applyPlan',
  past: 'plan applied',
  command: 'plan apply',
  http: 'POST /plans/{name}/apply',
  summary: "Copies a plan's numbers to all of its teams, now or when their periods end.",
  about:
    "The new numbers take effect at each team's next request. Run twice, it does nothing the second time. If it makes running " +
    'periods costlier, or leaves teams less than they have used, it asks before it changes anything.',
  examples: ['lingate plan apply pro --dry-run', 'lingate plan apply pro', 'lingate plan apply pro --when next-period'],
  input: {
    name: Type.String({ given: { value: 'NAME' } }),
    when: choice(PLAN_TIMES, 'When it takes effect: now, next-period (when the period ends), or never (cancels a waiting change).', {
      value: 'TIME',
      fallback: 'now',
    }),
    dry_run: Type.Boolean({ description: 'Only show what would change.', given: { only: 'command' } }),
    force: Type.Boolean({ description: 'Accepted for older scripts; it changes nothing.', given: { only: 'command' } }),
    confirm: Type.Boolean({
      description:
        'Required as `true` for a change that takes effect at once and makes running periods costlier, or leaves teams less than they have used; without it that is a `validation_error` with `dearer`, and nothing is changed.',
      given: { only: 'programs' },
    }),
  },
  bodyOptional: true,
  row: PlanApplied,
  notice({ plan, teams, changed, dearer }, { dry_run: isDry = false }) {
    const costlier = dearer.teams === 0 ? '' : ` This ${costlierText(dearer)}.`;
    return `${changed} of ${teams} ${teams === 1 ? 'team' : 'teams'} on plan ${plan} ${isDry ? 'would change' : 'changed'}.${costlier}`;
  },
  below: {
    heads: ['Number', 'From', 'To', 'Teams'],
    rows: ({ changes }) => changes.map(({ number, from, to, teams }) => [number, String(from ?? 'none'), String(to ?? 'none'), teams]),
  },
  instead: '{when} next-period',
  async asks(context, { name, when, dry_run: isDry = false }) {
    if (isDry) return undefined;
    const compared = await comparedPlan(context, name, when);
    return compared.costlier.teams === 0 ? undefined : questionOfPlan(compared);
  },
  /** After an interruption, a second run changes the remaining teams. */
  async run(context, { name, when, dry_run: isDry = false, confirm = false }, { onProgress, agreed }) {
    const compared = await comparedPlan(context, name, when);
    const { plan, members, behind, changes, costlier } = compared;
    const row = { plan: name, teams: members, changed: behind.length, changes, dearer: costlier };
    if (isDry) return row;
    if (agreed !== undefined && agreed !== questionOfPlan(compared).mark) throw new OutdatedPlanError(compared);
    if (costlier.teams > 0 && !confirm && agreed === undefined) throw new RefusedError(unconfirmed(costlier, plan.limits.currency));
    const { teams } = context.options;
    let changed = 0;
    const apply = async (): Promise<void> => {
      for (const { team, change } of behind) {
        const made = answered(await teams.updateTeam(team.teamId, change, context.by(applyPlan)));
        if (made !== undefined) changed++;
        onProgress?.(changed, behind.length);
      }
    };
    await context.changing(apply());
    const replicated = changed === 0 ? undefined : await context.replicated(behind.map(({ team }) => team.teamId));
    return done({ ...row, changed }, replicated, { plan: name, teams: members, changed });
  },
});

export const operations = [listPlans, applyPlan];
