// Files of documents that are on their way in or out of one process: each is in memory as a whole, so their number is limited.
import { callerNetwork } from '../domain/client-address.ts';
import type { DocumentTransfers, TransferOwner } from '../ports/documents.ts';

/** Of one process; and of senders whose key is not known yet. */
const TRANSFERS_MAX = 16;
const UNKNOWN_MAX = 8;
/** Of these a team, or an address, has a quarter at most: others have room beside a slow one. */
const SHARE = 4;

export class LimitedTransfers implements DocumentTransfers {
  readonly #byOwner = new Map<string, number>();
  #open = 0;
  #unknown = 0;

  begin(owner: TransferOwner): (() => void) | undefined {
    const isKnown = 'teamId' in owner;
    const name = isKnown ? `team ${owner.teamId}` : `address ${callerNetwork(owner.address)}`;
    const own = this.#byOwner.get(name) ?? 0;
    const isFull = this.#open >= TRANSFERS_MAX || (!isKnown && this.#unknown >= UNKNOWN_MAX);
    if (isFull || own >= (isKnown ? TRANSFERS_MAX : UNKNOWN_MAX) / SHARE) return undefined;
    const count = (change: 1 | -1): void => {
      this.#open += change;
      if (!isKnown) this.#unknown += change;
      const left = (this.#byOwner.get(name) ?? 0) + change;
      if (left > 0) this.#byOwner.set(name, left);
      else this.#byOwner.delete(name);
    };
    count(1);
    return () => count(-1);
  }
}
