// The work on one document that this process has claimed: count, reserve what was counted, translate, build, keep the result, charge.
import { refuse } from '../core/problem.ts';
import { ENGINE_UNAVAILABLE, STORE_UNAVAILABLE } from '../domain/refusals.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { Refusal } from '../core/outcome.ts';
import type { DocumentFormat, DocumentFormats, Extracted } from '../ports/document-formats.ts';
import type { DocumentHold, DocumentRecord, DocumentStore, SealsDocuments } from '../ports/documents.ts';
import type { TranslatedFile } from '../ports/engine.ts';
import type { Ledger } from '../ports/ledger.ts';
import { charge, failureOf, keyRefusal, releaseHolds, reserveHold } from './document-charge.ts';
import type { Failure } from './document-charge.ts';
import { countTexts, translateTexts } from './document-texts.ts';
import type { DocumentTextsOptions } from './document-texts.ts';

export interface DocumentWorkOptions {
  readonly documents: DocumentStore;
  readonly sealer: SealsDocuments;
  readonly formats: DocumentFormats;
  readonly ledger: Pick<Ledger, 'admit' | 'check' | 'resolve'>;
  readonly newId: () => string;
  /** Has an engine that takes it translate the file as it is; `undefined` if no engine takes files. */
  readonly files?: PassFile | undefined;
  /** How a part of the document is translated. */
  readonly texts: (document: DocumentRecord, isHeld: () => boolean) => DocumentTextsOptions;
}

/** A document's file, for engines that take it as it is. */
export interface PassedFile {
  readonly document: DocumentRecord;
  readonly bytes: Uint8Array;
  /** Whether the gateway can read it too; otherwise only engines do. */
  readonly isReadable: boolean;
  /** What was counted, or what the plan holds. */
  readonly characters: number;
  /** Nobody waits for it any more. */
  readonly released: AbortSignal;
}

/** `undefined`: its texts are to be translated. */
type PassFile = (file: PassedFile) => Promise<TranslatedFile | Refusal | undefined>;

/** A document as claimed. */
export interface ClaimedDocument {
  readonly document: DocumentRecord;
  readonly worker: string;
  /** By the store's clock, when it was claimed. */
  readonly nowMs: number;
  /** Whether the claim still holds. */
  readonly isHeld: () => boolean;
  /** The same, for what waits. */
  readonly released: AbortSignal;
}

/** `again`: due again after so long, or, if it is negative, since so long. `lost`: somebody else has it, or it is gone. */
export type WorkEnd =
  | { readonly kind: 'lost' }
  /** The document as it has ended. */
  | { readonly kind: 'done' | 'error'; readonly document: DocumentRecord }
  | { readonly kind: 'again'; readonly afterMs: number };

/** Nothing was translated for so often that it is given up: after about five minutes. */
const FAILURES_MAX = 10;
const AGAIN_MS = { first: 1000, most: 60_000 };
/** For a store or a claim that is away. */
const LATER: WorkEnd = { kind: 'again', afterMs: 2000 };
const LOST: WorkEnd = { kind: 'lost' };
/** Codes of what may be better soon. */
const PASSING: ReadonlySet<string> = new Set(['engine_unavailable', 'service_unavailable', 'internal_error', 'rate_limited']);

