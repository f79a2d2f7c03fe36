// The documents of all teams as operators see them, newest first: what waits, what runs, what has ended and how. Never the name of a
// file, nor what was found wrong in it: a name can say whose letter it is, and a parser's words can quote the text.
import type { Static } from 'typebox';
import { DOCUMENT_STATES } from '../domain/document-states.ts';
import { rfc3339 } from '../domain/period.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import type { DocumentRecord, DocumentState, DocumentStore, PlacedDocument } from '../ports/documents.ts';
import type { KeyRecord, TeamRegistry } from '../ports/team-registry.ts';
import { done } from './admin-result.ts';
import type { AdminResult, Page } from './admin-result.ts';
import type { DocumentAnswer } from './document-schema.ts';
import { filteredPage } from './filtered-page.ts';
import type { QueryFault } from './usage-question.ts';

/** `undefined` members do not matter. */
export interface DocumentFilter {
  readonly teamId: string | undefined;
  readonly state: DocumentState | undefined;
}

interface DocumentPage {
  /** The `next` of the page before. */
  readonly after: string | undefined;
  readonly limit: number;
}

export interface ListedDocument {
  readonly document: DocumentRecord;
  /** `undefined` if the team was deleted just now. */
  readonly teamName: string | undefined;
  readonly key: Pick<KeyRecord, 'display' | 'label'> | undefined;
}

/** How much a page reads together, and how much at most. */
const CHECKED = { pieceSize: 50, checkedMax: 5000 } as const;
const CURSOR = /^\d{15}-[0-9A-HJKMNP-TV-Z]{26}$/;

/** `given` returns a criterion's text. An empty one, as a form sends it, counts as absent. */
export function readDocumentFilter(given: (name: 'team' | 'state') => string | null | undefined): DocumentFilter | QueryFault {
  const [team, state] = [given('team')?.trim() || undefined, given('state')?.trim() || undefined];
  const teamId = team === undefined ? undefined : canonicalUlid(team);
  if (team !== undefined && teamId === undefined) return { field: 'team', fault: "must be a team's id" };
  const known = DOCUMENT_STATES.find((one) => one === state);
  if (state !== undefined && known === undefined) return { field: 'state', fault: `must be one of ${DOCUMENT_STATES.join(', ')}` };
  return { teamId, state: known };
}

/** `undefined` for the first page. */
export function readDocumentCursor(cursor: string | null): { readonly after: string | undefined } | QueryFault {
  if (cursor === null || cursor === '') return { after: undefined };
  return CURSOR.test(cursor) ? { after: cursor } : { field: 'cursor', fault: 'must be the `next` of the previous page' };
}

/** An entry of the list; its document may be gone, or is not looked up because its team does not fit. */
interface Looked extends PlacedDocument {
  readonly document: DocumentRecord | undefined;
}

interface DocumentOperationsOptions {
  readonly documents: Pick<DocumentStore, 'newest' | 'find'>;
  readonly teams: Pick<TeamRegistry, 'findTeam' | 'listKeys'>;
}

export class DocumentOperations {
  readonly #options: DocumentOperationsOptions;

  constructor(options: DocumentOperationsOptions) {
    this.#options = options;
  }

  /** Those that fit; an unknown team has none. A page checks a bounded number of documents. */
  async list(page: DocumentPage, { teamId, state }: DocumentFilter): Promise<AdminResult<Page<ListedDocument>>> {
    const found = await filteredPage<Looked, DocumentPage>(page, {
      read: (piece) => this.#read(piece, teamId),
      idOf: ({ place }) => place,
      fits: ({ document }) => document !== undefined && (state === undefined || document.state === state),
      ...CHECKED,
    });
    if (found.kind !== 'done') return found;
    const listed = await this.#named(found.value.items.flatMap(({ document }) => document ?? []));
    return isUnavailable(listed) ? listed : done({ ...found.value, items: listed });
  }

  async #read({ after, limit }: DocumentPage, teamId: string | undefined): Promise<readonly Looked[] | StoreUnavailable> {
    const { documents } = this.#options;
    const placed = await documents.newest(after, limit);
    if (isUnavailable(placed)) return placed;
    const looked: Looked[] = [];
    for (const one of placed) {
      const document = teamId === undefined || teamId === one.teamId ? await documents.find(one.teamId, one.documentId) : undefined;
      if (isUnavailable(document)) return document;
      looked.push({ ...one, document });
    }
    return looked;
  }

  async #named(documents: readonly DocumentRecord[]): Promise<readonly ListedDocument[] | StoreUnavailable> {
    const { teams } = this.#options;
    const names = new Map<string, string>();
    const keys = new Map<string, KeyRecord>();
    for (const teamId of new Set(documents.map((document) => document.teamId))) {
      const [team, ofTeam] = [await teams.findTeam(teamId), await teams.listKeys(teamId)];
      if (isUnavailable(team)) return team;
      if (isUnavailable(ofTeam)) return ofTeam;
      if (team !== undefined) names.set(teamId, team.name);
      for (const key of ofTeam ?? []) keys.set(key.keyId, key);
    }
    return documents.map((document) => ({ document, teamName: names.get(document.teamId), key: keys.get(document.keyId) }));
  }
}

export function documentReport({ document, teamName, key }: ListedDocument): Static<typeof DocumentAnswer> {
  const { documentId, teamId, keyId, state, code, format, bytes, sourceLang, targetLang, createdAtMs, endedAtMs, untilMs } = document;
  return {
    document_id: documentId,
    team_id: teamId,
    team_name: teamName ?? null,
    key_id: keyId,
    key_label: key?.label ?? null,
    status: state,
    code: state === 'error' ? (code ?? null) : null,
    format,
    bytes,
    source_lang: sourceLang ?? null,
    target_lang: targetLang,
    character_count: charactersOf(document),
    downloaded: document.isCharged === true,
    failures: document.failures,
    created_at: rfc3339(createdAtMs),
    ended_at: endedAtMs === undefined ? null : rfc3339(endedAtMs),
    expires_at: rfc3339(untilMs),
  };
}

/** What was counted, or with `done` what is charged; `null` before it was counted, and with `error`. */
export function charactersOf({ state, billed, holds }: DocumentRecord): number | null {
  if (state === 'error') return null;
  return (state === 'done' ? billed : holds.findLast(({ isCounted }) => isCounted)?.characters) ?? null;
}
