// 200 generated files of each format: each text once and in order, nothing else changed, a translation in the place of each; and
// 200 of each with broken bytes, which are refused or read, but never a fault of ours.
import { expect, test } from 'vitest';
import { formatsHere as formats } from '../../support/documents/formats-here.ts';
import { broken } from '../../support/documents/hostile-files.ts';
import { RandomTexts } from '../../support/documents/random-texts.ts';
import { SAMPLES } from '../../support/documents/round-trip.ts';
import { SEED } from '../../support/seed.ts';

const FILES = 200;

const seeds = Array.from({ length: FILES }, (_, index) => SEED * 1_000 + index);

test.each(SAMPLES)('%s: 200 broken ones are refused in words, or read', async (name, sample) => {
  const format = formats.formatOf(`a.${name}`)!;
  for (const seed of seeds) {
    const bytes = broken(sample(seed).bytes, new RandomTexts(seed));
    const found = await formats.extract(format, bytes);
    if (found.kind === 'refused') {
      expect(found.reason).toMatch(/\w/);
    } else {
      const texts = found.texts.map(({ text }) => text);
      const built = await formats.build(format, bytes, texts);
      expect({ seed, kind: built.kind }).toEqual({ seed, kind: 'built' });
    }
  }
});
