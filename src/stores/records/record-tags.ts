// Tags over a record space: their settings, which admissions read, with what is used of them counted in a record beside; and their days, in
// which the ledger counts them: of at most `limits.tags` tags, so a team's are read at once.
import { tagDifference } from '../../domain/audit-entry.ts';
import { dayOf } from '../../domain/period.ts';
import type { TagCount } from '../../domain/request-tag.ts';
import { answeringAll } from '../../domain/store-unavailable.ts';
import { firstTagUses, isLeftBehind, readTagCount, readTagDays, readTagSettings, TagUses } from '../../ledger/tag-account.ts';
import type { GroupHead, GroupPeriod, RecordName, RecordSpace } from '../../ports/record-space.ts';
import type { SetTag, TagHistory, TagRegistry } from '../../ports/tag-registry.ts';
import { RecordGroup } from './json-table.ts';

const TOTALS: RecordName = { table: 'totals', id: 'tag_limits' };
const limitsName = (tag: string): RecordName => ({ table: 'tag_limits', id: tag });
const usesName = (tag: string): RecordName => ({ table: 'tag_uses', id: tag });

export function recordTagRegistry(space: RecordSpace): TagRegistry {
  const find = (teamId: string, tag: string) =>
    new RecordGroup(space, teamId).change<SetTag | undefined>([limitsName(tag), usesName(tag)], ([settings, uses], head) => ({
      result: settings === undefined ? undefined : setTag(tag, settings, uses, head),
    }));

  return answeringAll<TagRegistry>({
    find,
    async set(teamId, tag, settings, most, by) {
      const write = (others: readonly RecordName[]) =>
        new RecordGroup(space, teamId).change<'missing' | 'limit_reached' | 'set'>(
          [limitsName(tag), ...others],
          ([known, total = '0', left, count, days], head) => {
            if (known === undefined && others.length === 0) return { result: 'missing' };
            if (known === undefined && Number(total) >= most) return { result: 'limit_reached' };
            const difference = tagDifference(tag, known === undefined ? undefined : readTagSettings(known), settings);
            if (difference === undefined) return { result: 'set' };
            const { period, nowMs } = ofTeam(head);
            const uses = (): string => firstTagUses(period.number, chargedSince(dayOf(period.startMs), count, days), nowMs, left);
            const put = [{ ...limitsName(tag), value: JSON.stringify(settings) }];
            if (known === undefined) put.push({ ...usesName(tag), value: uses() }, { ...TOTALS, value: String(Number(total) + 1) });
            return { result: 'set', put, audit: by && { by, ...difference } };
          },
        );
      // What requests write meanwhile is only read for a tag without settings: a change of others must not wait for a calm moment.
      const known = await write([]);
      const others = [TOTALS, usesName(tag), { table: 'tag_counts', id: tag } as const, { table: 'tag_days', id: tag } as const];
      const changed = known === 'missing' ? await write(others) : known;
      if (changed === 'limit_reached') return { kind: 'limit_reached', most };
      const found = await find(teamId, tag);
      // Without it, the team or the settings have been deleted meanwhile.
      return found === undefined ? { kind: 'team_unknown' } : { kind: 'set', tag: found };
    },
    /** What is used stays until a janitor drops it (`isLeftBehind`): what open reservations hold must not be taken from what is counted anew. */
    async remove(teamId, tag, by) {
      const removed = await new RecordGroup(space, teamId).change<boolean>([limitsName(tag), TOTALS], ([known, total = '0']) => {
        if (known === undefined) return { result: false };
        const audit = by && { by, ...tagDifference(tag, readTagSettings(known), undefined)! };
        const left = Number(total) - 1;
        if (left <= 0) return { result: true, remove: [limitsName(tag), TOTALS], audit };
        return { result: true, put: [{ ...TOTALS, value: String(left) }], remove: [limitsName(tag)], audit };
      });
      return removed ?? false;
    },
    async list(teamId) {
      const team = new RecordGroup(space, teamId);
      const head = await team.head();
      const settings = [...(await team.list('tag_limits'))].toSorted(([one], [other]) => (one < other ? -1 : 1));
      const uses = settings.length === 0 ? undefined : await team.list('tag_uses');
      return head && settings.map(([tag, text]) => setTag(tag, text, uses?.get(tag), head));
    },
  });
}

/** The settings apply to a group that is a team's. */
function ofTeam({ period, nowMs }: GroupHead): { readonly period: GroupPeriod; readonly nowMs: number } {
  if (period === undefined) throw new TypeError('the record space reports no period of a team');
  return { period, nowMs };
}

function setTag(tag: string, text: string, uses: string | undefined, head: GroupHead): SetTag {
  const { period, nowMs } = ofTeam(head);
  const settings = readTagSettings(text);
  // The next operation begins the period that contains this moment.
  const number = nowMs < period.endMs ? period.number : period.number + 1;
  return { tag, settings, use: new TagUses(uses, number, nowMs).use(settings, nowMs) };
}

// Days

/** A tag's first charge of a day moves its last day from one table to the other: then both are read again. */
const READS_MAX = 10;

export function recordTags(space: RecordSpace): TagHistory {
  return answeringAll<TagHistory>({
    async days(teamId, { from, to }) {
      const team = new RecordGroup(space, teamId);
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
  const team = new RecordGroup(records, teamId);
  // Most teams have no tags.
  const [counts, allUses] = [await team.list('tag_counts'), await team.list('tag_uses')];
  const days = counts.size === 0 ? counts : await team.list('tag_days');
  const limits = allUses.size === 0 ? allUses : await team.list('tag_limits');
  for (const [id, count] of counts) {
    const [earlier, isOver] = [days.get(id), readTagCount(count)!.day < first];
    const before = readTagDays(earlier);
    const left = sinceDay(before, first);
    if (left.length === before.length && !isOver) continue;
    const names = [{ table: 'tag_days', id } as const, { table: 'tag_counts', id } as const];
    await team.change(names, ([known, last]) => {
      if (known !== earlier || last !== count) return { result: false };
      if (left.length > 0) return { result: true, put: [{ ...names[0]!, value: JSON.stringify(left) }] };
      return { result: true, remove: isOver ? names : [names[0]!] };
    });
  }
  for (const [id, uses] of allUses) {
    if (limits.has(id) || !isLeftBehind(uses, nowMs)) continue;
    const names = [{ table: 'tag_limits', id } as const, { table: 'tag_uses', id } as const];
    await team.change(names, ([settings]) => ({ result: true, remove: settings === undefined ? [names[1]!] : [] }));
  }
}

/** From the first that is not before `first`: behind a step back of the clock, days may be out of order. */
function sinceDay(days: readonly TagCount[], first: number): readonly TagCount[] {
  const at = days.findIndex(({ day }) => day >= first);
  return at === -1 ? [] : days.slice(at);
}

/** The characters in a tag's records of this day and later. */
function chargedSince(first: number, count: string | undefined, days: string | undefined): number {
  const all = [...readTagDays(days), ...(count === undefined ? [] : [readTagCount(count)!])].filter(({ day }) => day >= first);
  return sumOf(all, 'characters');
}

function sumOf(days: readonly TagCount[], name: 'characters' | 'requests'): number {
  return days.reduce((sum, one) => sum + one[name], 0);
}
