// Sheds a team's requests while too many of its own are in flight, so that one team's slow work cannot fill the process.
import { reserveSlot } from '../core/exchange.ts';
import type { BodyStep } from '../core/step.ts';
import { keyOwnerSlot } from '../domain/slots.ts';
import { OVERLOADED } from '../domain/refusals.ts';
import type { OnShed } from '../ports/pressure.ts';

export interface TeamShedOptions {
  /** A team's requests in flight in this process. */
  readonly concurrencyMax: number;
  readonly onShed: OnShed;
}

const placeSlot = reserveSlot<true>('place of the team');

/**
 * A body step, although the team of a cached key is known earlier: only complete requests count. Otherwise somebody with a
 * revoked key could use up the team's concurrency with bodies that never end.
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
      x.set(placeSlot, true);
      return undefined;
    },
    settle(x) {
      if (x.get(placeSlot) === undefined) return;
      const { teamId } = x.need(keyOwnerSlot);
      const left = taken.get(teamId)! - 1;
      if (left === 0) taken.delete(teamId);
      else taken.set(teamId, left);
    },
  };
}
