// The days of tags over a record space, in which the ledger counts them: of at most `limits.tags` tags, so a team's are read at once.
import type { TagCount } from '../../domain/request-tag.ts';
import { answeringAll } from '../../domain/store-unavailable.ts';
import type { RecordSpace } from '../../ports/record-space.ts';
import type { TagHistory } from '../../ports/tag-registry.ts';
import { readTagCount, readTagDays } from '../../ledger/tag-account.ts';
import { isLeftBehind } from '../../ledger/tag-uses.ts';
import { Group } from './json-table.ts';

/** A tag's first charge of a day moves its last day from one table to the other: then both are read again. */
const READS_MAX = 10;

export function recordTags(space: RecordSpace): TagHistory {
  return answeringAll<TagHistory>({
    async days(teamId, { from, to }) {
      const team = new Group(space, teamId);
      let [days, counts] = [await team.list('tag_days'), await team.list('tag_counts')];
      for (let reads = 1; reads < READS_MAX; reads++) {
        const again = await team.list('tag_days');
        if (again.size === days.size && [...again].every(([tag, text]) => days.get(tag) === text)) break;
        [days, counts] = [again, await team.list('tag_counts')];
      }
      const rows = [...counts].flatMap(([tag, text]) => {
        const byDay = Map.groupBy([...readTagDays(days.get(tag)), readTagCount(text)!], ({ day }) => day);
        return [...byDay].map(([day, all]) => ({ tag, day, characters: sumOf(all, 'characters'), requests: sumOf(all, 'requests') }));
      });
      const inRange = rows.filter(({ day }) => day >= from && day <= to);
      return inRange.toSorted((one, other) => one.day - other.day || (one.tag < other.tag ? -1 : 1));
    },
  });
}

/** Drops a team's days of tags before `first`, tags without any, and what was used of settings that were removed. */
export async function pruneTags(records: RecordSpace, teamId: string, first: number, nowMs: number): Promise<void> {
  const team = new Group(records, teamId);
  // Most teams have no tags.
  const [counts, allUses] = [await team.list('tag_counts'), await team.list('tag_uses')];
  const days = counts.size === 0 ? counts : await team.list('tag_days');
  const limits = allUses.size === 0 ? allUses : await team.list('tag_limits');
  for (const [id, count] of counts) {
    const [earlier, isOver] = [days.get(id), readTagCount(count)!.day < first];
    const left = earlier === undefined ? '' : daysSince(earlier, first);
    if (left === (earlier ?? '') && !isOver) continue;
    const names = [{ table: 'tag_days', id } as const, { table: 'tag_counts', id } as const];
    await team.change(names, ([known, last]) => {
      if (known !== earlier || last !== count) return { result: false };
      if (left !== '') return { result: true, put: [{ ...names[0]!, value: left }] };
      return { result: true, remove: isOver ? names : [names[0]!] };
    });
  }
  for (const [id, uses] of allUses) {
    if (limits.has(id) || !isLeftBehind(uses, nowMs)) continue;
    const names = [{ table: 'tag_limits', id } as const, { table: 'tag_uses', id } as const];
    await team.change(names, ([settings]) => ({ result: true, remove: settings === undefined ? [names[1]!] : [] }));
  }
}

/** What is left of a record of `tag_days` without the days before `first`; '' for nothing. */
function daysSince(text: string, first: number): string {
  const days = text.split(' ');
  const at = days.findIndex((one) => Number.parseInt(one, 10) >= first);
  return at === -1 ? '' : days.slice(at).join(' ');
}

/** The characters in a tag's records of this day and later. */
export function chargedSince(first: number, count: string | undefined, days: string | undefined): number {
  const all = [...readTagDays(days), ...(count === undefined ? [] : [readTagCount(count)!])].filter(({ day }) => day >= first);
  return sumOf(all, 'characters');
}

function sumOf(days: readonly TagCount[], name: 'characters' | 'requests'): number {
  return days.reduce((sum, one) => sum + one[name], 0);
}
