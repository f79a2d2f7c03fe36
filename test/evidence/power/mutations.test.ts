// The table of planted bugs follows the sources: each text that a bug replaces is there, once.
import { expect, test } from 'vitest';
import { MUTATIONS } from './mutations.ts';
import { Workshop } from './workshop.ts';

test('every planted bug still has its place in the sources', () => {
  const workshop = new Workshop();
  try {
    expect(MUTATIONS.flatMap((mutation) => workshop.faultsOf(mutation))).toEqual([]);
  } finally {
    workshop.remove();
  }
});
