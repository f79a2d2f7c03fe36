// Tags of a team that have settings, as operators manage them; and what was charged by tag and day.
import type { Audited } from '../domain/audit-entry.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { TagCount, TagSettings, TagUse } from '../domain/request-tag.ts';
import type { DayRange } from '../domain/usage-days.ts';

export interface SetTag {
  /** As `readTag` (domain/request-tag.ts) returns it. */
  readonly tag: string;
  readonly settings: TagSettings;
  readonly use: TagUse;
}

/** `limit_reached`: as many other tags have settings as may; nothing was changed. */
export type TagChanged =
  | { readonly kind: 'set'; readonly tag: SetTag }
  | { readonly kind: 'limit_reached'; readonly most: number }
  | { readonly kind: 'team_unknown' };

/**
 * Settings apply to the next admission. Use is counted from then on, beginning with what was
 * charged since the UTC day on which the period began; removing the settings ends it.
 */
export interface TagRegistry {
  /** Replaces all of the tag's. `most`: of the team's tags may have some. `by`: for the audit. */
  set(teamId: string, tag: string, settings: TagSettings, most: number, by?: Audited): Promise<TagChanged | StoreUnavailable>;
  /** False if the tag has no settings, or there is no such team. */
  remove(teamId: string, tag: string, by?: Audited): Promise<boolean | StoreUnavailable>;
  /** `undefined` if the tag has no settings, or there is no such team. */
  find(teamId: string, tag: string): Promise<SetTag | undefined | StoreUnavailable>;
  /** Those with settings, sorted by tag; `undefined` if there is no such team. */
  list(teamId: string): Promise<readonly SetTag[] | undefined | StoreUnavailable>;
}

/** A day without a charge has no row. */
export interface TagDay extends TagCount {
  readonly tag: string;
}

/**
 * Retained like the days of `UsageHistory`, until the team is deleted, even if its usage stays.
 * What is read before a team's days is among them.
 */
export interface TagHistory {
  /** In order of days, and within a day of tags; none for a team that does not exist. */
  days(teamId: string, range: DayRange): Promise<readonly TagDay[] | StoreUnavailable>;
}
