// The tables `tag_limits` and `tag_uses` of the record space: admissions read and write them, so they are fields of the team's hash, and
// the slots of a tag's rate a list beside it.
import { TagUses } from '../../ledger/tag-uses.ts';
import { tagSubject, WINDOWS } from '../../domain/window-limits.ts';
import { slotsOf } from './redis-keys.ts';
import { countsText, FIELD, readCounts } from './team-fields.ts';
import type { TagCounter } from './team-fields.ts';

/** Scale of the slots' times in the record (src/ledger/tag-uses.ts). */
const LOW_MAX = 65_536;
const SLOT = /(\d{5})(\d{6})/g;

export function tagSlots(tag: string): string {
  return slotsOf(tagSubject(tag));
}

/** `slots`: when the last requests of the tag were admitted. */
export function readTagUses(tag: string, get: (field: string) => string | undefined, slots: readonly number[]): string | undefined {
  const [counts, counter] = [get(FIELD.ofWindows(tagSubject(tag))), get(FIELD.ofPeriod(tagSubject(tag)))];
  if (counts === undefined) return undefined;
  const { tickets, windows } = readCounts(counts);
  const { period = 0, from = 0, used = 0 } = counter === undefined ? {} : (JSON.parse(counter) as TagCounter);
  const head = `${tickets} ${period} ${from} ${used} 0 ${writtenSlots(slots)}`;
  const written = windows.map(({ per, startMs, endMs, from: after, requests, characters }) =>
    [WINDOWS.indexOf(per) + 1, startMs, endMs, after, requests, characters, 0].join(':'),
  );
  return [head, ...written].join(' ');
}

function writtenSlots(slots: readonly number[]): string {
  const newestMs = Math.max(0, ...slots);
  const counts = new Map<number, number>();
  for (const atMs of slots) if (newestMs - atMs < 1000) counts.set(atMs, (counts.get(atMs) ?? 0) + 1);
  const low = newestMs % LOW_MAX;
  const entries = [...counts].map(([atMs, count]) => {
    const at = (low - (newestMs - atMs) + LOW_MAX) % LOW_MAX;
    return String(at).padStart(5, '0') + String(count).padStart(6, '0');
  });
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return `${newestMs} ${low} ${total} ${entries.join('') || '-'}`;
}

export function tagUsesWrites(
  tag: string,
  text: string,
): { readonly fields: readonly (readonly [string, string])[]; readonly slots: readonly string[] } {
  const [, number = '0', , , , newest = '0', low = '0', , slots = '-'] = text.split(' ');
  const { counts, period } = new TagUses(text, Number(number), 0);
  const counter: TagCounter = { period: period.number, used: period.characters, from: period.from };
  return {
    fields: [
      [FIELD.ofWindows(tagSubject(tag)), countsText(counts.stored())],
      [FIELD.ofPeriod(tagSubject(tag)), JSON.stringify(counter)],
    ],
    slots: [...slots.matchAll(SLOT)].flatMap(([, at, count]) => {
      const atMs = Number(newest) - ((Number(low) - Number(at) + LOW_MAX) % LOW_MAX);
      return Array.from({ length: Number(count) }, () => String(atMs));
    }),
  };
}
