// Sheds requests while too many are in flight, in this process or of one team, or while the
// process's event loop is delayed.
import { reserveSlot } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import type { BodyStep, HeadStep } from '../core/pipeline.ts';
import { OVERLOADED } from '../domain/refusals.ts';
import { keyOwnerSlot } from '../domain/slots.ts';
import type { ShedReason } from '../ports/access-entry.ts';

interface TeamShedOptions {
  /** Of complete requests in flight in this process: by known callers, or of one team. */
  readonly concurrencyMax: number;
  readonly onShed: (reason: ShedReason) => void;
}

interface ShedOptions extends TeamShedOptions {
  readonly pressure: Pick<LoopPressure, 'overloaded'>;
}

const placeSlot = reserveSlot<true>('place in the process');
const teamPlaceSlot = reserveSlot<true>('place of the team');

/** Only complete ones of known callers count: other bodies cannot use up the limit. */
export function shedStep({ concurrencyMax, pressure, onShed }: ShedOptions): HeadStep {
  let taken = 0;
  const shed = (reason: ShedReason): Refusal => {
    onShed(reason);
    return OVERLOADED;
  };
  return {
    kind: 'head',
    name: 'shed',
    /** Before any work is done for the request. */
    run() {
      if (taken >= concurrencyMax) return shed('concurrency');
      return pressure.overloaded() ? shed('loop_delay') : undefined;
    },
    enter(x) {
      if (taken >= concurrencyMax) return shed('concurrency');
      taken++;
      x.set(placeSlot, true);
      return undefined;
    },
    settle(x) {
      // Also for requests that were shed or ended early, and so were not counted.
      if (x.get(placeSlot) !== undefined) taken--;
    },
  };
}

/**
 * So that one team's slow work cannot fill the process. A body step, because only complete requests
 * count: bodies that never end would use up the concurrency of a revoked key's team.
 */
export function teamShedStep({ concurrencyMax, onShed }: TeamShedOptions): BodyStep {
  /** Contains only teams with requests in flight, so its size is bounded by their number. */
  const taken = new Map<string, number>();
  return {
    kind: 'body',
    name: 'team-shed',
    run(x) {
      const { teamId } = x.need(keyOwnerSlot);
      const ofTeam = taken.get(teamId) ?? 0;
      if (ofTeam >= concurrencyMax) {
        onShed('team_concurrency');
        return OVERLOADED;
      }
      taken.set(teamId, ofTeam + 1);
      x.set(teamPlaceSlot, true);
      return undefined;
    },
    settle(x) {
      if (x.get(teamPlaceSlot) === undefined) return;
      const { teamId } = x.need(keyOwnerSlot);
      const left = taken.get(teamId)! - 1;
      if (left === 0) taken.delete(teamId);
      else taken.set(teamId, left);
    },
  };
}

interface LoopPressureOptions {
  /** A turn that has accepted requests for longer sheds the rest; 0 disables shedding. */
  readonly boundMs: number;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

/**
 * Limits how long one turn accepts requests. Those that arrive meanwhile make the next turn longer,
 * so the turn itself is timed, from its first request on. A pause before it sheds nothing.
 */
export class LoopPressure {
  readonly #boundMs: number;
  readonly #now: () => number;
  #inTurn = false;
  #turnStartedAtMs = 0;

  constructor({ boundMs, now }: LoopPressureOptions) {
    this.#boundMs = boundMs;
    this.#now = now;
  }

  /** Whether to shed this request. Called once per request. */
  overloaded(): boolean {
    if (this.#boundMs === 0) return false;
    if (this.#inTurn) return this.#now() - this.#turnStartedAtMs > this.#boundMs;
    this.#inTurn = true;
    this.#turnStartedAtMs = this.#now();
    // Runs once the turn has handled everything that had arrived for it.
    setImmediate(this.#endTurn);
    return false;
  }

  /** A bound function, created once because every turn uses it. */
  readonly #endTurn = (): void => {
    this.#inTurn = false;
  };
}
