// Pages of what fits a filter: nothing is left out or repeated, whatever fits, and each reads a bounded part of the list.
import { expect, test } from 'vitest';
import { orderedPage } from '../../../src/admin/listing.ts';
import { AWAY } from '../../support/away-store.ts';

const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index).padStart(5, '0'));

function listOf(all: readonly string[]) {
  const pieces: number[] = [];
  const read = async (after: string | undefined, limit: number): Promise<readonly string[]> => {
    pieces.push(limit);
    return all.filter((id) => after === undefined || id > after).slice(0, limit);
  };
  return { read, pieces };
}

const SIZES = { pieceSize: 7, checkedMax: 20 };

async function walked(all: readonly string[], fits: (id: string) => boolean, limit: number) {
  const found: string[] = [];
  const pages: number[] = [];
  let after: string | undefined;
  do {
    const { read, pieces } = listOf(all);
    const page = await orderedPage({ read, idOf: (id) => id, fits, ...SIZES }, after, limit);
    if (page.kind !== 'done') throw new Error(page.kind);
    expect(pieces.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(SIZES.checkedMax);
    found.push(...page.value.rows);
    pages.push(page.value.rows.length);
    expect(page.value.checkedMax).toBe(page.value.next !== undefined && page.value.rows.length < limit ? SIZES.checkedMax : undefined);
    after = page.value.next;
  } while (after !== undefined);
  return { found, pages };
}

const FILTERS: readonly [string, (id: string) => boolean][] = [
  ['every one', () => true],
  ['none', () => false],
  ['each third', (id) => Number(id) % 3 === 0],
  ['the last alone', (id) => id === '00099'],
  ['the first ten', (id) => Number(id) < 10],
];

test.each(FILTERS)('%s that fits is found once, in order, with pages of any size', async (_name, fits) => {
  for (const size of [0, 1, 6, 7, 8, 20, 21, 40, 100]) {
    for (const limit of [1, 2, 5, 30]) {
      const all = ids(size);
      expect((await walked(all, fits, limit)).found).toEqual(all.filter(fits));
    }
  }
});

test('a page that found too few ends when enough was checked, and says so', async () => {
  const { read } = listOf(ids(100));
  const page = await orderedPage({ read, idOf: (id) => id, fits: () => false, ...SIZES }, undefined, 5);
  expect(page).toMatchObject({ kind: 'done', value: { rows: [], next: '00019', checkedMax: 20 } });
});

test('a full page goes on right behind its last item or what was checked behind that', async () => {
  const { pages } = await walked(ids(9), () => true, 3);
  expect(pages).toEqual([3, 3, 3]);
});

test('a store that is away is reported', async () => {
  const read = () => Promise.resolve(AWAY);
  expect(await orderedPage({ read, idOf: String, fits: () => true, ...SIZES }, undefined, 5)).toBe(AWAY);
});
