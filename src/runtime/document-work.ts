// The work on one claimed document: count, reserve, translate, build, store the result, charge.
import { refuse } from '../core/problem.ts';
import { ENGINE_UNAVAILABLE, STORE_UNAVAILABLE } from '../domain/refusals.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { Refusal } from '../core/outcome.ts';
import type { DocumentFormat, DocumentFormats, Extracted } from '../ports/document-formats.ts';
import type { DocumentHold, DocumentRecord, DocumentStore, NewDocumentFile, SealsDocuments } from '../ports/documents.ts';
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
  /**
   * Has an engine translate the file as it is; `undefined`: its texts are to be translated. Without
   * it no engine takes files.
   */
  readonly files?: ((file: PassedFile) => Promise<TranslatedFile | Refusal | undefined>) | undefined;
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

/** A document as claimed. */
interface ClaimedDocument {
  readonly document: DocumentRecord;
  readonly worker: string;
  /** By the store's clock, when it was claimed. */
  readonly nowMs: number;
  /** Aborted when the claim holds no more. */
  readonly released: AbortSignal;
}

/** `again`: due so long from now, or since. `lost`: somebody else has it, or it is gone. */
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

/** The second one if the first has found too little left. */
const HOLD_ATTEMPTS = 2;
/** What is translated just before it expires is charged just after it. */
const CHARGED_LATER_MS = 60_000;
const BUG = refuse('internal_error', 'It could not be translated.');
const UNREADABLE: Failure = { code: 'internal_error', detail: 'The file cannot be read any more.' };

interface CountedDocument {
  readonly begun: DocumentRecord;
  readonly bytes: Uint8Array;
  /** Both `undefined` if only engines read it. */
  readonly format: DocumentFormat | undefined;
  readonly extracted: Extract<Extracted, { readonly kind: 'extracted' }> | undefined;
  readonly hold: DocumentHold;
}

interface TranslatedDocument {
  readonly bytes: Uint8Array;
  readonly billed: number;
}

/** Whether what was counted is reserved, and nothing else. */
export function isCounted({ holds }: DocumentRecord): boolean {
  return holds.every((one) => one.isCounted === true);
}

/** Each step returns what the next one needs, or how the work ends, which has a `kind`. */
export class DocumentWork {
  readonly #claimed: ClaimedDocument;
  readonly #options: DocumentWorkOptions;

  constructor(claimed: ClaimedDocument, options: DocumentWorkOptions) {
    this.#claimed = claimed;
    this.#options = options;
  }

