// Part of the store contract: what processes share beside teams: records of gateways about themselves, what engines with a limit have used
// over all processes, requests that take effect once, whichever process gets them, and secrets on which all agree.
import { REQUEST_REMEMBERED_MS } from '../../domain/admission.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { EngineCap, EngineUsed, SentCharacters } from '../../ports/engine-use.ts';
import type { Claimed, IdempotencyRecords, RequestClaim } from '../../ports/idempotency-records.ts';
import type { SharedSecrets } from '../../ports/store.ts';
import { expect } from '../expect.ts';
import { newId, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject } from './team-under-test.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export function gatewaysContract(it: AddStoreCase, subject: Subject): void {
  const recent = async (mark: string, withinMs = 60_000): Promise<unknown> => {
    const found = await subject.again.gateways.recent(withinMs);
    return 'kind' in found ? found : found.filter(({ file }) => file.includes(mark));
  };
  const record = (host: string, file: string) => ({ host, file });

  it('a gateway’s record is visible to others, and replaced by the next one of the same host and file', async () => {
    const mark = newId();
    expect(await subject.store.gateways.leave(record('b', `/etc/${mark}.yaml`))).toBeUndefined();
    expect(await subject.store.gateways.leave(record('a', `/etc/${mark}.yaml`))).toBeUndefined();
    expect(await subject.store.gateways.leave(record('a', `/opt/“${mark}”.yaml`))).toBeUndefined();
    expect(await subject.store.gateways.leave(record('b', `/etc/${mark}.yaml`))).toBeUndefined();
    expect(await recent(mark)).toEqual([
      record('a', `/etc/${mark}.yaml`),
      record('a', `/opt/“${mark}”.yaml`),
      record('b', `/etc/${mark}.yaml`),
    ]);
  });

  it('only recent records are found, by the store’s clock, and each renewal counts', async () => {
    const mark = newId();
    const [quiet, alive] = [record('quiet', `/${mark}`), record('alive', `/${mark}`)];
    await subject.store.gateways.leave(quiet);
    await subject.store.gateways.leave(alive);
    subject.clock.step(40_000);
    await subject.store.gateways.leave(alive);
    subject.clock.step(20_000);
    expect(await recent(mark)).toEqual([alive, quiet]);
    subject.clock.step(1);
    expect(await recent(mark)).toEqual([alive]);
    expect(await recent(mark, 100_000)).toEqual([alive, quiet]);
  });

  it('records of gateways that stopped long ago are deleted', async () => {
    const mark = newId();
    await subject.store.gateways.leave(record('gone', `/${mark}`));
    subject.clock.step(DAY_MS + 1);
    await subject.store.gateways.leave(record('new', `/${mark}`));
    expect(await recent(mark, 10 * DAY_MS)).toEqual([record('new', `/${mark}`)]);
  });
}

const CAP: EngineCap = { per: 'hour', most: 100 };

