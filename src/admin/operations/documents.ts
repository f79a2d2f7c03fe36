// The documents of all teams as operators see them, newest first. Never the name of a file, nor
// what was found wrong in it: a name can say whose letter it is, and a parser's words can quote the
// text.
import type { Static } from 'typebox';
import { DOCUMENT_STATES } from '../../domain/document-states.ts';
import { rfc3339 } from '../../domain/period.ts';
import { answered } from '../../domain/store-unavailable.ts';
import { Type } from '../../domain/typebox.ts';
import type { DocumentRecord, PlacedDocument } from '../../ports/documents.ts';
import { choice, moment, ofTeam, orNull, span } from '../fields.ts';
import { rowsInOrder } from '../listing.ts';
import type { OperationContext } from '../operation-context.ts';
import { operation } from '../operation.ts';
import type { Cell } from '../operation.ts';

const Document = Type.Object({
  document_id: Type.String(),
  team_id: Type.String(),
  team_name: orNull(Type.String(), 'Null if the team was deleted just now.'),
  key_id: Type.String({ description: 'The key that it was sent with.' }),
  key_label: orNull(Type.String(), "The key's label, which may be empty; null if there is no such key any more."),
  status: Type.Enum([...DOCUMENT_STATES], { type: 'string' }),
  code: orNull(Type.String(), 'With `error`: a problem code. Only the sender sees what was wrong.'),
  format: Type.String({ description: "The ending of the file's name, which is not shown itself." }),
  bytes: Type.Integer({ minimum: 0, description: 'Of the file that was sent.' }),
  source_lang: orNull(Type.String(), 'Null if none was given.'),
  target_lang: Type.String(),
  character_count: orNull(
    Type.Integer({ minimum: 0 }),
    'What was counted, with `done` what was charged. Null before it was counted, and with `error`.',
  ),
  downloaded: Type.Boolean({ description: 'Whether it was downloaded to the end.' }),
  failures: Type.Integer({ minimum: 0, description: 'How often its translation had to be repeated.' }),
  created_at: moment,
  ended_at: orNull(moment, 'When it was translated or ended in an error.'),
  expires_at: moment,
});
type DocumentRow = Static<typeof Document>;

const WORDS = { queued: 'queued', translating: 'translating', done: 'done', error: 'error' } as const;

export const listDocuments = operation({
  id: 'listDocuments',
  command: 'documents list',
  http: 'GET /documents',
  summary: 'Lists the documents of all teams or of one, newest first. Neither names of files nor texts are shown.',
  about: 'Documents are listed until they expire. Of an error the list shows the code; only the sender sees the details.',
  examples: ['lingate documents list --state error', 'lingate documents list --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --json'],
  input: {
    team: ofTeam('documents'),
    state: choice(DOCUMENT_STATES, 'Only documents in this state.', { value: 'STATE', fallback: 'all', words: WORDS }),
  },
  row: Document,
  list: 'documents',
  columns: [
    { head: 'Uploaded (UTC)', cell: (row) => ({ kind: 'moment', at: row.created_at, id: row.document_id }) },
    { head: 'Team', cell: (row) => ({ kind: 'team', id: row.team_id, name: row.team_name }), holds: 'text' },
    { head: 'Key', cell: (row) => ({ kind: 'key', id: row.key_id, teamId: row.team_id, label: row.key_label }), holds: 'text' },
    { head: 'State', cell: stateOf },
    { head: 'To', cell: (row) => row.target_lang },
    { head: 'Format', cell: (row) => row.format },
    { head: 'Size', cell: (row) => ({ kind: 'bytes', bytes: row.bytes }), holds: 'figures' },
    { head: 'Characters', cell: (row) => row.character_count ?? undefined, holds: 'figures' },
    { head: 'Took', cell: tookOf, holds: 'figures' },
    { head: 'Document', cell: (row) => row.document_id, only: 'command' },
  ],
  none: 'There are no such documents.',
  listing: {
    newestFirst: true,
    read(context, { team, state }, after, size) {
      const source = {
        read: (place: string | undefined, limit: number) => looked(context, team, place, limit),
        idOf: ({ place }: Looked) => place,
        fits: ({ document }: Looked) => document !== undefined && (state === undefined || document.state === state),
        rowsOf: (found: readonly Looked[]) =>
          named(
            context,
            found.map(({ document }) => document!),
          ),
      };
      return rowsInOrder(source, after, size);
    },
  },
});

function stateOf({ status, code, downloaded, failures }: DocumentRow): Cell {
  if (status === 'error') return { kind: 'problem', code: code ?? 'internal_error', before: 'error ' };
  if (status === 'done') return downloaded ? 'done, downloaded' : 'done';
  return failures === 0 ? WORDS[status] : `${WORDS[status]}, ${failures} ${failures === 1 ? 'failure' : 'failures'}`;
}

/** Until it had ended, or since when it has not. */
function tookOf({ created_at: created, ended_at: ended }: DocumentRow, nowMs: number): Cell {
  const ms = Math.max(0, (ended === null ? nowMs : Date.parse(ended)) - Date.parse(created));
  return `${span(ms)}${ended === null ? ' so far' : ''}`;
}

/** Its document may be gone, or is not looked up because its team does not fit. */
interface Looked extends PlacedDocument {
  readonly document: DocumentRecord | undefined;
}

async function looked(
  context: OperationContext,
  teamId: string | undefined,
  after: string | undefined,
  limit: number,
): Promise<readonly Looked[]> {
  const documents = await context.part('documents')();
  const found: Looked[] = [];
  for (const one of answered(await documents.newest(after, limit))) {
    const isAsked = teamId === undefined || teamId === one.teamId;
    found.push({ ...one, document: isAsked ? answered(await documents.find(one.teamId, one.documentId)) : undefined });
  }
  return found;
}

async function named({ options: { teams } }: OperationContext, documents: readonly DocumentRecord[]): Promise<readonly DocumentRow[]> {
  const [names, labels] = [new Map<string, string>(), new Map<string, string>()];
  for (const teamId of new Set(documents.map((document) => document.teamId))) {
    const team = answered(await teams.findTeam(teamId));
    if (team !== undefined) names.set(teamId, team.name);
    for (const { keyId, label } of answered(await teams.listKeys(teamId)) ?? []) labels.set(keyId, label);
  }
  return documents.map((one) => ({
    document_id: one.documentId,
    team_id: one.teamId,
    team_name: names.get(one.teamId) ?? null,
    key_id: one.keyId,
    key_label: labels.get(one.keyId) ?? null,
    status: one.state,
    code: one.state === 'error' ? (one.code ?? null) : null,
    format: one.format,
    bytes: one.bytes,
    source_lang: one.sourceLang ?? null,
    target_lang: one.targetLang,
    character_count: charactersOf(one),
    downloaded: one.isDownloaded === true,
    failures: one.failures,
    created_at: rfc3339(one.createdAtMs),
    ended_at: one.endedAtMs === undefined ? null : rfc3339(one.endedAtMs),
    expires_at: rfc3339(one.untilMs),
  }));
}

function charactersOf({ state, billed, holds }: DocumentRecord): number | null {
  if (state === 'error') return null;
  return (state === 'done' ? billed : holds.findLast(({ isCounted }) => isCounted)?.characters) ?? null;
}

export const operations = [listDocuments];
