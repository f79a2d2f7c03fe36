// Documents as records, on both stores: the event of each end is kept by the change that makes it, a creation that takes too long
// leaves nothing, and the order of all documents is exact.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { eventRules } from '../../../../src/domain/event-rules.ts';
import type { EventRules } from '../../../../src/domain/event-rules.ts';
import { SHARED_RECORDS } from '../../../../src/domain/shared-records.ts';
import { answered, isUnavailable } from '../../../../src/domain/store-unavailable.ts';
import type { DocumentFolder, DocumentRecord } from '../../../../src/ports/documents.ts';
import type { RecordSpace } from '../../../../src/ports/record-space.ts';
import type { Store } from '../../../../src/ports/store.ts';
import { RecordDocuments } from '../../../../src/stores/records/record-documents.ts';
import { openRedisStore } from '../../../../src/stores/redis/redis-store.ts';
import { openSqliteStore } from '../../../../src/stores/sqlite/sqlite-store.ts';
import { MovableClock } from '../../../../src/testing/movable-clock.ts';
import { newId, teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { promisedStore } from '../../../support/promised-store.ts';
import { startRedis } from '../../../support/redis.ts';
import { SILENT } from '../../../support/silent-log.ts';

const HOUR_MS = 3_600_000;
const BOUNDS = { openMax: 10, teamBytesMax: 10_000_000, bytesMax: 1_000_000 };
const RULES = eventRules([], []);
const PIECES = [Buffer.from('sealed')];

const removals: (() => unknown)[] = [];
afterAll(async () => {
  for (const remove of removals) await remove();
});
const directory = mkdtempSync(join(tmpdir(), 'lingate-records-'));
const server = await startRedis();
removals.push(
  () => rmSync(directory, { recursive: true }),
  () => server.stop(),
);

type Open = (clock: MovableClock, name: string, events?: EventRules) => Promise<Store>;
const KINDS: readonly { readonly name: string; readonly open: Open }[] = [
  {
    name: 'SQLite',
    open: (clock, name, events) =>
      openSqliteStore({ path: join(directory, `${name}.db`), log: SILENT, clock, busyTimeoutMs: 5000, events }),
  },
  {
    name: 'Redis',
    open: (clock, _name, events) => openRedisStore({ url: server.url, log: SILENT, clock, commandTimeoutMs: 5000, events }),
  },
];

describe.each(KINDS)('$name', ({ open }) => {
  const clock = new MovableClock();
  const opened = open(clock, 'told', RULES);
  removals.unshift(async () => (await opened).close());

  async function scene(store?: Store, folder?: DocumentFolder) {
    const used = store ?? (await opened);
    const documents = new RecordDocuments(used.records, () => clock.nowMs(), folder);
    const { teamId, keyId } = await teamUnderTest(promisedStore(used));
    const create = async (): Promise<{ readonly documentId: string; readonly teamId: string }> => {
      const due = { documentId: newId(), teamId };
      const created = await documents.create(draftOf(due, keyId), HOUR_MS, { fileId: newId(), pieces: PIECES }, BOUNDS);
      expect(answered(created).kind).toBe('created');
      return due;
    };
    const events = async () => {
      const found = answered(await used.outbox.due(10_000)).filter(({ id, teamId: of }) => of === teamId && id.endsWith('-done'));
      return Promise.all(found.map(async (event) => answered(await used.outbox.read(event))));
    };
    return { documents, teamId, keyId, create, events };
  }

  test('a document that is translated is told of once, whatever becomes of it then', async () => {
    const { documents, create, events, keyId, teamId } = await scene();
    const due = await create();
    const { documentId } = due;
    await documents.change(due, (known) => ({ ...known, state: 'translating', worker: 'one' }));
    expect(await events()).toEqual([]);
    const done = (known: DocumentRecord): DocumentRecord | undefined =>
      known.worker === 'one' ? { ...known, worker: undefined, state: 'done', billed: 90 } : undefined;
    expect(answered(await documents.change(due, done))).toMatchObject({ state: 'done', endedAtMs: clock.nowMs() });
    // Its answer was lost, and the change is tried again; then it is downloaded, and goes.
    expect(answered(await documents.change(due, done))).toBeUndefined();
    await documents.change(due, (known) => ({ ...known, isDownloaded: true }));
    const event = { kind: 'document_done', documentId, keyId, format: 'txt', state: 'done', characters: 90 };
    const told = [{ id: `${documentId}-done`, teamId, atMs: clock.nowMs(), facts: event }];
    expect(await events()).toEqual(told);
    await documents.remove(due);
    expect(await events()).toEqual(told);
  });

  test('one that ends in an error is told of with its code, and one that is deleted before is not', async () => {
    const { documents, create, events } = await scene();
    const [failed, deleted] = [await create(), await create()];
    await documents.change(failed, (known) => ({ ...known, state: 'error', code: 'quota_exceeded', detail: 'Too little is left.' }));
    await documents.remove(deleted);
    expect((await events()).map((event) => event!.facts)).toMatchObject([
      { documentId: failed.documentId, state: 'error', code: 'quota_exceeded', characters: 0 },
    ]);
    await documents.remove(failed);
  });

  test('a change that is not made tells nothing', async () => {
    const { documents, create, events, teamId } = await scene();
    const due = await create();
    expect(answered(await documents.change(due, () => undefined))).toBeUndefined();
    const gone = { documentId: newId(), teamId };
    expect(answered(await documents.change(gone, (known) => ({ ...known, state: 'done' })))).toBeUndefined();
    expect(await events()).toEqual([]);
    await documents.remove(due);
  });

  test('counting again beside a creation takes nothing from what the creation has counted', async () => {
    const { documents, create, teamId } = await scene();
    const { records } = await opened;
    const first = await create();
    const counted = async (): Promise<unknown> => {
      const [text] = answered(await records.read(teamId, [{ table: 'totals', id: 'documents' }]));
      const entry = JSON.parse(text!) as { readonly open: readonly string[]; readonly bytes: number };
      return { ...entry, open: entry.open.toSorted() };
    };
    const created: { readonly documentId: string; readonly teamId: string }[] = [];
    const list: RecordSpace['list'] = async (group, table) => {
      const listed = await records.list(group, table);
      created.push(await create());
      return listed;
    };
    const beside = new Proxy(records, {
      get: (space, name: keyof RecordSpace) => (name === 'list' ? list : space[name].bind(space)),
    });
    expect(await new RecordDocuments(beside, () => clock.nowMs()).recountTeam(teamId)).toBeUndefined();
    const both = { open: [first, ...created].map(({ documentId }) => documentId).toSorted(), bytes: 2 * PIECES[0]!.length };
    expect(await counted()).toEqual(both);
    expect(await documents.recountTeam(teamId)).toBeUndefined();
    expect(await counted()).toEqual(both);
    for (const due of [first, ...created]) await documents.remove(due);
  });

  test('a creation that takes longer than it may leaves neither a document nor a place in the queue', async () => {
    const slow: DocumentFolder = {
      write: () => Promise.resolve(clock.step(60_001)),
      read: () => Promise.resolve(undefined),
      remove: () => Promise.resolve(),
      list: () => Promise.resolve([]),
      removeAll: () => Promise.resolve(),
    };
    const { documents, keyId, teamId } = await scene(undefined, slow);
    const due = { documentId: newId(), teamId };
    const created = await documents.create(draftOf(due, keyId), HOUR_MS, { fileId: newId(), pieces: PIECES }, BOUNDS);
    expect(isUnavailable(created)).toBe(true);
    expect(answered(await documents.find(teamId, due.documentId))).toBeUndefined();
    // What a worker does when it finds nothing behind what is due.
    expect(answered(await documents.due(10)).map(({ documentId }) => documentId)).toContain(due.documentId);
    await documents.remove(due);
    expect(answered(await documents.newest(undefined, 1000)).filter((one) => one.teamId === teamId)).toEqual([]);
    expect(answered(await documents.due(10)).map(({ documentId }) => documentId)).not.toContain(due.documentId);
  });

  test('all documents are listed once in pages, the newest first, and those that have not ended are counted', async () => {
    const { documents, create, teamId } = await scene();
    const before = answered(await documents.backlog());
    const ids: string[] = [];
    for (let i = 0; i < 7; i++) {
      const { documentId } = await create();
      ids.unshift(documentId);
      clock.step(1000);
    }
    const seen: string[] = [];
    for (let after: string | undefined; ;) {
      const page = answered(await documents.newest(after, 3));
      seen.push(...page.filter((one) => one.teamId === teamId).map(({ documentId }) => documentId));
      if (page.length < 3) break;
      after = page.at(-1)!.place;
    }
    expect(seen).toEqual(ids);
    const bytes = 7 * PIECES[0]!.length;
    expect(answered(await documents.backlog())).toMatchObject({ open: before.open + 7, bytes: before.bytes + bytes });
    for (const documentId of ids) {
      const due = { documentId, teamId, worker: 'one' };
      expect(answered(await documents.claim({ ...due, leaseMs: 1000 }))).toBe(clock.nowMs());
      await documents.yield(due, 'expiry');
    }
    expect(answered(await documents.backlog())).toMatchObject({ open: before.open, bytes: before.bytes + bytes });
    for (const documentId of ids) await documents.remove({ documentId, teamId });
    expect(answered(await documents.backlog())).toEqual(before);
    const shared = (await opened).records;
    const left = await shared.page(SHARED_RECORDS, { index: 'documents_by_age', from: '', below: '~', limit: 100 });
    expect(answered(left).filter((id) => id.endsWith(teamId))).toEqual([]);
  });
});

test('without rules for events nothing is kept', async () => {
  const clock = new MovableClock();
  const store = await openSqliteStore({ path: join(directory, 'silent.db'), log: SILENT, clock, busyTimeoutMs: 5000 });
  const { teamId, keyId } = await teamUnderTest(promisedStore(store));
  const documents = new RecordDocuments(store.records, () => clock.nowMs());
  const due = { documentId: newId(), teamId };
  answered(await documents.create(draftOf(due, keyId), HOUR_MS, { fileId: newId(), pieces: PIECES }, BOUNDS));
  await documents.change(due, (known) => ({ ...known, state: 'done', billed: 1 }));
  expect(await store.outbox.pending()).toBe(0);
  await store.close();
});

function draftOf({ documentId, teamId }: { readonly documentId: string; readonly teamId: string }, keyId: string) {
  return {
    documentId,
    teamId,
    keyId,
    fileName: 'a.txt',
    format: 'txt',
    bytes: 6,
    targetLang: 'DE',
    state: 'queued',
    holds: [],
    failures: 0,
  } as const;
}
