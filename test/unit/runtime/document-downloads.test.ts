// Downloads on both stores: the first complete one is charged, and whatever removes a document waits for those under way.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { SHARED_RECORDS } from '../../../src/domain/shared-records.ts';
import { answered } from '../../../src/domain/store-unavailable.ts';
import type { BegunDownload, DocumentRecord } from '../../../src/ports/documents.ts';
import type { Ledger } from '../../../src/ports/ledger.ts';
import type { RecordSpace } from '../../../src/ports/record-space.ts';
import type { Store } from '../../../src/ports/store.ts';
import { LeasedDownloads } from '../../../src/runtime/document-downloads.ts';
import { DocumentSealer } from '../../../src/runtime/document-sealer.ts';
import { SettlementQueue } from '../../../src/runtime/settlement-queue.ts';
import { RecordDocuments } from '../../../src/stores/records/record-documents.ts';
import { openRedisStore } from '../../../src/stores/redis/redis-store.ts';
import { openSqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import { newId, teamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import { plainDocumentWorker } from '../../support/plain-document-worker.ts';
import { promisedStore } from '../../support/promised-store.ts';
import { startRedis } from '../../support/redis.ts';
import { SILENT } from '../../support/silent-log.ts';

const HOUR_MS = 3_600_000;
/** Longer than the lease of a download. */
const DEATH_MS = 120_000;
const directory = mkdtempSync(join(tmpdir(), 'lingate-downloads-'));
const server = await startRedis();
const removals: (() => unknown)[] = [() => rmSync(directory, { recursive: true }), () => server.stop()];
afterAll(async () => {
  for (const remove of removals) await remove();
});

const clock = new MovableClock();
const KINDS = [
  { name: 'SQLite', open: () => openSqliteStore({ path: join(directory, 'lingate.db'), log: SILENT, clock, busyTimeoutMs: 5000 }) },
  { name: 'Redis', open: () => openRedisStore({ url: server.url, log: SILENT, clock, commandTimeoutMs: 5000 }) },
] as const;

describe.each(KINDS)('$name', ({ open }) => {
  const opened: Promise<Store> = open();
  removals.unshift(async () => (await opened).close());
  const sealer = new DocumentSealer(Buffer.from('a secret of the tests that is long enough'));

  /** A translated document of six characters, which expires in an hour. */
  async function setting() {
    const store = await opened;
    const nowMs = (): number => clock.nowMs();
    const documents = new RecordDocuments(store.records, nowMs);
    const team = await teamUnderTest(promisedStore(store), { characterLimit: 100_000 });
    const [documentId, fileId] = [newId(), newId()];
    const { requestId } = await team.reserve(0, { charged: 6, leaseMs: 2 * HOUR_MS });
    const pieces = await sealer.seal(documentId, fileId, Buffer.from('ONE\nTWO\n'));
    const { teamId, keyId } = team;
    const holds = [{ requestId, characters: 6, isCounted: true as const }];
    const draft = {
      documentId,
      teamId,
      keyId,
      fileName: 'a.txt',
      format: 'txt',
      bytes: 8,
      targetLang: 'DE',
      state: 'queued' as const,
      holds,
      failures: 0,
      resultId: fileId,
    };
    answered(await documents.create(draft, HOUR_MS, { fileId, pieces }, { openMax: 10, bytesMax: 1_000_000 }));
    const due = { documentId, teamId };
    const document = answered(await documents.change(due, (known) => ({ ...known, state: 'done', billed: 6 })))!;
    await documents.claim({ ...due, worker: 'one', leaseMs: 1000 });
    await documents.yield({ ...due, worker: 'one' }, 'expiry');
    let isAway = false;
    const ledger: Pick<Ledger, 'resolve'> = {
      resolve(asked) {
        if (isAway) setImmediate(() => asked.answered({ kind: 'unavailable', cause: 'timeout' }));
        else store.ledger.resolve(asked);
      },
    };
    const settlements = new SettlementQueue({
      ledger,
      now: nowMs,
      nowMs,
      log: SILENT,
      leaseMs: HOUR_MS,
      onSettled: () => undefined,
    });
    const downloadsOver = (space: RecordSpace): LeasedDownloads =>
      new LeasedDownloads({
        documents: new RecordDocuments(space, nowMs),
        ledger: store.ledger,
        settlements,
        newId,
        nowMs,
        log: SILENT,
      });
    const downloads = downloadsOver(store.records);
    return {
      documents,
      document,
      due,
      team,
      downloads,
      settlements,
      /** For charges alone. */
      ledgerIsAway: (away: boolean) => (isAway = away),
      downloadsOver,
      find: async (): Promise<DocumentRecord | undefined> => answered(await documents.find(teamId, documentId)),
      begin: async (alone = false): Promise<BegunDownload> => (await downloads.begin(document, alone)) as BegunDownload,
      /** Ends it, and waits until everything is written. */
      async end(download: BegunDownload, isComplete: boolean, removes = false): Promise<void> {
        download.end(isComplete, removes);
        await downloads.close();
        await settlements.drained();
      },
    };
  }

  /** Until the worker has looked at everything that is due. */
  async function work({ documents }: { readonly documents: RecordDocuments }): Promise<void> {
    const store = await opened;
    const worker = plainDocumentWorker({
      documents,
      sealer,
      ledger: store.ledger,
      nowMs: () => clock.nowMs(),
      translate: () => Promise.reject(new Error('is not asked')),
    });
    worker.wake();
    await expect.poll(async () => answered(await documents.due(1))).toEqual([]);
    await worker.close();
  }

  const charged = { usedCharacters: 6, heldCharacters: 0, openReservations: 0 };
  const released = { usedCharacters: 0, heldCharacters: 0, openReservations: 0 };
  const held = { usedCharacters: 0, heldCharacters: 6, openReservations: 1 };

  async function expectGone({ find, team }: Awaited<ReturnType<typeof setting>>): Promise<void> {
    expect(await find()).toBeUndefined();
    const { records } = await opened;
    expect(answered(await records.list(team.teamId, 'documents'))).toEqual(new Map());
    expect(answered(await records.list(SHARED_RECORDS, 'documents'))).toEqual(new Map());
  }

  test('a download that breaks off is not charged; the next complete one is, once', async () => {
    const one = await setting();
    await one.end(await one.begin(), false);
    expect(await one.team.standing()).toMatchObject(held);
    await one.end(await one.begin(), true);
    await one.end(await one.begin(), true);
    expect(await one.team.standing()).toMatchObject(charged);
    await one.downloads.remove(one.due);
    expect(await one.team.standing()).toMatchObject(charged);
    await expectGone(one);
  });

  test('two downloads at the same time are charged once, whichever ends first, and however much later the other', async () => {
    const one = await setting();
    const [first, second] = [await one.begin(), await one.begin()];
    await one.end(second, true);
    clock.step(30_000);
    await one.end(first, true);
    expect(await one.team.standing()).toMatchObject(charged);
    await one.downloads.remove(one.due);
    await expectGone(one);
  });

  test.each([
    ['complete', true, charged],
    ['broken', false, released],
  ])('a document that is deleted during a download goes with its end; the download was %s', async (_how, isComplete, standing) => {
    const one = await setting();
    const download = await one.begin();
    expect(await one.downloads.remove(one.due)).toBe(true);
    expect((await one.find())?.isRemoved).toBe(true);
    expect(await one.downloads.begin(one.document, false)).toBe('gone');
    await one.end(download, isComplete);
    expect(await one.team.standing()).toMatchObject(standing);
    await expectGone(one);
  });

  test.each([
    ['complete', true, charged],
    ['broken', false, released],
  ])('a document that expires during a download stays until it ends; the download was %s', async (_how, isComplete, standing) => {
    const one = await setting();
    clock.step(HOUR_MS - 1000);
    const download = await one.begin();
    clock.step(2000);
    await work(one);
    expect(await one.team.standing()).toMatchObject(held);
    await one.end(download, isComplete);
    expect(await one.team.standing()).toMatchObject(standing);
    await expectGone(one);
  });

  test('a process that dies during a download keeps a deleted document no longer than its lease', async () => {
    const one = await setting();
    // As it is found after a death: nobody renews it.
    const downloads = [{ downloadId: newId(), untilMs: clock.nowMs() + DEATH_MS / 2 }];
    await one.documents.change(one.due, (known) => ({ ...known, downloads }));
    await one.downloads.remove(one.due);
    await work(one);
    expect(await one.team.standing()).toMatchObject(held);
    clock.step(DEATH_MS);
    await work(one);
    expect(await one.team.standing()).toMatchObject(released);
    await expectGone(one);
  });

  test.each([
    { changes: 1, isGone: false },
    { changes: 2, isGone: true },
    { changes: 3, isGone: true },
  ])('a deletion by a process that dies after $changes changes is finished or as never begun soon, not at the expiry', async (drawn) => {
    const one = await setting();
    const { records } = await opened;
    const died = Promise.withResolvers<never>();
    let left = drawn.changes;
    const change: RecordSpace['change'] = (...about) => {
      if (left-- > 0) return records.change(...about);
      died.reject(new Error('it has died'));
      return new Promise(() => undefined);
    };
    const removal = one.downloadsOver({ change } as RecordSpace).remove(one.due);
    await expect(Promise.race([removal, died.promise])).rejects.toThrow('it has died');
    clock.step(DEATH_MS);
    await work(one);
    if (drawn.isGone) {
      expect(await one.team.standing()).toMatchObject(released);
    } else {
      expect(await one.team.standing()).toMatchObject(held);
      expect(await one.find()).toMatchObject({ state: 'done' });
      expect(await one.downloads.remove(one.due)).toBe(true);
    }
    await expectGone(one);
  });

  test('alone, a download keeps others out while it lasts, and takes the document with it', async () => {
    const one = await setting();
    const download = await one.begin(true);
    expect(await one.downloads.begin(one.document, true)).toBe('taken');
    await one.end(download, false, true);
    await one.end(await one.begin(true), true, true);
    expect(await one.team.standing()).toMatchObject(charged);
    expect(await one.downloads.begin(one.document, true)).toBe('gone');
    await expectGone(one);
  });

  test('while the ledger is away, a complete download keeps its document, and is charged when the ledger is back', async () => {
    const one = await setting();
    one.ledgerIsAway(true);
    (await one.begin()).end(true, true);
    await expect.poll(() => one.settlements.open).toBe(1);
    expect(await one.downloads.remove(one.due)).toBe(true);
    expect(await one.find()).toMatchObject({ isRemoved: true });
    expect(await one.find()).not.toHaveProperty('isCharged');
    expect(await one.team.standing()).toMatchObject(held);
    one.ledgerIsAway(false);
    await one.settlements.drained();
    await one.downloads.close();
    expect(await one.team.standing()).toMatchObject(charged);
    await expectGone(one);
  });

  test('what a process leaves uncharged when it stops is not released by a deletion as long as the lease lasts', async () => {
    const one = await setting();
    one.ledgerIsAway(true);
    (await one.begin()).end(true, false);
    one.settlements.close();
    await one.downloads.close();
    expect((await one.find())!.downloads).toHaveLength(1);
    expect(await one.find()).not.toHaveProperty('isCharged');
    expect(await one.downloads.remove(one.due)).toBe(true);
    expect(await one.team.standing()).toMatchObject(held);
  });
});
