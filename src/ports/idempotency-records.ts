// Requests that may be repeated and take effect once: remembered by an id, with the first answer.
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { OtherRequest } from './team-registry.ts';

export interface RequestClaim {
  /** Derived from the operator and the key that they chose: 64 hexadecimal digits. */
  readonly id: string;
  /** Fingerprint of the request: a different request under the same id is rejected. */
  readonly request: string;
  /** For the record that it creates: whoever takes over gets the id of the first claim. */
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
 * Remembered for a day (`REQUEST_REMEMBERED_MS`) from the first claim, by the store's clock. The
 * deletion of a team removes those that concern it.
 */
export interface IdempotencyRecords {
  /** Atomic: of several processes, one gets the claim. */
  claim(claim: RequestClaim): Promise<Claimed | StoreUnavailable>;
  /** Stores the answer, unless the claim is lost. One about no team is forgotten. */
  finish(held: HeldRequest, answer: string, teamId: string | undefined): Promise<StoreUnavailable | undefined>;
  /** Gives the claim back. `forget`: nothing was changed, so the id is free. `repeat`: unknown. */
  release(held: HeldRequest, next: 'forget' | 'repeat'): Promise<StoreUnavailable | undefined>;
  /** Forgets those that concern a team, as a part of its deletion. */
  forgetTeam(teamId: string): Promise<StoreUnavailable | undefined>;
  /** Forgets those whose day is over; called now and then. */
  sweep(): Promise<StoreUnavailable | undefined>;
}
