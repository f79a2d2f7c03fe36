// lingate plan apply: brings a plan's changed numbers to its teams.
import type { TeamLimits } from '../../domain/plan.ts';
import type { Command } from '../command.ts';
import { limitsOfPlan } from '../configured-plan.ts';
import { withStore } from '../with-store.ts';

export const planApply: Command = {
  name: 'plan apply',
  summary: "Copies a plan's numbers to all of its teams.",
  usage: 'NAME',
  about: 'Each team is held to the new numbers from its next request on. Run twice, it does nothing the second time.',
  operands: ['NAME'],
  flags: {},
  examples: ['lingate plan apply pro'],
  async run(context) {
    const name = context.operands[0]!;
    const { io } = context;
    await withStore(context, async ({ teams }, config) => {
      const limits = limitsOfPlan(config, name);
      const members = (await teams.listTeams()).filter((team) => team.plan === name);
      const behind = members.filter((team) => !sameLimits(team.limits, limits));
      let changed = 0;
      // One after the other: whatever stops this half-way, the next run goes on from there.
      for (const { teamId } of behind) {
        if ((await teams.updateTeam(teamId, { plan: { name, limits } })) !== undefined) changed++;
        if (io.watched) io.err(`\r${changed} of ${behind.length} teams`);
      }
      if (io.watched && behind.length > 0) io.err('\n');
      context.print(
        { plan: name, teams: members.length, changed },
        () => `${changed} of the ${members.length} teams on plan ${name} changed.`,
      );
    });
  },
};

function sameLimits(a: TeamLimits, b: TeamLimits): boolean {
  return (Object.keys(b) as (keyof TeamLimits)[]).every((member) => a[member] === b[member]);
}
