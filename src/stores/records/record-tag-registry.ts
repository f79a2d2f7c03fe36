// Tags with settings over a record space: admissions read the settings, and count what is used in a record beside them.
import { tagDifference } from '../../domain/audit-entry.ts';
import { dayOf } from '../../domain/period.ts';
import { answeringAll } from '../../domain/store-unavailable.ts';
import type { GroupHead, GroupPeriod, RecordName, RecordSpace } from '../../ports/record-space.ts';
import type { SetTag, TagRegistry } from '../../ports/tag-registry.ts';
import { Group } from './json-table.ts';
import { chargedSince } from './record-tags.ts';
import { firstTagUses, readTagSettings, TagUses } from '../../ledger/tag-uses.ts';

const TOTALS: RecordName = { table: 'totals', id: 'tag_limits' };
const limitsName = (tag: string): RecordName => ({ table: 'tag_limits', id: tag });
const usesName = (tag: string): RecordName => ({ table: 'tag_uses', id: tag });

export function recordTagRegistry(space: RecordSpace): TagRegistry {
  const find = (teamId: string, tag: string) =>
    new Group(space, teamId).change<SetTag | undefined>([limitsName(tag), usesName(tag)], ([settings, uses], head) => ({
      result: settings === undefined ? undefined : setTag(tag, settings, uses, head),
    }));

  return answeringAll<TagRegistry>({
    find,
    async set(teamId, tag, settings, most, by) {
      const write = (others: readonly RecordName[]) =>
        new Group(space, teamId).change<'missing' | 'limit_reached' | 'set'>(
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
      const removed = await new Group(space, teamId).change<boolean>([limitsName(tag), TOTALS], ([known, total = '0']) => {
        if (known === undefined) return { result: false };
        const audit = by && { by, ...tagDifference(tag, readTagSettings(known), undefined)! };
        const left = Number(total) - 1;
        if (left <= 0) return { result: true, remove: [limitsName(tag), TOTALS], audit };
        return { result: true, put: [{ ...TOTALS, value: String(left) }], remove: [limitsName(tag)], audit };
      });
      return removed ?? false;
    },
    async list(teamId) {
      const team = new Group(space, teamId);
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
