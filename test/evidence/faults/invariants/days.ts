// The usage history: each key's days have what its ids were charged, on the day of the store's clock, and periods add up to it.
import { dayOf } from '../../../../src/domain/period.ts';
import type { Finding, History, TeamAccount } from '../../../support/history.ts';
import { livesOf } from './lives.ts';
import type { Life } from './lives.ts';

interface Use {
  readonly characters: number;
  readonly requests: number;
}

const NOTHING: Use = { characters: 0, requests: 0 };

/** L9. */
export function dayFindings({ teams, operations }: History): Finding[] {
  const byTeam = Map.groupBy(livesOf(operations).values(), ({ teamId }) => teamId);
  return teams.flatMap((team) => teamFindings(team, byTeam.get(team.teamId) ?? []));
}

function teamFindings({ teamId, days, periods }: TeamAccount, lives: readonly Life[]): Finding[] {
  const found: Finding[] = [];
  const wrong = (what: string) => void found.push({ invariant: 'L9', what: `team ${teamId}: ${what}` });
  const charged = chargedByDay(lives);
  const counted = new Map(days.map(({ day, keyId, characters, requests }) => [`day ${day} of ${keyId}`, { characters, requests }]));
  for (const name of new Set([...charged.keys(), ...counted.keys()])) {
    const [was, is] = [charged.get(name) ?? NOTHING, counted.get(name) ?? NOTHING];
    if (was.characters === is.characters && was.requests === is.requests) continue;
    wrong(`${name} has ${is.characters} characters in ${is.requests} requests, its ids ${was.characters} in ${was.requests}`);
  }
  const [all, billed] = [total([...charged.values()]), total(periods)];
  if (all !== billed) wrong(`periods come to ${billed}, ids to ${all}`);
  return found;
}

function chargedByDay(lives: readonly Life[]): Map<string, Use> {
  const days = new Map<string, Use>();
  for (const { reserved, ended } of lives) {
    const [reservation, end] = [reserved[0], ended[0]];
    if (reservation === undefined || end?.as !== 'committed') continue;
    const name = `day ${dayOf(end.atMs)} of ${reservation.keyId}`;
    const { characters, requests } = days.get(name) ?? NOTHING;
    days.set(name, { characters: characters + reservation.characters, requests: requests + 1 });
  }
  return days;
}

function total(uses: readonly Pick<Use, 'characters'>[]): number {
  return uses.reduce((sum, { characters }) => sum + characters, 0);
}
