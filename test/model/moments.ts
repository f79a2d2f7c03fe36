// The moments of a history at which something changes by itself: to wait for, and not to be stepped back over.
import { RATE_WINDOW_MS, REMEMBER_MS } from '../../src/domain/reservation.ts';
import type { Admission, AdmissionRequest, Resolution } from '../../src/ports/ledger.ts';
import type { Usage } from '../../src/ports/team-registry.ts';
import type { Moment } from './history.ts';

interface LeaseEnd {
  readonly requestId: string;
  readonly atMs: number;
  /** Once a resolution has said `expired`, the id has its one terminal state. */
  final: boolean;
}

const PLACELESS: ReadonlySet<Admission['kind']> = new Set(['repeated', 'key_unknown', 'key_revoked', 'rate_limited']);

/** Fed with what the model answers. */
export class Moments {
  readonly #leaseEnds: LeaseEnd[] = [];
  readonly #windowEdges: number[] = [];
  readonly #remembranceEnds: { readonly requestId: string; readonly atMs: number }[] = [];
  /** Teams whose rate was lowered and that have taken no place since. */
  readonly #lowered = new Set<string>();

  admitted({ requestId, teamId }: AdmissionRequest, answer: Admission, nowMs: number): void {
    const atMs = answer.kind === 'admitted' ? answer.reservation?.leaseUntilMs : undefined;
    // A reservation that is only given again has changed nothing.
    if (this.#leaseEnds.some((end) => end.requestId === requestId && end.atMs === atMs)) return;
    if (!PLACELESS.has(answer.kind)) this.#lowered.delete(teamId);
    this.#windowEdges.push(nowMs + RATE_WINDOW_MS);
    this.#remembranceEnds.push({ requestId, atMs: nowMs + REMEMBER_MS });
    if (atMs === undefined) return;
    this.#leaseEnds.push({ requestId, atMs, final: false });
    this.#remembranceEnds.push({ requestId, atMs: atMs + REMEMBER_MS });
  }

  resolved(requestId: string, answer: Resolution, nowMs: number): void {
    this.#remembranceEnds.push({ requestId, atMs: nowMs + REMEMBER_MS });
    if (answer.kind === 'absent') return;
    for (const end of this.#leaseEnds) if (end.requestId === requestId) end.final = true;
  }

  rateLowered(teamId: string): void {
    this.#lowered.add(teamId);
  }

  /** The first moment of the kind that lies, with its offset, behind `nowMs`. */
  next(moment: Moment, offsetMs: number, nowMs: number, usages: readonly Usage[]): number | undefined {
    const candidates = {
      lease_end: () => this.#leaseEnds.map((end) => end.atMs),
      window_edge: () => this.#windowEdges,
      remembrance_end: () => this.#remembranceEnds.map((end) => end.atMs),
      period_end: () => usages.map((usage) => usage.periodEndMs),
    }[moment]();
    const later = candidates.map((atMs) => atMs + offsetMs).filter((atMs) => atMs > nowMs);
    return later.length === 0 ? undefined : Math.min(...later);
  }

  /**
   * How far the clock may go back at most. The ports leave open what is found again behind a lease end that no
   * resolution has reported, behind the start of a period, or of places that were free already when a lowered rate
   * refused a request; the contract suite holds what is certain there.
   */
  floorMs(nowMs: number, usages: readonly Usage[]): number {
    if (this.#lowered.size > 0) return nowMs;
    const ended = this.#leaseEnds.filter((end) => !end.final && end.atMs <= nowMs).map((end) => end.atMs);
    const begun = usages.filter((usage) => usage.periodStartMs > usage.team.createdAtMs).map((usage) => usage.periodStartMs);
    return Math.max(Number.NEGATIVE_INFINITY, ...ended, ...begun);
  }

  /** Ids that were, or may have been, forgotten between the two moments: whether they still are is left open too. */
  forgottenBetween(fromMs: number, toMs: number): string[] {
    return this.#remembranceEnds.filter((end) => end.atMs > fromMs && end.atMs <= toMs).map((end) => end.requestId);
  }
}