/** Never rejects for what an engine, a store or a file does. */
export async function workOn(claimed: ClaimedDocument, options: DocumentWorkOptions): Promise<WorkEnd> {
  const { formats, ledger } = options;
  if (claimed.document.resultId !== undefined) return chargeAgain(claimed, options);
  const counted = await countAndHold(claimed, 'translating', options);
  if ('end' in counted) return counted.end;
  const { begun, bytes, format, extracted } = counted;
  const { characters } = counted.hold;
  const refusal = options.files && (await keyRefusal(ledger, begun));
  if (refusal !== undefined) return refused(claimed, refusal, options);
  const passed = await options.files?.({
    document: begun,
    bytes,
    isReadable: extracted !== undefined,
    characters,
    released: claimed.released,
  });
  if (!claimed.isHeld()) return LOST;
  if (passed !== undefined && 'problem' in passed) return refused(claimed, passed, options);
  if (passed !== undefined) return passedOn(claimed, begun, { hold: counted.hold, ...passed }, options);
  if (extracted === undefined || format === undefined) return refused(claimed, ENGINE_UNAVAILABLE, options);
  const texts = options.texts(begun, claimed.isHeld);
  const turn = async (): Promise<Refusal | undefined> => (await texts.turn()) ?? keyRefusal(ledger, begun);
  const translated = await translateTexts(extracted.texts, begun, { ...texts, turn });
  if (!claimed.isHeld()) return LOST;
  if (translated.kind !== 'texts') return refused(claimed, translated, options);
  const built = await formats.build(format, bytes, translated.texts, begun.targetLang);
  if (!claimed.isHeld()) return LOST;
  if (built.kind === 'refused') return failed(claimed, { code: 'validation_error', detail: `file: ${built.reason}` }, options);
  const billed = Math.max(0, counted.hold.characters - translated.spared);
  return finished(claimed, begun, { bytes: built.bytes, billed }, options);
}

/** An engine's file. If the engine bills more than was counted, that is reserved before anything is promised. */
async function passedOn(
  claimed: ClaimedDocument,
  begun: DocumentRecord,
  { hold, bytes, billed = hold.characters }: TranslatedFile & { readonly hold: DocumentHold },
  options: DocumentWorkOptions,
): Promise<WorkEnd> {
  if (billed > hold.characters) {
    const held = await holdCounted(claimed, { ...begun, holds: [hold] }, billed, options);
    if ('end' in held) return held.end;
  }
  return finished(claimed, begun, { bytes, billed }, options);
}

/** Keeps what was translated before it is charged: whoever goes on after a death neither translates nor charges it again. */
async function finished(
  claimed: ClaimedDocument,
  begun: DocumentRecord,
  { bytes, billed }: { readonly bytes: Uint8Array; readonly billed: number },
  options: DocumentWorkOptions,
): Promise<WorkEnd> {
  const { documents, sealer, newId } = options;
  const { worker } = claimed;
  const fileId = newId();
  const file = { fileId, pieces: await sealer.seal(begun.documentId, fileId, bytes) };
  const kept = await documents.change(
    begun,
    (known) => {
      // What was deleted meanwhile is nobody's result: a worker removes it when the claim has ended.
      if (known.worker !== worker || known.isRemoved === true) return undefined;
      const { sourceId: _source, ...rest } = known;
      return { ...rest, billed, resultId: fileId };
    },
    file,
  );
  // Engines are not asked again and again for what cannot be kept.
  if (isUnavailable(kept)) return refused(claimed, STORE_UNAVAILABLE, options);
  return kept === undefined ? LOST : charged(claimed, kept, options);
}

async function chargeAgain(claimed: ClaimedDocument, options: DocumentWorkOptions): Promise<WorkEnd> {
  const { worker } = claimed;
  const kept = await options.documents.change(claimed.document, (known) =>
    claimed.isHeld() && known.resultId !== undefined && known.isRemoved !== true ? { ...known, state: 'translating', worker } : undefined,
  );
  if (isUnavailable(kept)) return LATER;
  return kept === undefined ? LOST : charged(claimed, kept, options);
}

async function charged(claimed: ClaimedDocument, kept: DocumentRecord, options: DocumentWorkOptions): Promise<WorkEnd> {
  const { documents, ledger } = options;
  const { worker } = claimed;
  const end = await charge(ledger, kept);
  if (end !== 'charged') return 'problem' in end ? failed(claimed, end.problem, options) : LATER;
  const done = await documents.change(kept, (known) => {
    if (known.worker !== worker) return undefined;
    const { worker: _worker, ...rest } = known;
    return { ...rest, state: 'done', holds: [] };
  });
  if (isUnavailable(done)) return LATER;
  return done === undefined ? LOST : { kind: 'done', document: done };
}

