// Documents as records, on both stores: the event of each end is stored by the change that makes it, a creation that takes too long
// leaves nothing, and the order of all documents is exact.
import { describe, expect, test } from 'vitest';
import { eventRules } from '../../../../src/domain/event-rules.ts';
import { answered, isUnavailable } from '../../../../src/domain/store-unavailable.ts';
import type { DocumentFolder, DocumentRecord } from '../../../../src/ports/documents.ts';
import type { RecordSpace } from '../../../../src/ports/record-space.ts';
import type { Store } from '../../../../src/ports/store.ts';
import { recordDocuments } from '../../../../src/stores/records/record-documents.ts';
import { MovableClock } from '../../../../src/testing/movable-clock.ts';
import { newId, teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { documentDraft } from '../../../support/document-draft.ts';
import { promisedStore } from '../../../support/promised-store.ts';
import { storesOfFile } from '../../../support/stores-of-file.ts';

const HOUR_MS = 3_600_000;
const BOUNDS = { openMax: 10, teamBytesMax: 10_000_000, bytesMax: 1_000_000 };
const RULES = eventRules([], []);
const PIECES = [Buffer.from('sealed')];

const { kinds } = await storesOfFile();

describe.each(kinds)('$name', ({ open }) => {
  const clock = new MovableClock();
  const opened = open(clock, RULES);

  async function scene(store?: Store, folder?: DocumentFolder) {
    const used = store ?? (await opened);
    const documents = recordDocuments(used.records, () => clock.nowMs(), folder);
    const { teamId, keyId } = await teamUnderTest(promisedStore(used));
    const create = async (): Promise<{ readonly documentId: string; readonly teamId: string }> => {
      const draft = documentDraft({ teamId, keyId });
      const created = await documents.create(draft, HOUR_MS, { fileId: newId(), pieces: PIECES }, BOUNDS);
      expect(answered(created).kind).toBe('created');
      return { documentId: draft.documentId, teamId };
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
    const reported = [{ id: `${documentId}-done`, teamId, atMs: clock.nowMs(), facts: event }];
    expect(await events()).toEqual(reported);
    await documents.remove(due);
    expect(await events()).toEqual(reported);
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
    expect(await recordDocuments(beside, () => clock.nowMs()).recountTeam(teamId)).toBeUndefined();
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
    const due = documentDraft({ teamId, keyId });
    const created = await documents.create(due, HOUR_MS, { fileId: newId(), pieces: PIECES }, BOUNDS);
    expect(isUnavailable(created)).toBe(true);
    expect(answered(await documents.find(teamId, due.documentId))).toBeUndefined();
    // What a worker does when it finds nothing behind what is due.
    expect(answered(await documents.due(10)).map(({ documentId }) => documentId)).toContain(due.documentId);
    await documents.remove(due);
    expect(answered(await documents.newest(undefined, 1000)).filter((one) => one.teamId === teamId)).toEqual([]);
    expect(answered(await documents.due(10)).map(({ documentId }) => documentId)).not.toContain(due.documentId);
  });
});
