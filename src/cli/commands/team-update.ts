// lingate team update: gives a team another name or plan, adds credit, or all of it at once.
import { replicatedMember } from '../../admin/admin-result.ts';
import { teamReport } from '../../admin/reports.ts';
import type { Command } from '../command.ts';
import { UsageError } from '../command.ts';
import { readId, readMinor, readName } from '../operand.ts';
import { warnOfOtherNumbers } from '../other-numbers.ts';
import { teamText } from '../team-text.ts';
import { TEAMS_WHERE, saying, valueOf, withAdmin } from '../with-store.ts';

export const teamUpdate: Command = {
  name: 'team update',
  summary: "Changes a team's plan or name, or adds to its credit.",
  usage: 'TEAM [--plan PLAN] [--name NAME] [--add-credit-minor N]',
  about: 'It holds from the next request on. A plan with another period length starts a new period.',
  operands: ['TEAM'],
  flags: {
    plan: { kind: 'text', value: 'PLAN', summary: 'a plan of the configuration', fallback: 'stays as it is' },
    name: { kind: 'text', value: 'NAME', summary: 'another name for the team', fallback: 'stays as it is' },
    'add-credit-minor': { kind: 'text', value: 'N', summary: 'credit to add, in minor units (cents); only with a credit plan' },
  },
  examples: [
    'lingate team update 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --plan pro',
    'lingate team update 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --name "Web shop"',
    'lingate team update 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --add-credit-minor 2500',
  ],
  async run(context) {
    const plan = context.text('plan');
    const credit = context.text('add-credit-minor');
    const given = context.text('name');
    if (plan === undefined && given === undefined && credit === undefined) {
      throw new UsageError('nothing to change; give --plan, --name or --add-credit-minor');
    }
    const name = given === undefined ? undefined : readName('name', given);
    const addCreditMinor = credit === undefined ? undefined : readMinor('add-credit-minor', credit, 1);
    const teamId = readId('team', context.operands[0]!, TEAMS_WHERE);
    await withAdmin(context, async (admin, store) => {
      if (plan !== undefined) await warnOfOtherNumbers(context, store, plan);
      const result = await admin.updateTeam(teamId, { name, plan, addCreditMinor });
      const team = valueOf(result, '--add-credit-minor');
      context.print({ ...teamReport(team), ...replicatedMember(result) }, () => saying(teamText(team), result));
    });
  },
};
