// The endpoints of documents: upload, state, deletion, and the translated file, which is charged when it was first written whole.
import { reserveSlot } from '../core/exchange.ts';
import type { Exchange } from '../core/exchange.ts';
import { json } from '../core/outcome.ts';
import type { Outcome } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { pacedReply } from '../core/turns.ts';
import type { BodyStep } from '../core/step.ts';
import { OVERLOADED, STORE_UNAVAILABLE } from '../domain/refusals.ts';
import { keyOwnerSlot } from '../domain/slots.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import type { DocumentFormats } from '../ports/document-formats.ts';
import type { DocumentRecord, DocumentStore, DocumentTransfers, SealsDocuments } from '../ports/documents.ts';
import type { Settlements } from '../ports/ledger.ts';

export interface DocumentEndpointOptions {
  readonly documents: DocumentStore;
  readonly sealer: SealsDocuments;
  readonly formats: Pick<DocumentFormats, 'formatOf'>;
  /** Releases everything that is reserved for a document; whether the ledger has answered. */
  readonly release: (document: DocumentRecord) => Promise<boolean>;
  readonly settlements: Settlements;
  readonly transfers: DocumentTransfers;
  /** The store's clock. */
  readonly nowMs: () => number;
}

const NOT_FOUND = refuse('document_not_found', 'The team has no document with this id; it may have expired.');
const NOT_READY = refuse('document_not_ready', 'The document is not translated yet; ask for its state, and try again.');
const DELETED: Outcome = { kind: 'reply', status: 204, contentType: undefined, body: '', headers: [] };
/** Of a piece that is written. */
const PIECE_BYTES = 65_536;

export function showDocument(options: DocumentEndpointOptions): BodyStep {
  return documentEndpoint('show-document', options, async (_x, document) => json(JSON.stringify(shownDocument(document))));
}

/** As GET shows it. */
export function shownDocument({ documentId, state, billed, code, detail }: DocumentRecord): Readonly<Record<string, unknown>> {
  return {
    document_id: documentId,
    status: state,
    ...(state === 'done' ? { billed_characters: billed } : {}),
    ...(state === 'error' ? { code, detail } : {}),
  };
}

export function deleteDocument(options: DocumentEndpointOptions): BodyStep {
  return documentEndpoint('delete-document', options, async (_x, document) => {
    // Before, so that nothing is left reserved if this process ends in between; and after, for what was reserved meanwhile.
    if (!(await options.release(document))) return STORE_UNAVAILABLE;
    const removed = await options.documents.remove(document);
    if (isUnavailable(removed)) return STORE_UNAVAILABLE;
    if (removed === undefined) return NOT_FOUND;
    for (const { requestId } of removed.holds) options.settlements.releaseUnknown(document.teamId, requestId);
    return DELETED;
  });
}

const deliveredSlot = reserveSlot<DocumentRecord>('delivered document');
/** The team whose place is taken. */
const transferSlot = reserveSlot<string>('document transfer');

export function documentResult(options: DocumentEndpointOptions): BodyStep {
  const { documents, sealer, formats, settlements, transfers } = options;
  const found = documentEndpoint('document-result', options, async (x, document) => {
    if (document.state === 'error') return failed(document);
    if (document.state !== 'done' || document.resultId === undefined) return NOT_READY;
    if (!transfers.begin(document.teamId)) return OVERLOADED;
    x.set(transferSlot, document.teamId);
    const pieces = await documents.file(document, document.resultId);
    if (isUnavailable(pieces)) return STORE_UNAVAILABLE;
    const bytes = pieces && (await sealer.open(document.documentId, document.resultId, pieces));
    // Deleted since, or unreadable: its secret was changed.
    if (bytes === undefined) return NOT_FOUND;
    x.set(deliveredSlot, document);
    // A slow reader is fine.
    x.ownDeadline = true;
    const type = formats.formatOf(document.fileName)?.mediaType ?? 'application/octet-stream';
    return { ...pacedReply(type, piecesOf(bytes), bytes.length), headers: [['Content-Disposition', disposition(document.fileName)]] };
  });
  return {
    ...found,
    settle(x, outcome) {
      const teamId = x.get(transferSlot);
      if (teamId !== undefined) transfers.end(teamId);
      const document = x.get(deliveredSlot);
      const hold = document?.holds.at(-1);
      // Anything else means that the file was not written to its end.
      if (document === undefined || hold === undefined || outcome.kind !== 'stream' || document.isCharged === true) return;
      settlements.commit({ ...hold, teamId: document.teamId, leaseUntilMs: document.untilMs }, document.billed);
      // Later downloads ask the ledger for nothing, which remembers charges for seconds only.
      void documents.change(document, (known) => ({ ...known, isCharged: true }));
    },
  };
}

function failed({ code = 'internal_error', detail = 'It could not be translated.' }: DocumentRecord): Outcome {
  return refuse('document_failed', detail, { failed_with: code });
}

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

/** RFC 6266: the name in ASCII, and as it is. */
function disposition(fileName: string): string {
  const ascii = fileName.replaceAll(/[^ !#-$&-[\]-~]/g, '_');
  const exact = encodeURIComponent(fileName).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${ascii}"; filename*=UTF-8''${exact}`;
}

function documentEndpoint(
  name: string,
  { documents, nowMs }: Pick<DocumentEndpointOptions, 'documents' | 'nowMs'>,
  answer: (x: Exchange, document: DocumentRecord) => Promise<Outcome>,
): BodyStep {
  return {
    kind: 'body',
    name,
    async run(x) {
      const id = canonicalUlid(x.pathParameter);
      const found = id === undefined ? undefined : await documents.find(x.need(keyOwnerSlot).teamId, id);
      if (isUnavailable(found)) return STORE_UNAVAILABLE;
      // What has expired is removed in its turn; nothing is reserved for it any more.
      return found === undefined || found.untilMs <= nowMs() ? NOT_FOUND : answer(x, found);
    },
  };
}
