// Downloads of translated documents: each keeps its document until it ends, and the first complete one is charged.
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type {
  BegunDownload,
  DocumentDownloads,
  DocumentHold,
  DocumentRecord,
  DocumentStore,
  DownloadLease,
  DueDocument,
} from '../ports/documents.ts';
import type { Ledger, Settlements } from '../ports/ledger.ts';
import type { Log } from '../ports/log.ts';
import { releaseHolds } from './document-holds.ts';

interface DocumentDownloadsOptions {
  readonly documents: DocumentStore;
  readonly ledger: Pick<Ledger, 'resolve'>;
  readonly settlements: Settlements;
  readonly newId: () => string;
  /** The store's clock. */
  readonly nowMs: () => number;
  readonly log: Log;
}

/** A download ends within it. What is reserved for a document is held for as long after its expiry. */
export const DOWNLOAD_MS_MAX = 3_600_000;
/** After a death, a download counts as ended when its lease ends. It is renewed six times in that time. */
export const LEASE_MS = 60_000;
const RENEW_MS = 10_000;
/** When the process stops, the ledger has this time for charges; then the settlement queue has its own. */
const CHARGED_WITHIN_MS = 2000;

/** Those whose lease has not ended. */
function openDownloads({ downloads = [] }: DocumentRecord, nowMs: number): readonly DownloadLease[] {
  return downloads.filter(({ untilMs }) => untilMs > nowMs);
}

/** What has to be released when a document goes. */
function uncharged({ holds, isCharged }: DocumentRecord): readonly DocumentHold[] {
  return isCharged === true ? holds.slice(0, -1) : holds;
}

/** `later`: a download is under way. `unavailable`: nobody finds it any more, and the worker goes on when it is due. */
type Removal = 'removed' | 'gone' | 'later' | StoreUnavailable;

interface RemovalOptions extends Pick<DocumentDownloadsOptions, 'documents' | 'ledger' | 'nowMs'> {
  readonly settlements?: Pick<Settlements, 'releaseUnknown'>;
}

const REMOVED_LATER_MS = 2000;
const LEDGER_AWAY: StoreUnavailable = { kind: 'unavailable', cause: 'documents' };

/** Removes a document with its files and releases what is reserved for it, unless a download is under way. */
export async function removeDocument(due: DueDocument, { documents, ledger, settlements, nowMs }: RemovalOptions): Promise<Removal> {
  // In one change with the look at its downloads: from here on none begins.
  const marked = await documents.change(due, (known) => ({ ...known, isRemoved: true }));
  if (isUnavailable(marked)) return marked;
  if (marked === undefined) return 'gone';
  if (openDownloads(marked, nowMs()).length > 0) return 'later';
  // Before, so that nothing is left reserved if this process ends in between; and after, for what was reserved meanwhile.
  if (!(await releaseHolds(ledger, marked, uncharged(marked)))) return LEDGER_AWAY;
  const removed = await documents.remove(marked);
  if (isUnavailable(removed)) return removed;
  if (removed === undefined) return 'gone';
  for (const { requestId } of uncharged(removed)) settlements?.releaseUnknown(removed.teamId, requestId);
  return 'removed';
}

export class LeasedDownloads implements DocumentDownloads {
  readonly #options: DocumentDownloadsOptions;
  /** Downloads under way here. */
  readonly #open = new Set<RunningDownload>();
  /** No charge is waited for any more. */
  readonly #closing = Promise.withResolvers<false>();
  /** What they still have to write. */
  readonly #ending = new Set<Promise<void>>();

  constructor(options: DocumentDownloadsOptions) {
    this.#options = options;
  }

  async begin(document: DocumentRecord, alone: boolean): Promise<BegunDownload | 'gone' | 'taken' | StoreUnavailable> {
    const { documents, nowMs, newId } = this.#options;
    const downloadId = newId();
    let isTaken = false;
    const begun = await documents.change(document, (known) => {
      isTaken = false;
      const beginsMs = nowMs();
      if (known.isRemoved === true || known.untilMs <= beginsMs || known.resultId !== document.resultId) return undefined;
      const open = openDownloads(known, beginsMs);
      isTaken = alone && open.length > 0;
      return isTaken ? undefined : { ...known, downloads: [...open, { downloadId, untilMs: beginsMs + LEASE_MS }] };
    });
    if (isUnavailable(begun)) return begun;
    if (begun === undefined) return isTaken ? 'taken' : 'gone';
    const download = new RunningDownload(begun, downloadId, nowMs() + DOWNLOAD_MS_MAX, this.#options, (ended, isComplete, removes) => {
      this.#open.delete(ended);
      const ending = this.#end(ended, isComplete, removes)
        .catch((error: unknown) => {
          this.#options.log.error('a download met a bug', { reason: error instanceof Error ? error.message : 'unknown' });
        })
        .finally(() => ended.over());
      this.#ending.add(ending);
      void ending.finally(() => this.#ending.delete(ending));
    });
    this.#open.add(download);
    return download;
  }

