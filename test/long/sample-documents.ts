// Documents to look at: in every state, of several teams, small and large.
import { ulid } from 'ulid';
import { answered } from '../../src/index.ts';
import type { DocumentRecord } from '../../src/ports/documents.ts';
import type { Store } from '../../src/ports/store.ts';
import { recordDocuments } from '../support/door/stores.ts';

type Change = Partial<DocumentRecord>;

const HOLD = { requestId: '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC', characters: 48_210, isCounted: true } as const;
/** Format, bytes, seconds ago, and what has become of it. */
const SAMPLES: readonly (readonly [format: string, bytes: number, agoS: number, change: Change, tookS?: number])[] = [
  ['docx', 28_140, 86_000, { state: 'done', billed: 8120, isDownloaded: true }, 9],
  ['pptx', 12_480_512, 7300, { state: 'done', billed: 48_210 }, 412],
  ['xlsx', 640_004, 6400, { state: 'error', code: 'validation_error', detail: 'file: the file contains macros' }, 1],
  ['html', 824, 5000, { state: 'error', code: 'engine_unavailable', failures: 10 }, 300],
  ['xliff', 1_204_880, 1300, { state: 'error', code: 'quota_exceeded' }, 2],
  ['odt', 96_001, 900, { state: 'translating', holds: [HOLD], failures: 2 }],
  ['vtt', 311_090, 100, { state: 'translating', holds: [HOLD] }],
  ['txt', 31_457_280, 42, {}],
  ['srt', 20_011, 12, {}],
];

/** `clock` is the store's, which is moved; it stands at the present afterwards. */
export async function sampleDocuments(store: Store, teamIds: readonly string[], clock: { atMs: number }): Promise<void> {
  const nowMs = clock.atMs;
  const documents = recordDocuments(store.records, () => clock.atMs);
  for (const [index, [format, bytes, agoS, change, tookS]] of SAMPLES.entries()) {
    const teamId = teamIds[index % teamIds.length]!;
    const [key] = answered(await store.teams.listKeys(teamId))!;
    clock.atMs = nowMs - agoS * 1000;
    const due = { documentId: ulid(clock.atMs), teamId };
    const named = { fileName: `sample.${format}`, format, bytes, sourceLang: 'EN', targetLang: index % 2 === 0 ? 'DE' : 'PT-BR' };
    const draft = { ...due, ...named, keyId: key?.keyId ?? ulid(), holds: [] };
    const file = { fileId: ulid(), pieces: [Buffer.from('sealed')] };
    answered(await documents.create(draft, 48 * 3_600_000, file, { openMax: 100, teamBytesMax: 10_000_000, bytesMax: 1_000_000 }));
    clock.atMs += (tookS ?? 0) * 1000;
    if (change.state !== undefined) answered(await documents.change(due, (known) => ({ ...known, ...change })));
  }
  clock.atMs = nowMs;
}
