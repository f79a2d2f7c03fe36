// lingate plan apply: copies a plan's changed numbers to its teams, unless a running gateway has other numbers for it.
import type { PlanApplied } from '../../admin/plan-operations.ts';
import { dearerText, minorText } from '../../admin/dearer-text.ts';
import { gatewaysWithOtherNumbers } from '../../admin/plan-comparison.ts';
import type { OtherNumbers } from '../../admin/plan-comparison.ts';
import type { NumberChange } from '../../admin/plan-numbers.ts';
import { limitsOfPlan } from '../../admin/team-terms.ts';
import { labelOf } from '../../config/config-error.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { Store } from '../../ports/store.ts';
import type { Command, CommandContext } from '../command.ts';
import { CommandFailure } from '../command.ts';
import { confirmedDearer, YES_DEARER } from '../confirmation.ts';
import { given, readPlanTime, WHEN } from '../operand.ts';
import { textTable } from '../text-table.ts';
import { printChange, valueOf, withAdmin } from '../with-store.ts';

const WHAT_TO_DO =
  'name the right file by --config or LINGATE_CONFIG, or have the gateway read the new one first (SIGHUP or a restart); --force applies it anyway';

export const planApply: Command = {
  usage: 'NAME [--when TIME] [--dry-run] [--force] [--yes]',
  about:
    "The new numbers take effect at each team's next request. Run twice, it does nothing the second time. If a gateway " +
    'that ran within the last minute has other numbers for the plan, nothing is changed. If it makes running periods dearer, it ' +
    'asks before it changes anything.',
  operands: ['NAME'],
  flags: {
    when: WHEN,
    'dry-run': { kind: 'switch', summary: 'only show what would change' },
    force: { kind: 'switch', summary: 'apply numbers that differ from those of a running gateway' },
    yes: YES_DEARER,
  },
  examples: ['lingate plan apply pro --dry-run', 'lingate plan apply pro', 'lingate plan apply pro --when next-period'],
  async run(context) {
    const name = context.operands[0]!;
    const dryRun = context.on('dry-run');
    const when = given(context, 'when', readPlanTime) ?? 'now';
    await withAdmin(context, async (admin, store) => {
      const differing = await otherNumbers(context, store, name);
      if (differing !== undefined && !dryRun && !context.on('force')) {
        throw new CommandFailure(`nothing was changed: ${differing}; ${WHAT_TO_DO}`);
      }
      if (differing !== undefined) context.io.err(`lingate plan apply: warning: ${differing}\n`);
      const result = await confirmedDearer(context, name, (confirmed) =>
        admin.plans.apply(name, { when, dryRun, confirmed, onProgress: progressOf(context) }),
      );
      const applied = valueOf(result);
      const { plans } = await context.config();
      printChange(context, result, applied, textOf(applied, dryRun, plans.get(name)!.currency));
    });
  },
};

function progressOf({ io }: CommandContext): (changed: number, behind: number) => void {
  return (changed, behind) => {
    if (io.watched) io.err(`\r${changed} of ${behind} teams${changed === behind ? '\n' : ''}`);
  };
}

function textOf({ plan, teams, changed, changes, dearer }: PlanApplied, dryRun: boolean, currency: string): string {
  const done = dryRun ? 'would change' : 'changed';
  const dearly = dearer.teams === 0 ? '' : `\nThis ${dearerText(dearer, minorText(currency))}.`;
  const summary = `${changed} of the ${teams} teams on plan ${plan} ${done}.${dearly}`;
  if (changes.length === 0) return summary;
  const rows = changes.map(({ number, from, to, teams: count }) => [number, String(from ?? 'none'), String(to ?? 'none'), String(count)]);
  return `${summary}\n\n${textTable(['NUMBER', 'FROM', 'TO', 'TEAMS'], rows)}`;
}

/**
 * One sentence that names both configurations and the difference; `undefined` if every gateway that ran within the last
 * minute has the same numbers, or none. If this configuration does not have the plan, the command itself refuses it.
 */
export async function otherNumbers(context: CommandContext, { gateways }: Store, plan: string): Promise<string | undefined> {
  const { plans, file } = await context.config();
  const limits = limitsOfPlan(plans, plan);
  if ('kind' in limits) return undefined;
  const [first, ...more] = answered(await gatewaysWithOtherNumbers(gateways, plan, limits));
  return first && sentence(plan, first, more.length, labelOf(file), first.file === file);
}

function sentence(plan: string, { host, file, differences }: OtherNumbers, more: number, ours: string, isSame: boolean): string {
  const theirs = differences.map(({ number, from }) => `${number} ${shownNumber(from)}`).join(', ');
  const our = differences.map(({ number, to }) => `${number} ${shownNumber(to)}`).join(', ');
  const others = more === 0 ? '' : `, and ${more} more gateway${more === 1 ? '' : 's'} with the same numbers`;
  const here = isSame ? `${ours} has now` : `this command's ${ours} has`;
  return `the gateway on ${host} uses ${file}, in which plan ${plan} has ${theirs}${others}; ${here} ${our}`;
}

function shownNumber(value: NumberChange['from']): string {
  return value === null ? 'none' : String(value);
}
