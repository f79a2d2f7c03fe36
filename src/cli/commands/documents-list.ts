// lingate documents list: the documents of all teams or of one, newest first.
import { documentReport, readDocumentFilter } from '../../admin/document-operations.ts';
import type { DocumentFilter, DocumentOperations } from '../../admin/document-operations.ts';
import { DOCUMENT_STATES } from '../../domain/document-states.ts';
import { UsageError } from '../command.ts';
import type { Command } from '../command.ts';
import { textTable } from '../text-table.ts';
import { valueOf, withStore } from '../with-store.ts';

const PAGE = 200;

type Reported = ReturnType<typeof documentReport>;

export const documentsList: Command = {
  usage: '[--team TEAM] [--state STATE]',
  about:
    'Documents are listed until they expire. Neither the names of files nor their texts are shown, and of an error only its code: the ' +
    'rest is told to the sender.',
  flags: {
    team: { kind: 'text', value: 'TEAM', summary: 'only documents of the team with this id', fallback: 'all teams' },
    state: { kind: 'text', value: 'STATE', summary: `only documents in this state: ${DOCUMENT_STATES.join(', ')}`, fallback: 'all' },
  },
  examples: ['lingate documents list --state error', 'lingate documents list --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --json'],
  async run(context) {
    const filter = readDocumentFilter((name) => context.text(name));
    if ('fault' in filter) throw new UsageError(`--${filter.field} ${filter.fault}`);
    await withStore(context, async (store, _config, nowMs) => {
      const { documentOperationsOf } = await import('../../app/listed-documents.ts');
      const found = await allOf(documentOperationsOf(store, nowMs), filter);
      context.print({ documents: found }, () => textOf(found));
    });
  },
};

async function allOf(documents: DocumentOperations, filter: DocumentFilter): Promise<readonly Reported[]> {
  const found: Reported[] = [];
  let after: string | undefined;
  do {
    const { items, next } = valueOf(await documents.list({ after, limit: PAGE }, filter));
    found.push(...items.map(documentReport));
    after = next;
  } while (after !== undefined);
  return found;
}

function textOf(found: readonly Reported[]): string {
  if (found.length === 0) return 'There are no such documents.';
  const rows = found.map((one) => [
    one.created_at,
    one.code === null ? one.status : `${one.status} ${one.code}`,
    one.format,
    String(one.bytes),
    one.character_count === null ? '–' : String(one.character_count),
    one.team_name ?? one.team_id,
    one.key_label ?? '–',
    one.document_id,
  ]);
  return textTable(['UPLOADED (UTC)', 'STATE', 'FORMAT', 'BYTES', 'CHARACTERS', 'TEAM', 'KEY', 'DOCUMENT'], rows);
}
