// The worker of one process: claims due documents, in turn by team, a few at a time.
import { UNCOUNTED_LEASE_MS } from '../../domain/document-states.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { DocumentRecord, DueDocument } from '../../ports/documents.ts';
import type { Log } from '../../ports/log.ts';
import { isEnded, removeDocument } from './document-ledger.ts';
import { DocumentWork, isCounted } from './document-work.ts';
import type { DocumentWorkOptions, WorkEnd } from './document-work.ts';

export interface DocumentWorkerOptions extends DocumentWorkOptions {
  /** The store's clock, as far as it is known. */
  readonly nowMs: () => number;
  readonly log: Log;
  /** Called at the end of each claim; with the document if that has ended with it. */
  readonly onEnd: (end: DocumentEnd['kind'], document: DocumentRecord | undefined) => void;
}

/** `expired`: it is gone. `ended`: it has ended before, and waits for its expiry. */
type DocumentEnd = WorkEnd | { readonly kind: 'expired' | 'ended' };

/** How often the store is asked for what is due. */
const LOOK_MS = 1000;
/** A claim is renewed three times in its lease: after a death another process goes on within it. */
const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
/** At a time; and for teams with none at work, so that one's long documents keep nobody waiting. */
const WORKS_MAX = 2;
const WORKS_OF_IDLE_TEAMS_MAX = 4;
/** More than a plan can let one team have: nobody's documents hide those of others. */
const DUE_MAX = 10_000;
const SERVED_MAX = 200;
/** A document that has waited for so long is counted before its turn. */
const COUNTED_AFTER_MS = UNCOUNTED_LEASE_MS / 2;
const STORE_AWAY: DocumentEnd = { kind: 'again', afterMs: LOOK_MS };

interface RunningWork extends DueDocument {
  readonly worker: string;
  /** Aborted when the claim is somebody else's, or given back. */
  readonly release: AbortController;
  readonly onlyCounts: boolean;
  readonly ended: Promise<void>;
}

type ClaimedWork = Omit<RunningWork, 'ended'>;

export class DocumentWorker {
  readonly #options: DocumentWorkerOptions;
  readonly #looks: NodeJS.Timeout;
  readonly #looking: Promise<void>;
  #woken = Promise.withResolvers<void>();
  readonly #running = new Map<string, RunningWork>();
  /** Teams in the order in which they were served, the latest last. */
  readonly #served: string[] = [];
  /** What was due at the last look, in turn, without those that were begun since. */
  #queue: readonly DueDocument[] = [];
  /** Waiting ones that were found to be counted. */
  #counted = new Set<string>();
  #closed = false;

