// Tags of a team that have settings, as operators manage them.
import type { Audited } from '../domain/audit-entry.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { TagSettings, TagUse } from '../domain/request-tag.ts';

export interface SetTag {
  /** As `readTag` (domain/request-tag.ts) returns it. */
  readonly tag: string;
  readonly settings: TagSettings;
  readonly use: TagUse;
}

/** `limit_reached`: as many other tags of the team have settings as may, and nothing was changed. */
export type TagChanged =
  | { readonly kind: 'set'; readonly tag: SetTag }
  | { readonly kind: 'limit_reached'; readonly most: number }
  | { readonly kind: 'team_unknown' };

/**
 * Settings apply to the next admission of every gateway, of any tag, also one that is counted under `FURTHER_TAGS`. What a tag uses
 * is counted from the first request after it got settings; its characters in the running period begin with what was charged to it
 * since the UTC day on which the period began. Changing settings does not change what is used; removing them
 * ends the counting, and settings that are set again begin like new ones. What leases that have ended still hold comes back with the
 * team's next operation.
 */
export interface TagRegistry {
  /** Replaces all settings of the tag. `most`: how many tags of the team may have some (`limits.tags`). `by`: whom the audit names. */
  set(teamId: string, tag: string, settings: TagSettings, most: number, by?: Audited): Promise<TagChanged | StoreUnavailable>;
  /** False if the tag has no settings, or there is no such team. */
  remove(teamId: string, tag: string, by?: Audited): Promise<boolean | StoreUnavailable>;
  /** `undefined` if the tag has no settings, or there is no such team. */
  find(teamId: string, tag: string): Promise<SetTag | undefined | StoreUnavailable>;
  /** Those with settings, sorted by tag; `undefined` if there is no such team. */
  list(teamId: string): Promise<readonly SetTag[] | undefined | StoreUnavailable>;
}
