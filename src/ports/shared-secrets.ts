// Secrets that the processes of a store share: each is made once, by whoever needs it first.
import type { StoreUnavailable } from '../domain/store-unavailable.ts';

export interface SharedSecrets {
  /**
   * The store's time that is believed, as far as this process knows it without asking: whole milliseconds. `undefined` if the
   * store has not been met yet.
   */
  nowMs(): number | undefined;
  /**
   * The secret of this name: the one in the store, or `candidate`, which then becomes it. Atomic: every process gets the same one.
   * The store deletes it no earlier than `keepMs` after it was made, by its own clock. Names are 1 to 64 characters of `a-z0-9:-`.
   */
  agree(name: string, candidate: Uint8Array, keepMs: number): Promise<Uint8Array | StoreUnavailable>;
}
