// The work on one claimed document: count, reserve, translate, build, store the result, charge.
import type { Exchange } from '../../core/exchange.ts';
import { CLIENT_CLOSED } from '../../core/outcome.ts';
import type { Refusal } from '../../core/outcome.ts';
import { refuse } from '../../core/problem.ts';
import { ENGINE_UNAVAILABLE, STORE_UNAVAILABLE } from '../../domain/refusals.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { DocumentFormat, DocumentFormats, DocumentText } from '../formats.ts';
import type { DocumentHold, DocumentRecord, DocumentStore, NewDocumentFile } from '../../ports/documents.ts';
import type { TranslatedFile } from '../../ports/engine.ts';
import type { GatewayServices } from '../../ports/gateway-services.ts';
import type { Ledger } from '../../ports/ledger.ts';
import type { TeamRegistry } from '../../ports/team-registry.ts';
import { charge, failureOf, keyRefusal, releaseHolds, releaseOfGone, reserveHold } from './document-ledger.ts';
import type { Failure } from './document-ledger.ts';
import { retryLater } from './document-load.ts';
import type { DocumentSealer } from './document-secrets.ts';
import { countTexts, partOf, translateTexts } from './document-texts.ts';

export interface DocumentWorkOptions {
  readonly documents: DocumentStore;
  readonly sealer: DocumentSealer;
  readonly formats: DocumentFormats;
  readonly ledger: Pick<Ledger, 'admit' | 'check' | 'resolve'>;
  readonly teams: Pick<TeamRegistry, 'findTeam'>;
  readonly newId: () => string;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  readonly services: Pick<GatewayServices, 'translate' | 'refusalFor'>;
  /**
   * Has an engine translate the file as it is; `undefined`: its texts are to be translated. Without
   * it no engine takes files.
   */
  readonly files?: ((file: PassedFile) => Promise<TranslatedFile | Refusal | undefined>) | undefined;
  /** Waits as long as other work goes first, at most until the work is lost. */
  readonly turn: (isLost: () => boolean) => Promise<void>;
}

/** A document's file, for engines that take it as it is. */
export interface PassedFile {
  readonly document: DocumentRecord;
  /** The team's. */
  readonly plan: string;
  readonly bytes: Uint8Array;
  /** Whether the gateway can read it too; otherwise only engines do. */
  readonly isReadable: boolean;
  /** What was counted, or what the plan holds. */
  readonly characters: number;
  /** Nobody waits for it any more. */
  readonly released: AbortSignal;
}

/** A document as claimed, which names its worker. */
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

/** What is translated just before it expires is charged just after it. */
const CHARGED_LATER_MS = 60_000;
const BUG = refuse('internal_error', 'It could not be translated.');
const UNREADABLE: Failure = { code: 'internal_error', detail: 'The file cannot be read any more.' };

interface CountedDocument {
  readonly bytes: Uint8Array;
  /** Both `undefined` if only engines read it. */
  readonly format: DocumentFormat | undefined;
  readonly texts: readonly DocumentText[] | undefined;
  readonly hold: DocumentHold;
}

interface TranslatedDocument {
  readonly bytes: Uint8Array;
  readonly billed: number;
}

/** `undefined` changes nothing. */
type DocumentChange = (known: DocumentRecord) => DocumentRecord | undefined;

/** Whether what was counted is reserved, and nothing else. */
export function isCounted({ holds }: DocumentRecord): boolean {
  return holds.every((one) => one.isCounted === true);
}

/** Each step returns what the next one needs, or how the work ends, which has a `kind`. */
export class DocumentWork {
  readonly #document: DocumentRecord;
  readonly #claimed: ClaimedDocument;
  readonly #options: DocumentWorkOptions;
  /** What is being translated. */
  #part: Exchange | undefined;

  constructor(claimed: ClaimedDocument, options: DocumentWorkOptions) {
    this.#document = claimed.document;
    this.#claimed = claimed;
    this.#options = options;
    claimed.released.addEventListener('abort', () => this.#part?.cancel(CLIENT_CLOSED));
  }

  get #isLost(): boolean {
    return this.#claimed.released.aborted;
  }

