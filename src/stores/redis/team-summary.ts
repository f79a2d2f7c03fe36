// A team's summary, computed from its record without calling a function, so that a page of teams costs the server little.
import { keyStatus } from '../../domain/key-limits.ts';
import type { Team, TeamSummary } from '../../ports/team-registry.ts';
import { readKeyLimits } from './key-layout.ts';
import type { GuardedLimits } from './key-layout.ts';
import { BOOKS, DESCRIPTION, isGuarded, readAllowance, readKeyState, TEAM_FIELDS } from './team-layout.ts';
import type { KeyState } from './team-layout.ts';
import { readTeam } from './team-codec.ts';

type KeyStanding = KeyState & GuardedLimits;

const UNGUARDED: GuardedLimits = { disabled: false, limits: {} };

interface TeamRecord {
  readonly team: Team;
  readonly periodEndMs: number;
  /** Characters of the period that ends at `periodEndMs`. */
  readonly characters: number;
  readonly allowanceUsed: number;
  readonly keys: ReadonlyMap<string, KeyStanding>;
  /** Ids of keys that are not revoked and were never used. */
  readonly unused: readonly string[];
}

/** `undefined` if there is no such team. */
export function readTeamRecord(teamId: string, fields: Readonly<Record<string, Buffer>>): TeamRecord | undefined {
  if (TEAM_FIELDS.some((name) => fields[name] === undefined)) return undefined;
  const values = DESCRIPTION.map((name) => fields[name]);
  const { number, endMs, usedCharacters } = BOOKS.read(fields['b']!);
  const { allowanceUsed } = readAllowance(fields['allowance'], number);
  const states = Object.entries(fields).filter(([name]) => name.startsWith('k'));
  const keys = new Map(
    states.map(([name, packed]): [string, KeyStanding] => {
      const [keyId, state] = [name.slice(1), readKeyState(packed)];
      return [keyId, { ...state, ...(isGuarded(state.word) ? readKeyLimits(fields[`l:${keyId}`]) : UNGUARDED) }];
    }),
  );
  const unused = [...keys].filter(([, { word, lastUsedAtMs }]) => word !== 'revoked' && lastUsedAtMs === undefined).map(([keyId]) => keyId);
  return { team: readTeam(teamId, values), periodEndMs: endMs, characters: usedCharacters, allowanceUsed, keys, unused };
}

/** A key's creation time, from its record `<order> <created> <JSON>`; 0 without a record. */
export function creationOf(record: string | null): number {
  return Number((record ?? '').split(' ', 2)[1] ?? Number.NaN);
}

/** `created` are the creation times of the keys in `unused`; `nowMs` is the server's time. */
export function summaryOf(record: TeamRecord, created: readonly number[], nowMs: number): TeamSummary {
  const { team, periodEndMs, keys, unused } = record;
  let activeKeys = 0;
  let lastUsedAtMs: number | undefined;
  let idlestKey: TeamSummary['idlestKey'];
  for (const [keyId, state] of keys) {
    if (state.lastUsedAtMs !== undefined) lastUsedAtMs = Math.max(lastUsedAtMs ?? 0, state.lastUsedAtMs);
    if (state.word === 'revoked' || keyStatus(state.disabled, state.limits, nowMs) !== 'active') continue;
    activeKeys++;
    const sinceMs = state.lastUsedAtMs ?? created[unused.indexOf(keyId)]!;
    const idler = idlestKey === undefined || sinceMs < idlestKey.sinceMs || (sinceMs === idlestKey.sinceMs && keyId < idlestKey.keyId);
    if (idler) idlestKey = { keyId, sinceMs };
  }
  // The period may have ended; the next admission opens the new one, in which nothing is settled yet.
  const { characters, allowanceUsed } = nowMs < periodEndMs ? record : { characters: 0, allowanceUsed: 0 };
  return { team, characters, allowanceUsed, activeKeys, lastUsedAtMs, idlestKey };
}
