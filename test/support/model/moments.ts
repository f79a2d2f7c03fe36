// The moments of a history at which something changes automatically: to wait for, and to respect when the clock steps back.
import type { Admission, AdmissionRequest } from '../../../src/ports/ledger.ts';
import { DAY_MS, dayOf, windowAt } from '../reference/calendar.ts';
import type { Moment } from './history.ts';

const RATE_WINDOW_MS = 1000;

interface End {
  readonly requestId: string;
  readonly atMs: number;
}

const PLACELESS: ReadonlySet<Admission['kind']> = new Set(['key_unknown', 'key_revoked', 'rate_limited']);

/** Collected from the model's answers. */
export class Moments {
  readonly #leaseEnds: End[] = [];
  readonly #windowEdges: number[] = [];
  /** Teams whose rate was lowered and that have taken no slot of the window since. */
  readonly #lowered = new Set<string>();

  admitted({ requestId, teamId }: AdmissionRequest, answer: Admission, nowMs: number): void {
    const atMs = answer.kind === 'admitted' ? answer.reservation?.leaseUntilMs : undefined;
    // A repeated reservation has changed nothing.
    if (this.#leaseEnds.some((end) => end.requestId === requestId && end.atMs === atMs)) return;
    if (!PLACELESS.has(answer.kind)) this.#lowered.delete(teamId);
    this.#windowEdges.push(nowMs + RATE_WINDOW_MS);
    if (atMs !== undefined) this.#leaseEnds.push({ requestId, atMs });
  }

  rateLowered(teamId: string): void {
    this.#lowered.add(teamId);
  }

  /** The first moment of this kind that, with its offset, is after `nowMs`. */
  next(moment: Moment, offsetMs: number, nowMs: number, periodEnds: readonly number[]): number | undefined {
    const candidates = {
      lease_end: () => this.#leaseEnds.map((end) => end.atMs),
      window_edge: () => this.#windowEdges,
      period_end: () => periodEnds,
      minute_edge: () => [0, 1].map((n) => windowAt('minute', nowMs).endMs + n * 60_000),
      // Weeks end at midnights, too.
      month_edge: () => [windowAt('month', nowMs).endMs, windowAt('month', windowAt('month', nowMs).endMs).endMs],
      midnight: () => [0, 1].map((n) => (dayOf(nowMs) + 1 + n) * DAY_MS),
      second_edge: () => [0, 1].map((n) => (Math.floor(nowMs / 1000) + 1 + n) * 1000),
    }[moment]();
    const later = candidates.map((atMs) => atMs + offsetMs).filter((atMs) => atMs > nowMs);
    return later.length === 0 ? undefined : Math.min(...later);
  }

  /**
   * Whether the answer after a step back is certain. The ports leave open whether slots that were already free when a
   * lowered rate refused a request return with the clock: a wait may differ by a second, but there is never a slot too many.
   */
  mayStepBack(): boolean {
    return this.#lowered.size === 0;
  }
}
