// lingate team create: creates a team on a plan.
import { judgeNewTeam } from '../../admin/team-terms.ts';
import { replicatedMember } from '../../admin/admin-result.ts';
import { teamReport } from '../../admin/reports.ts';
import type { Command } from '../command.ts';
import { readMinor, readName } from '../operand.ts';
import { warnOfOtherNumbers } from '../other-numbers.ts';
import { teamText } from '../team-text.ts';
import { typed } from '../typed.ts';
import { saying, valueOf, withAdmin } from '../with-store.ts';

export const teamCreate: Command = {
  name: 'team create',
  makesStore: true,
  summary: 'Creates a team on a plan.',
  usage: '--name NAME --plan PLAN [--credit-minor N]',
  about: 'The plan\'s numbers are copied into the team\'s record; "lingate plan apply" applies later changes of the plan to it.',
  flags: {
    name: { kind: 'text', value: 'NAME', summary: 'the name of the team', required: true },
    plan: { kind: 'text', value: 'PLAN', summary: 'a plan of the configuration', required: true },
    'credit-minor': { kind: 'text', value: 'N', summary: 'starting credit in minor units (cents); only with a credit plan', fallback: '0' },
  },
  examples: ['lingate team create --name "Web shop" --plan pro', 'lingate team create --name Press --plan prepaid --credit-minor 5000'],
  async run(context) {
    const name = readName('name', context.required('name'));
    const plan = context.required('plan');
    const credit = context.text('credit-minor');
    const creditMinor = credit === undefined ? undefined : readMinor('credit-minor', credit, 0);
    // Checked before the store is opened, so that a refused command does not create a database.
    valueOf(judgeNewTeam((await context.config()).plans, { plan, creditMinor }));
    await withAdmin(context, async (admin, store) => {
      await warnOfOtherNumbers(context, store, plan);
      const result = await admin.createTeam({ name, plan, creditMinor });
      const team = valueOf(result);
      const next = typed(`Next, a key for it: lingate key create --team ${team.teamId} --mode live`, context.io.env);
      context.print({ ...teamReport(team), ...replicatedMember(result) }, () => saying(`${teamText(team)}\n\n${next}`, result));
    });
  },
};
