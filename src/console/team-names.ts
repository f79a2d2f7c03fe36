// The names of teams, for pages whose records only have their ids.
import type { AdminOperations } from '../admin/admin-operations.ts';

/** By id; teams that were deleted are missing. */
export type TeamNames = ReadonlyMap<string, string>;

/** One look-up for each team; pages are short. A team that cannot be read has no name. */
export async function namesOf(operations: AdminOperations, teamIds: readonly (string | undefined)[]): Promise<TeamNames> {
  const different = [...new Set(teamIds.filter((id) => id !== undefined))];
  const found = await Promise.all(
    different.map(async (id) => {
      const team = await operations.showTeam(id);
      return team.kind === 'done' ? ([[id, team.value.name]] as const) : [];
    }),
  );
  return new Map(found.flat());
}

/** The name, or the id if there is none. */
export function nameOf(names: TeamNames, teamId: string): string {
  return names.get(teamId) ?? teamId;
}