export function engineUseContract(it: AddStoreCase, subject: Subject): void {
  const engineOf = (cap = CAP) => {
    const engine = `e-${newId()}`;
    const add = async (process: string, report: number, characters: number, more: Partial<SentCharacters> = {}): Promise<EngineUsed> => {
      const store = process === 'a' ? subject.store : subject.again;
      return answered(await store.engineUse.add({ engine, cap, process, report, characters, reports: false, ...more }));
    };
    return { engine, add };
  };

  it('what all processes have sent adds up, and a report that is repeated counts once', async ({ clock }) => {
    const { add } = engineOf();
    const startMs = Math.floor(clock.nowMs() / HOUR_MS) * HOUR_MS;
    expect(await add('a', 1, 30)).toEqual({ startMs, endMs: startMs + HOUR_MS, nowMs: clock.nowMs(), characters: 30, reachesNow: false });
    expect(await add('b', 1, 20)).toMatchObject({ characters: 50 });
    expect(await add('a', 1, 30)).toMatchObject({ characters: 50 });
    expect(await add('a', 2, 0)).toMatchObject({ characters: 50 });
    expect(await add('b', 1, 20)).toMatchObject({ characters: 50 });
    expect(await add('b', 2, 7)).toMatchObject({ characters: 57 });
    // A file was billed with less than it was counted with.
    expect(await add('a', 3, -25)).toMatchObject({ characters: 32 });
  });

  it('concurrent reports are all counted, and exactly one of them reaches the limit', async () => {
    const { add } = engineOf();
    const results = await Promise.all(Array.from({ length: 12 }, (_, i) => add(`${i % 2 === 0 ? 'a' : 'b'}${i}`, 1, 10)));
    expect(Math.max(...results.map(({ characters }) => characters))).toBe(120);
    expect(results.filter(({ reachesNow }) => reachesNow).map(({ characters }) => characters)).toEqual([100]);
    expect((await add('a', 1, 5)).reachesNow).toBe(false);
  });

  it('a window ends to the millisecond, and the next begins empty', async ({ clock }) => {
    const { add } = engineOf();
    const { endMs } = await add('a', 1, 100);
    clock.step(endMs - clock.nowMs() - 1);
    expect(await add('a', 2, 1)).toMatchObject({ characters: 101, reachesNow: false });
    clock.step(1);
    expect(await add('b', 1, 0)).toMatchObject({ startMs: endMs, characters: 0, reachesNow: false });
    expect(await add('a', 3, 100)).toMatchObject({ characters: 100, reachesNow: true });
  });

  it('what a process sent stays counted when it reports no longer', async ({ clock }) => {
    const { add } = engineOf({ per: 'week', most: 1000 });
    await add('a', 1, 40);
    clock.step(HOUR_MS);
    expect(await add('b', 1, 2)).toMatchObject({ characters: 42 });
    clock.step(HOUR_MS);
    expect(await add('c', 1, 1)).toMatchObject({ characters: 43 });
  });
}

const CLAIM_LEASE_MS = 15_000;

export function idempotencyContract(it: AddStoreCase, subject: Subject): void {
  const here = (): IdempotencyRecords => subject.store.idempotency;
  const there = (): IdempotencyRecords => subject.again.idempotency;
  const claimOf = (holder: string, more: Partial<RequestClaim> = {}): RequestClaim => ({
    id: newId(),
    request: 'the request',
    recordId: newId(),
    teamId: undefined,
    holder,
    leaseMs: CLAIM_LEASE_MS,
    ...more,
  });
  const claimed = (recordId: string): Claimed => ({ kind: 'claimed', recordId });

  it('of concurrent claims on two instances one succeeds; the others wait for its answer and get it', async () => {
    const claim = claimOf('a');
    const holders = Array.from({ length: 10 }, (_, i) => ({ ...claim, holder: `${i}`, recordId: newId() }));
    const answers = await Promise.all(holders.map(async (one, i) => (i % 2 === 0 ? here() : there()).claim(one)));
    const first = answers.findIndex((answer) => answer.kind === 'claimed');
    expect(answers.filter(({ kind }) => kind === 'running').length).toBe(9);
    expect(answers[first]).toEqual(claimed(holders[first]!.recordId));
    expect(await there().finish(holders[first]!, '{"status":201}', undefined)).toBeUndefined();
    for (const one of [here(), there()]) expect(await one.claim(claim)).toEqual({ kind: 'answered', answer: '{"status":201}' });
  });

  it('a different request under the same id is rejected, while the first runs, after it, and after it was interrupted', async () => {
    const claim = claimOf('a');
    const other = { ...claim, holder: 'b', request: 'another' };
    expect(await here().claim(claim)).toEqual(claimed(claim.recordId));
    expect(await there().claim(other)).toEqual({ kind: 'other_request' });
    expect(await here().release(claim, 'repeat')).toBeUndefined();
    expect(await there().claim(other)).toEqual({ kind: 'other_request' });
    await here().claim(claim);
    await here().finish(claim, '{}', undefined);
    expect(await there().claim(other)).toEqual({ kind: 'other_request' });
  });

  it('whoever takes over an interrupted request gets the id of its record; the one who lost it can no longer answer', async () => {
    const claim = claimOf('a');
    await here().claim(claim);
    const next = { ...claim, holder: 'b', recordId: newId() };
    subject.clock.step(CLAIM_LEASE_MS - 1);
    expect(await there().claim(next)).toEqual({ kind: 'running' });
    subject.clock.step(1);
    expect(await there().claim(next)).toEqual(claimed(claim.recordId));
    expect(await here().finish(claim, '{"by":"a"}', undefined)).toBeUndefined();
    expect(await here().release(claim, 'forget')).toBeUndefined();
    expect(await there().claim({ ...claim, holder: 'c' })).toEqual({ kind: 'running' });
    expect(await there().finish(next, '{"by":"b"}', undefined)).toBeUndefined();
    expect(await here().claim(claim)).toEqual({ kind: 'answered', answer: '{"by":"b"}' });
  });

  it('a process can claim again what it holds, and whoever gives a request back leaves it to anybody at once', async () => {
    const claim = claimOf('a');
    await here().claim(claim);
    expect(await here().claim({ ...claim, recordId: newId() })).toEqual(claimed(claim.recordId));
    await here().release(claim, 'repeat');
    expect(await there().claim({ ...claim, holder: 'b', recordId: newId() })).toEqual(claimed(claim.recordId));
    await there().release({ ...claim, holder: 'b' }, 'forget');
    const fresh = { ...claim, request: 'another', recordId: newId() };
    expect(await here().claim(fresh)).toEqual(claimed(fresh.recordId));
  });

  it('is remembered for a day from the first claim, by the store’s clock', async () => {
    const claim = claimOf('a');
    await here().claim(claim);
    await here().finish(claim, '{}', undefined);
    subject.clock.step(REQUEST_REMEMBERED_MS - 1);
    expect(await there().claim(claim)).toEqual({ kind: 'answered', answer: '{}' });
    subject.clock.step(1);
    const later = { ...claim, request: 'another', recordId: newId() };
    expect(await there().claim(later)).toEqual(claimed(later.recordId));
  });

  it('the deletion of a team forgets what concerns it, and later answers about it are not stored', async () => {
    const team = await teamUnderTest(subject.store);
    const other = await teamUnderTest(subject.store);
    const { teamId } = team;
    const [known, interrupted, delayed, foreign] = [
      claimOf('a', { teamId }),
      claimOf('a', { teamId }),
      claimOf('a'),
      claimOf('a', { teamId: other.teamId }),
    ];
    for (const claim of [known, interrupted, delayed, foreign]) await here().claim(claim);
    for (const claim of [known, foreign]) await here().finish(claim, '{}', claim.teamId);
    expect(await subject.store.teams.deleteTeam(teamId, { keepUsage: false })).toBe(true);
    await here().finish(delayed, '{"name":"the team"}', teamId);
    for (const claim of [known, interrupted, delayed]) {
      const again = { ...claim, request: 'another', recordId: newId() };
      expect(await there().claim(again)).toEqual(claimed(again.recordId));
    }
    expect(await there().claim(foreign)).toEqual({ kind: 'answered', answer: '{}' });
  });
}

