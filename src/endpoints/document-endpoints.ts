// The endpoints of documents: state, deletion, and the translated file, which is charged when it was first written whole.
import { reserveSlot } from '../core/exchange.ts';
import type { Exchange } from '../core/exchange.ts';
import { json } from '../core/outcome.ts';
import type { Outcome, Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { pacedReply } from '../core/turns.ts';
import type { BodyStep } from '../core/step.ts';
import { OVERLOADED, STORE_UNAVAILABLE } from '../domain/refusals.ts';
import { keyOwnerSlot } from '../domain/slots.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import type { DocumentFormats } from '../ports/document-formats.ts';
import type { ResultStep, WantedResult } from '../ports/document-services.ts';
import type {
  BegunDownload,
  DocumentDownloads,
  DocumentRecord,
  DocumentStore,
  DocumentTransfers,
  SealsDocuments,
} from '../ports/documents.ts';

export interface DocumentEndpointOptions {
  readonly documents: DocumentStore;
  readonly sealer: SealsDocuments;
  readonly formats: Pick<DocumentFormats, 'formatOf'>;
  readonly downloads: DocumentDownloads;
  readonly transfers: DocumentTransfers;
  /** The store's clock. */
  readonly nowMs: () => number;
}

type DocumentLookup = Pick<DocumentEndpointOptions, 'documents' | 'nowMs'>;

const NOT_FOUND = refuse('document_not_found', 'The team has no document with this id; it may have expired.');
const NOT_READY = refuse('document_not_ready', 'The document is not translated yet; ask for its state, and try again.');
const TAKEN = refuse('service_unavailable', 'Document already downloaded: another download of it is under way.');
const DELETED: Outcome = { kind: 'reply', status: 204, contentType: undefined, body: '', headers: [] };
/** Of a piece that is written. */
const PIECE_BYTES = 65_536;

export function showDocument(options: DocumentLookup): BodyStep {
  return documentEndpoint('show-document', options, async (_x, document) => json(JSON.stringify(shownDocument(document))));
}

/** As GET shows it. */
function shownDocument({ documentId, state, billed, code, detail }: DocumentRecord): Readonly<Record<string, unknown>> {
  return {
    document_id: documentId,
    status: state,
    ...(state === 'done' ? { billed_characters: billed } : {}),
    ...(state === 'error' ? { code, detail } : {}),
  };
}

export function deleteDocument(options: DocumentEndpointOptions): BodyStep {
  return documentEndpoint('delete-document', options, async (_x, document) => (await removeDocument(document, options)) ?? DELETED);
}

/** Why it is not removed. */
export async function removeDocument(
  document: DocumentRecord,
  { downloads }: Pick<DocumentEndpointOptions, 'downloads'>,
): Promise<Refusal | undefined> {
  const removed = await downloads.remove(document);
  if (isUnavailable(removed)) return STORE_UNAVAILABLE;
  return removed ? undefined : NOT_FOUND;
}

export function documentResult(options: DocumentEndpointOptions): BodyStep {
  const find = (x: Exchange): WantedResult => ({ teamId: x.need(keyOwnerSlot).teamId, documentId: x.pathParameter });
  return resultStep(options, { name: 'document-result', find });
}

interface Delivery extends BegunDownload {
  readonly removes: boolean;
}

const deliverySlot = reserveSlot<Delivery>('delivery of a document');
/** The team whose place is taken. */
const transferSlot = reserveSlot<string>('document transfer');

export function resultStep(options: DocumentEndpointOptions, { name, headers, find }: ResultStep): BodyStep {
  const { transfers } = options;
  return {
    kind: 'body',
    name,
    headers,
    async run(x) {
      const wanted = await find(x);
      if ('problem' in wanted) return wanted;
      const document = await findDocument(wanted.teamId, wanted.documentId, options);
      return 'problem' in document ? document : deliver(x, document, wanted, options);
    },
    settle(x, outcome) {
      const teamId = x.get(transferSlot);
      if (teamId !== undefined) transfers.end(teamId);
      const delivery = x.get(deliverySlot);
      // Anything but a stream means that the file was not written to its end.
      delivery?.end(outcome.kind === 'stream', delivery.removes);
    },
  };
}

async function deliver(x: Exchange, document: DocumentRecord, wanted: WantedResult, options: DocumentEndpointOptions): Promise<Outcome> {
  const { documents, sealer, formats, transfers, downloads, nowMs } = options;
  const { once: removes = false, contentType } = wanted;
  if (document.state === 'error') return failed(document);
  if (document.state !== 'done' || document.resultId === undefined) return NOT_READY;
  if (!transfers.begin(document.teamId)) return OVERLOADED;
  x.set(transferSlot, document.teamId);
  const begun = await downloads.begin(document, removes);
  if (begun === 'gone') return NOT_FOUND;
  if (begun === 'taken') return TAKEN;
  if (isUnavailable(begun)) return STORE_UNAVAILABLE;
  x.set(deliverySlot, { untilMs: begun.untilMs, removes, end: (isComplete) => begun.end(isComplete, removes) });
  const pieces = await documents.file(document, document.resultId);
  if (isUnavailable(pieces)) return STORE_UNAVAILABLE;
  const bytes = pieces && (await sealer.open(document.documentId, document.resultId, pieces));
  // Unreadable: its secret was changed.
  if (bytes === undefined) return NOT_FOUND;
  // A slow reader is fine, up to the end of the download.
  x.ownDeadline = true;
  const type = contentType ?? formats.formatOf(document.fileName)?.mediaType ?? 'application/octet-stream';
  const reply = pacedReply(
    type,
    piecesOf(bytes, () => nowMs() < begun.untilMs),
    bytes.length,
  );
  return { ...reply, headers: [['Content-Disposition', disposition(document.fileName)]] };
}

function failed({ code = 'internal_error', detail = 'It could not be translated.' }: DocumentRecord): Outcome {
  return refuse('document_failed', detail, { failed_with: code });
}

/** Throws when the time is over, which breaks the download off. */
function* piecesOf(bytes: Uint8Array, isInTime: () => boolean): Generator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    if (!isInTime()) throw new Error('the download takes too long');
    yield bytes.subarray(at, at + PIECE_BYTES);
  }
}

/** RFC 6266: the name in ASCII, and as it is. */
function disposition(fileName: string): string {
  const ascii = fileName.replaceAll(/[^ !#-$&-[\]-~]/g, '_');
  const exact = encodeURIComponent(fileName).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${ascii}"; filename*=UTF-8''${exact}`;
}

/** `id` may be any text. */
export async function findDocument(teamId: string, id: string, { documents, nowMs }: DocumentLookup): Promise<DocumentRecord | Refusal> {
  const documentId = canonicalUlid(id);
  const found = documentId === undefined ? undefined : await documents.find(teamId, documentId);
  if (isUnavailable(found)) return STORE_UNAVAILABLE;
  // What has expired is removed in its turn.
  return found === undefined || found.isRemoved === true || found.untilMs <= nowMs() ? NOT_FOUND : found;
}

function documentEndpoint(
  name: string,
  options: DocumentLookup,
  answer: (x: Exchange, document: DocumentRecord) => Promise<Outcome>,
): BodyStep {
  return {
    kind: 'body',
    name,
    async run(x) {
      const found = await findDocument(x.need(keyOwnerSlot).teamId, x.pathParameter, options);
      return 'problem' in found ? found : answer(x, found);
    },
  };
}
