// The names of teams and the beginnings of keys, for pages whose records only have their ids.
import type { OperationContext } from '../admin/operation-context.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import type { KeyRecord } from '../ports/team-registry.ts';
import { CONSOLE_PREFIX } from './console-route.ts';

/** By id; teams that were deleted are missing. */
export type TeamNames = ReadonlyMap<string, string>;

/** One look-up for each team; pages are short. A team that cannot be read has no name. */
export async function namesOf({ options: { teams } }: OperationContext, teamIds: readonly (string | undefined)[]): Promise<TeamNames> {
  const found = await Promise.all(
    different(teamIds).map(async (id) => {
      const team = await teams.findTeam(id);
      return team === undefined || isUnavailable(team) ? [] : ([[id, team.name]] as const);
    }),
  );
  return new Map(found.flat());
}

/** By id; keys of teams that were deleted are missing. */
export type KnownKeys = ReadonlyMap<string, Pick<KeyRecord, 'display' | 'label' | 'teamId'>>;

/** All keys of these teams: one look-up for each. */
export async function keysOf({ options: { teams } }: OperationContext, teamIds: readonly (string | undefined)[]): Promise<KnownKeys> {
  const found = await Promise.all(
    different(teamIds).map(async (id) => {
      const keys = await teams.listKeys(id);
      return keys === undefined || isUnavailable(keys) ? [] : keys.map((key) => [key.keyId, key] as const);
    }),
  );
  return new Map(found.flat());
}

function different(ids: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(ids.filter((id) => id !== undefined))];
}

/** The name, with a link to the team's page and the id as a tooltip; the id alone if there is no such team any more. */
export function teamLink(names: TeamNames, teamId: string): Html {
  const name = names.get(teamId);
  if (name === undefined) return html`<code>${teamId}</code>`;
  return html`<a href="${CONSOLE_PREFIX}/teams/${teamId}" title="${teamId}">${name}</a>`;
}
