// Documents translated in the background: records, files, and the queue of what is due.
import type { DOCUMENT_STATES } from '../domain/document-states.ts';
import type { EntryPieces } from '../domain/entries-text.ts';
import type { RequestTag } from '../domain/request-tag.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';

export type DocumentState = (typeof DOCUMENT_STATES)[number];

/** Characters that are reserved for a document, by the id of their reservation in the ledger. */
export interface DocumentHold {
  readonly requestId: string;
  readonly characters: number;
  /** Whether they were counted. Otherwise it is what the plan holds before. */
  readonly isCounted?: true;
}

/** A document of a team, until it expires or is deleted. */
export interface DocumentRecord {
  readonly documentId: string;
  readonly teamId: string;
  /** The key that it was sent with, which is charged. */
  readonly keyId: string;
  /** The client's address; only for keys that are restricted to certain ones. */
  readonly address?: string | undefined;
  /** The caller's W3C `traceparent` at the upload, for engines. */
  readonly traceparent?: string | undefined;
  /** Under which the charge is counted. */
  readonly tag?: RequestTag | undefined;
  readonly fileName: string;
  /** The format's name, by the ending of `fileName`: `docx`. */
  readonly format: string;
  /** Of the file that was sent. */
  readonly bytes: number;
  /** Of its file as it is stored; written by the store. */
  readonly storedBytes?: number | undefined;
  /** Codes are canonical. */
  readonly sourceLang?: string | undefined;
  readonly targetLang: string;
  readonly formality?: string | undefined;
  readonly glossaryId?: string | undefined;
  /** A dictionary of the glossary for the same languages without regions is good too. */
  readonly glossaryByBase?: boolean | undefined;
  readonly state: DocumentState;
  /** By the store's clock. */
  readonly createdAtMs: number;
  /** When it is gone, by the store's clock. */
  readonly untilMs: number;
  /** Every reservation that may be open: all are released when it ends uncharged. */
  readonly holds: readonly DocumentHold[];
  /** When it was translated, or ended in an error, by the store's clock. */
  readonly endedAtMs?: number | undefined;
  /** What is charged of the last of `holds`; it is `done` once it is charged. */
  readonly billed?: number | undefined;
  /** With `error`: a problem code, and what it means for this document. */
  readonly code?: string | undefined;
  readonly detail?: string | undefined;
  /** How often engines or the ledger had nothing for it. */
  readonly failures: number;
  /** Ids of its files: the one sent, until it is translated, and the translated one. */
  readonly sourceId?: string | undefined;
  readonly resultId?: string | undefined;
  /** Whoever works on it: only with this name may a result be written. */
  readonly worker?: string | undefined;
  /** It was downloaded to its end. */
  readonly isDownloaded?: true;
  /** The end of its only download by the store's clock; another one begins after it. */
  readonly takenUntilMs?: number | undefined;
  /** It is to go: nobody finds it any more. */
  readonly isRemoved?: true;
}

/** A file as stored: encrypted pieces, each at most 128 KiB. */
export interface NewDocumentFile {
  /** A fresh ULID. */
  readonly fileId: string;
  readonly pieces: EntryPieces;
}

export interface DocumentBounds {
  /** How many of the team's documents may be queued or translating. */
  readonly openMax: number;
  /** The bytes of all files of the team. */
  readonly teamBytesMax: number;
  /** The bytes of all files of all teams. */
  readonly bytesMax: number;
}

export type DocumentCreation =
  | { readonly kind: 'created'; readonly document: DocumentRecord }
  /** `team_full`: the team has no room for its bytes; `full`: nobody has. */
  | { readonly kind: 'too_many' | 'team_full' | 'full' | 'team_unknown' };

/** A document whose time has come: to be translated, to be tried again, or to go. */
export interface DueDocument {
  readonly documentId: string;
  readonly teamId: string;
}

/** A document's place in the order of all. */
export interface PlacedDocument extends DueDocument {
  /** After which the next one comes; of letters, digits and a hyphen. */
  readonly place: string;
}

/** What there is of all teams. */
export interface DocumentBacklog {
  /** Documents that are queued or being translated; at most 1,000 are counted. */
  readonly open: number;
  /** How long ago the first of them was created; 0 without one. */
  readonly oldestMs: number;
  /** The bytes of all files. */
  readonly bytes: number;
}

/** A claim: nobody else works on the document before it ends. */
interface DocumentClaim extends DueDocument {
  readonly worker: string;
  readonly leaseMs: number;
}

/** The store adds what every new document has. */
export type NewDocument = Omit<DocumentRecord, 'createdAtMs' | 'untilMs' | 'state' | 'failures' | 'sourceId'>;

/** Documents of deleted teams are gone with the team, but for their entry in the queue. */
export interface DocumentStore {
  create(
    document: NewDocument,
    keepMs: number,
    file: NewDocumentFile,
    bounds: DocumentBounds,
  ): Promise<DocumentCreation | StoreUnavailable>;
  find(teamId: string, documentId: string): Promise<DocumentRecord | undefined | StoreUnavailable>;
  /** A team's, in order of creation. */
  list(teamId: string): Promise<readonly DocumentRecord[] | StoreUnavailable>;
  /** A file in its pieces; `undefined` if there is none. */
  file(document: DueDocument, fileId: string): Promise<EntryPieces | undefined | StoreUnavailable>;
  /**
   * Writes what `decide`, without effects, makes of the document; `undefined` leaves it. Files it
   * no longer names go, and `file` stays if named. Returns what was written.
   */
  change(
    document: DueDocument,
    decide: (document: DocumentRecord) => DocumentRecord | undefined,
    file?: NewDocumentFile,
  ): Promise<DocumentRecord | undefined | StoreUnavailable>;
  /** With its files and its place in the queue. Returns what it was, if anything. */
  remove(document: DueDocument): Promise<DocumentRecord | undefined | StoreUnavailable>;
  /** What is due, the longest due first. */
  due(limit: number): Promise<readonly DueDocument[] | StoreUnavailable>;
  /** Claims it, or renews the claim, and returns the store's time; `undefined` if it is not due. */
  claim(claim: DocumentClaim): Promise<number | undefined | StoreUnavailable>;
  /** Ends the claim: due again after `afterMs`, or when it expires. */
  yield(claim: Pick<DocumentClaim, 'documentId' | 'teamId' | 'worker'>, afterMs: number | 'expiry'): Promise<StoreUnavailable | undefined>;
  /** Removes what is left of a deleted team's documents. */
  forgetTeam(teamId: string): Promise<StoreUnavailable | undefined>;
  /** Of all teams, newest first, after a place; perhaps with one of a team deleted just now. */
  newest(after: string | undefined, limit: number): Promise<readonly PlacedDocument[] | StoreUnavailable>;
  /** Cheap enough to be asked every few seconds. */
  backlog(): Promise<DocumentBacklog | StoreUnavailable>;
}

/** A directory that all gateways share, instead of the store. Rejects if the file system fails. */
export interface DocumentFolder {
  write(documentId: string, file: NewDocumentFile): Promise<void>;
  read(documentId: string, fileId: string): Promise<EntryPieces | undefined>;
  remove(documentId: string, fileId: string): Promise<void>;
  /** The ids of documents that have files. */
  list(): Promise<readonly string[]>;
  /** All files of a document. */
  removeAll(documentId: string): Promise<void>;
}
