// Every team's account: after each operation its counters are the sums of its ids and within its limits, and at the end nothing is held.
import { overdrawn, priceOf } from '../../../support/auditor/totals.ts';
import type { Counters, Finding, History, Operation, Reserved, TeamAccount } from '../../../support/history.ts';

/** By the names of the store's counters; no key of these runs is a test key. */
interface Replay extends Record<keyof Counters, number> {
  readonly open: Map<string, Reserved>;
  readonly byKey: Map<string, { characters: number; requests: number }>;
}

const NOTHING_FREE = { allowanceUsed: 0, allowanceHeld: 0 };

/** L3 and L5. */
export function accountFindings({ teams, operations }: History): Finding[] {
  const byTeam = Map.groupBy(operations, ({ teamId }) => teamId);
  return teams.flatMap((team) => teamFindings(team, byTeam.get(team.teamId) ?? []));
}

function teamFindings(team: TeamAccount, operations: readonly Operation[]): Finding[] {
  const found: Finding[] = [];
  const wrong = (what: string) => void found.push({ invariant: 'L3', what: `team ${team.teamId}: ${what}` });
  const counters = { usedCharacters: 0, heldCharacters: 0, heldMicro: 0, balanceMicro: team.startMicro };
  const replay: Replay = { ...counters, open: new Map(), byKey: new Map() };
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
    replay.heldCharacters -= reservation.characters;
    replay.heldMicro -= reservation.micro;
    if (as === 'committed') charge(replay, reservation);
  }
  for (const reservation of reserved) {
    const { requestId, characters, micro } = reservation;
    replay.open.set(requestId, reservation);
    replay.heldCharacters += characters;
    replay.heldMicro += micro;
    const price = priceOf(characters, limits, 'live');
    if (micro !== price) wrong(`${requestId} holds ${micro} millionths for ${characters} characters, not ${price}`);
    const { usedCharacters, heldCharacters, heldMicro, balanceMicro } = replay;
    const fault = overdrawn({ usedCharacters, heldCharacters, heldMicro, balanceMicro, ...NOTHING_FREE }, limits, 'live');
    if (fault !== undefined) wrong(`${requestId} was admitted with ${fault}`);
  }
}

function charge(replay: Replay, { characters, micro, keyId }: Reserved): void {
  replay.usedCharacters += characters;
  replay.balanceMicro -= micro;
  const key = replay.byKey.get(keyId) ?? { characters: 0, requests: 0 };
  replay.byKey.set(keyId, { characters: key.characters + characters, requests: key.requests + 1 });
}

function compare(replay: Replay, counters: Counters, wrong: (what: string) => void): void {
  for (const name of ['usedCharacters', 'heldCharacters', 'heldMicro', 'balanceMicro'] as const) {
    const [stored, sum] = [counters[name], replay[name]];
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
