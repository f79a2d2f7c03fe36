// Operators' changes: made in a store, and recorded for the checker.
import type { TeamLimits } from '../../../src/domain/plan.ts';
import { answered } from '../../../src/domain/store-unavailable.ts';
import type { Store } from '../../../src/ports/store.ts';
import type { Action } from './deeds.ts';
import type { Change } from './world.ts';

/** More than are ever set. */
const SET_TAGS_MAX = 1000;

export async function perform(store: Pick<Store, 'teams' | 'tagSettings'>, change: Change): Promise<void> {
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
      answered(await store.teams.updateKey(change.keyId, change.change));
      return;
    case 'revoke_key':
      answered(await store.teams.revokeKey(change.keyId));
      return;
    case 'set_tag': {
      const { teamId, tag, settings } = change;
      if (settings === null) answered(await store.tagSettings.remove(teamId, tag));
      else answered(await store.tagSettings.set(teamId, tag, settings, SET_TAGS_MAX));
    }
  }
}

/** The changed team, and how. An update leaves `limitsBefore` unchanged where it says nothing. */
export function actionOf(change: Change, limitsBefore: TeamLimits | undefined): [teamId: string, action: Action] {
  switch (change.kind) {
    case 'create_team':
      return [change.team.teamId, { kind: 'team', limits: change.team.limits, addMicro: change.team.balanceMicro }];
    case 'update_team': {
      const limits = change.change.plan?.limits ?? limitsBefore;
      if (limits === undefined) throw new Error('an update of a team that does not exist');
      return [change.teamId, { kind: 'team', limits, addMicro: change.change.addMicro ?? 0 }];
    }
    case 'create_key':
      return [change.key.teamId, { kind: 'create_key', keyId: change.key.keyId, mode: change.key.mode, limits: change.key.limits ?? {} }];
    case 'update_key':
      return [change.teamId, { kind: 'update_key', keyId: change.keyId, change: change.change }];
    case 'revoke_key':
      return [change.teamId, { kind: 'revoke_key', keyId: change.keyId }];
    case 'set_tag':
      return [change.teamId, { kind: 'set_tag', tag: change.tag, settings: change.settings }];
  }
}