  constructor(options: DocumentWorkerOptions) {
    this.#options = options;
    this.#looks = setInterval(() => {
      // A long queue is read now and then, not after each document.
      this.#queue = [];
      this.wake();
    }, LOOK_MS).unref();
    this.#looking = this.#lookWhenWoken();
  }

  /** Documents that this process works on. */
  get running(): number {
    return this.#running.size;
  }

  /** Looks for work now; a call during a look is followed by another. */
  wake(): void {
    this.#woken.resolve();
  }

  /** Gives back what is not finished: another process, or the next start, goes on at once. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#looks);
    this.wake();
    for (const { release } of this.#running.values()) release.abort();
    await this.#looking;
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  async #lookWhenWoken(): Promise<void> {
    for (;;) {
      await this.#woken.promise;
      if (this.#closed) return;
      this.#woken = Promise.withResolvers();
      await this.#look().catch((error: unknown) => this.#failed(error));
    }
  }

  async #look(): Promise<void> {
    if (this.#queue.length > 0) return this.#serve();
    const due = await this.#options.documents.due(DUE_MAX);
    if (isUnavailable(due)) return;
    this.#queue = this.#inTurn(due);
    await this.#serve();
    await this.#countWaiting(due);
  }

  async #serve(): Promise<void> {
    for (const document of this.#queue) {
      if (!this.#mayBegin(document)) continue;
      this.#queue = this.#queue.filter((other) => other !== document);
      if (!(await this.#begin(document, false))) return;
    }
  }

  #mayBegin({ teamId, documentId }: DueDocument): boolean {
    if (this.#running.has(documentId)) return false;
    const atWork = [...this.#running.values()].filter(({ onlyCounts }) => !onlyCounts);
    return atWork.length < WORKS_MAX || (atWork.length < WORKS_OF_IDLE_TEAMS_MAX && !atWork.some((work) => work.teamId === teamId));
  }

  /** Unless it is not due any more. Whether there may be another one: not if the store is away. */
  async #begin(document: DueDocument, onlyCounts: boolean): Promise<boolean> {
    if (this.#closed) return false;
    const worker = this.#options.newId();
    const nowMs = await this.#options.documents.claim({ ...document, worker, leaseMs: LEASE_MS });
    if (nowMs === undefined || isUnavailable(nowMs)) return nowMs === undefined;
    if (!onlyCounts) this.#noteServed(document.teamId);
    const work: ClaimedWork = { ...document, worker, onlyCounts, release: new AbortController() };
    if (this.#closed) work.release.abort();
    const ended = this.#work(work, nowMs)
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#running.delete(document.documentId);
        this.wake();
      });
    this.#running.set(document.documentId, { ...work, ended });
    return true;
  }

  /** `due`: the longest waiting first, so that one that has not waited ends the search. */
  async #countWaiting(due: readonly DueDocument[]): Promise<void> {
    this.#counted = new Set(due.flatMap(({ documentId }) => (this.#counted.has(documentId) ? [documentId] : [])));
    for (const document of due) {
      if ([...this.#running.values()].some(({ onlyCounts }) => onlyCounts)) return;
      if (this.#running.has(document.documentId) || this.#counted.has(document.documentId)) continue;
      const known = await this.#options.documents.find(document.teamId, document.documentId);
      if (isUnavailable(known)) return;
      if (known === undefined || isCounted(known)) this.#counted.add(document.documentId);
      else if (this.#options.nowMs() - known.createdAtMs < COUNTED_AFTER_MS) return;
      // Whether it is counted is seen at the next look.
      else if (!(await this.#begin(document, true))) return;
    }
  }

  /** One of each team, then the next; those first that were not served for longest. */
  #inTurn(due: readonly DueDocument[]): readonly DueDocument[] {
    const free = due.filter(({ documentId }) => !this.#running.has(documentId));
    const byTeam = [...Map.groupBy(free, ({ teamId }) => teamId)].toSorted(
      ([one], [other]) => this.#served.indexOf(one) - this.#served.indexOf(other),
    );
    const inTurn: DueDocument[] = [];
    let teams = byTeam.map(([, documents]) => documents);
    for (let round = 0; teams.length > 0; round++) {
      for (const documents of teams) inTurn.push(documents[round]!);
      teams = teams.filter(({ length }) => length > round + 1);
    }
    return inTurn;
  }

  #noteServed(teamId: string): void {
    const at = this.#served.indexOf(teamId);
    if (at !== -1) this.#served.splice(at, 1);
    this.#served.push(teamId);
    if (this.#served.length > SERVED_MAX) this.#served.shift();
  }

  async #work(claimed: ClaimedWork, nowMs: number): Promise<void> {
    const renewal = setInterval(() => void this.#renew(claimed).catch((error: unknown) => this.#failed(error)), RENEW_MS).unref();
    try {
      const end = await this.#end(claimed, nowMs);
      const afterMs = dueAfter(end, this.#closed);
      if (afterMs !== undefined) await this.#options.documents.yield(claimed, afterMs);
      this.#options.onEnd(end.kind, 'document' in end ? end.document : undefined);
    } finally {
      clearInterval(renewal);
    }
  }

  async #end(claimed: ClaimedWork, nowMs: number): Promise<DocumentEnd> {
    const { worker, release, onlyCounts } = claimed;
    let found: DocumentRecord | undefined;
    // After a pause of this process, another one may have gone on, and ended it.
    const document = await this.#options.documents.change(claimed, (known) => {
      found = known;
      const isOver = isGone(known, nowMs) || isEnded(known) || release.signal.aborted;
      return isOver ? undefined : { ...known, worker, state: onlyCounts ? known.state : 'translating' };
    });
    if (isUnavailable(document)) return STORE_AWAY;
    if (document === undefined) {
      if (release.signal.aborted) return { kind: 'lost' };
      if (found !== undefined && !isGone(found, nowMs)) return { kind: 'ended' };
      // If there is none, its creation was not finished, or its team is gone.
      return isUnavailable(await removeDocument(claimed, this.#options)) ? STORE_AWAY : { kind: 'expired' };
    }
    const work = new DocumentWork({ document, worker, nowMs, released: release.signal }, this.#options);
    try {
      return await (onlyCounts ? work.count() : work.run());
    } catch (error) {
      this.#failed(error);
      return work.afterBug();
    }
  }

  async #renew({ documentId, teamId, worker, release }: ClaimedWork): Promise<void> {
    const renewed = await this.#options.documents.claim({ documentId, teamId, worker, leaseMs: LEASE_MS });
    // The claim holds until its end: only whom the document names writes the result.
    if (renewed === undefined) release.abort();
  }

  #failed(error: unknown): void {
    this.#options.log.error('a document met a bug', { reason: error instanceof Error ? error.message : 'unknown' });
  }
}

function isGone({ isRemoved, untilMs }: DocumentRecord, nowMs: number): boolean {
  return isRemoved === true || untilMs <= nowMs;
}

/** When it is due again; `undefined` if it is gone, or somebody else's. */
function dueAfter(end: DocumentEnd, isClosed: boolean): number | 'expiry' | undefined {
  switch (end.kind) {
    case 'again':
      return end.afterMs;
    case 'lost':
      // While the process stops, the claim is given back.
      return isClosed ? 0 : undefined;
    case 'expired':
      return undefined;
    case 'done':
    case 'error':
      return end.document.isRemoved === true ? 0 : 'expiry';
    case 'ended':
      return 'expiry';
  }
}
