// The check of documents, on both stores and with files in a directory: it finds nothing in what is intact, names each planted fault,
// and what it mends is intact again.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, test } from 'vitest';
import { SHARED_RECORDS } from '../../../src/domain/shared-records.ts';
import { answered } from '../../../src/domain/store-unavailable.ts';
import type { DocumentRecord } from '../../../src/ports/documents.ts';
import type { RecordName } from '../../../src/ports/record-space.ts';
import { mendDocuments, releaseOf } from '../../../src/stores/document-check.ts';
import type { CheckedFault } from '../../../src/stores/document-check.ts';
import { DirectoryOfDocuments } from '../../../src/stores/document-folder.ts';
import { openWhole } from '../../../src/stores/open-reader.ts';
import { recordDocuments } from '../../../src/stores/records/record-documents.ts';
import type { RecordDocuments } from '../../../src/stores/records/record-documents.ts';
import { checkStore } from '../../../src/stores/store-check.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import { newId, teamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import { documentDraft } from '../../support/document-draft.ts';
import { promisedStore } from '../../support/promised-store.ts';
import { storesOfFile } from '../../support/stores-of-file.ts';

const HOUR_MS = 3_600_000;
const LEASE_MS_MAX = 600_000;
const BOUNDS = { openMax: 10, teamBytesMax: 10_000_000, bytesMax: 1_000_000 };
const PIECES = [Buffer.from('a sealed file')];
const BYTES = PIECES[0]!.length;

const clock = new MovableClock();
const { directory, kinds } = await storesOfFile();
/** Each kind once, and each place. */
const LOCATIONS = kinds.map((kind) => ({ ...kind, place: kind.name === 'SQLite' ? 'the store' : 'a directory' }));

