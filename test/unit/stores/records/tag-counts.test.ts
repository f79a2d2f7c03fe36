// The records of tags: what a charge makes of them, what is left of old days, and what a clock that was ahead has counted.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FURTHER_TAGS } from '../../../../src/domain/request-tag.ts';
import type { TagCount } from '../../../../src/domain/request-tag.ts';
import { countTag, readTagCount, readTagDays } from '../../../../src/ledger/tag-account.ts';
import { tagDaysSince } from '../../../../src/stores/records/tag-counts.ts';
import type { TagTable } from '../../../../src/ledger/tag-account.ts';

function tables() {
  const of: Record<TagTable, Record<string, string>> = { tag_counts: {}, tag_days: {}, tag_limits: {}, tag_uses: {} };
  const records = {
    get: (table: TagTable, tag: string) => of[table][tag],
    put: (table: TagTable, tag: string, value: string) => void (of[table][tag] = value),
    count: () => Object.keys(of.tag_counts).length,
  };
  const charge = (name: string, characters: number, day: number, distinctMax = 1000): void =>
    countTag(records, { name, distinctMax }, characters, day);
  return { of, charge };
}

const daysOf = (of: Record<TagTable, Record<string, string>>, tag: string): TagCount[] => [
  ...readTagDays(of.tag_days[tag]),
  ...(of.tag_counts[tag] === undefined ? [] : [readTagCount(of.tag_counts[tag])!]),
];

describe('a charge', () => {
  test('is added to the day, and the day so far is moved when another begins', () => {
    const { of, charge } = tables();
    charge('acme', 5, 20_000);
    charge('acme', 7, 20_000);
    charge('acme', 1, 20_001);
    charge('acme', 0, 20_000);
    expect(of).toEqual({ tag_counts: { acme: '20000 0 1' }, tag_days: { acme: '20000:12:2 20001:1:1' }, tag_limits: {}, tag_uses: {} });
  });

  test('of a tag beyond the most is counted with the others like it, which are no tag of their own', () => {
    const { of, charge } = tables();
    charge(FURTHER_TAGS, 1, 1, 0);
    charge('a', 2, 1, 1);
    charge('b', 4, 1, 1);
    charge('a', 8, 2, 0);
    charge('c', 16, 2, 1);
    expect(of).toEqual({ tag_counts: { a: '2 8 1', '*': '2 16 1' }, tag_days: { a: '1:2:1', '*': '1:5:2' }, tag_limits: {}, tag_uses: {} });
  });

  test('is never lost, whatever the order of days', () => {
    const charges = fc.array(
      fc.record({ tag: fc.constantFrom('a', 'b', 'c', FURTHER_TAGS), characters: fc.nat(50), day: fc.integer({ min: 1, max: 5 }) }),
    );
    fc.assert(
      fc.property(charges, fc.nat(3), (all, most) => {
        const { of, charge } = tables();
        for (const { tag, characters, day } of all) charge(tag, characters, day, most);
        const sum = (contents: typeof of): [number, number] => {
          const days = Object.keys(contents.tag_counts).flatMap((tag) => daysOf(contents, tag));
          return [days.reduce((total, { characters }) => total + characters, 0), days.reduce((total, { requests }) => total + requests, 0)];
        };
        expect(sum(of)).toEqual([all.reduce((total, { characters }) => total + characters, 0), all.length]);
        expect(Object.keys(of.tag_counts).filter((tag) => tag !== FURTHER_TAGS).length).toBeLessThanOrEqual(most);
      }),
    );
  });
});

test('old days are dropped from the beginning of a list', () => {
  expect(tagDaysSince('1:5:1 2:6:1 3:7:1', 2)).toBe('2:6:1 3:7:1');
  expect(tagDaysSince('1:5:1 2:6:1', 1)).toBe('1:5:1 2:6:1');
  expect(tagDaysSince('1:5:1 2:6:1', 3)).toBe('');
});
