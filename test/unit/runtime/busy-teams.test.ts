// Traffic by team in the last 15 minutes: counted exactly, forgotten by the minute, bounded, and added up over processes.
import { expect, test } from 'vitest';
import { BusyTeams, busiestOf } from '../../../src/runtime/busy-teams.ts';
import { ACCESS_ENTRY } from '../../support/access-entry.ts';

const MINUTE_MS = 60_000;

function counting(startMs = 100 * MINUTE_MS) {
  const time = { nowMs: startMs };
  const busy = new BusyTeams(() => time.nowMs);
  const send = (teamId: string | undefined, code = 'ok', characters = 0): void =>
    busy.record({ ...ACCESS_ENTRY, teamId, code, characters });
  const of = (teamId: string) => busy.snapshot().teams.find((one) => one.teamId === teamId);
  return { time, busy, send, of };
}

test('requests, those without an answer, and charged characters are counted by team', () => {
  const { send, of, busy } = counting();
  send('A', 'ok', 10);
  send('A', 'rate_limited');
  send('A', 'client_closed');
  send('B', 'engine_unavailable');
  send(undefined, 'unauthorized');
  expect(of('A')).toEqual({ teamId: 'A', requests: 3, unanswered: 1, characters: 10 });
  expect(of('B')).toEqual({ teamId: 'B', requests: 1, unanswered: 1, characters: 0 });
  expect(busy.snapshot().teams).toHaveLength(2);
});

test('a minute is forgotten after fifteen, and a team with it that sent nothing since', () => {
  const { time, send, of, busy } = counting();
  send('A', 'ok', 1);
  send('B', 'ok', 2);
  time.nowMs += 14 * MINUTE_MS;
  send('A', 'ok', 4);
  expect([of('A')?.characters, of('B')?.characters]).toEqual([5, 2]);
  time.nowMs += MINUTE_MS;
  expect([of('A'), of('B')]).toEqual([{ teamId: 'A', requests: 1, unanswered: 0, characters: 4 }, undefined]);
  time.nowMs += 60 * MINUTE_MS;
  send('C');
  expect(busy.snapshot().teams.map(({ teamId }) => teamId)).toEqual(['C']);
});

test('a clock that is set back drops what it had counted in the future', () => {
  const { time, send, of } = counting();
  send('A');
  time.nowMs -= 30 * MINUTE_MS;
  send('A');
  expect(of('A')?.requests).toBe(1);
});

test('beyond 5,000 teams in a minute, requests of further teams are only counted together', () => {
  const { send, busy, of } = counting();
  for (let team = 0; team < 5002; team++) send(`T${team}`);
  send('T1', 'ok', 9);
  expect(busy.snapshot().uncounted).toBe(2);
  expect(of('T1')).toMatchObject({ requests: 2, characters: 9 });
  expect(busy.snapshot().teams.length).toBeLessThanOrEqual(400);
});

test('processes are added up, and the first are those with most requests, or most characters', () => {
  const [one, other] = [counting(), counting()];
  one.send('A', 'ok', 100);
  for (let i = 0; i < 3; i++) one.send('B', 'rate_limited');
  other.send('A', 'ok', 5);
  other.send('C', 'ok', 50);
  const { byRequests, byCharacters, uncounted } = busiestOf([one.busy.snapshot(), other.busy.snapshot()], 2);
  expect(byRequests.map(({ teamId, requests }) => [teamId, requests])).toEqual([
    ['B', 3],
    ['A', 2],
  ]);
  expect(byCharacters.map(({ teamId, characters }) => [teamId, characters])).toEqual([
    ['A', 105],
    ['C', 50],
  ]);
  expect(uncounted).toBe(0);
});
