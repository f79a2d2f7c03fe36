// lingate plan apply: copies a plan's changed numbers to its teams.
import type { PlanApplied } from '../../admin/plan-operations.ts';
import { dearerText, minorText } from '../../admin/dearer-text.ts';
import type { Command, CommandContext } from '../command.ts';
import { confirmedDearer, YES_DEARER } from '../confirmation.ts';
import { given, readPlanTime, WHEN } from '../operand.ts';
import { textTable } from '../text-table.ts';
import { printChange, valueOf, withAdmin } from '../with-store.ts';

export const planApply: Command = {
  usage: 'NAME [--when TIME] [--dry-run] [--yes]',
  about:
    "The new numbers take effect at each team's next request. Run twice, it does nothing the second time. If it makes running " +
    'periods dearer, it asks before it changes anything.',
  operands: ['NAME'],
  flags: {
    when: WHEN,
    'dry-run': { kind: 'switch', summary: 'only show what would change' },
    force: { kind: 'switch', summary: 'accepted for older scripts; it changes nothing' },
    yes: YES_DEARER,
  },
  examples: ['lingate plan apply pro --dry-run', 'lingate plan apply pro', 'lingate plan apply pro --when next-period'],
  async run(context) {
    const name = context.operands[0]!;
    const dryRun = context.on('dry-run');
    const when = given(context, 'when', readPlanTime) ?? 'now';
    await withAdmin(context, async (admin) => {
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
