// lingate team create: makes a team on a plan.
import { toMicro } from '../../domain/money.ts';
import { ulidSource } from '../../domain/ulid.ts';
import type { Command } from '../command.ts';
import { limitsOfPlan } from '../configured-plan.ts';
import { CommandFailure } from '../failure.ts';
import { readMinor, readName } from '../operand.ts';
import { teamReport, teamText } from '../team-report.ts';
import { withStore } from '../with-store.ts';

export const teamCreate: Command = {
  name: 'team create',
  summary: 'Makes a team on a plan.',
  usage: '--name NAME --plan PLAN [--credit-minor N]',
  about: 'The plan\'s numbers are copied into the team\'s record; a plan that changes later reaches it by "lingate plan apply".',
  flags: {
    name: { kind: 'text', value: 'NAME', summary: 'what people call the team', required: true },
    plan: { kind: 'text', value: 'PLAN', summary: 'a plan of the configuration', required: true },
    'credit-minor': { kind: 'text', value: 'N', summary: 'starting credit in minor units (cents); only with a credit plan', fallback: '0' },
  },
  examples: ['lingate team create --name "Web shop" --plan pro', 'lingate team create --name Press --plan prepaid --credit-minor 5000'],
  async run(context) {
    const name = readName('name', context.required('name'));
    const plan = context.required('plan');
    const credit = context.text('credit-minor');
    const creditMinor = credit === undefined ? 0 : readMinor('credit-minor', credit, 0);
    await withStore(context, async ({ teams }, config) => {
      const limits = limitsOfPlan(config, plan);
      if (credit !== undefined && limits.billing !== 'credit') {
        throw new CommandFailure(`plan ${plan} has billing quota, which takes no credit; leave out --credit-minor or choose a credit plan`);
      }
      const teamId = ulidSource(() => context.io.nowMs())();
      const team = await teams.createTeam({ teamId, name, plan, limits, balanceMicro: toMicro(creditMinor) });
      context.print(teamReport(team), () => `${teamText(team)}\n\nNext, a key for it: lingate key create --team ${teamId} --mode live`);
    });
  },
};
