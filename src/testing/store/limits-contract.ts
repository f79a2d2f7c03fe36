// Part of the store contract: rate, windows and characters in a period, which mean the same for a team, a key and a tag.
import { WINDOWS, writtenWindows } from '../../domain/window-limits.ts';
import type { Counted, WindowName } from '../../domain/window-limits.ts';
import { expect } from '../expect.ts';
import { LIMITED, tagged } from './limited-under-test.ts';
import type { LimitedUnderTest, OwnLimits } from './limited-under-test.ts';
import { newId, TOUCH, withoutPromise } from './team-under-test.ts';
import type { AddStoreCase, Subject, Terms } from './team-under-test.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Requests after these steps of the clock, and how long each has to wait: 0 if it is admitted. */
interface Timeline {
  readonly name: string;
  readonly limit: number;
  readonly steps: readonly number[];
  readonly waits: readonly number[];
}

const TIMELINES: readonly Timeline[] = [
  {
    name: 'each slot is freed separately, exactly 1,000 ms after it was taken',
    limit: 3,
    steps: [0, 300, 300, 399, 1, 0, 299, 1, 0, 299, 1, 0],
    waits: [0, 0, 0, 1, 0, 300, 1, 0, 300, 1, 0, 400],
  },
  {
    name: 'several slots of the same millisecond are freed together',
    limit: 7,
    steps: [0, 0, 3, 200, 200, 0, 500, 0, 96, 1, 0, 0],
    waits: [0, 0, 0, 0, 0, 0, 0, 97, 1, 0, 0, 3],
  },
  { name: 'a wait is the time until the next slot is free', limit: 2, steps: [0, 250, 0], waits: [0, 0, 750] },
  { name: 'a refused request takes no slot', limit: 1, steps: [0, 300, 300, 300, 100], waits: [0, 700, 400, 100, 0] },
  {
    name: 'after a step back of an hour, full slots stay full for one more second',
    limit: 2,
    steps: [0, 0, -HOUR_MS, 999, 1, 0, 0],
    waits: [0, 0, 1000, 1, 0, 0, 1000],
  },
  {
    // The newest counts as taken now, the other as taken 600 ms earlier.
    name: 'slots keep their intervals when the clock steps back',
    limit: 2,
    steps: [0, 600, -HOUR_MS, 400, 0, 600, 0, 70_000, 0, 0],
    waits: [0, 0, 400, 0, 600, 0, 400, 0, 0, 1000],
  },
  { name: 'after a step back only the free slots are admitted', limit: 3, steps: [0, 0, -1, 0], waits: [0, 0, 0, 1000] },
  {
    name: 'stepping back an hour and forward again locks nobody out',
    limit: 1,
    steps: [0, -HOUR_MS, HOUR_MS, 0, 1000],
    waits: [0, 1000, 0, 1000, 0],
  },
];

/** The first and the last moment of a window, which a clock must not be set back before the team was made. */
const ENDS: readonly { readonly per: WindowName; readonly from: string; readonly to: string }[] = [
  { per: 'minute', from: '2030-05-01T11:59:00Z', to: '2030-05-01T12:00:00Z' },
  { per: 'hour', from: '2030-05-01T23:00:00Z', to: '2030-05-02T00:00:00Z' },
  { per: 'day', from: '2030-02-28T00:00:00Z', to: '2030-03-01T00:00:00Z' },
  { per: 'day', from: '2032-02-28T00:00:00Z', to: '2032-02-29T00:00:00Z' },
  { per: 'week', from: '2030-04-29T00:00:00Z', to: '2030-05-06T00:00:00Z' },
  { per: 'week', from: '2029-12-31T00:00:00Z', to: '2030-01-07T00:00:00Z' },
  { per: 'month', from: '2030-01-01T00:00:00Z', to: '2030-02-01T00:00:00Z' },
  { per: 'month', from: '2030-02-01T00:00:00Z', to: '2030-03-01T00:00:00Z' },
  { per: 'month', from: '2032-02-01T00:00:00Z', to: '2032-03-01T00:00:00Z' },
  { per: 'month', from: '2030-04-01T00:00:00Z', to: '2030-05-01T00:00:00Z' },
  { per: 'month', from: '2029-12-01T00:00:00Z', to: '2030-01-01T00:00:00Z' },
  { per: 'month', from: '2100-02-01T00:00:00Z', to: '2100-03-01T00:00:00Z' },
];

