// The names of teams and the beginnings of keys, for pages whose records only have their ids.
import type { OperationContext } from '../admin/operation-context.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import type { KeyRecord } from '../ports/team-registry.ts';
import { CONSOLE_PREFIX } from './console-route.ts';

/** By id; teams that were deleted or cannot be read are missing. */
export type TeamNames = ReadonlyMap<string, string>;

/** One look-up for each team; pages are short. */
export function namesOf({ options: { teams } }: OperationContext, teamIds: readonly string[]): Promise<TeamNames> {
  return ofEach(teamIds, async (id) => {
    const team = await teams.findTeam(id);
    return team === undefined || isUnavailable(team) ? [] : [[id, team.name]];
  });
}

/** By id. */
export type KnownKeys = ReadonlyMap<string, Pick<KeyRecord, 'display' | 'label' | 'teamId'>>;

/** All keys of these teams. */
export function keysOf({ options: { teams } }: OperationContext, teamIds: readonly string[]): Promise<KnownKeys> {
  return ofEach(teamIds, async (id) => {
    const keys = await teams.listKeys(id);
    return keys === undefined || isUnavailable(keys) ? [] : keys.map((key) => [key.keyId, key]);
  });
}

async function ofEach<T>(ids: readonly string[], read: (id: string) => Promise<[string, T][]>): Promise<ReadonlyMap<string, T>> {
  return new Map((await Promise.all([...new Set(ids)].map(read))).flat());
}

/** The name, with a link to the team's page and the id as a tooltip; the id alone if there is no such team any more. */
export function teamLink(names: TeamNames, teamId: string): Html {
  const name = names.get(teamId);
  if (name === undefined) return html`<code>${teamId}</code>`;
  return html`<a href="${CONSOLE_PREFIX}/teams/${teamId}" title="${teamId}">${name}</a>`;
}
