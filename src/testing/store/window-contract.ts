// Part of the store contract: limits by minute, hour, day, week and month, of teams and of keys, in UTC.
import { WINDOWS, writtenWindows } from '../../domain/window-limits.ts';
import type { WindowName } from '../../domain/window-limits.ts';
import type { Admission } from '../../ports/ledger.ts';
import { expect } from '../expect.ts';
import { START_MS } from '../movable-clock.ts';
import { keyUnderTest } from './key-under-test.ts';
import { newId, present, teamUnderTest, TOUCH } from './team-under-test.ts';
import type { AddStoreCase, AdmissionChoices, Subject, TeamUnderTest } from './team-under-test.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Moments just before a window ends, and its first moment; the clock must not be set back before the team was made. */
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

function refused(limit: number, retryAfterMs: number, per: WindowName, counts: 'requests' | 'characters', of?: 'key') {
  return { kind: 'rate_limited', limit, retryAfterMs, ...(of === undefined ? {} : { of }), window: { per, counts } };
}

function windowIn(answer: Admission): unknown {
  return 'window' in answer ? answer.window : undefined;
}

export function windowContract(it: AddStoreCase, subject: Subject): void {
  it.each(ENDS)('a $per from $from ends at $to', async ({ per, from, to }) => {
    const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
    subject.clock.set(fromMs - 1);
    const team = await teamUnderTest(subject.store, { windows: `requests=1/${per}` });
    expect((await team.touch()).kind).toBe('admitted');
    expect(await team.touch()).toEqual(refused(1, 1, per, 'requests'));
    subject.clock.set(fromMs);
    expect((await team.touch()).kind).toBe('admitted');
    expect(await team.touch()).toEqual(refused(1, toMs - fromMs, per, 'requests'));
    subject.clock.set(toMs - 1);
    expect(await team.touch()).toEqual(refused(1, 1, per, 'requests'));
    subject.clock.set(toMs);
    expect((await team.touch()).kind).toBe('admitted');
  });

  it('a window that ends begins again while a longer one goes on', async ({ clock }) => {
    clock.set(Date.parse('2030-05-01T10:30:00Z'));
    const team = await teamUnderTest(subject.store, { windows: 'requests=2/minute requests=5/hour characters=1000/hour' });
    const burst = async (): Promise<unknown[]> => [await team.touch(), await team.touch(), await team.touch()].map(windowIn);
    const byMinute = { per: 'minute', counts: 'requests' };
    expect(await burst()).toEqual([undefined, undefined, byMinute]);
    clock.step(MINUTE_MS);
    expect(await burst()).toEqual([undefined, undefined, byMinute]);
    clock.step(MINUTE_MS);
    const byHour = { per: 'hour', counts: 'requests' };
    expect(await burst()).toEqual([undefined, byHour, byHour]);
  });

  it('a request that is refused takes no place, and is counted nowhere', async ({ clock }) => {
    clock.set(START_MS);
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 3, windows: 'requests=2/hour characters=1000/hour' });
    await team.touch();
    await team.touch();
    const requestId = newId();
    const retryAfterMs = HOUR_MS - (clock.nowMs() % HOUR_MS);
    expect(await team.admit({ requestId })).toEqual(refused(2, retryAfterMs, 'hour', 'requests'));
    expect(await team.standing()).toMatchObject({ heldCharacters: 0, openReservations: 0 });
    expect((await team.usage()).keys[0]?.lastUsedAtMs).toBe(clock.nowMs());
    await team.setLimits({ windows: 'requests=3/hour' });
    expect(await team.admit({ requestId })).toMatchObject({ kind: 'admitted', reservation: { requestId } });
    expect(await team.touch()).toMatchObject({ kind: 'rate_limited', limit: 3, retryAfterMs: 1000 });
  });

  it('the rate is judged first, then the windows of the team, then of the key, then length and quota', async ({ clock }) => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 2, windows: 'requests=3/minute', maxCharactersPerRequest: 50 });
    const key = await keyUnderTest(subject, { windows: 'requests=2/day' }, team);
    expect(await key.kinds(TOUCH, TOUCH, TOUCH)).toEqual(['admitted', 'admitted', 'rate_limited']);
    expect(windowIn(await key.touch())).toBeUndefined();
    clock.step(1000);
    expect(await key.admit({ characters: 51 })).toMatchObject({ kind: 'rate_limited', limit: 2, of: 'key', window: { per: 'day' } });
    expect((await team.touch()).kind).toBe('admitted');
    expect(await key.touch()).toMatchObject({ kind: 'rate_limited', limit: 3, window: { per: 'minute', counts: 'requests' } });
    expect('of' in (await key.touch())).toBe(false);
    clock.step(MINUTE_MS);
    expect(await team.kinds({ characters: 51 }, { characters: 2_000_000 })).toEqual(['text_too_long', 'text_too_long']);
    clock.step(1000);
    expect(await team.kinds({ glossary: { glossaryId: newId(), sourceLang: 'EN', targetLang: 'DE' } })).toEqual(['glossary_missing']);
    expect(await team.touch()).toMatchObject({ kind: 'rate_limited', limit: 3, window: { per: 'minute' } });
  });

  it('of several windows that refuse a request, the one that ends last is named', async ({ clock }) => {
    clock.set(Date.parse('2030-05-01T10:30:30Z'));
    const windows = writtenWindows(WINDOWS.map((per) => ({ per, requests: 1, characters: 15 })));
    const team = await teamUnderTest(subject.store, { windows });
    await team.reserve(10);
    const monthMs = Date.parse('2030-06-01T00:00:00Z') - clock.nowMs();
    expect(await team.touch()).toEqual(refused(1, monthMs, 'month', 'requests'));
    await team.setLimits({ windows: 'characters=15/minute characters=15/hour requests=100/month' });
    expect((await team.touch()).kind).toBe('admitted');
    expect(await team.admit({ characters: 6 })).toEqual(refused(15, 29.5 * MINUTE_MS, 'hour', 'characters'));
    clock.set(Date.parse('2030-05-30T10:00:00Z'));
    const other = await teamUnderTest(subject.store, { windows: 'requests=1/week requests=1/month' });
    await other.touch();
    expect(await other.touch()).toMatchObject({
      window: { per: 'week' },
      retryAfterMs: Date.parse('2030-06-03T00:00:00Z') - clock.nowMs(),
    });
  });

  it('characters are counted when they are reserved, and free again at once when they are not charged', async ({ clock }) => {
    const team = await teamUnderTest(subject.store, { windows: 'characters=100/hour' });
    const [first, second] = [await team.reserve(60), await team.reserve(30)];
    expect(await team.kinds({ characters: 11 }, TOUCH, { reserve: false, characters: 90 })).toEqual([
      'rate_limited',
      'admitted',
      'admitted',
    ]);
    await team.release(first.requestId);
    const third = await team.reserve(70, { leaseMs: 500 });
    expect((await team.admit({ characters: 1 })).kind).toBe('rate_limited');
    await team.commit(second.requestId);
    expect((await team.admit({ characters: 1 })).kind).toBe('rate_limited');
    clock.step(500);
    await team.commit(third.requestId);
    expect(await team.kinds({ characters: 71 }, { characters: 70 })).toEqual(['rate_limited', 'admitted']);
    expect((await team.release(first.requestId)).kind).toBe('absent');
    expect(await team.kinds({ characters: 1 })).toEqual(['rate_limited']);
  });

  it('what a commit does not charge comes back', async () => {
    const key = await keyUnderTest(subject, { windows: 'characters=50/day' });
    const one = await key.reserve(50);
    await key.commitPart(one.requestId, 20);
    expect(await key.kinds({ characters: 31 })).toEqual(['rate_limited']);
    expect(await key.kinds({ characters: 30 }, { characters: 1 })).toEqual(['admitted', 'rate_limited']);
  });

  it('only those that are reserved count, if not all characters are charged', async () => {
    const team = await teamUnderTest(subject.store, { windows: 'characters=20/day' });
    expect(await team.kinds({ characters: 500, charged: 15 }, { characters: 500, charged: 6 })).toEqual(['admitted', 'rate_limited']);
    expect(await team.kinds({ characters: 500, charged: 5 }, { characters: 500, charged: 0 })).toEqual(['admitted', 'admitted']);
  });

  it.each(['release', 'expiry', 'commit'])('a %s after the window has ended gives nothing to the next one', async (end) => {
    const { clock } = subject;
    clock.set(Date.parse('2030-05-01T10:00:59.900Z'));
    const team = await teamUnderTest(subject.store, { windows: 'characters=100/minute' });
    const key = await keyUnderTest(subject, { windows: 'characters=90/minute' }, team);
    const before = await key.reserve(80, { leaseMs: 200 });
    clock.step(100);
    expect(await key.kinds({ characters: 90 }, { characters: 1 })).toEqual(['admitted', 'rate_limited']);
    if (end === 'expiry') clock.step(100);
    else await (end === 'commit' ? key.commit(before.requestId) : key.release(before.requestId));
    expect(await key.kinds({ characters: 1 })).toEqual(['rate_limited']);
    expect(await team.kinds({ characters: 11 }, { characters: 10 })).toEqual(['rate_limited', 'admitted']);
  });

  it('a text longer than the whole number of a window is a 402, and takes its place', async ({ clock }) => {
    const team = await teamUnderTest(subject.store, {
      characterLimit: 10,
      windows: 'characters=30/minute characters=60/day requests=4/day',
    });
    const key = await keyUnderTest(subject, { characters: 5, windows: 'characters=20/hour' }, team);
    const quota = { kind: 'quota_exceeded', overageCapMinor: 0 };
    const endOf = (lengthMs: number): number => clock.nowMs() - (clock.nowMs() % lengthMs) + lengthMs;
    const characters = { counts: 'characters' };
    expect(await key.admit({ characters: 31 })).toEqual({
      ...quota,
      characterLimit: 30,
      periodEndMs: endOf(MINUTE_MS),
      window: { per: 'minute', ...characters },
    });
    expect(await key.admit({ characters: 21 })).toEqual({
      ...quota,
      characterLimit: 20,
      periodEndMs: endOf(HOUR_MS),
      of: 'key',
      window: { per: 'hour', ...characters },
    });
    expect(await key.admit({ characters: 6 })).toMatchObject({ ...quota, characterLimit: 5 });
    expect(await team.admit({ characters: 11 })).toMatchObject({ ...quota, characterLimit: 10 });
    expect(await team.admit({ characters: 61 })).toMatchObject({ kind: 'rate_limited', limit: 4 });
  });

  it('characters and requests of a window are judged apart', async () => {
    const team = await teamUnderTest(subject.store, { windows: 'requests=3/day characters=20/day' });
    await team.reserve(20);
    expect(await team.admit({ characters: 1 })).toMatchObject({ limit: 20, window: { per: 'day', counts: 'characters' } });
    expect(await team.kinds({ characters: 0 }, TOUCH)).toEqual(['admitted', 'admitted']);
    expect(await team.admit({ characters: 1 })).toMatchObject({ limit: 3, window: { per: 'day', counts: 'requests' } });
  });

  it('a changed number keeps what was counted; a new window begins with nothing', async () => {
    const key = await keyUnderTest(subject, { windows: 'requests=2/day characters=50/day' });
    const first = await key.reserve(10);
    await key.reserve(10);
    expect((await key.touch()).kind).toBe('rate_limited');
    await key.change({ limits: { windows: 'requests=3/day characters=35/day requests=1/month' } });
    expect(await key.admit({ characters: 16 })).toMatchObject({ limit: 35, window: { per: 'day', counts: 'characters' } });
    expect((await key.admit({ characters: 15 })).kind).toBe('admitted');
    expect(await key.touch()).toMatchObject({ limit: 1, window: { per: 'month', counts: 'requests' } });
    await key.change({ limits: { windows: null } });
    expect((await key.touch()).kind).toBe('admitted');
    await key.change({ limits: { windows: 'characters=40/day characters=30/month' } });
    await key.release(first.requestId);
    expect(await key.kinds({ characters: 16 }, { characters: 15 })).toEqual(['rate_limited', 'admitted']);
  });

  it('a reservation gives back only to the windows in which it was counted', async () => {
    const team = await teamUnderTest(subject.store);
    const before = await team.reserve(40);
    await team.setLimits({ windows: 'characters=100/day' });
    await team.reserve(100);
    await team.release(before.requestId);
    expect(await team.kinds({ characters: 1 })).toEqual(['rate_limited']);
    await team.setLimits({ windows: '' });
    const between = await team.reserve(30);
    await team.setLimits({ windows: 'characters=120/day' });
    await team.release(between.requestId);
    expect(await team.kinds({ characters: 21 }, { characters: 20 })).toEqual(['rate_limited', 'admitted']);
  });

  it('a plan that waits for the end of the period brings its windows with it', async ({ clock }) => {
    const team = await teamUnderTest(subject.store, { period: 'PT1H', windows: 'requests=9/day' });
    const { limits } = (await team.usage()).team;
    const nextPlan = { name: 'next', limits: { ...limits, windows: 'requests=3/day' } };
    await subject.store.teams.updateTeam(team.teamId, { nextPlan });
    expect(await team.kinds(TOUCH, TOUCH, TOUCH)).toEqual(['admitted', 'admitted', 'admitted']);
    clock.step(HOUR_MS);
    expect(await team.touch()).toMatchObject({ kind: 'rate_limited', limit: 3, window: { per: 'day' } });
  });

  it('a check before a long body judges requests, and counts nothing', async () => {
    const { ledger } = subject.store;
    const key = await keyUnderTest(subject, { windows: 'requests=1/day characters=5/day' });
    const check = async () => ledger.check({ requestId: newId(), teamId: key.teamId, keyId: key.keyId });
    expect((await check()).kind).toBe('admitted');
    await key.reserve(5);
    expect(await check()).toMatchObject({ kind: 'rate_limited', limit: 1, of: 'key', window: { per: 'day', counts: 'requests' } });
  });

  it('how long a refusal holds: until the window ends for requests, not at all for characters', async ({ clock }) => {
    const { ledger } = subject.store;
    const { teamId, keyId, ...team } = await teamUnderTest(subject.store, { windows: 'requests=2/minute characters=10/hour' });
    const plain = { teamId, keyId, characters: 8, reserve: true, leaseMs: 60_000, glossary: undefined };
    const ask = (): Promise<Admission> => Promise.resolve(ledger.admit({ requestId: newId(), ...plain }));
    await ask();
    expect(await ask()).toMatchObject({ kind: 'rate_limited', window: { counts: 'characters' }, fullForMs: 0 });
    await team.touch();
    const answer = await ask();
    expect(answer).toMatchObject({ kind: 'rate_limited' });
    // The hour ends later, but the refusal by the minute's requests is the one that holds.
    if (answer.kind !== 'rate_limited') return;
    const holdsForMs = answer.fullForMs ?? 0;
    expect(holdsForMs < answer.retryAfterMs).toBe(true);
    clock.step(holdsForMs);
    expect((await ask()).kind).toBe('rate_limited');
  });

  it.team('with the rate, the state of each number is reported', { windows: 'requests=5/minute characters=100/day' }, async (team) => {
    const { clock } = subject;
    clock.set(Date.parse('2030-05-01T10:30:30Z'));
    const key = await keyUnderTest(subject, { windows: 'requests=9/week' }, team);
    const windowsOf = async (choices: AdmissionChoices, of: TeamUnderTest = key) => {
      const answer = await of.admit({ reportRate: true, ...choices });
      return 'windows' in answer ? answer.windows : undefined;
    };
    const dayMs = Date.parse('2030-05-02T00:00:00Z') - clock.nowMs();
    const minute = { per: 'minute', counts: 'requests', limit: 5, resetMs: 30_000 };
    const day = { per: 'day', counts: 'characters', limit: 100, resetMs: dayMs };
    const week = { of: 'key', per: 'week', counts: 'requests', limit: 9, resetMs: Date.parse('2030-05-06T00:00:00Z') - clock.nowMs() };
    expect(await windowsOf({ characters: 30 })).toEqual([
      { ...minute, remaining: 4 },
      { ...day, remaining: 70 },
      { ...week, remaining: 8 },
    ]);
    expect(await windowsOf(TOUCH, team)).toEqual([
      { ...minute, remaining: 3 },
      { ...day, remaining: 70 },
    ]);
    expect(await windowsOf({ characters: 101 }, team)).toMatchObject([{ remaining: 2 }, { remaining: 70 }]);
    expect(await windowsOf({ reportRate: false })).toBe(undefined);
  });

  it.team('the usage of a team shows what is used of its windows', { windows: 'requests=5/minute characters=100/day' }, async (team) => {
    const { clock } = subject;
    clock.set(Date.parse('2030-05-01T10:30:30Z'));
    const key = await keyUnderTest(subject, { windows: 'characters=40/hour' }, team);
    const minute = { per: 'minute', requests: 5, endMs: clock.nowMs() + 30_000 };
    const day = { per: 'day', characters: 100, endMs: Date.parse('2030-05-02T00:00:00Z') };
    const hour = { per: 'hour', characters: 40, endMs: clock.nowMs() + 29.5 * MINUTE_MS };
    const usesOf = async (): Promise<unknown> => {
      const { windows, keys } = await team.usage();
      expect(keys[0]?.windows).toBeUndefined();
      return [...present(windows), ...present(present(keys[1]).windows)];
    };
    const used = (usedRequests: number, usedCharacters: number) => ({ usedRequests, usedCharacters });
    expect(await usesOf()).toEqual([
      { ...minute, ...used(0, 0) },
      { ...day, ...used(0, 0) },
      { ...hour, ...used(0, 0) },
    ]);
    const { requestId } = await key.reserve(30);
    await team.use(20, { leaseMs: 1000 });
    await key.reserve(5, { leaseMs: 500 });
    clock.step(500);
    expect(await usesOf()).toEqual([
      { ...minute, ...used(3, 50) },
      { ...day, ...used(3, 50) },
      { ...hour, ...used(2, 30) },
    ]);
    clock.set(Date.parse('2030-05-01T11:00:00Z'));
    await team.release(requestId);
    expect(await usesOf()).toEqual([
      { ...minute, ...used(0, 0), endMs: clock.nowMs() + MINUTE_MS },
      { ...day, ...used(3, 20) },
      { ...hour, ...used(0, 0), endMs: clock.nowMs() + HOUR_MS },
    ]);
  });

  it('if the clock steps back, a window stays; by more than its length, its counts move with the clock', async ({ clock }) => {
    clock.set(Date.parse('2030-05-01T10:30:10Z'));
    const team = await teamUnderTest(subject.store, { windows: 'requests=2/minute' });
    await team.touch();
    clock.set(Date.parse('2030-05-01T10:29:50Z'));
    await team.touch();
    expect(await team.touch()).toEqual(refused(2, 70_000, 'minute', 'requests'));
    clock.set(Date.parse('2030-05-01T10:28:30Z'));
    expect(await team.touch()).toEqual(refused(2, 30_000, 'minute', 'requests'));
    clock.set(Date.parse('2030-05-01T10:31:00Z'));
    expect((await team.touch()).kind).toBe('admitted');
  });

  it('two instances admit exactly what fits, in bursts over the end of a window', async ({ clock }) => {
    clock.set(Date.parse('2030-05-01T10:30:59.900Z'));
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 10_000, windows: 'requests=7/minute characters=50/hour' });
    const key = await keyUnderTest(subject, { windows: 'requests=5/minute' }, team);
    for (let burst = 0; burst < 4; burst++) {
      const asked = Array.from({ length: 24 }, (_, i) =>
        (i % 2 === 0 ? team : key).admit({ characters: 2 }, i % 3 === 0 ? subject.again : subject.store),
      );
      const answers = await Promise.all(asked);
      const fitted = burst % 2 === 0 ? 7 : 0;
      expect(answers.filter(({ kind }) => kind === 'admitted').length).toBe(fitted);
      clock.step(burst % 2 === 0 ? 5 : MINUTE_MS);
    }
    expect((await team.usage()).windows?.[1]).toMatchObject({ usedRequests: 14 });
  });
}
