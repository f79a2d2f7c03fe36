// lingate team update: puts a team on another plan, adds credit, or both at once.
import type { Config } from '../../config/config.ts';
import { MINOR_MAX, minorRoundedUp, toMicro } from '../../domain/money.ts';
import type { Team, TeamChange } from '../../ports/team-registry.ts';
import type { Command } from '../command.ts';
import { limitsOfPlan } from '../configured-plan.ts';
import { CommandFailure, UsageError } from '../failure.ts';
import { noSuchTeam, readId, readMinor, TEAMS_WHERE } from '../operand.ts';
import { teamReport, teamText } from '../team-report.ts';
import { withStore } from '../with-store.ts';

export const teamUpdate: Command = {
  name: 'team update',
  summary: "Changes a team's plan or adds to its credit.",
  usage: 'TEAM [--plan PLAN] [--add-credit-minor N]',
  about: 'It holds from the next request on. A plan with another period length starts a new period.',
  operands: ['TEAM'],
  flags: {
    plan: { kind: 'text', value: 'PLAN', summary: 'a plan of the configuration', fallback: 'stays as it is' },
    'add-credit-minor': { kind: 'text', value: 'N', summary: 'credit to add, in minor units (cents); only with a credit plan' },
  },
  examples: [
    'lingate team update 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --plan pro',
    'lingate team update 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --add-credit-minor 2500',
  ],
  async run(context) {
    const plan = context.text('plan');
    const credit = context.text('add-credit-minor');
    if (plan === undefined && credit === undefined) throw new UsageError('nothing to change; give --plan or --add-credit-minor');
    const addMinor = credit === undefined ? 0 : readMinor('add-credit-minor', credit, 1);
    const teamId = readId('team', context.operands[0]!, TEAMS_WHERE);
    await withStore(context, async ({ teams }, config) => {
      const before = await teams.findTeam(teamId);
      if (before === undefined) throw noSuchTeam(teamId);
      const after = await teams.updateTeam(teamId, changeOf(before, config, plan, addMinor));
      if (after === undefined) throw noSuchTeam(teamId);
      context.print(teamReport(after), () => teamText(after));
    });
  },
};

function changeOf(team: Team, config: Config, plan: string | undefined, addMinor: number): TeamChange {
  const limits = plan === undefined ? team.limits : limitsOfPlan(config, plan);
  if (addMinor > 0 && limits.billing !== 'credit') {
    throw new CommandFailure(`plan ${plan ?? team.plan} has billing quota, which takes no credit; choose a credit plan with --plan`);
  }
  // Beyond this, millionths of a minor unit are no exact integers any more.
  if (minorRoundedUp(team.balanceMicro) + addMinor > MINOR_MAX) {
    throw new CommandFailure(`the balance would pass ${MINOR_MAX} minor units, which is the most that a team can have; add less`);
  }
  return {
    ...(plan === undefined ? {} : { plan: { name: plan, limits } }),
    ...(addMinor === 0 ? {} : { addMicro: toMicro(addMinor) }),
  };
}
