// Part of the store contract: a clock that steps back neither locks a team out nor admits it twice.
import type { AddCase } from '../cases.ts';
import { expect } from '../expect.ts';
import type { Subject } from './subject.ts';
import { BACKWARD } from './rate-contract.ts';
import { teamUnderTest, TOUCH } from './team-under-test.ts';

const HOUR_MS = 3_600_000;

export function clockContract(it: AddCase<Subject>, subject: Subject): void {
  it.each(BACKWARD)('$name', async ({ limit, steps, waits }) => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: limit });
    expect(await team.waits(subject.clock, steps)).toEqual(waits);
  });

  it('however often the clock steps, at most the limit is admitted per 1,000 ms of forward time', async () => {
    const limit = 3;
    const team = await teamUnderTest(subject.store, { requestsPerSecond: limit });
    const admittedAt: number[] = [];
    let elapsedMs = 0;
    for (const stepMs of [0, 100, -50, 200, -HOUR_MS, 150, 0, 300, -1, 400, -HOUR_MS, 250, 250, 250, -999, 500, 500, -1000, 1]) {
      subject.clock.step(stepMs);
      elapsedMs += Math.max(0, stepMs);
      for (const kind of await team.kinds(TOUCH, TOUCH, TOUCH, TOUCH)) if (kind === 'admitted') admittedAt.push(elapsedMs);
    }
    const spans = admittedAt.slice(limit).map((atMs, i) => atMs - (admittedAt[i] ?? Number.NaN));
    expect(spans.length).toBeAtLeast(1);
    expect(Math.min(...spans)).toBeAtLeast(1000);
  });

  it('the last use never moves back, not even on a refused request', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 2 });
    await team.touch();
    const usedAtMs = subject.clock.nowMs();
    expect(await team.waits(subject.clock, [-HOUR_MS, 0])).toEqual([0, 1000]);
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
    await team.use(10);
    const periodEndMs = subject.clock.nowMs() + 10_000;
    subject.clock.step(-1);
    expect(await team.admit()).toEqual({ kind: 'quota_exceeded', characterLimit: 10, overageCapMinor: 0, periodEndMs });
    expect((await team.usage()).characters).toBe(10);
  });
}
