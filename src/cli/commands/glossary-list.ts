// lingate glossary list: a team's glossaries, without their entries.
import { glossaryReport } from '../../admin/glossary-operations.ts';
import type { GlossaryReport } from '../../admin/glossary-operations.ts';
import type { Command } from '../command.ts';
import { readId } from '../operand.ts';
import { textTable } from '../text-table.ts';
import { TEAMS_WHERE, valueOf, withGlossaries } from '../with-store.ts';

export const glossaryList: Command = {
  name: 'glossary list',
  summary: "Lists a team's glossaries.",
  usage: '--team TEAM',
  flags: { team: { kind: 'text', value: 'TEAM', summary: 'the id of the team', required: true } },
  examples: ['lingate glossary list --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC'],
  async run(context) {
    const teamId = readId('team', context.required('team'), TEAMS_WHERE);
    await withGlossaries(context, async (glossaries) => {
      const reports = valueOf(await glossaries.list(teamId)).map(glossaryReport);
      context.print({ glossaries: reports }, () => glossaryTable(reports));
    });
  },
};

function glossaryTable(glossaries: readonly GlossaryReport[]): string {
  if (glossaries.length === 0) return 'This team has no glossaries.';
  const rows = glossaries.map((glossary) => [
    glossary.glossary_id,
    glossary.name,
    pairsOf(glossary),
    String(glossary.entry_count),
    glossary.created_at,
  ]);
  return textTable(['GLOSSARY', 'NAME', 'LANGUAGES', 'ENTRIES', 'CREATED'], rows);
}

function pairsOf({ dictionaries }: GlossaryReport): string {
  if (dictionaries.length === 0) return '-';
  return dictionaries.map(({ source_lang, target_lang }) => `${source_lang}-${target_lang}`).join(' ');
}
