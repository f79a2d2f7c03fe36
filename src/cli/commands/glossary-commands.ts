// lingate glossary list and delete: a team's glossaries without their entries, and one of whichever team.
import { glossaryReport } from '../../admin/glossary-operations.ts';
import type { GlossaryReport } from '../../admin/glossary-operations.ts';
import type { Command } from '../command.ts';
import { confirm, requireConfirmable, YES } from '../confirmation.ts';
import { GLOSSARIES_WHERE, readId, readTeam, TEAM_FLAG } from '../operand.ts';
import { textTable } from '../text-table.ts';
import { printChange, valueOf, withGlossaries } from '../with-store.ts';

export const glossaryList: Command = {
  usage: '--team TEAM',
  flags: { team: TEAM_FLAG },
  examples: ['lingate glossary list --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC'],
  async run(context) {
    const teamId = readTeam('team', context.required('team'));
    await withGlossaries(context, async (glossaries) => {
      const reports = valueOf(await glossaries.list(teamId)).map(glossaryReport);
      context.print({ glossaries: reports }, () => glossaryTable(reports));
    });
  },
};

function glossaryTable(glossaries: readonly GlossaryReport[]): string {
  if (glossaries.length === 0) return 'This team has no glossaries.';
  const rows = glossaries.map(({ glossary_id: id, name, dictionaries, entry_count: entries, created_at: created }) => {
    const pairs = dictionaries.map(({ source_lang, target_lang }) => `${source_lang}-${target_lang}`).join(' ');
    return [id, name, pairs || '-', String(entries), created];
  });
  return textTable(['GLOSSARY', 'NAME', 'LANGUAGES', 'ENTRIES', 'CREATED'], rows);
}

export const glossaryDelete: Command = {
  usage: 'GLOSSARY [--yes]',
  about:
    'Its entries are deleted, and the next request that names it is refused. This cannot be undone: at a terminal you must type the ' +
    'name of the glossary.',
  operands: ['GLOSSARY'],
  flags: { yes: YES },
  examples: ['lingate glossary delete 01JD3QB5W1T9C4E8S7X2G6V0PA', 'lingate glossary delete 01JD3QB5W1T9C4E8S7X2G6V0PA --yes --json'],
  async run(context) {
    const glossaryId = readId('glossary', context.operands[0]!, GLOSSARIES_WHERE);
    requireConfirmable(context, 'deleting a glossary');
    await withGlossaries(context, async (glossaries) => {
      const { glossary: found, teamId: owner } = valueOf(await glossaries.find(glossaryId));
      const does = `This deletes the glossary ${JSON.stringify(found.name)} of team ${owner} permanently.`;
      await confirm(context, { does, word: found.name, wordIs: 'its name' });
      const result = await glossaries.remove(glossaryId);
      const { teamId, glossary } = valueOf(result);
      printChange(
        context,
        result,
        { glossary_id: glossaryId, team_id: teamId, status: 'deleted' },
        `Glossary ${glossaryId} (${glossary.name}) of team ${teamId} is deleted.`,
      );
    });
  },
};
