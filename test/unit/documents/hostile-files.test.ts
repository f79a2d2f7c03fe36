// Hostile files of every kind are refused with words that name what, or read to the end; and the next file is read as ever.
import { afterAll, describe, expect, test } from 'vitest';
import { createDocumentFormats } from '../../../src/documents/create-document-formats.ts';
import { HOSTILE, hostileFiles } from '../../support/documents/hostile-files.ts';
import { wordSample } from '../../support/documents/office-samples.ts';

const faults: string[] = [];
const formats = createDocumentFormats({ onFault: (words) => faults.push(words), timeMs: 100_000 });
afterAll(() => formats.close());

describe('a hostile file', () => {
  test.each(hostileFiles(HOSTILE.length))('$kind', async ({ format: name, bytes, reason }) => {
    const format = formats.formatOf(`a.${name}`)!;
    const first = formats.firstLook(format, bytes);
    const found = await formats.extract(format, bytes);
    const told = first ?? (found.kind === 'refused' ? found.reason : undefined);
    if (reason === undefined) expect(told).toBeUndefined();
    else expect(told).toMatch(reason);
    // What the first look refuses, nobody reads.
    if (first !== undefined) expect(found.kind).toBe('refused');
    expect(faults).toEqual([]);
  });

  test('leaves nothing behind: the next one is read', async () => {
    const { bytes, texts } = wordSample(1);
    const found = await formats.extract(formats.formatOf('a.docx')!, bytes);
    expect(found).toMatchObject({ kind: 'extracted', texts: texts.map((text) => ({ text })) });
  });
});
