// What documents take of one process: slots for files on their way, steps between texts; and what
// there is of them in all, for metrics.
import { callerNetwork } from '../domain/client-address.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { DocumentBacklog, DocumentStore, DocumentTransfers, TransferOwner } from '../ports/documents.ts';

/** Of one process; and of senders whose key is not known yet. */
const TRANSFERS_MAX = 16;
const UNKNOWN_MAX = 8;
/** Of these a team, or an address, has a quarter at most: others have room beside a slow one. */
const SHARE = 4;

export class LimitedTransfers implements DocumentTransfers {
  /** How many are open: of all, of unknown senders, and of each team and address. */
  readonly #open = new Map<string, number>();

  begin(owner: TransferOwner): (() => void) | undefined {
    const bounds: readonly (readonly [string, number])[] =
      'teamId' in owner
        ? [
            ['all', TRANSFERS_MAX],
            [`team ${owner.teamId}`, TRANSFERS_MAX / SHARE],
          ]
        : [
            ['all', TRANSFERS_MAX],
            ['unknown', UNKNOWN_MAX],
            [`address ${callerNetwork(owner.address)}`, UNKNOWN_MAX / SHARE],
          ];
    if (bounds.some(([name, most]) => (this.#open.get(name) ?? 0) >= most)) return undefined;
    const count = (change: 1 | -1): void => {
      for (const [name] of bounds) {
        const left = (this.#open.get(name) ?? 0) + change;
        if (left > 0) this.#open.set(name, left);
        else this.#open.delete(name);
      }
    };
    count(1);
    return () => count(-1);
  }
}

interface PaceOptions {
  /** Requests in flight in this process. */
  readonly inFlight: () => number;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** Resolves after so many milliseconds. */
  readonly pause: (ms: number) => Promise<void>;
}

/** Before each step, so that documents without end leave time, however fast the engine is. */
const STEP_MS = 10;
/** A pause that ends so long after its time found the event loop, or the machine, busy. */
const DELAY_MS = 10;
/** Engines are busy with texts. */
const IN_FLIGHT = 16;
/** A step does not wait for longer, so that a document is done some time. */
const WAIT_MS_MAX = 2000;

/** Waits before a step while other work goes first; `isHeld` ends it. */
export async function letTextsGoFirst(isHeld: () => boolean, { inFlight, now, pause }: PaceOptions): Promise<void> {
  const untilMs = now() + WAIT_MS_MAX;
  let isBusy = true;
  while (isBusy && isHeld()) {
    const beganAtMs = now();
    if (beganAtMs >= untilMs) return;
    await pause(STEP_MS);
    isBusy = now() - beganAtMs >= STEP_MS + DELAY_MS || inFlight() >= IN_FLIGHT;
  }
}

const EVERY_MS = 5000;

export class DocumentWatch {
  readonly #documents: Pick<DocumentStore, 'backlog'>;
  readonly #looks: NodeJS.Timeout;
  #latest: DocumentBacklog = { open: 0, oldestMs: 0, bytes: 0 };

  constructor(documents: Pick<DocumentStore, 'backlog'>) {
    this.#documents = documents;
    this.#looks = setInterval(() => void this.look(), EVERY_MS).unref();
    void this.look();
  }

  /** As of the last look that the store has answered. */
  get latest(): DocumentBacklog {
    return this.#latest;
  }

  async look(): Promise<void> {
    const found = await this.#documents.backlog();
    if (!isUnavailable(found)) this.#latest = found;
  }

  close(): void {
    clearInterval(this.#looks);
  }
}
