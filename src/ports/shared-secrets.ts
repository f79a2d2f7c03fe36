// Secrets that the processes of a store share: each is made once, by whoever needs it first.
import type { StoreUnavailable } from '../domain/store-unavailable.ts';

export interface SharedSecrets {
  /**
   * The store's believed time as far as known, in whole milliseconds; `undefined` if the store has
   * not been met yet.
   */
  nowMs(): number | undefined;
  /**
   * The secret in the store, or `candidate`, which becomes it: every process gets the same. It
   * stays for at least `keepMs` by the store's clock. Names: 1 to 64 of `a-z0-9:-`.
   */
  agree(name: string, candidate: Uint8Array, keepMs: number): Promise<Uint8Array | StoreUnavailable>;
}
