// Waits for a store that does not answer yet, for as long as configured, and logs it every five seconds.
import type { Config } from '../config/config.ts';
import { StoreAwayError, StoreError } from '../domain/store-unavailable.ts';
import { withoutCredentials } from '../domain/store-url.ts';
import type { Log } from '../ports/log.ts';

const TELL_EVERY_MS = 5000;
const TRY_EVERY_MS = 250;

/**
 * Calls `open` repeatedly while the store is down and `store_options.wait_seconds` have not passed. Rejects with a `StoreError`: at
 * once if waiting would not help.
 */
export async function openAwaited<T>({ store, storeOptions: { waitMs } }: Config, log: Log, open: () => Promise<T>): Promise<T> {
  if (waitMs === 0) return open();
  const startedAtMs = performance.now();
  const waitedMs = (): number => performance.now() - startedAtMs;
  const tell = (): void =>
    log.warn('waiting for the store', {
      store: withoutCredentials(store),
      waited_seconds: seconds(waitedMs()),
      wait_seconds: seconds(waitMs),
    });
  const telling = setInterval(tell, TELL_EVERY_MS);
  try {
    for (;;) {
      try {
        return await open();
      } catch (error) {
        if (!(error instanceof StoreAwayError)) throw error;
        const leftMs = waitMs - waitedMs();
        if (leftMs <= 0)
          throw new StoreError(`${error.message}; it did not answer within the ${seconds(waitMs)} s of store_options.wait_seconds`);
        await new Promise((resolve) => setTimeout(resolve, Math.min(TRY_EVERY_MS, leftMs)));
      }
    }
  } finally {
    clearInterval(telling);
  }
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}
