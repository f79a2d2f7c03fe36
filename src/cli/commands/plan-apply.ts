// lingate plan apply: brings a plan's changed numbers to its teams.
import { replicatedMember } from '../../admin/admin-result.ts';
import type { Command } from '../command.ts';
import { saying, valueOf, withAdmin } from '../with-admin.ts';

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
    const onProgress = (changed: number, behind: number): void => {
      if (io.watched) io.err(`\r${changed} of ${behind} teams${changed === behind ? '\n' : ''}`);
    };
    await withAdmin(context, async (admin) => {
      const result = await admin.applyPlan(name, onProgress);
      const applied = valueOf(result);
      context.print({ ...applied, ...replicatedMember(result) }, () =>
        saying(`${applied.changed} of the ${applied.teams} teams on plan ${name} changed.`, result),
      );
    });
  },
};
