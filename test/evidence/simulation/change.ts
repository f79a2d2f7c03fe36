// What operators change: carried out on a store, and put down for the checker.
import type { TeamLimits } from '../../../src/domain/plan.ts';
import { answered } from '../../../src/domain/store-unavailable.ts';
import type { Store } from '../../../src/ports/store.ts';
import type { Deed } from './entries.ts';
import type { Change } from './world.ts';

export async function perform(store: Pick<Store, 'teams'>, change: Change): Promise<void> {
  switch (change.kind) {
    case 'create_team':
      answered(await store.teams.createTeam(change.team));
      return;
    case 'update_team':
      answered(await store.teams.updateTeam(change.teamId, change.change));
      return;
    case 'create_key':
      answered(await store.teams.createKey(change.key));
      return;
    case 'update_key':
      answered(await store.teams.updateKey!(change.keyId, change.change));
      return;
    case 'revoke_key':
      answered(await store.teams.revokeKey(change.keyId));
  }
}

/** The team that is changed, and how. `limitsBefore` are what an update leaves as they are. */
export function deedOf(change: Change, limitsBefore: TeamLimits | undefined): [teamId: string, deed: Deed] {
  switch (change.kind) {
    case 'create_team':
      return [change.team.teamId, { kind: 'team', limits: change.team.limits, addMicro: change.team.balanceMicro }];
    case 'update_team': {
      const limits = change.change.plan?.limits ?? limitsBefore;
      if (limits === undefined) throw new Error('an update of a team that does not exist');
      return [change.teamId, { kind: 'team', limits, addMicro: change.change.addMicro ?? 0 }];
    }
    case 'create_key':
      return [change.key.teamId, { kind: 'create_key', keyId: change.key.keyId, limits: change.key.limits ?? {} }];
    case 'update_key':
      return [change.teamId, { kind: 'update_key', keyId: change.keyId, change: change.change }];
    case 'revoke_key':
      return [change.teamId, { kind: 'revoke_key', keyId: change.keyId }];
  }
}