  get #leaseMs(): number {
    return Math.max(1, this.#document.untilMs - this.#claimed.nowMs) + CHARGED_LATER_MS;
  }

  /** Never rejects for what an engine, a store or a file does. */
  async run(): Promise<WorkEnd> {
    if (this.#document.resultId !== undefined) return this.#charge(this.#document);
    const counted = await this.#count();
    if ('kind' in counted) return counted;
    const translated = (await this.#passed(counted)) ?? (await this.#translated(counted));
    return 'kind' in translated ? translated : this.#finish(translated);
  }

  /** Before its turn: what was counted is reserved. Its place in the queue stays. */
  async count(): Promise<WorkEnd> {
    const counted = isCounted(this.#document) ? undefined : await this.#count();
    if (counted !== undefined && 'kind' in counted) return counted;
    return { kind: 'again', afterMs: this.#document.createdAtMs - this.#claimed.nowMs };
  }

  /** A bug of ours showed: tried again like a failure of an engine, and not for ever. */
  afterBug(): Promise<WorkEnd> {
    return this.#refused(BUG);
  }

  async #count(): Promise<CountedDocument | WorkEnd> {
    const { documents, sealer, formats, files } = this.#options;
    const { documentId, sourceId = '', fileName, holds } = this.#document;
    const pieces = await documents.file(this.#document, sourceId);
    if (isUnavailable(pieces)) return LATER;
    const bytes = pieces && (await sealer.open(documentId, sourceId, pieces));
    const format = formats.formatOf(fileName);
    if (bytes === undefined || (format === undefined && files === undefined)) return this.#failed(UNREADABLE);
    const extracted = format && (await formats.extract(format, bytes));
    if (this.#isLost) return LOST;
    if (extracted?.kind === 'refused') return this.#failed(ofTheFile(extracted.reason));
    const texts = extracted?.texts;
    // Nobody can count what only engines read.
    const hold = await this.#hold(holds, texts === undefined ? holds.at(-1)!.characters : await countTexts(texts));
    return 'kind' in hold ? hold : { bytes, format, texts, hold };
  }

  /**
   * Every id is written down before it is used, for whoever goes on after a death. The new
   * reservation comes before the release of `known` ones, unless both do not fit.
   */
  async #hold(known: readonly DocumentHold[], characters: number): Promise<DocumentHold | WorkEnd> {
    const { ledger, newId } = this.#options;
    const made = known.findLast((one) => one.isCounted === true && one.characters === characters);
    const hold: DocumentHold = made ?? { requestId: newId(), characters, isCounted: true };
    const holds = made === undefined ? [...known, hold] : known;
    if (made === undefined) {
      const written = await this.#change((document) => ({ ...document, holds }));
      if ('kind' in written) return written;
    }
    const admission = await reserveHold(ledger, this.#document, hold, this.#leaseMs);
    if (admission.kind === 'unavailable') return this.#orphaned(hold, LATER);
    if (admission.kind === 'admitted') return this.#reserved(hold, holds);
    const isFull = admission.kind === 'rate_limited' && admission.window?.counts === 'characters';
    const isShort = isFull || admission.kind === 'quota_exceeded' || admission.kind === 'credit_exhausted';
    if (isShort && known.length > 0) {
      // What the document itself holds may be what is missing.
      return (await releaseHolds(ledger, this.#document.teamId, holds)) ? this.#hold([], characters) : LATER;
    }
    if (admission.kind !== 'rate_limited') return this.#failed(failureOf(admission));
    return { kind: 'again', afterMs: Math.max(AGAIN_MS.first, admission.retryAfterMs) };
  }

  async #reserved(hold: DocumentHold, holds: readonly DocumentHold[]): Promise<DocumentHold | WorkEnd> {
    const others = holds.filter((one) => one !== hold);
    if (!(await releaseHolds(this.#options.ledger, this.#document.teamId, others))) return this.#orphaned(hold, LATER);
    const written = await this.#change((document) => (document.isRemoved === true ? undefined : { ...document, holds: [hold] }));
    return 'kind' in written ? this.#orphaned(hold, written) : hold;
  }

  /**
   * Whoever has deleted the document since the id was written down may have released it before it
   * was reserved. While the store or the ledger is away, it is asked again in the background.
   */
  async #orphaned(hold: DocumentHold, end: WorkEnd): Promise<WorkEnd> {
    const isReleased = (): Promise<boolean> => releaseOfGone(this.#document, hold, this.#options);
    if (!(await isReleased())) retryLater(isReleased, this.#leaseMs, this.#options.now);
    return end;
  }

  /** Before anything goes to an engine: the team's plan as of now, if the key may still be used. */
  async #plan(): Promise<string | Refusal> {
    const { teams, ledger } = this.#options;
    const team = await teams.findTeam(this.#document.teamId);
    if (team === undefined || isUnavailable(team) || this.#isLost) return ENGINE_UNAVAILABLE;
    return (await keyRefusal(ledger, this.#document)) ?? team.plan;
  }

  /** By an engine that takes the file. `undefined`: its texts are to be translated. */
  async #passed({ bytes, texts, hold }: CountedDocument): Promise<TranslatedDocument | WorkEnd | undefined> {
    const { files } = this.#options;
    if (files === undefined) return undefined;
    const plan = await this.#plan();
    if (this.#isLost) return LOST;
    if (typeof plan !== 'string') return this.#refused(plan);
    const { characters } = hold;
    const { released } = this.#claimed;
    const passed = await files({ document: this.#document, plan, bytes, isReadable: texts !== undefined, characters, released });
    if (this.#isLost) return LOST;
    if (passed === undefined) return undefined;
    if ('problem' in passed) return this.#refused(passed);
    const { billed = characters } = passed;
    // If the engine bills more than was counted, that is reserved before anything is promised.
    const held = billed > characters ? await this.#hold([hold], billed) : hold;
    return 'kind' in held ? held : { bytes: passed.bytes, billed };
  }

  async #translated({ bytes, format, texts, hold }: CountedDocument): Promise<TranslatedDocument | WorkEnd> {
    const { formats, services } = this.#options;
    if (texts === undefined || format === undefined) return this.#refused(ENGINE_UNAVAILABLE);
    const translated = await translateTexts(texts, this.#document, services, () => this.#nextPart());
    this.#part = undefined;
    if (this.#isLost) return LOST;
    if (translated.kind !== 'texts') return this.#refused(translated);
    const built = await formats.build(format, bytes, translated.texts, this.#document.targetLang);
    if (this.#isLost) return LOST;
    if (built.kind === 'refused') return this.#failed(ofTheFile(built.reason));
    return { bytes: built.bytes, billed: Math.max(0, hold.characters - translated.spared) };
  }

  async #nextPart(): Promise<Exchange | Refusal> {
    const { turn, newId, now } = this.#options;
    await turn(() => this.#isLost);
    const plan = await this.#plan();
    if (typeof plan !== 'string') return plan;
    this.#part = partOf(this.#document, plan, { id: newId(), nowMs: now() });
    return this.#part;
  }

  /**
   * Before the charge: whoever goes on after a death neither translates nor charges again. The key
   * is asked just before, for the last time.
   */
  async #finish({ bytes, billed }: TranslatedDocument): Promise<WorkEnd> {
    const { ledger, sealer, newId } = this.#options;
    const refusal = await keyRefusal(ledger, this.#document);
    if (refusal !== undefined) return this.#refused(refusal);
    const fileId = newId();
    const file = { fileId, pieces: await sealer.seal(this.#document.documentId, fileId, bytes) };
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
  async #failed({ code, detail }: Failure): Promise<WorkEnd> {
    // As it is: reservations may have been added.
    const known = await this.#change((document) => document);
    if ('kind' in known) return known;
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

  /** Of a document that names this work. */
  async #change(change: DocumentChange, file?: NewDocumentFile): Promise<DocumentRecord | WorkEnd> {
    const { worker } = this.#claimed;
    const written = await this.#options.documents.change(
      this.#document,
      (known) => (known.worker === worker ? change(known) : undefined),
      file,
    );
    return isUnavailable(written) ? LATER : (written ?? LOST);
  }
}

function ofTheFile(reason: string): Failure {
  return { code: 'validation_error', detail: `file: ${reason}` };
}
