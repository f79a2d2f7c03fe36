// Workers of documents on both stores, with files in the store and in a directory: expiry, deaths, deletions, and what stays held.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { refuse } from '../../../../src/core/problem.ts';
import { SHARED_RECORDS } from '../../../../src/domain/shared-records.ts';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { DocumentRecord } from '../../../../src/ports/documents.ts';
import type { GatewayServices } from '../../../../src/ports/gateway-services.ts';
import { DocumentSealer } from '../../../../src/documents/work/document-secrets.ts';
import { documentDraft } from '../../../support/document-draft.ts';
import { plainDocumentWorker } from '../../../support/plain-document-worker.ts';
import { DirectoryOfDocuments } from '../../../../src/stores/document-folder.ts';
import { recordDocuments } from '../../../../src/stores/records/record-documents.ts';
import type { RecordDocuments } from '../../../../src/stores/records/record-documents.ts';
import { MovableClock } from '../../../../src/testing/movable-clock.ts';
import { newId, teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { promisedStore } from '../../../support/promised-store.ts';
import { storesOfFile } from '../../../support/stores-of-file.ts';

const HOUR_MS = 3_600_000;
/** Longer than a claim. */
const DEATH_MS = 60_000;
const BOUNDS = { openMax: 10, teamBytesMax: 10_000_000, bytesMax: 1_000_000 };
const clock = new MovableClock();
const { directory, kinds } = await storesOfFile();
/** Each kind once, and each place. */
const LOCATIONS = kinds.map((kind) => ({ ...kind, place: kind.name === 'SQLite' ? 'a directory' : 'the store' }));

describe.each(LOCATIONS)('$name, files in $place', ({ name, open, place }) => {
  const opened = open(clock);
  const sealer = new DocumentSealer(Buffer.from('a secret of the tests that is long enough'));
  const folder = join(directory, `files-${name}`);
  const documentsOf = async (): Promise<RecordDocuments> => {
    const retained = place === 'the store' ? undefined : await DirectoryOfDocuments.open(folder);
    return recordDocuments((await opened).records, () => clock.nowMs(), retained);
  };

  async function setting(limits: Parameters<typeof teamUnderTest>[1] = {}) {
    const [store, documents] = [await opened, await documentsOf()];
    const team = await teamUnderTest(promisedStore(store), { characterLimit: 100_000, ...limits });
    const { requestId } = await team.reserve(0, { charged: 50_000, leaseMs: 600_000 });
    const draft = documentDraft(team, [{ requestId, characters: 50_000 }]);
    const { documentId } = draft;
    const fileId = newId();
    const pieces = await sealer.seal(documentId, fileId, Buffer.from('one\n\ntwo\n'));
    const created = answered(await documents.create(draft, HOUR_MS, { fileId, pieces }, BOUNDS));
    expect(created.kind).toBe('created');
    const find = async (): Promise<DocumentRecord | undefined> => answered(await documents.find(team.teamId, documentId));
    return { store, documents, team, documentId, find, due: { documentId, teamId: team.teamId } };
  }

  /** Works until `isOver`; engines answer by `translate`. */
  async function work(isOver: () => Promise<boolean>, translate: GatewayServices['translate'] = translated): Promise<void> {
    const store = await opened;
    const worker = plainDocumentWorker({
      documents: await documentsOf(),
      ledger: store.ledger,
      teams: store.teams,
      sealer,
      nowMs: () => clock.nowMs(),
      translate,
      onEnd: (end) => {
        if (end === 'again') clock.step(DEATH_MS);
      },
    });
    worker.wake();
    await expect.poll(isOver).toBe(true);
    await worker.close();
  }

  const nothingIsLeft = async (teamId: string): Promise<void> => {
    const { records } = await opened;
    expect(answered(await records.list(teamId, 'documents'))).toEqual(new Map());
    expect(answered(await records.list(SHARED_RECORDS, 'documents'))).toEqual(new Map());
    expect(answered(await records.page(SHARED_RECORDS, { index: 'documents_by_due', from: '', below: '~', limit: 10 }))).toEqual([]);
    if (place === 'a directory') expect(readdirSync(folder)).toEqual([]);
  };

  const CHARGED = { usedCharacters: 6, heldCharacters: 0, openReservations: 0 };
  const FREE = { usedCharacters: 0, heldCharacters: 0, openReservations: 0 };

  test('a document is charged when it is done; when it expires nothing is left of it', async () => {
    const { team, find } = await setting();
    await work(async () => (await find())?.state === 'done');
    expect(await team.standing()).toMatchObject(CHARGED);
    clock.step(HOUR_MS);
    await work(async () => (await find()) === undefined);
    expect(await team.standing()).toMatchObject(CHARGED);
    await nothingIsLeft(team.teamId);
  });

  /** A document that was translated, and whose worker died before it has ended. */
  async function interrupted() {
    const scene = await setting();
    const { documents, due, team, store } = scene;
    const { requestId } = await team.reserve(0, { charged: 6, leaseMs: HOUR_MS });
    const fileId = newId();
    const pieces = await sealer.seal(due.documentId, fileId, Buffer.from('ONE\n\nTWO\n'));
    const translate = async ({ sourceId: _source, ...known }: DocumentRecord): Promise<DocumentRecord> => ({
      ...known,
      state: 'translating',
      resultId: fileId,
      billed: 6,
      holds: [{ requestId, characters: 6, isCounted: true }],
    });
    const next = await translate((await scene.find())!);
    const [first] = (await scene.find())!.holds;
    answered(await promisedStore(store).ledger.resolve(team.teamId, first!.requestId, 'release'));
    answered(await documents.change(due, () => next, { fileId, pieces }));
    const commit = async () => promisedStore(store).ledger.resolve(team.teamId, requestId, 'commit');
    return { ...scene, commit };
  }
  const never: GatewayServices['translate'] = () => Promise.reject(new Error('it was translated before'));

  test('a death before or after the charge leaves a document that is charged once', async () => {
    for (const isCharged of [false, true]) {
      const { find, team, due, documents, commit } = await interrupted();
      if (isCharged) expect(await commit()).toEqual({ kind: 'committed' });
      await work(async () => (await find())?.state === 'done', never);
      expect(await find()).toMatchObject({ billed: 6, holds: [] });
      expect(await team.standing()).toMatchObject(CHARGED);
      await documents.remove(due);
    }
  });

  test('a key that is revoked before the result is stored ends a document for nothing, and after it changes nothing', async () => {
    const free = await setting();
    const { teams } = free.store;
    await work(
      async () => (await free.find())?.state === 'error',
      async (...asked) => {
        answered(await teams.revokeKey(free.team.keyId));
        return translated(...asked);
      },
    );
    expect(await free.find()).toMatchObject({ code: 'key_revoked', holds: [] });
    expect((await free.find())?.resultId).toBeUndefined();
    expect(await free.team.standing()).toMatchObject(FREE);
    for (const isCharged of [false, true]) {
      const { find, team, documents, due, commit } = await interrupted();
      if (isCharged) await commit();
      answered(await teams.revokeKey(team.keyId));
      await work(async () => (await find())?.state === 'done', never);
      expect(await team.standing()).toMatchObject(CHARGED);
      await documents.remove(due);
    }
    await free.documents.remove(free.due);
    await nothingIsLeft(free.team.teamId);
  });

  test('a deletion that a death interrupted while it was translated is finished soon', async () => {
    const { documents, find, due, team } = await setting();
    const translate: GatewayServices['translate'] = async (...asked) => {
      answered(await documents.change(due, (known) => ({ ...known, isRemoved: true })));
      return translated(...asked);
    };
    await work(async () => (await find())?.isRemoved === true, translate);
    expect((await find())?.state).not.toBe('done');
    clock.step(DEATH_MS);
    await work(async () => (await find()) === undefined);
    expect(await team.standing()).toMatchObject(FREE);
    await nothingIsLeft(team.teamId);
  });

  test('another worker goes on after a death, whose late result is not taken', async () => {
    const { documents, find, due, team } = await setting();
    const dead = { ...due, worker: newId(), leaseMs: 30_000 };
    expect(await documents.claim(dead)).toBe(clock.nowMs());
    await documents.change(due, (known) => ({ ...known, state: 'translating', worker: dead.worker }));
    expect(await documents.claim({ ...due, worker: newId(), leaseMs: 30_000 })).toBeUndefined();
    clock.step(DEATH_MS);
    await work(async () => (await find())?.state === 'done');
    const delayed = await documents.change(due, (known) => (known.worker === dead.worker ? { ...known, state: 'error' } : undefined));
    expect([delayed, (await find())?.state]).toEqual([undefined, 'done']);
    expect(await team.standing()).toMatchObject(CHARGED);
    await documents.remove(due);
  });

  test('whoever goes on after a death uses a reservation that was made before it', async () => {
    const { documents, find, due, team } = await setting();
    const { requestId } = await team.reserve(0, { charged: 6, leaseMs: HOUR_MS });
    await documents.change(due, (known) => ({ ...known, holds: [...known.holds, { requestId, characters: 6, isCounted: true }] }));
    await work(async () => (await find())?.state === 'done');
    expect(await team.standing()).toMatchObject(CHARGED);
    expect(await promisedStore(await opened).ledger.resolve(team.teamId, requestId, 'release')).toEqual({ kind: 'absent' });
    await documents.remove(due);
  });

  test('a refusal that nothing changes ends in an error, with nothing held', async () => {
    const { documents, find, due, team } = await setting();
    await work(
      async () => (await find())?.state === 'error',
      () => Promise.resolve(refuse('validation_error', 'glossary_id: the team has no glossary of this id.')),
    );
    expect(await find()).toMatchObject({ code: 'validation_error', detail: 'glossary_id: the team has no glossary of this id.' });
    expect(await team.standing()).toMatchObject(FREE);
    await documents.remove(due);
    await nothingIsLeft(team.teamId);
  });

  test('an engine that is away is tried again, until it is given up', async () => {
    const { documents, find, due, team } = await setting();
    let tries = 0;
    const away: GatewayServices['translate'] = () => {
      tries++;
      return Promise.resolve(refuse('engine_unavailable', 'No usable translation was available.'));
    };
    await work(async () => (await find())?.state === 'error', away);
    expect([tries, (await find())?.code]).toEqual([10, 'engine_unavailable']);
    expect(await team.standing()).toMatchObject({ heldCharacters: 0, openReservations: 0 });
    await documents.remove(due);
  });

  test('a team that is deleted leaves nothing', async () => {
    const { store, documents, team } = await setting();
    answered(await store.teams.deleteTeam(team.teamId, { keepUsage: false }));
    expect(await documents.forgetTeam(team.teamId)).toBeUndefined();
    expect(await totalsOf(documents)).toEqual({ documents: 0, bytes: 0 });
    if (place === 'a directory') expect(readdirSync(folder)).toEqual([]);
  });

  test('a file fits as long as the bytes of all files do, and their sum is exact', async () => {
    const { documents, team, due, documentId } = await setting();
    const { bytes } = await totalsOf(documents);
    const more = async (bytesMax: number) => {
      const draft = documentDraft(team);
      const [other, fileId] = [draft.documentId, newId()];
      const pieces = await sealer.seal(other, fileId, Buffer.from('one\n\ntwo\n'));
      const created = await documents.create(draft, HOUR_MS, { fileId, pieces }, { ...BOUNDS, bytesMax });
      return { other, created: answered(created) };
    };
    expect((await more(2 * bytes - 1)).created.kind).toBe('full');
    const { other, created } = await more(2 * bytes);
    expect(created.kind).toBe('created');
    expect(await totalsOf(documents)).toEqual({ documents: 2, bytes: 2 * bytes });
    for (const one of [documentId, other]) await documents.remove({ ...due, documentId: one });
    await nothingIsLeft(team.teamId);
  });
});

const translated: GatewayServices['translate'] = (_x, { text }) =>
  Promise.resolve({ kind: 'translated', translations: text.map((one) => ({ text: one.toUpperCase(), detectedSourceLanguage: 'EN' })) });

async function totalsOf(documents: RecordDocuments): Promise<{ readonly documents: number; readonly bytes: number }> {
  const all = answered(await documents.newest(undefined, 1000));
  return { documents: all.length, bytes: answered(await documents.backlog()).bytes };
}
