// lingate glossary delete: deletes a glossary, whichever team it belongs to.
import { replicatedMember } from '../../admin/admin-result.ts';
import type { Command } from '../command.ts';
import { readId } from '../operand.ts';
import { GLOSSARIES_WHERE, saying, valueOf, withGlossaries } from '../with-store.ts';

export const glossaryDelete: Command = {
  name: 'glossary delete',
  summary: 'Deletes a glossary.',
  usage: 'GLOSSARY',
  about: 'Its entries are deleted, and the next request that names it is refused.',
  operands: ['GLOSSARY'],
  flags: {},
  examples: ['lingate glossary delete 01JD3QB5W1T9C4E8S7X2G6V0PA'],
  async run(context) {
    const glossaryId = readId('glossary', context.operands[0]!, GLOSSARIES_WHERE);
    await withGlossaries(context, async (glossaries) => {
      const result = await glossaries.remove(glossaryId);
      const { teamId, glossary } = valueOf(result);
      context.print({ glossary_id: glossaryId, team_id: teamId, status: 'deleted', ...replicatedMember(result) }, () =>
        saying(`Glossary ${glossaryId} (${glossary.name}) of team ${teamId} is deleted.`, result),
      );
    });
  },
};
