// What becomes of a document: shown, waited for, deleted or given up, and its file's way out.
import { reserveSlot } from '../../core/exchange.ts';
import type { Exchange } from '../../core/exchange.ts';
import { json } from '../../core/outcome.ts';
import type { Outcome, Refusal } from '../../core/outcome.ts';
import { refuse } from '../../core/problem.ts';
import { pacedReply } from '../../core/turns.ts';
import type { BodyStep } from '../../core/pipeline.ts';
import { READ_SECONDS, TransferPace } from '../../core/unfinished-bodies.ts';
import { OVERLOADED, STORE_UNAVAILABLE } from '../../domain/refusals.ts';
import { keyOwnerSlot } from '../../domain/slots.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import { canonicalUlid } from '../../domain/ulid.ts';
import type { ResultStep, RequestedResult } from '../../ports/document-services.ts';
import type { DocumentRecord, DocumentStore } from '../../ports/documents.ts';
import type { Ledger } from '../../ports/ledger.ts';
import type { DocumentFormats } from '../formats.ts';
import { isEnded, keyRefusal, removeDocument } from './document-ledger.ts';
import { lookUntil, retryLater } from './document-load.ts';
import type { BeginTransfer } from './document-load.ts';
import type { DocumentSealer } from './document-secrets.ts';

const NOT_FOUND = refuse('document_not_found', 'The team has no document with this id; it may have expired.');
const NOT_READY = refuse('document_not_ready', 'The document is not translated yet; ask for its state, and try again.');
const TAKEN = refuse('service_unavailable', 'Document already downloaded: another download of it is under way.');
/** Of a piece that is written. */
const PIECE_BYTES = 65_536;
/** Where a document has only one download: if its gateway dies, another one begins after it. */
const TAKEN_MS = 60_000;
/** What asks for it meanwhile waits so long for its end. */
const TAKEN_LOOKS = { firstMs: 50, mostMs: 50, withinMs: 2000 };
/** How often an awaited document is looked at: soon at first, because most are short. */
const ENDED_LOOKS = { firstMs: 50, mostMs: 1000 };
/** How long a charge is waited for. */
const CHARGED_WITHIN_MS = 5000;

const DELETED: Outcome = { kind: 'reply', status: 204, contentType: undefined, body: '', headers: [] };

/** What uploads and downloads have in common. */
export interface DocumentAccess {
  readonly documents: DocumentStore;
  readonly ledger: Pick<Ledger, 'check' | 'resolve'>;
  readonly sealer: DocumentSealer;
  readonly formats: Pick<DocumentFormats, 'formatOf' | 'firstLook'>;
  readonly beginTransfer: BeginTransfer;
  /** How many bytes a second must move; and before it is known whose they are. */
  readonly slowest: { readonly ofTeams: number; readonly ofUnknown: number };
  readonly keepMs: number;
  /** The store's clock, and a monotonic one in milliseconds. */
  readonly nowMs: () => number;
  readonly now: () => number;
}

/** Gives its place back. */
const transferSlot = reserveSlot<() => void>('document transfer');
/** What is to be written down when the download has ended. */
const downloadSlot = reserveSlot<(isComplete: boolean) => void>('download of a document');

export class DocumentResults {
  readonly #access: DocumentAccess;

  constructor(access: DocumentAccess) {
    this.#access = access;
  }