export function limitsContract(it: AddStoreCase, subject: Subject): void {
  for (const { name, whose, make } of LIMITED) {
    /** Adds a case that begins with a new one that has these limits. */
    const of = (title: string, limits: OwnLimits, run: (limited: LimitedUnderTest) => Promise<void>, terms: Terms = {}): void =>
      it(`${name}: ${title}`, async () => run(await make(subject, limits, terms)));
    const refusedBy = (per: WindowName, counts: Counted, limit: number, retryAfterMs: number) => ({
      kind: 'rate_limited',
      limit,
      retryAfterMs,
      ...whose,
      window: { per, counts },
    });
    rateCases();
    windowCases();
    characterCases();

    function rateCases(): void {
      for (const { name: title, limit, steps, waits } of TIMELINES) {
        of(title, { requestsPerSecond: limit }, async (limited) => {
          expect(await limited.waits(subject.clock, steps)).toEqual(waits);
        });
      }

      of('a changed rate applies to the slots already taken', { requestsPerSecond: 4 }, async (limited) => {
        expect(await limited.waits(subject.clock, [0, 100, 100, 100])).toEqual([0, 0, 0, 0]);
        subject.clock.step(100);
        await limited.change({ requestsPerSecond: 2 });
        expect(await limited.touch()).toEqual({ kind: 'rate_limited', limit: 2, retryAfterMs: 800, ...whose });
        await limited.change({ requestsPerSecond: 5 });
        expect(await limited.kinds(TOUCH, TOUCH)).toEqual(['admitted', 'rate_limited']);
        await limited.change({ requestsPerSecond: null });
        expect((await limited.touch()).kind).toBe('admitted');
      });

      for (const sinceMs of [0, 250, 699]) {
        of(`a refusal ${sinceMs} ms after the newest slot holds for as long as it says`, { requestsPerSecond: 2 }, async (limited) => {
          await limited.waits(subject.clock, [0, 300]);
          subject.clock.step(sinceMs);
          subject.clock.step(await limited.holdsForMs());
          expect(await limited.touch()).toMatchObject({ kind: 'rate_limited', limit: 2 });
        });
      }

      of('a refusal by the rate stamps the last use, and its id may be admitted later', { requestsPerSecond: 1 }, async (limited) => {
        await limited.touch();
        subject.clock.step(10);
        const requestId = newId();
        expect(await limited.admit({ requestId })).toMatchObject({ kind: 'rate_limited', limit: 1, ...whose });
        const key = (await limited.usage()).keys.find(({ keyId }) => keyId === limited.keyId);
        expect(key?.lastUsedAtMs).toBe(subject.clock.nowMs());
        subject.clock.step(990);
        expect(await limited.admit({ requestId })).toMatchObject({ kind: 'admitted', reservation: { requestId } });
      });
    }

    function windowCases(): void {
      for (const { per, from, to } of ENDS) {
        it(`${name}: a ${per} from ${from} ends at ${to}`, async ({ clock }) => {
          const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
          clock.set(fromMs - 1);
          const limited = await make(subject, { windows: `requests=1/${per}` });
          expect((await limited.touch()).kind).toBe('admitted');
          expect(await limited.touch()).toEqual(refusedBy(per, 'requests', 1, 1));
          clock.set(fromMs);
          expect((await limited.touch()).kind).toBe('admitted');
          expect(await limited.touch()).toEqual(refusedBy(per, 'requests', 1, toMs - fromMs));
          clock.set(toMs - 1);
          expect(await limited.touch()).toEqual(refusedBy(per, 'requests', 1, 1));
          clock.set(toMs);
          expect((await limited.touch()).kind).toBe('admitted');
        });
      }

      it(`${name}: a window that ends begins again while a longer one goes on`, async ({ clock }) => {
        clock.set(Date.parse('2030-05-01T10:30:00Z'));
        const limited = await make(subject, { windows: 'requests=2/minute requests=5/hour characters=1000/hour' });
        const burst = async () => [await limited.touch(), await limited.touch(), await limited.touch()];
        const minute = refusedBy('minute', 'requests', 2, MINUTE_MS);
        expect(await burst()).toMatchObject([{ kind: 'admitted' }, { kind: 'admitted' }, minute]);
        clock.step(MINUTE_MS);
        expect(await burst()).toMatchObject([{ kind: 'admitted' }, { kind: 'admitted' }, minute]);
        clock.step(MINUTE_MS);
        const hour = refusedBy('hour', 'requests', 5, 28 * MINUTE_MS);
        expect(await burst()).toMatchObject([{ kind: 'admitted' }, hour, hour]);
      });

      it(`${name}: of several windows that refuse a request, the one that ends last is named`, async ({ clock }) => {
        clock.set(Date.parse('2030-05-01T10:30:30Z'));
        const limited = await make(subject, { windows: writtenWindows(WINDOWS.map((per) => ({ per, requests: 1, characters: 15 }))) });
        await limited.reserve(10);
        const monthMs = Date.parse('2030-06-01T00:00:00Z') - clock.nowMs();
        expect(await limited.touch()).toEqual(refusedBy('month', 'requests', 1, monthMs));
        await limited.change({ windows: 'characters=15/minute characters=15/hour requests=100/month' });
        expect((await limited.touch()).kind).toBe('admitted');
        expect(await limited.admit({ characters: 6 })).toEqual(refusedBy('hour', 'characters', 15, 29.5 * MINUTE_MS));
        clock.set(Date.parse('2030-05-30T10:00:00Z'));
        const other = await make(subject, { windows: 'requests=1/week requests=1/month' });
        await other.touch();
        expect(await other.touch()).toEqual(refusedBy('week', 'requests', 1, Date.parse('2030-06-03T00:00:00Z') - clock.nowMs()));
      });

      of(
        'a request that a window refuses takes no slot, and is counted nowhere',
        { windows: 'requests=2/hour characters=1000/hour' },
        async (limited) => {
          await limited.kinds(TOUCH, TOUCH);
          const requestId = newId();
          const retryAfterMs = HOUR_MS - (subject.clock.nowMs() % HOUR_MS);
          expect(await limited.admit({ requestId })).toEqual(refusedBy('hour', 'requests', 2, retryAfterMs));
          expect(await limited.standing()).toMatchObject({ heldCharacters: 0, openReservations: 0 });
          await limited.change({ windows: 'requests=3/hour' });
          expect(await limited.admit({ requestId })).toMatchObject({ kind: 'admitted', reservation: { requestId } });
          expect(await limited.touch()).toMatchObject({ kind: 'rate_limited', limit: 3, retryAfterMs: 1000 });
        },
        { requestsPerSecond: 3 },
      );

      of(
        'characters are counted when they are reserved, and free again at once when they are not charged',
        { windows: 'characters=100/hour' },
        async (limited) => {
          const [first, second] = [await limited.reserve(60), await limited.reserve(30)];
          const kinds = await limited.kinds({ characters: 11 }, TOUCH, { reserve: false, characters: 90 });
          expect(kinds).toEqual(['rate_limited', 'admitted', 'admitted']);
          await limited.release(first.requestId);
          const third = await limited.reserve(70, { leaseMs: 500 });
          expect((await limited.admit({ characters: 1 })).kind).toBe('rate_limited');
          await limited.commit(second.requestId);
          expect((await limited.admit({ characters: 1 })).kind).toBe('rate_limited');
          subject.clock.step(500);
          await limited.commit(third.requestId);
          expect(await limited.kinds({ characters: 71 }, { characters: 70 })).toEqual(['rate_limited', 'admitted']);
          expect((await limited.release(first.requestId)).kind).toBe('absent');
          expect(await limited.kinds({ characters: 1 })).toEqual(['rate_limited']);
        },
      );

      of('only what is charged stays, and only what is reserved counts', { windows: 'characters=50/day' }, async (limited) => {
        const one = await limited.reserve(50);
        await limited.commitPart(one.requestId, 20);
        expect(await limited.kinds({ characters: 31 })).toEqual(['rate_limited']);
        const part = { characters: 500, charged: 15 };
        expect(await limited.kinds(part, part, part, { characters: 500, charged: 0 })).toEqual([
          'admitted',
          'admitted',
          'rate_limited',
          'admitted',
        ]);
      });

      for (const end of ['release', 'expiry', 'commit'] as const) {
        it(`${name}: a ${end} after the window has ended gives nothing to the next one`, async ({ clock }) => {
          clock.set(Date.parse('2030-05-01T10:00:59.900Z'));
          const limited = await make(subject, { windows: 'characters=90/minute' });
          const before = await limited.reserve(80, { leaseMs: 200 });
          clock.step(100);
          expect(await limited.kinds({ characters: 90 }, { characters: 1 })).toEqual(['admitted', 'rate_limited']);
          if (end === 'expiry') clock.step(100);
          else await limited[end](before.requestId);
          expect(await limited.kinds({ characters: 1 })).toEqual(['rate_limited']);
        });
      }

      of(
        'a text longer than a whole window is a 402, and counts nowhere',
        { windows: 'characters=30/minute characters=60/day' },
        async (limited) => {
          const refused = { kind: 'quota_exceeded', overageCapMinor: 0, ...whose };
          const endOf = (lengthMs: number): number => subject.clock.nowMs() - (subject.clock.nowMs() % lengthMs) + lengthMs;
          expect(await limited.admit({ characters: 31 })).toEqual({
            ...refused,
            characterLimit: 30,
            periodEndMs: endOf(MINUTE_MS),
            window: { per: 'minute', counts: 'characters' },
          });
          expect(await limited.admit({ characters: 61 })).toMatchObject({ ...refused, window: { counts: 'characters' } });
          expect(await limited.windowsUsed()).toMatchObject([{ usedCharacters: 0 }, { usedCharacters: 0 }]);
        },
      );

      of('characters and requests of a window are judged apart', { windows: 'requests=3/day characters=20/day' }, async (limited) => {
        const by = (counts: Counted, limit: number) => ({ kind: 'rate_limited', limit, ...whose, window: { per: 'day', counts } });
        await limited.reserve(20);
        expect(await limited.admit({ characters: 1 })).toMatchObject(by('characters', 20));
        expect(await limited.kinds({ characters: 0 }, TOUCH)).toEqual(['admitted', 'admitted']);
        expect(await limited.admit({ characters: 1 })).toMatchObject(by('requests', 3));
      });

      of(
        'a changed number keeps what was counted; a new window begins with nothing',
        { windows: 'requests=2/day characters=50/day' },
        async (limited) => {
          const first = await limited.reserve(10);
          await limited.reserve(10);
          expect((await limited.touch()).kind).toBe('rate_limited');
          await limited.change({ windows: 'requests=3/day characters=35/day requests=1/month' });
          expect(await limited.admit({ characters: 16 })).toMatchObject({ limit: 35, window: { per: 'day', counts: 'characters' } });
          expect((await limited.admit({ characters: 15 })).kind).toBe('admitted');
          expect(await limited.touch()).toMatchObject({ limit: 1, window: { per: 'month', counts: 'requests' } });
          await limited.change({ windows: null });
          expect((await limited.touch()).kind).toBe('admitted');
          await limited.change({ windows: 'characters=40/day characters=30/month' });
          await limited.release(first.requestId);
          expect(await limited.kinds({ characters: 16 }, { characters: 15 })).toEqual(['rate_limited', 'admitted']);
        },
      );

      of('a reservation gives back only to the windows in which it was counted', {}, async (limited) => {
        const before = await limited.reserve(40);
        await limited.change({ windows: 'characters=100/day' });
        await limited.reserve(100);
        await limited.release(before.requestId);
        expect(await limited.kinds({ characters: 1 })).toEqual(['rate_limited']);
        await limited.change({ windows: null });
        const between = await limited.reserve(30);
        await limited.change({ windows: 'characters=120/day' });
        await limited.release(between.requestId);
        expect(await limited.kinds({ characters: 21 }, { characters: 20 })).toEqual(['rate_limited', 'admitted']);
      });

      of(
        'a refusal holds until the window ends for requests, not at all for characters',
        { windows: 'requests=2/minute characters=10/hour' },
        async (limited) => {
          const text = { characters: 8 };
          await limited.admit(text);
          expect(await limited.holdsForMs(text)).toBe(0);
          await limited.touch();
          // The hour ends later, but the refusal by the minute's requests is the one that holds.
          const holdsForMs = await limited.holdsForMs();
          expect(holdsForMs).toBeAtLeast(1);
          subject.clock.step(Math.max(holdsForMs, await limited.holdsForMs(text)));
          expect((await limited.admit(text)).kind).toBe('rate_limited');
        },
      );

      it(`${name}: what is used of its windows is shown`, async ({ clock }) => {
        clock.set(Date.parse('2030-05-01T10:30:30Z'));
        const limited = await make(subject, { windows: 'requests=5/minute characters=100/day' });
        const uses = async (...used: readonly (readonly [requests: number, characters: number, endMs: number])[]) =>
          expect(await limited.windowsUsed()).toMatchObject(
            used.map(([usedRequests, usedCharacters, endMs]) => ({ usedRequests, usedCharacters, endMs })),
          );
        const dayMs = Date.parse('2030-05-02T00:00:00Z');
        await uses([0, 0, clock.nowMs() + 30_000], [0, 0, dayMs]);
        const { requestId } = await limited.reserve(30);
        await limited.use(20);
        await limited.reserve(5, { leaseMs: 500 });
        clock.step(500);
        // What an ended lease holds of a tag comes back with the team's next operation.
        if (name === 'tag') await limited.admit({ ...TOUCH, ...tagged('other') });
        await uses([3, 50, clock.nowMs() + 29_500], [3, 50, dayMs]);
        clock.set(Date.parse('2030-05-01T11:00:00Z'));
        await limited.release(requestId);
        await uses([0, 0, clock.nowMs() + MINUTE_MS], [3, 20, dayMs]);
      });

      it(`${name}: if the clock steps back, a window stays; by more than its length, its counts move with the clock`, async ({ clock }) => {
        clock.set(Date.parse('2030-05-01T10:30:10Z'));
        const limited = await make(subject, { windows: 'requests=2/minute' });
        await limited.touch();
        clock.set(Date.parse('2030-05-01T10:29:50Z'));
        await limited.touch();
        expect(await limited.touch()).toEqual(refusedBy('minute', 'requests', 2, 70_000));
        clock.set(Date.parse('2030-05-01T10:28:30Z'));
        expect(await limited.touch()).toEqual(refusedBy('minute', 'requests', 2, 30_000));
        clock.set(Date.parse('2030-05-01T10:31:00Z'));
        expect((await limited.touch()).kind).toBe('admitted');
      });

      it(`${name}: two instances admit exactly what fits, in bursts over the end of a window`, async ({ clock }) => {
        clock.set(Date.parse('2030-05-01T10:30:59.900Z'));
        const limited = await make(subject, { windows: 'requests=7/minute characters=50/hour' }, { requestsPerSecond: 10_000 });
        const other = limited.withKey((await limited.newKey()).keyId);
        for (let burst = 0; burst < 4; burst++) {
          // A key's own limit is not that of another.
          const asked = Array.from({ length: 24 }, (_, i) =>
            (i % 2 === 0 || name === 'key' ? limited : other).admit({ characters: 2 }, i % 3 === 0 ? subject.again : subject.store),
          );
          const answers = await Promise.all(asked);
          expect(answers.filter(({ kind }) => kind === 'admitted')).toHaveLength(burst % 2 === 0 ? 7 : 0);
          clock.step(burst % 2 === 0 ? 5 : MINUTE_MS);
        }
        expect((await limited.windowsUsed())[1]).toMatchObject({ usedRequests: 14 });
      });
    }

    function characterCases(): void {
      of(
        'characters in the period include open reservations, until they are released or their lease ends',
        { characters: 20 },
        async (limited) => {
          const { periodEndMs } = await limited.usage();
          const refused = { kind: 'quota_exceeded', characterLimit: 20, overageCapMinor: 0, periodEndMs, ...whose };
          await limited.reserve(12, { leaseMs: 500 });
          const [charged, released] = [await limited.reserve(6), await limited.reserve(2)];
          expect(await limited.admit({ characters: 1 })).toEqual(refused);
          await limited.commit(charged.requestId);
          expect(await limited.admit({ characters: 1 })).toEqual(refused);
          await limited.release(released.requestId);
          expect(await limited.kinds({ characters: 3 })).toEqual(['quota_exceeded']);
          await limited.reserve(2);
          subject.clock.step(499);
          expect((await limited.admit({ characters: 1 })).kind).toBe('quota_exceeded');
          subject.clock.step(1);
          expect(await limited.kinds({ characters: 13 }, { characters: 12 })).toEqual(['quota_exceeded', 'admitted']);
        },
      );

      of('characters begin again with the period; what comes back late is of the period before', { characters: 50 }, async (limited) => {
        const { periodEndMs } = await limited.usage();
        subject.clock.set(periodEndMs - 10);
        const [early, late] = [await limited.reserve(30), await limited.reserve(20)];
        expect((await limited.admit({ characters: 1 })).kind).toBe('quota_exceeded');
        subject.clock.set(periodEndMs);
        await limited.reserve(50);
        await limited.release(early.requestId);
        await limited.commit(late.requestId);
        expect((await limited.admit({ characters: 1 })).kind).toBe('quota_exceeded');
      });

      of('a changed number of characters keeps what is used', { characters: 20 }, async (limited) => {
        await limited.use(15);
        await limited.change({ characters: 30 });
        expect(await limited.kinds({ characters: 16 }, { characters: 15 })).toEqual(['quota_exceeded', 'admitted']);
        await limited.change({ characters: null });
        await limited.reserve(100);
        await limited.change({ characters: 132 });
        expect(await limited.kinds({ characters: 3 }, { characters: 2 })).toEqual(['quota_exceeded', 'admitted']);
      });

      of('concurrent requests never exceed the characters, over two instances', { characters: 30 }, async (limited) => {
        const asked = Array.from({ length: 20 }, (_, i) => limited.admit({ characters: 10 }, i % 3 === 0 ? subject.again : subject.store));
        const answers = await Promise.all(asked);
        expect(answers.filter(({ kind }) => kind === 'admitted')).toHaveLength(3);
      });

      of(
        'a check before a long body judges rate and requests, and counts nothing',
        { requestsPerSecond: 2, windows: 'requests=1/day characters=5/day' },
        async (limited) => {
          const tag = name === 'tag' ? tagged('acme') : {};
          const check = async () =>
            withoutPromise(await subject.store.ledger.check({ requestId: newId(), teamId: limited.teamId, keyId: limited.keyId, ...tag }));
          expect(await check()).toEqual({ kind: 'admitted', reservation: undefined });
          await limited.reserve(5);
          expect(await check()).toMatchObject({ kind: 'rate_limited', limit: 1, ...whose, window: { per: 'day', counts: 'requests' } });
          await limited.change({ requestsPerSecond: 1 });
          expect(await check()).toEqual({ kind: 'rate_limited', limit: 1, retryAfterMs: 1000, ...whose });
        },
      );
    }
  }
}
