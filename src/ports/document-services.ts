// For plugins whose APIs translate documents: uploads, states, downloads, links.
import type { Exchange } from '../core/exchange.ts';
import type { Outcome, Refusal } from '../core/outcome.ts';
import type { BodyStep } from '../core/pipeline.ts';
import type { UploadForm } from '../domain/form-body.ts';
import type { DocumentRecord } from './documents.ts';

type Orders = Pick<DocumentRecord, 'fileName' | 'sourceLang' | 'targetLang' | 'formality' | 'glossaryId' | 'glossaryByBase'>;

/**
 * A file and how to translate it. Codes are canonical, and judged as a translation's. A glossary
 * needs `sourceLang`, and must exist when the document is stored.
 */
export interface DocumentOrder extends Orders {
  readonly bytes: Uint8Array;
}

/** A document of a team as others see it: with `done`, `billed` is what was charged. */
export type ShownDocument = Pick<DocumentRecord, 'documentId' | 'fileName' | 'state' | 'billed' | 'code' | 'detail'>;

/** The form of an upload. */
export type ReadUpload = Pick<UploadForm, 'fileName' | 'bytes' | 'fields'>;

/** Gets an upload's form. Its route has `upload`, and `hold` has set the charge. */
export interface UploadStep {
  readonly name: string;
  /**
   * The fields beside `file`, each accepted once; `any`: all, repeated ones joined by commas, and
   * the file's name in `filename` if there is such a field.
   */
  readonly fields: readonly string[] | 'any';
  /** `undefined` goes on with the next step, which should wait: few uploads are in memory. */
  readonly run: (x: Exchange, upload: ReadUpload) => Outcome | undefined | Promise<Outcome | undefined>;
}

/** A document in a link. */
export interface LinkedDocument {
  readonly teamId: string;
  /** Any text; one that is no id matches no document. */
  readonly documentId: string;
}

/** The document that a request wants to download. */
export interface RequestedResult extends LinkedDocument {
  /** One download at a time, and after a complete one the document is gone. */
  readonly once?: boolean;
  /** For a request without a key: refused once that of the upload may no longer be used. */
  readonly ofKey?: boolean;
  /** Instead of the file's own. */
  readonly contentType?: string;
}

/** The last step of a download. */
export interface ResultStep {
  readonly name: string;
  readonly headers?: readonly string[];
  readonly find: (x: Exchange) => RequestedResult | Refusal | Promise<RequestedResult | Refusal>;
}

/**
 * Translates files in the background. Its refusals have the codes `document_not_found`,
 * `document_not_ready` and `document_failed`.
 */
export interface DocumentServices {
  /** The endings of translatable files, without the dot, in order: for this request, or any. */
  endings(x?: Exchange): readonly string[];
  /** Before an upload's admission: sets its charge, with what is wrong with the head. */
  hold(x: Exchange): Promise<Refusal | undefined>;
  /** The step after the admission that reads the form. */
  uploadStep(step: UploadStep): BodyStep;
  /**
   * The form, of at most `bytesMax`, if only it tells the sender; the upload's step does not read
   * it again. A few at a time, because anybody can send them.
   */
  collect(x: Exchange, bytesMax: number): Promise<ReadUpload | Refusal>;
  /** Stores an upload's file: refused for an unknown format, or by a first look. */
  create(x: Exchange, order: DocumentOrder): Promise<ShownDocument | Refusal>;
  /** Of the caller's team. */
  find(x: Exchange, documentId: string): Promise<ShownDocument | Refusal>;
  /**
   * The same once it is `done` or has an `error`; `undefined` if not in time, or if the caller
   * left. A store that is away is asked again until then.
   */
  ended(x: Exchange, documentId: string, withinMs: number): Promise<ShownDocument | Refusal | undefined>;
  /**
   * For a caller who cannot ask again: nobody finds it any more, and what is held is released, as
   * soon as the store is back. One that was just charged stays: it is the result.
   */
  abandon(x: Exchange, documentId: string): Promise<ShownDocument | undefined>;
  /** The last step of a download. */
  resultStep(step: ResultStep): BodyStep;
  /** 64 hexadecimal digits, the same in every gateway and stored nowhere; nobody can guess them. */
  keyOf(documentId: string): string;
  /** For a URL without a key: letters, digits, `-` and `_` that nobody can guess. */
  linkTo(document: LinkedDocument): string;
  /** `undefined` if it is no link of this service. */
  linked(link: string): LinkedDocument | undefined;
}
