// Rate windows that the store has reported as full: until a slot may be free, the requests of a key are refused without the store.
import type { RequestTag } from '../domain/request-tag.ts';
import type { CarriedFacts } from '../domain/api-key.ts';
import type { RateLimited } from './ledger.ts';

export interface FullWindows {
  /** Nothing is remembered. May be false although nothing holds any more. */
  readonly isEmpty: boolean;
  /**
   * The refusal that the store would repeat now for this caller; `undefined` if that is not certain.
   */
  refusal(caller: RefusedCaller): RateLimited | undefined;
  /** Remembers a refusal of the store. `askedAtMs`: a moment before the request was sent to it, by the monotonic clock. */
  note(caller: RefusedCaller, refused: RateLimited, askedAtMs: number): void;
}

/** As in the request to the store. */
export interface RefusedCaller extends CarriedFacts {
  readonly keyId: string;
  readonly tag?: Pick<RequestTag, 'name'> | undefined;
}