describe.each(LOCATIONS)('$name, files in $place', ({ name, url, open, place }) => {
  const opened = open(clock);
  const folderPath = join(directory, `files-${name}`);
  const folder = place === 'the store' ? undefined : new DirectoryOfDocuments(folderPath);
  const documentsOf = async (): Promise<RecordDocuments> => recordDocuments((await opened).records, () => clock.nowMs(), folder);

  const made: string[] = [];
  afterEach(async () => {
    const [{ teams }, documents] = [await opened, await documentsOf()];
    for (const teamId of made.splice(0)) {
      answered(await teams.deleteTeam(teamId, { keepUsage: false }));
      await documents.forgetTeam(teamId);
    }
  });

  /** A team with a document whose characters are held for hours. */
  async function scene() {
    const [store, documents] = [await opened, await documentsOf()];
    const team = await teamUnderTest(promisedStore(store), { characterLimit: 100_000 });
    made.push(team.teamId);
    const { requestId } = await team.reserve(0, { charged: 500, leaseMs: HOUR_MS });
    const draft = documentDraft(team, [{ requestId, characters: 500 }], BYTES);
    const [due, fileId] = [{ documentId: draft.documentId, teamId: team.teamId }, newId()];
    expect(answered(await documents.create(draft, HOUR_MS, { fileId, pieces: PIECES }, BOUNDS)).kind).toBe('created');
    return { store, documents, team, due, fileId, requestId };
  }

  async function checked() {
    const reader = await openWhole(url, 'read');
    try {
      const findings: CheckedFault[] = [];
      const options = { settleMs: 0, nowMs: clock.nowMs(), documents: { folder, leaseMsMax: LEASE_MS_MAX } };
      const counts = await checkStore(reader, (finding) => void findings.push(finding), options);
      const details = findings.filter(({ what }) => what === 'document').map(({ detail }) => detail);
      return { counts, mends: findings.flatMap(({ mend }) => mend ?? []), details, findings };
    } finally {
      await reader.close();
    }
  }

  async function mendedIsIntact(): Promise<void> {
    const { mends } = await checked();
    expect(mends.every(({ line }) => line.length > 0)).toBe(true);
    await mendDocuments(mends, { documents: await documentsOf(), ledger: (await opened).ledger, folder });
    expect(await checked()).toMatchObject({ findings: [], mends: [] });
  }

  const put = async (group: string, record: RecordName, value: string | undefined): Promise<void> => {
    const change = value === undefined ? { result: true, remove: [record] } : { result: true, put: [{ ...record, value }] };
    answered(await (await opened).records.change(group, [], () => change));
  };

  test('documents and their bytes are counted, and nothing is wrong', async () => {
    const { store, documents, due, team, requestId } = await scene();
    expect(await checked()).toMatchObject({ counts: { documents: 1, documentBytes: BYTES }, details: [], mends: [] });
    await documents.change(due, (known) => ({ ...known, state: 'error', code: 'validation_error', sourceId: undefined }));
    expect(await checked()).toMatchObject({ counts: { documents: 1, documentBytes: 0 }, details: [], mends: [] });
    await documents.remove(due);
    const { ledger } = store;
    await mendDocuments([releaseOf(team.teamId, requestId)], { documents, ledger, folder });
    expect(await checked()).toMatchObject({ counts: { documents: 0, documentBytes: 0 }, details: [], mends: [] });
  });

  type Scene = Awaited<ReturnType<typeof scene>>;
  const FAULTS: readonly (readonly [what: string, plant: (scene: Scene) => Promise<unknown>, details: readonly string[]])[] = [
    [
      'a document that is not in the queue',
      async ({ due }) => {
        await put(SHARED_RECORDS, { table: 'documents', id: due.documentId }, undefined);
        await put(SHARED_RECORDS, { table: 'totals', id: 'documents' }, undefined);
      },
      ['is not in the queue'],
    ],
    [
      'a file that is missing',
      async ({ store, due, fileId }) => {
        if (folder !== undefined) return folder.remove(due.documentId, fileId);
        if (name === 'Redis') return answered(await store.records.change(due.teamId, [], () => ({ result: true, detach: [fileId] })));
        const file = new DatabaseSync(url.slice('sqlite:'.length));
        file.prepare('DELETE FROM pieces WHERE blob = ?').run(fileId);
        return file.close();
      },
      ['a file of document', 'is counted with 13 bytes, its files have 0'],
    ],
    [
      'bytes that are counted wrongly',
      ({ documents, due }) => documents.setBytes(due.documentId, 99),
      ['is counted with 99 bytes, its files have 13'],
    ],
    ['a wrong sum', () => put(SHARED_RECORDS, { table: 'totals', id: 'documents' }, '77'), ['are counted with 77 bytes, but have 13']],
    [
      'a wrong number of open documents',
      ({ due }) => put(due.teamId, { table: 'totals', id: 'documents' }, JSON.stringify({ open: [newId(), due.documentId], bytes: 0 })),
      ['is recorded with 2 open documents and 0 bytes, but has 1 open documents and 13 bytes'],
    ],
    [
      'wrong bytes of a team',
      ({ due }) => put(due.teamId, { table: 'totals', id: 'documents' }, JSON.stringify({ open: [due.documentId], bytes: 14 })),
      ['is recorded with 1 open documents and 14 bytes, but has 1 open documents and 13 bytes'],
    ],
    [
      'characters that are held for no document',
      ({ documents, due }) => documents.remove(due),
      ['500 characters are held for a document that there is not'],
    ],
    [
      'a place in the queue for no document',
      async ({ due, documents }) => {
        const known = answered(await documents.find(due.teamId, due.documentId)) as DocumentRecord;
        await put(due.teamId, { table: 'documents', id: due.documentId }, undefined);
        await put(due.teamId, { table: 'totals', id: 'documents' }, undefined);
        if (folder === undefined)
          answered(await (await opened).records.change(due.teamId, [], () => ({ result: true, detach: [known.sourceId!] })));
        clock.step(LEASE_MS_MAX);
      },
      ['500 characters are held', 'is in the queue, but does not exist'],
    ],
    ...(folder === undefined
      ? []
      : [
          [
            'files of no document',
            () => Promise.resolve(mkdirSync(join(folderPath, newId()))),
            ['which does not exist'],
          ] as (typeof FAULTS)[number],
        ]),
  ];

  test.each(FAULTS)('%s: found and mended', async (_what, plant, details) => {
    const planted = await scene();
    await plant(planted);
    const found = await checked();
    expect(found.details).toHaveLength(details.length);
    for (const [index, detail] of details.entries()) expect(found.details[index]).toContain(detail);
    await mendedIsIntact();
  });
});
