// A usage history that a test specifies: returns what stores would, from memory.
import { dayOfDate, limitsOf } from './door/terms.ts';
import type { KeyRecord, Team } from '../../src/ports/team-registry.ts';
import type { TeamDays } from '../../src/ports/usage-history.ts';
import { QUOTA_PLAN } from './gateway.ts';

interface WrittenTeam {
  readonly name: string;
  readonly reference?: string;
  /** By date: characters and requests of each key, by the key's label; keys are created in the order of first use. */
  readonly days: Readonly<Record<string, Readonly<Record<string, readonly [characters: number, requests: number]>>>>;
}

/** ULIDs in order: `01J…T0` and so on. */
function idAt(kind: 'T' | 'K', number: number): string {
  return `01JD3Q7V6Y8Z0XKQ4T5N${kind}${String(number).padStart(5, '0')}`;
}

export function writtenTeam({ name, reference, days }: WrittenTeam, number: number): TeamDays {
  const team: Team = {
    teamId: idAt('T', number),
    name,
    ...(reference === undefined ? {} : { reference }),
    plan: 'pro',
    limits: limitsOf(QUOTA_PLAN),
    balanceMicro: 0,
    createdAtMs: Date.UTC(2026, 0, 1),
  };
  const labels = [...new Set(Object.values(days).flatMap((keys) => Object.keys(keys)))];
  const keys = labels.map((label, index): KeyRecord => {
    const keyId = idAt('K', number * 100 + index);
    const rest = { status: 'active', limits: {}, createdAtMs: Date.UTC(2026, 0, 1), lastUsedAtMs: undefined } as const;
    return { keyId, teamId: team.teamId, display: `la_live_${String(index).padStart(4, '0')}`, label, mode: 'live', ...rest };
  });
  const rows = Object.entries(days).flatMap(([date, counts]) =>
    keys.flatMap(({ keyId, label }) => {
      const [characters, requests] = counts[label] ?? [];
      return characters === undefined ? [] : [{ day: dayOfDate(date)!, keyId, characters, requests: requests! }];
    }),
  );
  return { team, keys, days: rows.toSorted((a, b) => a.day - b.day) };
}
