// Hostile files one after another: each refused for what it is, in bounded memory, by a thread that never has to be replaced; the next
// file is read as ever. And generated ones with broken bytes, which are refused or read, but never a fault of ours.
import process from 'node:process';
import { afterAll, expect, test } from 'vitest';
import { createDocumentFormats } from '../../support/door/gateways.ts';
import { formatsHere } from '../../support/documents/formats-here.ts';
import { broken, hostileFiles } from '../../support/documents/hostile-files.ts';
import { wordSample } from '../../support/documents/office-samples.ts';
import { RandomTexts } from '../../support/documents/random-texts.ts';
import { SAMPLES } from '../../support/documents/round-trip.ts';
import { SEED } from '../../support/seed.ts';
import { sized } from '../scorecard/size.ts';

const FILES = sized(60, 300);

const faults: string[] = [];
const formats = createDocumentFormats({ onFault: (words) => faults.push(words), timeMs: 100_000 });
afterAll(() => formats.close());

test(`${FILES} hostile files`, async () => {
  const slowest = { kind: '', ms: 0 };
  let turnMsMax = 0;
  for (const { kind, format: name, bytes, reason } of hostileFiles(FILES, SEED * 100)) {
    const format = formats.formatOf(`a.${name}`)!;
    const before = process.cpuUsage();
    const began = performance.now();
    const first = formats.firstLook(format, bytes);
    turnMsMax = Math.max(turnMsMax, performance.now() - began);
    const found = await formats.extract(format, bytes);
    const { user, system } = process.cpuUsage(before);
    const ms = (user + system) / 1000;
    if (ms > slowest.ms) Object.assign(slowest, { kind, ms });
    // What the first look refuses, nobody reads.
    if (first !== undefined) expect({ kind, found: found.kind }).toEqual({ kind, found: 'refused' });
    const answer = first ?? (found.kind === 'refused' ? found.reason : undefined);
    if (reason === undefined) expect({ kind, answer }).toEqual({ kind, answer: undefined });
    else expect({ kind, answer }).toEqual({ kind, answer: expect.stringMatching(reason) as string });
  }
  const { bytes, texts } = wordSample(1);
  const next = await formats.extract(formats.formatOf('a.docx')!, bytes);
  expect(next).toMatchObject({ kind: 'extracted', texts: texts.map((text) => ({ text })) });
  expect(faults).toEqual([]);
  // Figures for who runs it; times are not judged, because the machine may be busy.
  process.stdout.write(
    `slowest: ${slowest.kind}, ${slowest.ms.toFixed(0)} ms of the processor; longest first look ${turnMsMax.toFixed(1)} ms\n`,
  );
});

test.each(SAMPLES)('%s: 200 broken ones are refused in words, or read', async (name, sample) => {
  const format = formats.formatOf(`a.${name}`)!;
  for (let seed = SEED * 1000; seed < SEED * 1000 + 200; seed++) {
    const bytes = broken(sample(seed).bytes, new RandomTexts(seed));
    const found = await formatsHere.extract(format, bytes);
    if (found.kind === 'refused') {
      expect(found.reason).toMatch(/\w/);
      continue;
    }
    const built = await formatsHere.build(
      format,
      bytes,
      found.texts.map(({ text }) => text),
    );
    expect({ seed, kind: built.kind }).toEqual({ seed, kind: 'built' });
  }
});