const BYTES = 32;

export function secretsContract(it: AddStoreCase, subject: Subject): void {
  const here = (): SharedSecrets => subject.store.secrets;
  const there = (): SharedSecrets => subject.again.secrets;
  const newName = (): string => `test:${newId().toLowerCase()}`;
  const filled = (byte: number): Uint8Array => new Uint8Array(BYTES).fill(byte);

  it('of candidates at the same time on two instances, one becomes the secret of all', async () => {
    const name = newName();
    const found = await Promise.all(Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? here() : there()).agree(name, filled(i), HOUR_MS)));
    const [first] = found as Uint8Array[];
    expect(first!.length).toBe(BYTES);
    for (const one of found as Uint8Array[]) expect([...one]).toEqual([...first!]);
    for (const one of [here(), there()]) expect([...((await one.agree(name, filled(99), HOUR_MS)) as Uint8Array)]).toEqual([...first!]);
  });

  it('each name has a secret of its own, and every byte stays', async () => {
    const [name, other] = [newName(), newName()];
    const all = Uint8Array.from({ length: 256 }, (_, i) => i);
    await here().agree(name, all, HOUR_MS);
    await here().agree(other, filled(2), HOUR_MS);
    expect([...((await there().agree(name, filled(3), HOUR_MS)) as Uint8Array)]).toEqual([...all]);
    expect([...((await there().agree(other, filled(3), HOUR_MS)) as Uint8Array)]).toEqual([...filled(2)]);
  });

  it('the time is whole milliseconds by the clock of the store', async () => {
    subject.clock.step(1234);
    for (const one of [here(), there()]) expect(one.nowMs()).toBe(subject.clock.nowMs());
  });
}
