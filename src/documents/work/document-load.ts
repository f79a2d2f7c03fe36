// What documents take of one process: slots for files on their way, steps between texts, looks at
// what they wait for; and what there is of them in all, for metrics.
import { setTimeout as delay } from 'node:timers/promises';
import { callerNetwork } from '../../domain/client-address.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { DocumentBacklog, DocumentStore } from '../../ports/documents.ts';

/** Of one process; and of senders whose key is not known yet. */
const TRANSFERS_MAX = 16;
const UNKNOWN_MAX = 8;
/** Of these a team, or an address, has a quarter at most: others have room beside a slow one. */
const SHARE = 4;

/** Whose file it is; of a sender who is not known yet, the address. */
type TransferOwner = { readonly teamId: string } | { readonly address: string };

/** A file comes in or goes out. Returns what gives its place back; `undefined` if there is none. */
export type BeginTransfer = (owner: TransferOwner) => (() => void) | undefined;

export function limitedTransfers(): BeginTransfer {
  /** How many are open: of all, of unknown senders, and of each team and address. */
  const open = new Map<string, number>();
  const count = (name: string, change: 1 | -1): void => {
    const left = (open.get(name) ?? 0) + change;
    if (left > 0) open.set(name, left);
    else open.delete(name);
  };
  return (owner) => {
    const bounds: Readonly<Record<string, number>> = {
      all: TRANSFERS_MAX,
      ...('teamId' in owner
        ? { [`team ${owner.teamId}`]: TRANSFERS_MAX / SHARE }
        : { unknown: UNKNOWN_MAX, [`address ${callerNetwork(owner.address)}`]: UNKNOWN_MAX / SHARE }),
    };
    if (Object.entries(bounds).some(([name, most]) => (open.get(name) ?? 0) >= most)) return undefined;
    for (const name of Object.keys(bounds)) count(name, 1);
    return () => {
      for (const name of Object.keys(bounds)) count(name, -1);
    };
  };
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

/** Waits before a step while other work goes first; `isLost` ends it. */
export async function letTextsGoFirst(isLost: () => boolean, { inFlight, now, pause }: PaceOptions): Promise<void> {
  const untilMs = now() + WAIT_MS_MAX;
  let isBusy = true;
  while (isBusy && !isLost()) {
    const beganAtMs = now();
    if (beganAtMs >= untilMs) return;
    await pause(STEP_MS);
    isBusy = now() - beganAtMs >= STEP_MS + DELAY_MS || inFlight() >= IN_FLIGHT;
  }
}

interface Looks {
  /** The first pause; each is twice the one before, up to `mostMs`. */
  readonly firstMs: number;
  readonly mostMs: number;
  readonly withinMs: number;
}

/** Looks at once, and again after pauses, until `isOver` or the last time at the end of `withinMs`. */
export async function lookUntil(isOver: () => Promise<boolean>, { firstMs, mostMs, withinMs }: Looks, now: () => number): Promise<void> {
  const untilMs = now() + withinMs;
  for (let pauseMs = firstMs; !(await isOver()); pauseMs = Math.min(mostMs, pauseMs * 2)) {
    const leftMs = untilMs - now();
    if (leftMs <= 0) return;
    await delay(Math.min(pauseMs, leftMs), undefined, { ref: false });
  }
}

/** In the background while the store or the ledger is away. A bug is met, and logged, by whoever removes what has expired. */
export function retryLater(isDone: () => Promise<boolean>, withinMs: number, now: () => number): void {
  void lookUntil(() => isDone().catch(() => false), { firstMs: 1000, mostMs: 60_000, withinMs }, now);
}

const EVERY_MS = 5000;

/** `latest`: as of the last look that the store has answered. */
export function watchBacklog(documents: Pick<DocumentStore, 'backlog'>): { readonly latest: DocumentBacklog; readonly close: () => void } {
  let latest: DocumentBacklog = { open: 0, oldestMs: 0, bytes: 0 };
  const look = async (): Promise<void> => {
    const found = await documents.backlog();
    if (!isUnavailable(found)) latest = found;
  };
  const looks = setInterval(() => void look(), EVERY_MS).unref();
  void look();
  return {
    get latest() {
      return latest;
    },
    close: () => clearInterval(looks),
  };
}
