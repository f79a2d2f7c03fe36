// Part of the store contract: a clock that steps back neither locks a team out nor admits it twice.
import type { AddCase } from '../cases.ts';
import { expect } from '../expect.ts';
import type { Subject } from './subject.ts';
import { teamUnderTest } from './team-under-test.ts';
import type { TeamUnderTest } from './team-under-test.ts';

const HOUR_MS = 3_600_000;

export function clockContract(it: AddCase, subject: Subject): void {
  it('after a step back of an hour, a full window stays full for one more second', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 2 });
    await kinds(team, 2);
    subject.clock.step(-HOUR_MS);
    expect(await team.touch()).toEqual({ kind: 'rate_limited', limit: 2, retryAfterMs: 1000 });
    subject.clock.step(999);
    expect((await team.touch()).kind).toBe('rate_limited');
    subject.clock.step(1);
    expect(await kinds(team, 3)).toEqual(['admitted', 'admitted', 'rate_limited']);
  });

  it('slots keep their intervals when the clock steps back', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 2 });
    await team.touch();
    subject.clock.step(600);
    await team.touch();
    subject.clock.step(-HOUR_MS);
    // The newest counts as taken now, the other as taken 600 ms earlier.
    expect(await team.touch()).toEqual({ kind: 'rate_limited', limit: 2, retryAfterMs: 400 });
    subject.clock.step(400);
    expect(await kinds(team, 2)).toEqual(['admitted', 'rate_limited']);
    subject.clock.step(600);
    expect(await kinds(team, 2)).toEqual(['admitted', 'rate_limited']);
  });

  it('after the step, a window that is not full admits only as many as it has free slots', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 3 });
    await kinds(team, 2);
    subject.clock.step(-1);
    expect(await kinds(team, 2)).toEqual(['admitted', 'rate_limited']);
  });

  it('stepping back an hour and forward again locks nobody out', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 1 });
    await team.touch();
    subject.clock.step(-HOUR_MS);
    expect((await team.touch()).kind).toBe('rate_limited');
    subject.clock.step(HOUR_MS);
    expect(await kinds(team, 2)).toEqual(['admitted', 'rate_limited']);
    subject.clock.step(1000);
    expect((await team.touch()).kind).toBe('admitted');
  });

  it('however often the clock steps, at most the limit is admitted per 1,000 ms of forward time', async () => {
    const limit = 3;
    const team = await teamUnderTest(subject.store, { requestsPerSecond: limit });
    const admittedAt: number[] = [];
    let elapsedMs = 0;
    for (const stepMs of [0, 100, -50, 200, -HOUR_MS, 150, 0, 300, -1, 400, -HOUR_MS, 250, 250, 250, -999, 500, 500, -1000, 1]) {
      subject.clock.step(stepMs);
      elapsedMs += Math.max(0, stepMs);
      for (const kind of await kinds(team, limit + 1)) if (kind === 'admitted') admittedAt.push(elapsedMs);
    }
    const spans = admittedAt.slice(limit).map((atMs, i) => atMs - (admittedAt[i] ?? Number.NaN));
    expect(spans.length).toBeAtLeast(1);
    expect(Math.min(...spans)).toBeAtLeast(1000);
  });

  it('the last use never moves back, not even on a refused request', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 2 });
    await team.touch();
    const usedAtMs = subject.clock.nowMs();
    subject.clock.step(-HOUR_MS);
    expect(await kinds(team, 2)).toEqual(['admitted', 'rate_limited']);
    expect((await team.usage()).keys[0]?.lastUsedAtMs).toBe(usedAtMs);
  });

  it('an expired lease whose characters were reserved again stays expired when the clock steps back', async () => {
    const team = await teamUnderTest(subject.store, { characterLimit: 10 });
    const { requestId } = await team.reserve(10, { leaseMs: 500 });
    subject.clock.step(500);
    const heir = await team.reserve(10);
    subject.clock.step(-100);
    expect(await team.commit(requestId)).toEqual({ kind: 'expired' });
    expect(await team.commit(heir.requestId)).toEqual({ kind: 'committed' });
    expect(await team.standing()).toMatchObject({ usedCharacters: 10, heldCharacters: 0, openReservations: 0 });
  });

  it('a period that has begun is not replaced by an earlier one with a fresh quota', async () => {
    const team = await teamUnderTest(subject.store, { characterLimit: 10, period: 'PT10S' });
    subject.clock.step(10_000);
    const { requestId } = await team.reserve(10);
    await team.commit(requestId);
    const periodEndMs = subject.clock.nowMs() + 10_000;
    subject.clock.step(-1);
    expect(await team.admit()).toEqual({ kind: 'quota_exceeded', characterLimit: 10, overageCapMinor: 0, periodEndMs });
    expect((await team.usage()).characters).toBe(10);
  });
}

async function kinds(team: TeamUnderTest, requests: number): Promise<string[]> {
  const answers: string[] = [];
  for (let i = 0; i < requests; i++) answers.push((await team.touch()).kind);
  return answers;
}
