// Every team's account: after each operation its counters are the sums of its ids and within its limits, and at the end nothing is held.
import type { Counters, Finding, History, Operation, Reserved, TeamAccount } from '../../../support/history.ts';

interface Replay {
  used: number;
  held: number;
  heldMicro: number;
  balance: number;
  readonly open: Map<string, Reserved>;
  readonly byKey: Map<string, { characters: number; requests: number }>;
}

/** L3 and L5. */
export function accountFindings({ teams, operations }: History): Finding[] {
  const byTeam = Map.groupBy(operations, ({ teamId }) => teamId);
  return teams.flatMap((team) => teamFindings(team, byTeam.get(team.teamId) ?? []));
}

function teamFindings(team: TeamAccount, operations: readonly Operation[]): Finding[] {
  const found: Finding[] = [];
  const wrong = (what: string) => void found.push({ invariant: 'L3', what: `team ${team.teamId}: ${what}` });
  const replay: Replay = { used: 0, held: 0, heldMicro: 0, balance: team.startMicro, open: new Map(), byKey: new Map() };
  for (const operation of operations) {
    const before = found.length;
    apply(replay, operation, team, wrong);
    compare(replay, operation.counters, wrong);
    // Further differences follow from the first.
    if (found.length > before) return found;
  }
  const { standing } = team;
  compare(replay, standing, wrong);
  compareKeys(replay, team, wrong);
  if (standing.heldCharacters !== 0 || standing.heldMicro !== 0 || standing.openReservations !== 0 || team.recordsLeft !== 0) {
    found.push({ invariant: 'L5', what: `team ${team.teamId} is left with ${team.recordsLeft} records and ${JSON.stringify(standing)}` });
  }
  return found;
}

function apply(replay: Replay, { reserved, ended }: Operation, { limits }: TeamAccount, wrong: (what: string) => void): void {
  for (const { requestId, as } of ended) {
    const reservation = replay.open.get(requestId);
    if (reservation === undefined) continue;
    replay.open.delete(requestId);
    replay.held -= reservation.characters;
    replay.heldMicro -= reservation.micro;
    if (as === 'committed') charge(replay, reservation);
  }
  for (const reservation of reserved) {
    const { requestId, characters, micro } = reservation;
    replay.open.set(requestId, reservation);
    replay.held += characters;
    replay.heldMicro += micro;
    const price = limits.billing === 'credit' ? characters * limits.minorPerMillion : 0;
    if (micro !== price) wrong(`${requestId} holds ${micro} millionths for ${characters} characters, not ${price}`);
    const most = limits.characterLimit + limits.overageCharacters;
    if (limits.billing === 'quota' && replay.used + replay.held > most) {
      wrong(`${requestId} was admitted with ${replay.used} used and ${replay.held} held of ${most}`);
    }
    if (replay.heldMicro > replay.balance)
      wrong(`${requestId} was admitted with ${replay.heldMicro} held of a balance of ${replay.balance}`);
  }
}

function charge(replay: Replay, { characters, micro, keyId }: Reserved): void {
  replay.used += characters;
  replay.balance -= micro;
  const key = replay.byKey.get(keyId) ?? { characters: 0, requests: 0 };
  replay.byKey.set(keyId, { characters: key.characters + characters, requests: key.requests + 1 });
}

function compare(replay: Replay, counters: Counters, wrong: (what: string) => void): void {
  const pairs = [
    ['used characters', counters.usedCharacters, replay.used],
    ['held characters', counters.heldCharacters, replay.held],
    ['held millionths', counters.heldMicro, replay.heldMicro],
    ['balance', counters.balanceMicro, replay.balance],
  ] as const;
  for (const [name, stored, sum] of pairs) {
    if (stored !== undefined && stored !== sum) wrong(`${name}: the store says ${stored}, its ids add up to ${sum}`);
    if (stored !== undefined && (stored < 0 || !Number.isSafeInteger(stored))) wrong(`${name}: ${stored} is no count`);
  }
}

function compareKeys({ byKey }: Replay, { keys }: TeamAccount, wrong: (what: string) => void): void {
  for (const { keyId, characters, requests } of keys) {
    const sum = byKey.get(keyId) ?? { characters: 0, requests: 0 };
    if (sum.characters === characters && sum.requests === requests) continue;
    wrong(`key ${keyId}: the store says ${characters} characters in ${requests} requests, its ids ${sum.characters} in ${sum.requests}`);
  }
}