  async remove(due: DueDocument): Promise<boolean | StoreUnavailable> {
    // If this process dies in between, or the store fails: nobody finds it any more, and a worker goes on soon, not only when it expires.
    const failed = await this.#options.documents.yield({ ...due, worker: '' }, REMOVED_LATER_MS);
    if (failed !== undefined) return failed;
    const removal = await removeDocument(due, this.#options);
    if (isUnavailable(removal)) return removal;
    // Should the process with the download die, the document goes with the lease.
    if (removal === 'later') await this.#options.documents.yield({ ...due, worker: '' }, LEASE_MS);
    return removal !== 'gone';
  }

  /** Resolves when every download that has ended is written down. Charges that the ledger does not take in this time are left open. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.#closing.resolve(false), CHARGED_WITHIN_MS);
    await Promise.all(this.#ending);
    clearTimeout(timer);
  }

  /** Whether the ledger has settled it: one that is away is asked for as long as the reservation lasts. */
  #charge({ document, isCharged }: RunningDownload): Promise<boolean> {
    const { documentId, teamId, holds, billed, untilMs } = document;
    const hold = holds.at(-1);
    if (hold === undefined || isCharged) return Promise.resolve(true);
    return new Promise((resolve) => {
      const reservation = { ...hold, teamId, leaseUntilMs: untilMs + DOWNLOAD_MS_MAX };
      this.#options.settlements.commit(reservation, billed, undefined, (result) => {
        const isSettled = result !== 'abandoned';
        // The ledger remembers a charge for seconds only, and others may take longer.
        if (isSettled) for (const other of this.#open) if (other.document.documentId === documentId) other.isCharged = true;
        resolve(isSettled);
      });
    });
  }

  /** The download keeps the document until it is charged: nothing is released before, and nobody finds it charged that is not. */
  async #end(download: RunningDownload, isComplete: boolean, removes: boolean): Promise<void> {
    const { document, downloadId } = download;
    const isCharged = isComplete && (await Promise.race([this.#charge(download), this.#closing.promise]));
    // Its charge is on its way, or was given up: as long as the lease lasts, nobody releases what is reserved.
    if (isComplete && !isCharged) return;
    const ended = await this.#options.documents.change(document, (known) => {
      const downloads = (known.downloads ?? []).filter((one) => one.downloadId !== downloadId);
      return { ...known, downloads, ...(isCharged ? { isCharged: true as const } : {}) };
    });
    // Whoever finds the lease ended goes on.
    if (ended === undefined || isUnavailable(ended)) return;
    if (ended.isRemoved === true || (isComplete && removes)) await this.remove(document);
  }
}

class RunningDownload implements BegunDownload {
  readonly document: DocumentRecord;
  readonly downloadId: string;
  readonly untilMs: number;
  /** It was charged before, or by another one. */
  isCharged: boolean;
  readonly #renewal: NodeJS.Timeout;
  readonly #onEnd: (download: RunningDownload, isComplete: boolean, removes: boolean) => void;

  constructor(
    document: DocumentRecord,
    downloadId: string,
    untilMs: number,
    { documents, nowMs }: DocumentDownloadsOptions,
    onEnd: (download: RunningDownload, isComplete: boolean, removes: boolean) => void,
  ) {
    this.document = document;
    this.downloadId = downloadId;
    this.untilMs = untilMs;
    this.isCharged = document.isCharged === true;
    this.#onEnd = onEnd;
    this.#renewal = setInterval(() => {
      void documents.change(document, (known) => {
        const downloads = known.downloads?.map((one) => (one.downloadId === downloadId ? { ...one, untilMs: nowMs() + LEASE_MS } : one));
        return downloads === undefined ? undefined : { ...known, downloads };
      });
    }, RENEW_MS).unref();
  }

  end(isComplete: boolean, removes: boolean): void {
    this.#onEnd(this, isComplete, removes);
  }

  /** Its lease is not renewed any more. */
  over(): void {
    clearInterval(this.#renewal);
  }
}
