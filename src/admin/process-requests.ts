// Remembers requests in one process, for stores from plugins that do not: a restart loses them, and other processes lack them.
import { REQUEST_REMEMBERED_MS, REQUESTS_MAX } from '../domain/reservation.ts';
import type { Claimed, HeldRequest, IdempotencyRecords, RequestClaim } from '../ports/idempotency-records.ts';

interface Remembered extends Pick<RequestClaim, 'request' | 'recordId' | 'teamId'> {
  readonly answer: string | undefined;
  readonly untilMs: number;
}

/** Leases are not needed: the process that holds a request is the one that asks. */
export class ProcessRequests implements IdempotencyRecords {
  readonly #remembered = new Map<string, Remembered>();
  readonly #now: () => number;

  /** `now` is a monotonic clock in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  async claim({ id, request, recordId, teamId }: RequestClaim): Promise<Claimed> {
    const found = this.#remembered.get(id);
    if (found === undefined || found.untilMs <= this.#now()) {
      this.#remembered.delete(id);
      this.#remembered.set(id, { request, recordId, teamId, answer: undefined, untilMs: this.#now() + REQUEST_REMEMBERED_MS });
      if (this.#remembered.size > REQUESTS_MAX) this.#remembered.delete(this.#remembered.keys().next().value!);
      return { kind: 'claimed', recordId };
    }
    if (found.request !== request) return { kind: 'other_request' };
    return found.answer === undefined ? { kind: 'claimed', recordId: found.recordId } : { kind: 'answered', answer: found.answer };
  }

  async finish({ id }: HeldRequest, answer: string, teamId: string | undefined): Promise<undefined> {
    const found = this.#remembered.get(id);
    if (found !== undefined) this.#remembered.set(id, { ...found, answer, teamId: teamId ?? found.teamId });
    return undefined;
  }

  async release({ id }: HeldRequest, next: 'forget' | 'repeat'): Promise<undefined> {
    if (next === 'forget') this.#remembered.delete(id);
    return undefined;
  }

  /** For a team that was deleted. */
  forgetTeam(teamId: string): void {
    for (const [id, one] of this.#remembered) if (one.teamId === teamId) this.#remembered.delete(id);
  }
}
