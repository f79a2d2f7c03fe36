// lingate team update: changes a team's name or plan, and adds or deducts credit.
import { replicatedMember } from '../../admin/admin-result.ts';
import { teamReport } from '../../admin/reports.ts';
import type { Command } from '../command.ts';
import { UsageError } from '../command.ts';
import { readId, readMinorChange, readName, readReason } from '../operand.ts';
import { warnOfOtherNumbers } from '../other-numbers.ts';
import { teamText } from '../team-text.ts';
import { TEAMS_WHERE, saying, valueOf, withAdmin } from '../with-store.ts';

export const teamUpdate: Command = {
  name: 'team update',
  summary: "Changes a team's plan or name, or adds or deducts credit.",
  usage: 'TEAM [--plan PLAN] [--name NAME] [--add-credit-minor N] [--reason TEXT]',
  about: 'The change takes effect at the next request. A plan with another period length starts a new period.',
  operands: ['TEAM'],
  flags: {
    plan: { kind: 'text', value: 'PLAN', summary: 'a plan of the configuration', fallback: 'unchanged' },
    name: { kind: 'text', value: 'NAME', summary: 'another name for the team', fallback: 'unchanged' },
    'add-credit-minor': {
      kind: 'text',
      value: 'N',
      summary: 'credit to add, in minor units (cents); negative to deduct it; only with a credit plan',
    },
    reason: { kind: 'text', value: 'TEXT', summary: 'why, for the audit; required to deduct credit' },
  },
  examples: [
    'lingate team update 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --plan pro',
    'lingate team update 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --name "Web shop"',
    'lingate team update 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --add-credit-minor 2500',
    'lingate team update 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --add-credit-minor -500 --reason "invoice 1042 was paid twice"',
  ],
  async run(context) {
    const plan = context.text('plan');
    const credit = context.text('add-credit-minor');
    const given = context.text('name');
    if (plan === undefined && given === undefined && credit === undefined) {
      throw new UsageError('nothing to change; give --plan, --name or --add-credit-minor');
    }
    const name = given === undefined ? undefined : readName('name', given);
    const addCreditMinor = credit === undefined ? undefined : readMinorChange('add-credit-minor', credit);
    const why = context.text('reason');
    const reason = why === undefined ? undefined : readReason('reason', why);
    if (addCreditMinor !== undefined && addCreditMinor < 0 && reason === undefined) {
      throw new UsageError('--reason is missing: it is required to deduct credit, and recorded in the audit');
    }
    const teamId = readId('team', context.operands[0]!, TEAMS_WHERE);
    await withAdmin(context, async (admin, store) => {
      if (plan !== undefined) await warnOfOtherNumbers(context, store, plan);
      const result = await admin.updateTeam(teamId, { name, plan, addCreditMinor, reason });
      const team = valueOf(result, '--add-credit-minor');
      context.print({ ...teamReport(team), ...replicatedMember(result) }, () => saying(teamText(team), result));
    });
  },
};
