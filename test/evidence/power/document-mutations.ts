// Planted bugs in formats of documents: hostile archives that are let in, texts that are lost or translated although they must not be.
import type { Mutation } from './mutation.ts';

const HOSTILE = { file: 'test/unit/documents/hostile-files.test.ts' };
const ROUND_TRIPS = { file: 'test/unit/documents/round-trips.test.ts' };
const MARKED = { file: 'test/unit/documents/marked-text.test.ts' };

export const DOCUMENT_MUTATIONS: readonly Mutation[] = [
  {
    name: 'an absolute path in an archive is let in',
    edits: [{ where: 'limitName', find: "name.startsWith('/') || ", replace: '' }],
    caughtBy: [HOSTILE],
  },
  {
    name: 'an entry may inflate to more than it claims',
    edits: [{ where: 'inflatedData', find: 'Math.max(1, entry.bytes)', replace: '2 ** 30' }],
    caughtBy: [HOSTILE],
  },
  {
    name: 'what nobody reads of an archive is not checked',
    edits: [{ where: 'extractTexts', find: 'await archive?.checkOthers();', replace: '' }],
    caughtBy: [HOSTILE],
  },
  {
    name: 'the end of a field may come before its beginning',
    edits: [{ where: 'placedPieces', find: 'open.length === 0 && isInOrder(pieces, marks)', replace: 'open.length === 0' }],
    caughtBy: [MARKED],
  },
  {
    name: 'a picture that an engine has lost is lost',
    edits: [{ where: 'placedPieces', find: 'pieces.push(...lost.map(', replace: 'void (lost.map(' }],
    caughtBy: [MARKED],
  },
  {
    name: 'the computed number of a page is translated',
    edits: [{ where: 'ParagraphReader.#readRun', find: ' && this.#fields.isText', replace: '' }],
    caughtBy: [ROUND_TRIPS],
  },
];
