// Whose document is next: one team's many, or long ones, do not delay another's; and what waits for long is counted before its turn.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { UNCOUNTED_LEASE_MS } from '../../../../src/domain/document-states.ts';
import { ENGINE_UNAVAILABLE } from '../../../../src/domain/refusals.ts';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { Store } from '../../../../src/ports/store.ts';
import { removeDocument } from '../../../../src/documents/work/document-ledger.ts';
import { DocumentSealer } from '../../../../src/documents/work/document-secrets.ts';
import { recordDocuments } from '../../../../src/stores/records/record-documents.ts';
import type { RecordDocuments } from '../../../../src/stores/records/record-documents.ts';
import { openSqliteStore } from '../../../../src/stores/sqlite/sqlite-store.ts';
import { MovableClock } from '../../../../src/testing/movable-clock.ts';
import { newId, teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { documentDraft } from '../../../support/document-draft.ts';
import { plainDocumentWorker } from '../../../support/plain-document-worker.ts';
import type { PlainDocumentWorkerOptions } from '../../../support/plain-document-worker.ts';
import { promisedStore } from '../../../support/promised-store.ts';
import { SILENT } from '../../../support/silent-log.ts';

const KEEP_MS = 86_400_000;
const BOUNDS = { openMax: 1000, teamBytesMax: 10_000_000, bytesMax: 10_000_000 };
const HELD = 5000;
const AWAY = { kind: 'unavailable', cause: 'timeout' } as const;

const directory = mkdtempSync(join(tmpdir(), 'lingate-turns-'));
const clock = new MovableClock();
const sealer = new DocumentSealer(Buffer.from('a secret of the tests that is long enough'));
let store: Store;
let documents: RecordDocuments;

beforeAll(async () => {
  store = await openSqliteStore({ path: join(directory, 'lingate.db'), log: SILENT, clock, commandTimeoutMs: 5000 });
  documents = recordDocuments(store.records, () => clock.nowMs());
});
afterAll(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

const team = () => teamUnderTest(promisedStore(store), { characterLimit: 100_000_000, requestsPerSecond: 10_000 });
type Team = Awaited<ReturnType<typeof team>>;

/** Its only text is `text`. */
async function created(owner: Team, text: string): Promise<string> {
  const { requestId } = await owner.reserve(0, { charged: HELD, leaseMs: UNCOUNTED_LEASE_MS });
  const draft = documentDraft(owner, [{ requestId, characters: HELD }], text.length);
  const { documentId } = draft;
  const fileId = newId();
  const pieces = await sealer.seal(documentId, fileId, Buffer.from(text));
  const creation = await documents.create(draft, KEEP_MS, { fileId, pieces }, BOUNDS);
  expect(creation).toMatchObject({ kind: 'created' });
  // They are due in the order in which they were sent.
  clock.step(1);
  return documentId;
}

const stateOf = async ({ teamId }: Team, id: string) => answered(await documents.find(teamId, id))?.state;

/** A worker whose engine answers as ordered; `seen` has the texts in the order in which they came. */
function worker(translate: (text: string) => Promise<void> = async () => undefined, more: Partial<PlainDocumentWorkerOptions> = {}) {
  const seen: string[] = [];
  const running = plainDocumentWorker({
    documents,
    sealer,
    ledger: store.ledger,
    teams: store.teams,
    nowMs: () => clock.nowMs(),
    ...more,
    async translate(_x, { text }) {
      seen.push(...text);
      for (const one of text) await translate(one);
      return { kind: 'translated', translations: text.map((one) => ({ text: one.toUpperCase(), detectedSourceLanguage: 'EN' })) };
    },
  });
  return { seen, running };
}

test("one team's 500 documents do not delay the one of another, which was sent after them", async () => {
  const [many, one] = [await team(), await team()];
  for (let n = 0; n < 500; n++) await created(many, `many ${n}`);
  const id = await created(one, 'one');
  const { seen, running } = worker();
  running.wake();
  await expect.poll(() => stateOf(one, id)).toBe('done');
  await running.close();
  // Its turn is the second; while it is read, others of the two works at a time may overtake it.
  expect(seen.indexOf('one')).toBeLessThan(10);
  for (const { documentId } of answered(await documents.list(many.teamId))) await documents.remove({ teamId: many.teamId, documentId });
  await documents.remove({ teamId: one.teamId, documentId: id });
});

/** A team's two long documents that are translated until `end`, and a third that waits. */
async function waiting(third: string, more: Partial<PlainDocumentWorkerOptions> = {}) {
  const slow = await team();
  const { promise, resolve } = Promise.withResolvers<void>();
  const ids = [await created(slow, 'long 1'), await created(slow, 'long 2'), await created(slow, third)];
  const { seen, running } = worker((text) => (text === 'quick' ? Promise.resolve() : promise), more);
  running.wake();
  // At the same time, in either order.
  await expect.poll(() => seen.toSorted()).toEqual(['long 1', 'long 2']);
  const end = async (): Promise<void> => {
    resolve();
    for (const id of ids) await expect.poll(() => stateOf(slow, id)).toBe('done');
    await running.close();
  };
  return { slow, ids, seen, running, end };
}

/** The store's, with members of a test's own. */
const ledgerWith = (own: Partial<PlainDocumentWorkerOptions['ledger']>): PlainDocumentWorkerOptions['ledger'] => ({
  admit: (asked) => store.ledger.admit(asked),
  check: (asked) => store.ledger.check(asked),
  resolve: (asked) => store.ledger.resolve(asked),
  ...own,
});

test('two long documents of one team do not keep that of another waiting', async () => {
  const quick = await team();
  const { seen, running, end } = await waiting('long 3');
  const id = await created(quick, 'quick');
  running.wake();
  await expect.poll(() => stateOf(quick, id)).toBe('done');
  expect(seen.toSorted()).toEqual(['long 1', 'long 2', 'quick']);
  await end();
});

test('what a document holds itself does not keep it from what was counted', async () => {
  const text = 'more than is left of the month';
  const limited = await teamUnderTest(promisedStore(store), { requestsPerSecond: 10_000, windows: `characters=${HELD + 1}/month` });
  const id = await created(limited, text);
  const { running } = worker();
  running.wake();
  await expect.poll(() => stateOf(limited, id)).toBe('done');
  await running.close();
  expect(await limited.standing()).toMatchObject({ usedCharacters: text.length, openReservations: 0 });
});

test('a document that waits for long is counted before its turn, and nothing that is reserved for it lapses', async () => {
  const { slow, ids, seen, end } = await waiting('waits');
  expect(await slow.standing()).toMatchObject({ heldCharacters: 'long 1long 2'.length + HELD });
  clock.step(UNCOUNTED_LEASE_MS / 2);
  const all = 'long 1long 2waits'.length;
  await expect.poll(() => slow.standing()).toMatchObject({ heldCharacters: all, openReservations: 3 });
  expect(await stateOf(slow, ids[2]!)).toBe('queued');
  clock.step(10 * UNCOUNTED_LEASE_MS);
  expect(await slow.standing()).toMatchObject({ heldCharacters: all, openReservations: 3 });
  expect(seen.toSorted()).toEqual(['long 1', 'long 2']);
  await end();
  // Nothing stays held when they expire.
  clock.step(KEEP_MS);
  const last = worker().running;
  last.wake();
  await expect.poll(() => slow.standing()).toMatchObject({ usedCharacters: all, heldCharacters: 0, openReservations: 0 });
  await last.close();
});

test('a count that fails is made again', async () => {
  let fails = 0;
  const admit: PlainDocumentWorkerOptions['ledger']['admit'] = (asked) => {
    if (asked.charged === 'waits'.length && fails++ === 0) setImmediate(() => asked.answered(AWAY));
    else store.ledger.admit(asked);
  };
  const { slow, end } = await waiting('waits', { ledger: ledgerWith({ admit }) });
  clock.step(UNCOUNTED_LEASE_MS / 2);
  await expect.poll(() => fails).toBeGreaterThan(0);
  const look = async () => {
    clock.step(1000);
    return (await slow.standing()).heldCharacters;
  };
  await expect.poll(look, { timeout: 20_000 }).toBe('long 1long 2waits'.length);
  await end();
});

test.each([
  ['and store and ledger answer', {}],
  ['and the store is away for a while', { finds: 1 }],
  ['and the ledger is away when the document is given up', { resolves: 1 }],
  ['and the ledger is away before', { resolves: 2 }],
  ['and the outcome of the reservation is unknown', { admits: 1 }],
] as const)('a document that is deleted just before what was counted is reserved, %s, leaves nothing held', async (_when, away) => {
  const owner = await team();
  const id = await created(owner, 'gone');
  const due = { teamId: owner.teamId, documentId: id };
  const left = { finds: 0, resolves: 0, admits: 0 };
  const ledger = ledgerWith({
    admit: (asked) =>
      void removeDocument(due, { documents, ledger: store.ledger }).then(() => {
        Object.assign(left, away);
        const isUnknown = left.admits-- > 0;
        store.ledger.admit(isUnknown ? { ...asked, answered: () => asked.answered(AWAY) } : asked);
      }),
    resolve: (asked) => (left.resolves-- > 0 ? setImmediate(() => asked.answered(AWAY)) : store.ledger.resolve(asked)),
  });
  const find: RecordDocuments['find'] = async (...asked) => (left.finds-- > 0 ? AWAY : documents.find(...asked));
  const { seen, running } = worker(undefined, { ledger, documents: { ...documents, find } });
  running.wake();
  await expect.poll(() => stateOf(owner, id)).toBeUndefined();
  await expect.poll(() => owner.standing()).toMatchObject({ heldCharacters: 0, openReservations: 0 });
  await running.close();
  expect(seen).toEqual([]);
});

test('a document that is deleted frees its place, though an engine has its file', async () => {
  const owner = await team();
  const id = await created(owner, 'in a file');
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { promise: sent, resolve } = Promise.withResolvers<AbortSignal>();
  const { running } = worker(undefined, {
    files: ({ document, released }) => {
      if (document.documentId === id) resolve(released);
      return new Promise((ended) => released.addEventListener('abort', () => ended(ENGINE_UNAVAILABLE)));
    },
  });
  running.wake();
  const released = await sent;
  answered(await documents.remove({ teamId: owner.teamId, documentId: id }));
  expect(released.aborted).toBe(false);
  vi.advanceTimersByTime(10_000);
  await vi.waitFor(() => expect(released.aborted).toBe(true), { timeout: 60_000 });
  await running.close();
});