/** Counts a document before its turn: what was counted is reserved from now on. It keeps its place in the queue. */
export async function countOnly(claimed: ClaimedDocument, options: DocumentWorkOptions): Promise<WorkEnd> {
  const { document, nowMs } = claimed;
  const counted = isCounted(document) ? undefined : await countAndHold(claimed, document.state, options);
  return counted !== undefined && 'end' in counted ? counted.end : { kind: 'again', afterMs: document.createdAtMs - nowMs };
}

/** Whether what was counted is reserved, and nothing else. */
export function isCounted({ holds }: DocumentRecord): boolean {
  return holds.every((one) => one.isCounted === true);
}

interface CountedDocument {
  readonly begun: DocumentRecord;
  readonly bytes: Uint8Array;
  /** Both `undefined` if only engines read it. */
  readonly format: DocumentFormat | undefined;
  readonly extracted: Extract<Extracted, { readonly kind: 'extracted' }> | undefined;
  readonly hold: DocumentHold;
}

async function countAndHold(
  claimed: ClaimedDocument,
  state: DocumentRecord['state'],
  options: DocumentWorkOptions,
): Promise<CountedDocument | { readonly end: WorkEnd }> {
  const { documents, formats } = options;
  const { worker } = claimed;
  // After a pause of this process, another one may have gone on, and ended it.
  const begun = await documents.change(claimed.document, (known) =>
    claimed.isHeld() && known.sourceId !== undefined && known.isRemoved !== true ? { ...known, state, worker } : undefined,
  );
  if (isUnavailable(begun)) return { end: LATER };
  if (begun === undefined) return { end: LOST };
  const bytes = await sourceOf(begun, options);
  if (isUnavailable(bytes)) return { end: LATER };
  const format = formats.formatOf(begun.fileName);
  if (bytes === undefined || (format === undefined && options.files === undefined))
    return { end: await failed(claimed, UNREADABLE, options) };
  const extracted = format && (await formats.extract(format, bytes));
  if (!claimed.isHeld()) return { end: LOST };
  if (extracted?.kind === 'refused')
    return { end: await failed(claimed, { code: 'validation_error', detail: `file: ${extracted.reason}` }, options) };
  // Nobody can count what only engines read.
  const characters = extracted === undefined ? begun.holds.at(-1)!.characters : await countTexts(extracted.texts);
  const counted = await holdCounted(claimed, begun, characters, options);
  return 'end' in counted ? counted : { begun, bytes, format, extracted, hold: counted.hold };
}

const BUG = refuse('internal_error', 'It could not be translated.');
const UNREADABLE: Failure = { code: 'internal_error', detail: 'The file cannot be read any more.' };

async function sourceOf(
  document: DocumentRecord,
  { documents, sealer }: DocumentWorkOptions,
): Promise<Uint8Array | undefined | StoreUnavailable> {
  const { documentId, sourceId } = document;
  if (sourceId === undefined) return undefined;
  const pieces = await documents.file(document, sourceId);
  return pieces === undefined || isUnavailable(pieces) ? pieces : sealer.open(documentId, sourceId, pieces);
}

type HeldCount = { readonly hold: DocumentHold } | { readonly end: WorkEnd };

/** The second one if the first has found too little left. */
const HOLD_ATTEMPTS = 2;
/** What is translated just before it expires is charged just after it. */
const CHARGED_LATER_MS = 60_000;

/**
 * Reserves what was counted in place of what was held before. Every id is written down before it is used, so that whoever goes on
 * after a death knows it. The new reservation is made before the old one is released, so that nobody else gets its characters; only
 * if both do not fit together, after it.
 */
