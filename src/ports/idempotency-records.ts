// Requests that operators may repeat and that must take effect once: remembered by an id, with the answer to the first.
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { OtherRequest } from './team-registry.ts';

export interface RequestClaim {
  /** Derived from the operator and the key that they chose: 64 hexadecimal digits. */
  readonly id: string;
  /** Fingerprint of the request: a different request under the same id is rejected. */
  readonly request: string;
  /** The id for the record that it creates. Whoever takes over an interrupted request gets the id of the first claim. */
  readonly recordId: string;
  /** The team that it concerns, if that is already known. */
  readonly teamId: string | undefined;
  /** The process that runs the request. A process may claim again what it holds. */
  readonly holder: string;
  /** After this time without an answer somebody else may run the request. */
  readonly leaseMs: number;
}

export type Claimed =
  | { readonly kind: 'claimed'; readonly recordId: string }
  /** Another process is running it. */
  | { readonly kind: 'running' }
  | { readonly kind: 'answered'; readonly answer: string }
  | OtherRequest;

export type HeldRequest = Pick<RequestClaim, 'id' | 'holder'>;

/**
 * Remembered for a day (`REQUEST_REMEMBERED_MS`) from the first claim. The deletion of a team removes those that concern it. Times are by the store's clock.
 */
export interface IdempotencyRecords {
  /** Atomic: of several processes, one gets the claim. */
  claim(claim: RequestClaim): Promise<Claimed | StoreUnavailable>;
  /** Keeps the answer. Without effect if the holder has lost its claim; an answer about a team that does not exist is forgotten. */
  finish(held: HeldRequest, answer: string, teamId: string | undefined): Promise<StoreUnavailable | undefined>;
  /** Gives the claim back. `forget`: nothing was changed, and the id may be used for another request. `repeat`: unknown. */
  release(held: HeldRequest, next: 'forget' | 'repeat'): Promise<StoreUnavailable | undefined>;
  /** Forgets those that concern a team, as a part of its deletion. */
  forgetTeam(teamId: string): Promise<StoreUnavailable | undefined>;
  /** Forgets those whose day is over; called now and then. */
  sweep(): Promise<StoreUnavailable | undefined>;
}
