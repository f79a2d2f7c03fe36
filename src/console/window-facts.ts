// What is used of limits by minute to month, on the pages of a team and of a key.
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { DAY_MS, rfc3339 } from '../domain/period.ts';
import type { WindowUse } from '../domain/window-limits.ts';
import { COUNTED } from '../domain/window-limits.ts';
import { fact } from './html-table.ts';
import { day, usageBar } from './shown.ts';

/** What is used of a team's or a key's limits by minute to month: a fact for each number. */
export function windowFacts(windows: readonly WindowUse[] | undefined, whose: string): Html[] | undefined {
  return windows?.flatMap(({ per, endMs, usedRequests, usedCharacters, ...limit }) =>
    COUNTED.flatMap((counts) => {
      const most = limit[counts];
      if (most === undefined) return [];
      const bar = usageBar(`${counts} of ${whose} per ${per}`, counts === 'requests' ? usedRequests : usedCharacters, most);
      const until = endMs % DAY_MS === 0 && per !== 'minute' ? day(endMs) : rfc3339(endMs).slice(11, 16);
      return [fact(`${counts === 'requests' ? 'Requests' : 'Characters'} per ${per}`, html`${bar} until ${until} UTC`)];
    }),
  );
}
