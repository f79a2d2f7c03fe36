// Every format: each text once and in order; the file with its own texts is the same; translations come where their texts were.
import { describe, expect, test } from 'vitest';
import { formatsHere as formats } from '../../support/documents/formats-here.ts';
import { SAMPLES, roundTrip } from '../../support/documents/round-trip.ts';

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

describe('a file of each format', () => {
  test.each(SAMPLES)('%s', (format, sample) => {
    for (const seed of SEEDS) {
      const trip = roundTrip(format, sample(seed));
      expect({ seed, found: trip.found }).toEqual({ seed, found: trip.expected });
      expect({ seed, isSame: trip.isSame, changed: trip.changed }).toEqual({ seed, isSame: true, changed: [] });
      expect({ seed, again: trip.again }).toEqual({ seed, again: trip.due });
    }
  });

  test('is known by the ending of its name, whatever its case', () => {
    expect(formats.formatOf('Report.DOCX')?.name).toBe('docx');
    expect(formats.formatOf('a.b/report.tar.html')?.mediaType).toBe('text/html');
    for (const name of ['docx', 'a.docm', 'a.', 'a.doc', '.', 'a.txt/b']) expect(formats.formatOf(name)).toBeUndefined();
    expect(formats.all.map(({ name }) => name)).toEqual(formats.all.map(({ name }) => name).toSorted());
  });
});
