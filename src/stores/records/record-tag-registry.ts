// Tags with settings over a record space: admissions read the settings, and count what is used in a record beside them.
import { tagDifference } from '../../domain/audit-entry.ts';
import type { Audited } from '../../domain/audit-entry.ts';
import { dayOf } from '../../domain/period.ts';
import { answered, answering } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { TagSettings } from '../../domain/request-tag.ts';
import type { GroupHead, GroupPeriod, RecordName, RecordSpace } from '../../ports/record-space.ts';
import type { SetTag, TagChanged, TagRegistry } from '../../ports/tag-registry.ts';
import { chargedSince } from './record-tags.ts';
import { firstTagUses, readTagSettings, TagUses, writtenTagSettings } from '../../ledger/tag-uses.ts';

const TOTALS: RecordName = { table: 'totals', id: 'tag_limits' };
const limitsName = (tag: string): RecordName => ({ table: 'tag_limits', id: tag });
const usesName = (tag: string): RecordName => ({ table: 'tag_uses', id: tag });

export class RecordTagRegistry implements TagRegistry {
  readonly #space: RecordSpace;

  constructor(space: RecordSpace) {
    this.#space = space;
  }

  /** What requests write meanwhile is only read for a tag that has no settings yet: a change of others must not wait for a calm moment. */
  set(teamId: string, tag: string, settings: TagSettings, most: number, by?: Audited): Promise<TagChanged | StoreUnavailable> {
    return answering(async (): Promise<TagChanged> => {
      const isKnown = answered(await this.#change(teamId, tag, settings, by));
      const changed = isKnown === true ? 'set' : answered(await this.#add(teamId, tag, settings, most, by));
      if (changed === 'limit_reached') return { kind: 'limit_reached', most };
      const found = answered(await this.find(teamId, tag));
      // Without it, the team or the settings have been deleted meanwhile.
      return found === undefined ? { kind: 'team_unknown' } : { kind: 'set', tag: found };
    });
  }

  /** False if the tag has no settings. */
  #change(teamId: string, tag: string, settings: TagSettings, by: Audited | undefined): Promise<boolean | undefined | StoreUnavailable> {
    return this.#space.change<boolean>(teamId, [limitsName(tag)], ([known]) => {
      const difference = known === undefined ? undefined : tagDifference(tag, readTagSettings(known), settings);
      if (difference === undefined) return { result: known !== undefined };
      return { result: true, put: [{ ...limitsName(tag), value: writtenTagSettings(settings) }], audit: by && { by, ...difference } };
    });
  }

  #add(
    teamId: string,
    tag: string,
    settings: TagSettings,
    most: number,
    by: Audited | undefined,
  ): Promise<'set' | 'limit_reached' | undefined | StoreUnavailable> {
    const names = [limitsName(tag), TOTALS, usesName(tag), { table: 'tag_counts', id: tag }, { table: 'tag_days', id: tag }] as const;
    return this.#space.change<'set' | 'limit_reached'>(teamId, names, ([known, total = '0', left, count, days], head) => {
      if (known === undefined && Number(total) >= most) return { result: 'limit_reached' };
      const difference = tagDifference(tag, known === undefined ? undefined : readTagSettings(known), settings);
      if (difference === undefined) return { result: 'set' };
      const { period, nowMs } = ofTeam(head);
      const uses = firstTagUses(period.number, chargedSince(dayOf(period.startMs), count, days), nowMs, left);
      const own = [
        { ...usesName(tag), value: uses },
        { ...TOTALS, value: String(Number(total) + 1) },
      ];
      const limits = { ...limitsName(tag), value: writtenTagSettings(settings) };
      return { result: 'set', put: [limits, ...(known === undefined ? own : [])], audit: by && { by, ...difference } };
    });
  }

  /** What is used stays until a janitor drops it (`isLeftBehind`): what open reservations hold must not be taken from what is counted anew. */
  async remove(teamId: string, tag: string, by?: Audited): Promise<boolean | StoreUnavailable> {
    const removed = await this.#space.change<boolean>(teamId, [limitsName(tag), TOTALS], ([known, total = '0']) => {
      if (known === undefined) return { result: false };
      const audit = by && { by, ...tagDifference(tag, readTagSettings(known), undefined)! };
      const left = Number(total) - 1;
      if (left <= 0) return { result: true, remove: [limitsName(tag), TOTALS], audit };
      return { result: true, put: [{ ...TOTALS, value: String(left) }], remove: [limitsName(tag)], audit };
    });
    return removed ?? false;
  }

  async find(teamId: string, tag: string): Promise<SetTag | undefined | StoreUnavailable> {
    return this.#space.change<SetTag | undefined>(teamId, [limitsName(tag), usesName(tag)], ([settings, uses], head) => ({
      result: settings === undefined ? undefined : setTag(tag, settings, uses, head),
    }));
  }

  list(teamId: string): Promise<readonly SetTag[] | undefined | StoreUnavailable> {
    return answering(async () => {
      const head = answered(await this.#space.change(teamId, [], (_values, group) => ({ result: group })));
      const settings = [...answered(await this.#space.list(teamId, 'tag_limits'))].toSorted(([one], [other]) => (one < other ? -1 : 1));
      const uses = settings.length === 0 ? undefined : answered(await this.#space.list(teamId, 'tag_uses'));
      return head && settings.map(([tag, text]) => setTag(tag, text, uses?.get(tag), head));
    });
  }
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
