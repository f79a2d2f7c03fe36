// The records of tags outside of the ledger, which counts in them (ledger/tag-account.ts).
import type { TagCount } from '../../domain/request-tag.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { RecordSpace, RecordTable, StoredRecord } from '../../ports/record-space.ts';
import { readTagCount, readTagDays } from '../../ledger/tag-account.ts';
import { isLeftBehind } from '../../ledger/tag-uses.ts';

/** Drops a team's days of tags before `first`, tags without any, and what was used of settings that were removed. */
export async function pruneTags(records: RecordSpace, teamId: string, first: number, nowMs: number): Promise<void> {
  const table = async (name: RecordTable): Promise<ReadonlyMap<string, string>> => answered(await records.list(teamId, name));
  const [days, limits] = [await table('tag_days'), await table('tag_limits')];
  for (const [id, count] of await table('tag_counts')) {
    const [earlier, isOver] = [days.get(id), readTagCount(count)!.day < first];
    const left = earlier === undefined ? '' : daysSince(earlier, first);
    if (left === (earlier ?? '') && !isOver) continue;
    const names = [{ table: 'tag_days', id } as const, { table: 'tag_counts', id } as const];
    answered(
      await records.change(teamId, names, ([known, last]) => {
        if (known !== earlier || last !== count) return { result: false };
        if (left !== '') return { result: true, put: [{ ...names[0]!, value: left }] };
        return { result: true, remove: isOver ? names : [names[0]!] };
      }),
    );
  }
  for (const [id, uses] of await table('tag_uses')) {
    if (limits.has(id) || !isLeftBehind(uses, nowMs)) continue;
    const names = [{ table: 'tag_limits', id } as const, { table: 'tag_uses', id } as const];
    answered(await records.change(teamId, names, ([settings]) => ({ result: true, remove: settings === undefined ? [names[1]!] : [] })));
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
  const all = [...readTagDays(days), ...(count === undefined ? [] : [readTagCount(count)!])];
  return sumOf(
    all.filter(({ day }) => day >= first),
    'characters',
  );
}

function sumOf(days: readonly TagCount[], name: 'characters' | 'requests'): number {
  return days.reduce((sum, one) => sum + one[name], 0);
}

/** How many tags of a team have settings. */
export function tagTotals(count: number): StoredRecord[] {
  return count === 0 ? [] : [{ table: 'totals', id: 'tag_limits', value: String(count) }];
}