  get #isLost(): boolean {
    return this.#claimed.released.aborted;
  }

  /** Never rejects for what an engine, a store or a file does. */
  async run(): Promise<WorkEnd> {
    if (this.#claimed.document.resultId !== undefined) {
      const translated = await this.#begin('translating', ({ resultId }) => resultId !== undefined);
      return 'kind' in translated ? translated : this.#charge(translated);
    }
    const counted = await this.#countAndHold('translating');
    if ('kind' in counted) return counted;
    const translation = (await this.#passed(counted)) ?? (await this.#translated(counted));
    return 'kind' in translation ? translation : this.#finish(counted.begun, translation);
  }

  /** Before its turn: what was counted is reserved. Its place in the queue stays. */
  async count(): Promise<WorkEnd> {
    const { document, nowMs } = this.#claimed;
    const counted = isCounted(document) ? undefined : await this.#countAndHold(document.state);
    return counted !== undefined && 'kind' in counted ? counted : { kind: 'again', afterMs: document.createdAtMs - nowMs };
  }

  /** A bug of ours showed: tried again like a failure of an engine, and not for ever. */
  afterBug(): Promise<WorkEnd> {
    return this.#refused(BUG);
  }

  async #countAndHold(state: DocumentRecord['state']): Promise<CountedDocument | WorkEnd> {
    const { formats, files } = this.#options;
    // After a pause of this process, another one may have gone on, and ended it.
    const begun = await this.#begin(state, ({ sourceId }) => sourceId !== undefined);
    if ('kind' in begun) return begun;
    const bytes = await this.#source(begun);
    if (isUnavailable(bytes)) return LATER;
    const format = formats.formatOf(begun.fileName);
    if (bytes === undefined || (format === undefined && files === undefined)) return this.#failed(UNREADABLE);
    const extracted = format && (await formats.extract(format, bytes));
    if (this.#isLost) return LOST;
    if (extracted?.kind === 'refused') return this.#failed(ofTheFile(extracted.reason));
    // Nobody can count what only engines read.
    const characters = extracted === undefined ? begun.holds.at(-1)!.characters : await countTexts(extracted.texts);
    const hold = await this.#hold(begun, characters);
    return 'kind' in hold ? hold : { begun, bytes, format, extracted, hold };
  }

  async #source(document: DocumentRecord): Promise<Uint8Array | undefined | StoreUnavailable> {
    const { documents, sealer } = this.#options;
    const { documentId, sourceId } = document;
    if (sourceId === undefined) return undefined;
    const pieces = await documents.file(document, sourceId);
    return pieces === undefined || isUnavailable(pieces) ? pieces : sealer.open(documentId, sourceId, pieces);
  }

  /**
   * Every id is written down before it is used, for whoever goes on after a death. The new
   * reservation comes before the old one's release, unless both do not fit.
   */
  async #hold(begun: DocumentRecord, characters: number): Promise<DocumentHold | WorkEnd> {
    const { ledger, newId } = this.#options;
    const leaseMs = Math.max(1, begun.untilMs - this.#claimed.nowMs) + CHARGED_LATER_MS;
    let { holds } = begun;
    let hold = holds.findLast((one) => one.isCounted === true && one.characters === characters);
    let isReleased = false;
    for (let attempts = 0; attempts < HOLD_ATTEMPTS; attempts++) {
      if (hold === undefined) {
        hold = { requestId: newId(), characters, isCounted: true };
        holds = [...holds, hold];
        const written = await this.#writeHolds(holds);
        if ('kind' in written) return written;
      }
      const admission = await reserveHold(ledger, { ...hold, document: begun, leaseMs });
      if (admission.kind === 'unavailable') return LATER;
      if (admission.kind === 'admitted') return this.#releaseOthers(hold, holds);
      const isFull = admission.kind === 'rate_limited' && admission.window?.counts === 'characters';
      if (admission.kind === 'rate_limited' && (!isFull || isReleased))
        return { kind: 'again', afterMs: Math.max(AGAIN_MS.first, admission.retryAfterMs) };
      // What the document itself holds may be what is missing.
      const isShort = isFull || admission.kind === 'quota_exceeded' || admission.kind === 'credit_exhausted';
      if (!isShort || isReleased) return this.#failed(failureOf(admission));
      if (!(await releaseHolds(ledger, begun.teamId, holds))) return LATER;
      holds = [];
      isReleased = true;
      hold = undefined;
    }
    return LATER;
  }

  async #releaseOthers(hold: DocumentHold, holds: readonly DocumentHold[]): Promise<DocumentHold | WorkEnd> {
    const others = holds.filter(({ requestId }) => requestId !== hold.requestId);
    if (others.length === 0) return hold;
    if (!(await releaseHolds(this.#options.ledger, this.#claimed.document.teamId, others))) return LATER;
    const written = await this.#writeHolds([hold]);
    return 'kind' in written ? written : hold;
  }

  #writeHolds(holds: readonly DocumentHold[]): Promise<DocumentRecord | WorkEnd> {
    return this.#change((known) => ({ ...known, holds }));
  }

  /** By an engine that takes the file. `undefined`: its texts are to be translated. */
  async #passed({ begun, bytes, extracted, hold }: CountedDocument): Promise<TranslatedDocument | WorkEnd | undefined> {
    const { files, ledger } = this.#options;
    if (files === undefined) return undefined;
    const refusal = await keyRefusal(ledger, begun);
    if (refusal !== undefined) return this.#refused(refusal);
    const { released } = this.#claimed;
    const { characters } = hold;
    const passed = await files({ document: begun, bytes, isReadable: extracted !== undefined, characters, released });
    if (this.#isLost) return LOST;
    if (passed === undefined) return undefined;
    if ('problem' in passed) return this.#refused(passed);
    const { billed = characters } = passed;
    // If the engine bills more than was counted, that is reserved before anything is promised.
    const held = billed > characters ? await this.#hold({ ...begun, holds: [hold] }, billed) : hold;
    return 'kind' in held ? held : { bytes: passed.bytes, billed };
  }

  async #translated({ begun, bytes, format, extracted, hold }: CountedDocument): Promise<TranslatedDocument | WorkEnd> {
    const { ledger, formats } = this.#options;
    if (extracted === undefined || format === undefined) return this.#refused(ENGINE_UNAVAILABLE);
    const texts = this.#options.texts(begun, () => !this.#isLost);
    const turn = async (): Promise<Refusal | undefined> => (await texts.turn()) ?? keyRefusal(ledger, begun);
    const translated = await translateTexts(extracted.texts, begun, { ...texts, turn });
    if (this.#isLost) return LOST;
    if (translated.kind !== 'texts') return this.#refused(translated);
    const built = await formats.build(format, bytes, translated.texts, begun.targetLang);
    if (this.#isLost) return LOST;
    if (built.kind === 'refused') return this.#failed(ofTheFile(built.reason));
    return { bytes: built.bytes, billed: Math.max(0, hold.characters - translated.spared) };
  }

  /**
   * Before the charge: whoever goes on after a death neither translates nor charges again. The key
   * is asked just before, for the last time.
   */
  async #finish(begun: DocumentRecord, { bytes, billed }: TranslatedDocument): Promise<WorkEnd> {
    const { ledger, sealer, newId } = this.#options;
    const refusal = await keyRefusal(ledger, begun);
    if (refusal !== undefined) return this.#refused(refusal);
    const fileId = newId();
    const file = { fileId, pieces: await sealer.seal(begun.documentId, fileId, bytes) };
    // What was deleted meanwhile is nobody's result: a worker removes it when the claim has ended.
    const translated = await this.#change(
      ({ sourceId: _source, ...known }) => (known.isRemoved === true ? undefined : { ...known, billed, resultId: fileId }),
      file,
    );
    // Engines are not asked again and again for what cannot be stored.
    if (translated === LATER) return this.#refused(STORE_UNAVAILABLE);
    return 'kind' in translated ? translated : this.#charge(translated);
  }

  async #charge(translated: DocumentRecord): Promise<WorkEnd> {
    if (isUnavailable(await charge(this.#options.ledger, translated))) return LATER;
    const done = await this.#change(({ worker: _worker, ...known }) => ({ ...known, state: 'done', holds: [] }));
    return 'kind' in done ? done : { kind: 'done', document: done };
  }

  /** A refusal of engines or of what goes before them. */
  async #refused({ problem }: Refusal): Promise<WorkEnd> {
    if (!PASSING.has(problem.code)) return this.#failed(problem);
    const noted = await this.#change((known) => ({ ...known, failures: known.failures + 1, state: 'queued' }));
    if ('kind' in noted) return noted;
    if (noted.failures >= FAILURES_MAX) return this.#failed(problem);
    return { kind: 'again', afterMs: Math.min(AGAIN_MS.most, AGAIN_MS.first * 2 ** (noted.failures - 1)) };
  }

  /** Ends in an error once nothing is reserved any more. */
  async #failed({ code, detail }: { readonly code: string; readonly detail: string }): Promise<WorkEnd> {
    const { document, worker } = this.#claimed;
    const known = await this.#options.documents.find(document.teamId, document.documentId);
    if (isUnavailable(known)) return LATER;
    if (known === undefined || known.worker !== worker) return LOST;
    if (!(await releaseHolds(this.#options.ledger, known.teamId, known.holds))) return LATER;
    const ended = await this.#change(({ sourceId: _s, resultId: _r, billed: _b, worker: _w, ...rest }) => ({
      ...rest,
      state: 'error',
      code,
      detail,
      holds: [],
    }));
    return 'kind' in ended ? ended : { kind: 'error', document: ended };
  }

  /** Names this work in the record, unless it is lost, gone, or not ready any more. */
  #begin(state: DocumentRecord['state'], isReady: (known: DocumentRecord) => boolean): Promise<DocumentRecord | WorkEnd> {
    const { worker } = this.#claimed;
    return this.#write((known) => (!this.#isLost && isReady(known) && known.isRemoved !== true ? { ...known, state, worker } : undefined));
  }

  /** Of a document that names this work. */
  #change(change: DocumentChange, file?: NewDocumentFile): Promise<DocumentRecord | WorkEnd> {
    return this.#write((known) => (known.worker === this.#claimed.worker ? change(known) : undefined), file);
  }

  async #write(change: DocumentChange, file?: NewDocumentFile): Promise<DocumentRecord | WorkEnd> {
    const written = await this.#options.documents.change(this.#claimed.document, change, file);
    return isUnavailable(written) ? LATER : (written ?? LOST);
  }
}

/** `undefined` changes nothing. */
type DocumentChange = (known: DocumentRecord) => DocumentRecord | undefined;

function ofTheFile(reason: string): Failure {
  return { code: 'validation_error', detail: `file: ${reason}` };
}
