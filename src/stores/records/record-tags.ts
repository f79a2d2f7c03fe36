// The days of tags over a record space, in which the ledger counts them: of at most `limits.tags` tags, so a team's are read at once.
import type { TagCount } from '../../domain/request-tag.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { DayRange } from '../../domain/usage-days.ts';
import type { RecordSpace } from '../../ports/record-space.ts';
import type { TagDay, TagHistory } from '../../ports/tag-history.ts';
import { readTagCount, readTagDays } from '../../ledger/tag-account.ts';

/** A tag's first charge of a day moves its last day from one table to the other: then both are read again. */
const READS_MAX = 10;

export class RecordTags implements TagHistory {
  readonly #space: RecordSpace;

  constructor(space: RecordSpace) {
    this.#space = space;
  }

  async days(teamId: string, { from, to }: DayRange): Promise<readonly TagDay[] | StoreUnavailable> {
    const found = await this.#read(teamId);
    if (isUnavailable(found)) return found;
    const { counts, days } = found;
    const rows: TagDay[] = [];
    for (const [tag, text] of counts) {
      const byDay = new Map<number, TagCount>();
      for (const one of [...readTagDays(days.get(tag)), readTagCount(text)!]) byDay.set(one.day, added(byDay.get(one.day), one));
      for (const one of byDay.values()) if (one.day >= from && one.day <= to) rows.push({ tag, ...one });
    }
    return rows.toSorted((one, other) => one.day - other.day || (one.tag < other.tag ? -1 : 1));
  }

  async #read(teamId: string): Promise<{ readonly counts: TagTexts; readonly days: TagTexts } | StoreUnavailable> {
    let days = await this.#space.list(teamId, 'tag_days');
    for (let reads = 1; ; reads++) {
      const counts = await this.#space.list(teamId, 'tag_counts');
      const again = await this.#space.list(teamId, 'tag_days');
      if (isUnavailable(days)) return days;
      if (isUnavailable(counts)) return counts;
      if (isUnavailable(again)) return again;
      if (areEqual(days, again) || reads === READS_MAX) return { counts, days };
      days = again;
    }
  }
}

type TagTexts = ReadonlyMap<string, string>;

function areEqual(one: TagTexts, other: TagTexts): boolean {
  return one.size === other.size && [...one].every(([tag, text]) => other.get(tag) === text);
}

function added(before: TagCount | undefined, { day, characters, requests }: TagCount): TagCount {
  return { day, characters: (before?.characters ?? 0) + characters, requests: (before?.requests ?? 0) + requests };
}