  /** Of `/v1/documents/{id}`, and of what is below it. */
  steps() {
    const find = (x: Exchange) => ({ teamId: x.need(keyOwnerSlot).teamId, documentId: x.pathParameter });
    return {
      'show-document': this.#step('show-document', async (document) => json(JSON.stringify(shownDocument(document)))),
      'delete-document': this.#step('delete-document', async (document) => {
        const removed = await removeDocument(document, this.#access);
        if (isUnavailable(removed)) return STORE_UNAVAILABLE;
        return removed ? DELETED : NOT_FOUND;
      }),
      'document-result': this.resultStep({ name: 'document-result', find }),
    };
  }

  #step(name: string, answer: (document: DocumentRecord) => Promise<Outcome>): BodyStep {
    const run = async (x: Exchange): Promise<Outcome> => {
      const found = await this.find(x, x.pathParameter);
      return 'problem' in found ? found : answer(found);
    };
    return { kind: 'body', name, run };
  }

  /** Of the caller's team. `id` may be any text. */
  find(x: Exchange, id: string): Promise<DocumentRecord | Refusal> {
    return this.#find(x.need(keyOwnerSlot).teamId, id);
  }

  async #find(teamId: string, id: string): Promise<DocumentRecord | Refusal> {
    const { documents, nowMs } = this.#access;
    const documentId = canonicalUlid(id);
    const found = documentId === undefined ? undefined : await documents.find(teamId, documentId);
    if (isUnavailable(found)) return STORE_UNAVAILABLE;
    // What has expired is removed in its turn.
    return found === undefined || found.isRemoved === true || found.untilMs <= nowMs() ? NOT_FOUND : found;
  }

  /** Waits until `done` or an `error`; `undefined` if not in time, or the caller has left. */
  async ended(x: Exchange, id: string, withinMs: number): Promise<DocumentRecord | Refusal | undefined> {
    let found: DocumentRecord | Refusal | undefined;
    const isOver = async (): Promise<boolean> => {
      found = x.cancelled ? undefined : await this.find(x, id);
      return found === undefined || (found !== STORE_UNAVAILABLE && ('problem' in found || isEnded(found)));
    };
    await lookUntil(isOver, { ...ENDED_LOOKS, withinMs }, this.#access.now);
    return found === undefined || 'problem' in found || isEnded(found) ? found : undefined;
  }

  /** Removes it, if need be later; one that has just been translated, which is charged, is the result. */
  async abandon(x: Exchange, id: string): Promise<DocumentRecord | undefined> {
    const { keepMs, now } = this.#access;
    const { teamId } = x.need(keyOwnerSlot);
    const first = await this.#abandoned(teamId, id);
    if (first === 'away') retryLater(async () => (await this.#abandoned(teamId, id)) !== 'away', keepMs, now);
    const ended = first === 'translated' ? await this.ended(x, id, CHARGED_WITHIN_MS) : undefined;
    return ended === undefined || 'problem' in ended ? undefined : ended;
  }

  /** `away`: the store or the ledger is. */
  async #abandoned(teamId: string, id: string): Promise<'gone' | 'translated' | 'away'> {
    const found = await this.#find(teamId, id);
    if (found === STORE_UNAVAILABLE) return 'away';
    if ('problem' in found) return 'gone';
    const goes = await removeDocument(found, this.#access, true);
    return isUnavailable(goes) ? 'away' : goes ? 'gone' : 'translated';
  }

  resultStep({ name, headers, find }: ResultStep): BodyStep {
    return {
      kind: 'body',
      name,
      headers,
      run: async (x) => {
        const requested = await find(x);
        if ('problem' in requested) return requested;
        const document = await this.#find(requested.teamId, requested.documentId);
        return 'problem' in document ? document : this.#deliver(x, document, requested);
      },
      settle(x, outcome) {
        x.get(transferSlot)?.();
        // Anything but a stream means that the file was not written to its end.
        x.get(downloadSlot)?.(outcome.kind === 'stream');
      },
    };
  }

  async #deliver(x: Exchange, document: DocumentRecord, { once = false, ofKey = false, contentType }: RequestedResult): Promise<Outcome> {
    const { documents, ledger, sealer, formats, beginTransfer, slowest } = this.#access;
    const refusal = ofKey ? await keyRefusal(ledger, document) : undefined;
    if (refusal !== undefined) return refusal;
    if (document.state === 'error') return failed(document);
    if (document.state !== 'done' || document.resultId === undefined) return NOT_READY;
    const end = beginTransfer(document);
    if (end === undefined) return OVERLOADED;
    x.set(transferSlot, end);
    const fault = once ? await this.#taken(document) : undefined;
    if (fault !== undefined) return fault;
    x.set(downloadSlot, (isComplete) => void this.#noted(document, isComplete, once));
    const pieces = await documents.file(document, document.resultId);
    if (isUnavailable(pieces)) return STORE_UNAVAILABLE;
    const bytes = pieces && (await sealer.open(document.documentId, document.resultId, pieces));
    // Unreadable: its secret was changed.
    if (bytes === undefined) return NOT_FOUND;
    x.ownDeadline = true;
    const type = contentType ?? formats.formatOf(document.fileName)?.mediaType ?? 'application/octet-stream';
    const pace = new TransferPace(slowest.ofTeams, () => void reply.body.destroy(), READ_SECONDS);
    x.set(transferSlot, () => {
      pace.end();
      end();
    });
    const reply = pacedReply(type, piecesOf(bytes, pace), bytes.length);
    return { ...reply, headers: [['Content-Disposition', disposition(document.fileName)]] };
  }

  /** Takes a document's only download; one under way may be about to end, and leaves nothing. */
  async #taken(document: DocumentRecord): Promise<Refusal | undefined> {
    const { documents, now, nowMs } = this.#access;
    let fault: Refusal | undefined;
    const isDecided = async (): Promise<boolean> => {
      let isTaken = false;
      const begun = await documents.change(document, (known) => {
        isTaken = known.isRemoved !== true && (known.takenUntilMs ?? 0) > nowMs();
        return isTaken || known.isRemoved === true ? undefined : { ...known, takenUntilMs: nowMs() + TAKEN_MS };
      });
      if (isUnavailable(begun)) fault = STORE_UNAVAILABLE;
      else fault = begun === undefined ? (isTaken ? TAKEN : NOT_FOUND) : undefined;
      return fault !== TAKEN;
    };
    await lookUntil(isDecided, TAKEN_LOOKS, now);
    return fault;
  }

  /** If the store is away, it can be downloaded once more. */
  async #noted(document: DocumentRecord, isComplete: boolean, once: boolean): Promise<void> {
    const { documents } = this.#access;
    if (once && isComplete) await removeDocument(document, this.#access);
    else if (once) await documents.change(document, ({ takenUntilMs: _taken, ...known }) => known);
    else if (isComplete) await documents.change(document, (known) => (known.isDownloaded ? undefined : { ...known, isDownloaded: true }));
  }
}

function shownDocument({ documentId, state, billed, code, detail }: DocumentRecord): Readonly<Record<string, unknown>> {
  return {
    document_id: documentId,
    status: state,
    ...(state === 'done' ? { billed_characters: billed } : {}),
    ...(state === 'error' ? { code, detail } : {}),
  };
}

function failed({ code = 'internal_error', detail = 'It could not be translated.' }: DocumentRecord): Outcome {
  return refuse('document_failed', detail, { failed_with: code });
}

function* piecesOf(bytes: Uint8Array, pace: TransferPace): Generator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const piece = bytes.subarray(at, at + PIECE_BYTES);
    pace.moved(piece.length);
    yield piece;
  }
}

/** RFC 6266: the name in ASCII, and as it is. */
function disposition(fileName: string): string {
  const ascii = fileName.replaceAll(/[^ !#-$&-[\]-~]/g, '_');
  const exact = encodeURIComponent(fileName).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${ascii}"; filename*=UTF-8''${exact}`;
}
