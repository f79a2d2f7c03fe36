// Part of the store contract: the record space, over which glossaries are written for every store.
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { expect } from '../expect.ts';
import { answered, isUnavailable } from '../../domain/store-unavailable.ts';
import type { DecideChange, GroupChange, IndexEntry, NewBlob, RecordName, StoredRecord } from '../../ports/record-space.ts';
import { newId, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject } from './team-under-test.ts';

const [A, B]: readonly [RecordName, RecordName] = [
  { table: 'glossaries', id: 'a' },
  { table: 'glossaries', id: 'b' },
];
/** The same id in another table is another record. */
const OTHER: RecordName = { table: 'totals', id: 'a' };
const VALUES = ['', '{"a":1}', 'two\r\nlines', 'Größe “7” | 👍', '\u0001'];
const CHANGES = 50;

function record(name: RecordName, value: string): StoredRecord {
  return { ...name, value };
}

/** Large if there is more than one piece. */
function blob(...pieces: readonly string[]): NewBlob {
  return { blobId: newId(), pieces: pieces.map((piece) => Buffer.from(piece)) };
}

function textsOf(pieces: readonly Uint8Array[] | undefined): readonly string[] | undefined {
  return pieces?.map((piece) => Buffer.from(piece).toString());
}

export function recordSpaceContract(it: AddStoreCase, subject: Subject): void {
  const write = (teamId: string, change: Omit<GroupChange<string>, 'result'>): Promise<unknown> =>
    subject.store.records.change(teamId, [], () => ({ result: 'done', ...change }));
  const read = async (teamId: string, ...names: readonly RecordName[]) => answered(await subject.again.records.read(teamId, names));
  const pieces = async (teamId: string, { blobId }: NewBlob) => textsOf(answered(await subject.again.records.readBlob(teamId, blobId)));

  it.team('records are separate by group, table and id, and are found by every instance with any text', async ({ teamId }) => {
    const { teamId: other } = await teamUnderTest(subject.store);
    for (const value of VALUES) {
      expect(await write(teamId, { put: [record(A, value), record(OTHER, `other ${value}`)] })).toBe('done');
      expect(await read(teamId, A, B, OTHER)).toEqual([value, undefined, `other ${value}`]);
    }
    await write(teamId, { put: [record(B, 'b')], remove: [OTHER] });
    const listed = answered(await subject.again.records.list(teamId, 'glossaries'));
    expect(Object.fromEntries(listed)).toEqual({ a: VALUES.at(-1), b: 'b' });
    expect(answered(await subject.again.records.list(teamId, 'totals')).size).toBe(0);
    expect(await read(other, A, B)).toEqual([undefined, undefined]);
  });

  it.team('a change decides from the values of the records that it names, the plan, and the store’s clock', async ({ teamId }) => {
    await write(teamId, { put: [record(A, 'one')] });
    const decide: DecideChange<unknown> = (values, { nowMs, limits }) => ({
      result: { values, nowMs, max: limits?.maxGlossaries, period: limits?.period, currency: limits?.currency },
    });
    const { limits } = answered(await subject.store.teams.findTeam(teamId))!;
    expect(await subject.store.records.change(teamId, [B, A], decide)).toEqual({
      values: [undefined, 'one'],
      nowMs: subject.clock.nowMs(),
      max: limits.maxGlossaries,
      period: limits.period,
      currency: limits.currency,
    });
    expect(await read(teamId, A, B)).toEqual(['one', undefined]);
  });

  it.each(['of a team', 'that are shared'])('of changes of records %s made at once by two instances none is lost', async (whose) => {
    const { store, again } = subject;
    const group = whose === 'of a team' ? (await teamUnderTest(store)).teamId : SHARED_RECORDS;
    const name: RecordName = { table: 'gateways', id: newId() };
    const one = (i: number): Promise<unknown> =>
      [store, again][i % 2]!.records.change(group, [name, B], ([value]) => {
        const count = Number(value ?? 0) + 1;
        return { result: count, put: [record(name, String(count)), record({ ...name, id: `${name.id} ${count}` }, String(i))] };
      });
    const counts = await Promise.all(Array.from({ length: CHANGES }, (_, i) => one(i)));
    expect(counts.toSorted((x, y) => Number(x) - Number(y))).toEqual(Array.from({ length: CHANGES }, (_, i) => i + 1));
    expect(await again.records.read(group, [name])).toEqual([String(CHANGES)]);
    const made = [...answered(await store.records.list(group, 'gateways')).keys()].filter((id) => id.startsWith(name.id));
    expect(made).toHaveLength(CHANGES + 1);
    await store.records.change(group, [], () => ({ result: '', remove: made.map((id) => ({ ...name, id })) }));
  });

  it('a group that does not exist has no records, takes none, and decides nothing', async ({ store }) => {
    const teamId = newId();
    let decisions = 0;
    const decide: DecideChange<string> = () => ({ result: String(++decisions), put: [record(A, 'a')] });
    expect(await store.records.change(teamId, [A], decide)).toBeUndefined();
    expect(decisions).toBe(0);
    expect(await read(teamId, A)).toEqual([undefined]);
    expect(answered(await store.records.list(teamId, 'glossaries')).size).toBe(0);
    expect(await store.records.prepare(teamId, [blob('1', '2')])).toBeUndefined();
  });

  it('the group of no team exists, has records of its own, and a change of them gets no limits', async ({ store, again, clock }) => {
    const name: RecordName = { table: 'gateways', id: newId() };
    const put = store.records.change(SHARED_RECORDS, [name], ([value], head) => ({ result: { value, ...head }, put: [record(name, 'x')] }));
    expect(await put).toEqual({ value: undefined, nowMs: clock.nowMs(), limits: undefined });
    expect(await again.records.read(SHARED_RECORDS, [name])).toEqual(['x']);
    expect(answered(await again.records.list(SHARED_RECORDS, 'gateways')).get(name.id)).toBe('x');
    await again.records.change(SHARED_RECORDS, [], () => ({ result: '', remove: [name] }));
    expect(await store.records.read(SHARED_RECORDS, [name])).toEqual([undefined]);
  });

  it('an index is a list of ids in order, of which a part can be read', async ({ store, again }) => {
    const mark = newId();
    const ids = Array.from({ length: 12 }, (_, i) => `${mark} ${String(i).padStart(2, '0')}`);
    const entries = ids.map((id): IndexEntry => ({ index: 'audit_by_team', id }));
    const change = (made: Omit<GroupChange<string>, 'result'>) =>
      store.records.change(SHARED_RECORDS, [], () => ({ result: 'done', ...made }));
    const page = async (from: string, below: string, limit = 100) =>
      answered(await again.records.page(SHARED_RECORDS, { index: 'audit_by_team', from, below, limit }));
    expect(await change({ index: entries.toReversed() })).toBe('done');
    expect(await change({ index: entries.slice(3) })).toBe('done');
    expect(await page(`${mark} `, `${mark}!`)).toEqual(ids);
    expect(await page(ids[2]!, ids[5]!)).toEqual(ids.slice(2, 5));
    expect(await page(ids[2]!, `${mark}!`, 4)).toEqual(ids.slice(2, 6));
    expect(await page(`${ids[11]!}x`, `${mark}!`)).toEqual([]);
    expect(
      answered(await again.records.page(SHARED_RECORDS, { index: 'requests_by_end', from: mark, below: `${mark}!`, limit: 9 })),
    ).toEqual([]);
    // Removals come first.
    expect(await change({ index: [entries[0]!], unindex: entries.slice(0, 11) })).toBe('done');
    expect(await page(`${mark} `, `${mark}!`)).toEqual([ids[0]!, ids[11]!]);
    await change({ unindex: entries });
    expect(await page(`${mark} `, `${mark}!`)).toEqual([]);
  });

  it.team('a record’s group is found', async ({ teamId }) => {
    const name: RecordName = { table: 'glossaries', id: newId() };
    await write(teamId, { put: [record(name, 'x')] });
    expect(await subject.again.records.groupOf(name)).toBe(teamId);
    expect(await subject.again.records.groupOf({ ...name, table: 'totals' })).toBeUndefined();
    await write(teamId, { remove: [name] });
    expect(await subject.again.records.groupOf(name)).toBeUndefined();
  });

  it.team('blobs are attached by a change, small ones with it, large ones once they are prepared', async ({ teamId }) => {
    const { teamId: other } = await teamUnderTest(subject.store);
    const [small, large] = [blob('only'), blob('x'.repeat(70_000), 'ä'.repeat(40_000), 'end')];
    expect(await subject.store.records.prepare(teamId, [small, large])).toBeUndefined();
    expect([await pieces(teamId, small), await pieces(teamId, large)]).toEqual([undefined, undefined]);
    await write(teamId, { attach: [small, large] });
    for (const one of [small, large]) {
      expect(await pieces(teamId, one)).toEqual(textsOf(one.pieces));
      expect(await pieces(other, one)).toBeUndefined();
    }
    await write(teamId, { detach: [large.blobId] });
    expect([await pieces(teamId, small), await pieces(teamId, large)]).toEqual([['only'], undefined]);
  });

  it.team('a large blob that is not prepared leaves the whole change undone, unless it is stored now', async ({ teamId }) => {
    const large = blob('one', 'two');
    const answer = await write(teamId, { put: [record(A, 'a')], attach: [blob('small'), large] });
    const stored = isUnavailable(answer) ? undefined : ['one', 'two'];
    expect(await pieces(teamId, large)).toEqual(stored);
    expect(await read(teamId, A)).toEqual([stored === undefined ? undefined : 'a']);
  });

  it.team('a blob that was abandoned is none', async ({ teamId }) => {
    const large = blob('one', 'two');
    expect(await subject.store.records.prepare(teamId, [large])).toBeUndefined();
    await subject.store.records.abandon(teamId, [large]);
    expect(await pieces(teamId, large)).toBeUndefined();
  });

  it.team('they end with their team', async ({ teamId }) => {
    const [small, large] = [blob('only'), blob('one', 'two')];
    await subject.store.records.prepare(teamId, [large]);
    const own: RecordName = { table: 'glossaries', id: newId() };
    await write(teamId, { put: [record(own, 'a'), record(OTHER, 'b')], attach: [small, large] });
    expect(await subject.store.teams.deleteTeam(teamId, { keepUsage: false })).toBe(true);
    expect(await read(teamId, own, OTHER)).toEqual([undefined, undefined]);
    expect([await pieces(teamId, small), await pieces(teamId, large)]).toEqual([undefined, undefined]);
    expect(await subject.again.records.groupOf(own)).toBeUndefined();
  });
}

export function recordAuditContract(it: AddStoreCase, subject: Subject): void {
  const actions = async (teamId: string): Promise<readonly string[]> => {
    const page = { teamId, after: undefined, sinceMs: undefined, limit: 10 };
    return answered(await subject.again.audit.page(page)).map(({ actor, before }) => `${actor} ${String(before.name)}`);
  };

  it.team('an entry is written with the change that it is about, even if that writes nothing else', async ({ teamId }) => {
    const by = { actor: 'cli:me@here', action: 'deleteGlossary' } as const;
    const change = (name: string, attach: readonly NewBlob[] = []): Promise<unknown> =>
      subject.store.records.change(teamId, [A], () => ({ result: name, attach, audit: { by, before: { name }, after: {} } }));
    expect(await change('first')).toBe('first');
    expect(await actions(teamId)).toEqual(['cli:me@here first']);
    const undone = isUnavailable(await change('second', [blob('never', 'prepared')]));
    expect(await actions(teamId)).toEqual([...(undone ? [] : ['cli:me@here second']), 'cli:me@here first']);
  });
}