async function holdCounted(
  claimed: ClaimedDocument,
  begun: DocumentRecord,
  characters: number,
  options: DocumentWorkOptions,
): Promise<HeldCount> {
  const { ledger, newId } = options;
  const leaseMs = Math.max(1, begun.untilMs - claimed.nowMs) + CHARGED_LATER_MS;
  let { holds } = begun;
  let hold = holds.findLast((one) => one.isCounted === true && one.characters === characters);
  let isReleased = false;
  for (let attempts = 0; attempts < HOLD_ATTEMPTS; attempts++) {
    if (hold === undefined) {
      hold = { requestId: newId(), characters, isCounted: true };
      holds = [...holds, hold];
      const end = await writeHolds(claimed, holds, options);
      if (end !== undefined) return { end };
    }
    const admission = await reserveHold(ledger, { ...hold, document: begun, leaseMs });
    if (admission.kind === 'unavailable') return { end: LATER };
    const isFull = admission.kind === 'rate_limited' && admission.window?.counts === 'characters';
    if (admission.kind === 'rate_limited' && (!isFull || isReleased))
      return { end: { kind: 'again', afterMs: Math.max(AGAIN_MS.first, admission.retryAfterMs) } };
    if (admission.kind === 'admitted') {
      const { requestId } = hold;
      const others = holds.filter((one) => one.requestId !== requestId);
      if (others.length === 0) return { hold };
      if (!(await releaseHolds(ledger, begun.teamId, others))) return { end: LATER };
      const end = await writeHolds(claimed, [hold], options);
      return end === undefined ? { hold } : { end };
    }
    // What the document itself holds may be what is missing.
    const isShort = isFull || admission.kind === 'quota_exceeded' || admission.kind === 'credit_exhausted';
    if (isShort && !isReleased) {
      if (!(await releaseHolds(ledger, begun.teamId, holds))) return { end: LATER };
      holds = [];
      isReleased = true;
    } else return { end: await failed(claimed, failureOf(admission), options) };
    hold = undefined;
  }
  return { end: LATER };
}

async function writeHolds(
  { document, worker }: ClaimedDocument,
  holds: readonly DocumentHold[],
  { documents }: DocumentWorkOptions,
): Promise<WorkEnd | undefined> {
  const written = await documents.change(document, (known) => (known.worker === worker ? { ...known, holds } : undefined));
  if (isUnavailable(written)) return LATER;
  return written === undefined ? LOST : undefined;
}

/** A refusal of engines or of what goes before them. */
async function refused(claimed: ClaimedDocument, { problem }: Refusal, options: DocumentWorkOptions): Promise<WorkEnd> {
  if (!PASSING.has(problem.code)) return failed(claimed, problem, options);
  const { worker } = claimed;
  const noted = await options.documents.change(claimed.document, (known) =>
    known.worker === worker ? { ...known, failures: known.failures + 1, state: 'queued' } : undefined,
  );
  if (isUnavailable(noted)) return LATER;
  if (noted === undefined) return LOST;
  if (noted.failures >= FAILURES_MAX) return failed(claimed, problem, options);
  return { kind: 'again', afterMs: Math.min(AGAIN_MS.most, AGAIN_MS.first * 2 ** (noted.failures - 1)) };
}

/** A bug of ours showed: tried again like a failure of an engine, and not for ever. */
export function afterBug(claimed: ClaimedDocument, options: DocumentWorkOptions): Promise<WorkEnd> {
  return refused(claimed, BUG, options);
}

/** Ends in an error once nothing is reserved any more. */
async function failed({ document, worker }: ClaimedDocument, { code, detail }: Failure, options: DocumentWorkOptions): Promise<WorkEnd> {
  const { documents, ledger } = options;
  const known = await documents.find(document.teamId, document.documentId);
  if (isUnavailable(known)) return LATER;
  if (known === undefined || known.worker !== worker) return LOST;
  if (!(await releaseHolds(ledger, known.teamId, known.holds))) return LATER;
  const ended = await documents.change(document, (current) => {
    if (current.worker !== worker) return undefined;
    const { sourceId: _source, resultId: _result, billed: _billed, worker: _worker, ...rest } = current;
    return { ...rest, state: 'error', code, detail, holds: [] };
  });
  if (isUnavailable(ended)) return LATER;
  return ended === undefined ? LOST : { kind: 'error', document: ended };
}
