// Finds the key that a path names: one of the path's team, and of no other.
import { NO_KEY, refusalOf } from '../admin/admin-refusals.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import type { KeyUsage, Team } from '../ports/team-registry.ts';
import type { Refusal } from '../core/outcome.ts';
import type { ConsoleParts, SignedInVisit } from './console-route.ts';

export interface TeamKey {
  readonly team: Team;
  readonly key: KeyUsage;
  /** All of the team, in order of creation. */
  readonly keys: readonly KeyUsage[];
}

/** A key that was used so lately is in use. */
export const QUIET_MS = 600_000;

/** By the path's `id` and `key`. */
export async function findTeamKey({ parameters }: SignedInVisit, { operations }: ConsoleParts): Promise<TeamKey | Refusal> {
  const teamId = canonicalUlid(parameters['id'] ?? '');
  const keyId = canonicalUlid(parameters['key'] ?? '');
  const found = teamId === undefined ? undefined : await operations.usage(teamId);
  if (found?.kind === 'unavailable') return refusalOf(found);
  if (found?.kind !== 'done') return NO_KEY;
  const { team, keys } = found.value.figures;
  const key = keys.find((one) => one.keyId === keyId);
  return key === undefined ? NO_KEY : { team, key, keys };
}

export function isQuiet({ lastUsedAtMs }: KeyUsage, nowMs: number): boolean {
  return lastUsedAtMs === undefined || nowMs - lastUsedAtMs >= QUIET_MS;
}
