// What becomes of a document: shown, waited for, deleted or given up, and its file's way out.
import { setTimeout as delay } from 'node:timers/promises';
import { reserveSlot } from '../core/exchange.ts';
import type { Exchange } from '../core/exchange.ts';
import { json } from '../core/outcome.ts';
import type { Outcome, Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { pacedReply } from '../core/turns.ts';
import type { BodyStep } from '../core/pipeline.ts';
import { READ_SECONDS, TransferPace } from '../core/unfinished-bodies.ts';
import { OVERLOADED, STORE_UNAVAILABLE } from '../domain/refusals.ts';
import { keyOwnerSlot } from '../domain/slots.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import type { ResultStep, RequestedResult } from '../ports/document-services.ts';
import type { DocumentOptions, DocumentRecord } from '../ports/documents.ts';

const NOT_FOUND = refuse('document_not_found', 'The team has no document with this id; it may have expired.');
const NOT_READY = refuse('document_not_ready', 'The document is not translated yet; ask for its state, and try again.');
const TAKEN = refuse('service_unavailable', 'Document already downloaded: another download of it is under way.');
/** Of a piece that is written. */
const PIECE_BYTES = 65_536;
/** Where a document has only one download: if its gateway dies, another one begins after it. */
const TAKEN_MS = 60_000;
/** What asks for it meanwhile waits so long for its end. */
const TAKEN_WAIT_MS = 2000;
const TAKEN_LOOK_MS = 50;

const DELETED: Outcome = { kind: 'reply', status: 204, contentType: undefined, body: '', headers: [] };

/** Of `/v1/documents/{id}`, and of what is below it. */
export function documentSteps(options: DocumentOptions) {
  const find = (x: Exchange) => ({ teamId: x.need(keyOwnerSlot).teamId, documentId: x.pathParameter });
  return {
    'show-document': documentStep('show-document', options, async (document) => json(JSON.stringify(shownDocument(document)))),
    'delete-document': documentStep('delete-document', options, async (document) => {
      const removed = await options.remove(document);
      if (isUnavailable(removed)) return STORE_UNAVAILABLE;
      return removed ? DELETED : NOT_FOUND;
    }),
    'document-result': resultStep(options, { name: 'document-result', find }),
  };
}

function documentStep(name: string, options: DocumentOptions, answer: (document: DocumentRecord) => Promise<Outcome>): BodyStep {
  return {
    kind: 'body',
    name,
    async run(x) {
      const found = await ownDocument(x, x.pathParameter, options);
      return 'problem' in found ? found : answer(found);
    },
  };
}

function shownDocument({ documentId, state, billed, code, detail }: DocumentRecord): Readonly<Record<string, unknown>> {
  return {
    document_id: documentId,
    status: state,
    ...(state === 'done' ? { billed_characters: billed } : {}),
    ...(state === 'error' ? { code, detail } : {}),
  };
}

/** `id` may be any text. */
async function findDocument(teamId: string, id: string, { documents, nowMs }: DocumentOptions): Promise<DocumentRecord | Refusal> {
  const documentId = canonicalUlid(id);
  const found = documentId === undefined ? undefined : await documents.find(teamId, documentId);
  if (isUnavailable(found)) return STORE_UNAVAILABLE;
  // What has expired is removed in its turn.
  return found === undefined || found.isRemoved === true || found.untilMs <= nowMs() ? NOT_FOUND : found;
}

/** Of the caller's team. */
export function ownDocument(x: Exchange, id: string, options: DocumentOptions): Promise<DocumentRecord | Refusal> {
  return findDocument(x.need(keyOwnerSlot).teamId, id, options);
}

/** How often an awaited document is looked at: soon at first, because most are short. */
const LOOK_MS = { first: 50, most: 1000 };

/** Waits until `done` or an `error`; `undefined` if not in time, or the caller has left. */
export async function endedDocument(
  x: Exchange,
  id: string,
  withinMs: number,
  options: DocumentOptions,
): Promise<DocumentRecord | Refusal | undefined> {
  const untilMs = options.now() + withinMs;
  for (let pauseMs = LOOK_MS.first; !x.cancelled; pauseMs = Math.min(LOOK_MS.most, pauseMs * 2)) {
    const found = await ownDocument(x, id, options);
    const isAway = found === STORE_UNAVAILABLE;
    if (!isAway && ('problem' in found || found.state === 'done' || found.state === 'error')) return found;
    const leftMs = untilMs - options.now();
    if (leftMs <= 0) return isAway ? found : undefined;
    await delay(Math.min(pauseMs, leftMs));
  }
  return undefined;
}

/** Between two attempts to remove a document that nobody waits for any more. */
const ABANDON_MS_MAX = 60_000;
/** How long a charge is waited for. */
const CHARGED_WITHIN_MS = 5000;

/** Removes it; one that has just been translated, which is charged, is the result. */
export async function abandonDocument(x: Exchange, id: string, options: DocumentOptions): Promise<DocumentRecord | undefined> {
  const { teamId } = x.need(keyOwnerSlot);
  const first = await abandoned(teamId, id, options);
  if (first === 'translated') {
    const ended = await endedDocument(x, id, CHARGED_WITHIN_MS, options);
    return ended === undefined || 'problem' in ended ? undefined : ended;
  }
  if (first === 'away') void abandonedLater(teamId, id, options);
  return undefined;
}

/** Nobody waits for it: in the background, until it expires. */
async function abandonedLater(teamId: string, id: string, options: DocumentOptions): Promise<void> {
  const untilMs = options.now() + options.keepMs;
  for (let pauseMs = LOOK_MS.most; options.now() < untilMs; pauseMs = Math.min(ABANDON_MS_MAX, pauseMs * 2)) {
    await delay(pauseMs, undefined, { ref: false });
    // A bug that is met here is met, and logged, by the worker that removes what has expired.
    if ((await abandoned(teamId, id, options).catch(() => 'away')) !== 'away') return;
  }
}

/** `away`: the store or the ledger is. */
async function abandoned(teamId: string, id: string, options: DocumentOptions): Promise<'gone' | 'translated' | 'away'> {
  const found = await findDocument(teamId, id, options);
  if (found === STORE_UNAVAILABLE) return 'away';
  if ('problem' in found) return 'gone';
  const goes = await options.remove(found, true);
  return isUnavailable(goes) ? 'away' : goes ? 'gone' : 'translated';
}

/** Gives its place back. */
const transferSlot = reserveSlot<() => void>('document transfer');
/** What is to be written down when the download has ended. */
const downloadSlot = reserveSlot<(isComplete: boolean) => void>('download of a document');

export function resultStep(options: DocumentOptions, { name, headers, find }: ResultStep): BodyStep {
  return {
    kind: 'body',
    name,
    headers,
    async run(x) {
      const requested = await find(x);
      if ('problem' in requested) return requested;
      const document = await findDocument(requested.teamId, requested.documentId, options);
      return 'problem' in document ? document : deliver(x, document, requested, options);
    },
    settle(x, outcome) {
      x.get(transferSlot)?.();
      // Anything but a stream means that the file was not written to its end.
      x.get(downloadSlot)?.(outcome.kind === 'stream');
    },
  };
}

async function deliver(x: Exchange, document: DocumentRecord, requested: RequestedResult, options: DocumentOptions): Promise<Outcome> {
  const { documents, sealer, formats, beginTransfer, slowest, keyRefusal } = options;
  const { once = false, ofKey = false, contentType } = requested;
  const refusal = ofKey ? await keyRefusal(document) : undefined;
  if (refusal !== undefined) return refusal;
  if (document.state === 'error') return failed(document);
  if (document.state !== 'done' || document.resultId === undefined) return NOT_READY;
  const end = beginTransfer(document);
  if (end === undefined) return OVERLOADED;
  x.set(transferSlot, end);
  const fault = once ? await taken(document, options) : undefined;
  if (fault !== undefined) return fault;
  x.set(downloadSlot, (isComplete) => void noted(document, { isComplete, once }, options));
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
async function taken(document: DocumentRecord, { documents, nowMs }: DocumentOptions): Promise<Refusal | undefined> {
  for (let waitedMs = 0; ; waitedMs += TAKEN_LOOK_MS) {
    let isTaken = false;
    const begun = await documents.change(document, (known) => {
      isTaken = known.isRemoved !== true && (known.takenUntilMs ?? 0) > nowMs();
      return isTaken || known.isRemoved === true ? undefined : { ...known, takenUntilMs: nowMs() + TAKEN_MS };
    });
    if (isUnavailable(begun)) return STORE_UNAVAILABLE;
    if (begun !== undefined) return undefined;
    if (!isTaken) return NOT_FOUND;
    if (waitedMs >= TAKEN_WAIT_MS) return TAKEN;
    await delay(TAKEN_LOOK_MS);
  }
}

/** If the store is away, it can be downloaded once more. */
async function noted(
  document: DocumentRecord,
  { isComplete, once }: { readonly isComplete: boolean; readonly once: boolean },
  { documents, remove }: DocumentOptions,
): Promise<void> {
  if (once && isComplete) await remove(document);
  else if (once) await documents.change(document, ({ takenUntilMs: _taken, ...known }) => known);
  else if (isComplete) await documents.change(document, (known) => (known.isDownloaded ? undefined : { ...known, isDownloaded: true }));
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
