// A team's tags in the console: those that were used lately or have limits, their table, and the tag of a path.
import { NO_TEAM, refusalOf } from '../admin/admin-refusals.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { Refusal } from '../core/outcome.ts';
import { limitsText } from '../admin/fields.ts';
import { limitsReport } from '../admin/operations/key-rows.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { dayOf } from '../domain/period.ts';
import { FURTHER_TAGS } from '../domain/request-tag.ts';
import type { Team } from '../ports/team-registry.ts';
import type { SetTag } from '../ports/tag-registry.ts';
import { CONSOLE_PREFIX } from './console-route.ts';
import type { ConsoleParts } from './console-route.ts';
import { freeText, htmlTable, numeric } from './html-table.ts';
import { queryOf } from './search-form.ts';
import { count, usageBar } from './shown.ts';

/** Of what was charged, up to today. */
export const TAG_DAYS = 30;
/** Limits the page. */
const TAGS_MAX = 200;

/** A tag with what was charged to it lately, and its settings if it has some. */
export interface TeamTag {
  readonly tag: string;
  readonly characters: number;
  readonly requests: number;
  readonly set: SetTag | undefined;
}

type CountedTag = { -readonly [Name in keyof TeamTag]: TeamTag[Name] };

/** Those with settings first, then by what was charged. */
export async function tagsOf(
  { teamId }: Team,
  { context }: Pick<ConsoleParts, 'context'>,
  nowMs: number,
): Promise<readonly TeamTag[] | Refusal> {
  const today = dayOf(nowMs);
  const [set, days] = await Promise.all([
    context.part('tags').registry.list(teamId),
    context.options.tagHistory?.days(teamId, { from: today - TAG_DAYS + 1, to: today }) ?? [],
  ]);
  if (set === undefined) return NO_TEAM;
  if (isUnavailable(set)) return refusalOf(set);
  if (isUnavailable(days)) return refusalOf(days);
  const tags = new Map<string, CountedTag>(set.map((one) => [one.tag, { tag: one.tag, characters: 0, requests: 0, set: one }]));
  for (const { tag, characters, requests } of days) {
    const found = tags.get(tag) ?? { tag, characters: 0, requests: 0, set: undefined };
    tags.set(tag, found);
    found.characters += characters;
    found.requests += requests;
  }
  const settings = ({ set: own }: TeamTag): number => (own === undefined ? 1 : 0);
  return [...tags.values()].toSorted((one, other) => settings(one) - settings(other) || other.characters - one.characters);
}

const COLUMNS = [
  freeText('Tag'),
  'Status',
  numeric(`Characters, ${TAG_DAYS} days`),
  numeric(`Requests, ${TAG_DAYS} days`),
  'Characters, this period',
  freeText('Limits'),
] as const;

export function tagsTable({ teamId, name }: Team, tags: readonly TeamTag[]): Html {
  if (tags.length === 0) return html`<p class="soft">No tag was used in the last ${TAG_DAYS} days, and none has limits.</p>`;
  const rows = tags
    .slice(0, TAGS_MAX)
    .map(({ tag, set, characters, requests }) => [
      tag === FURTHER_TAGS && set === undefined ? 'further tags' : html`<a href="${CONSOLE_PREFIX}${tagPath(teamId, tag)}">${tag}</a>`,
      tagStatus(set),
      count(characters),
      count(requests),
      set === undefined ? '–' : charactersOf(set),
      set === undefined ? '–' : (limitsText(limitsReport(set.settings)) ?? '–'),
    ]);
  const left = tags.length - rows.length;
  return html`${htmlTable({ caption: `Tags of ${name}`, columns: COLUMNS, rows, wide: true })}
  ${left > 0 ? html`<p class="soft">${count(left)} more are listed by <code>lingate usage export --tags</code>.</p>` : undefined}`;
}

export function tagStatus(set: SetTag | undefined): Html | string {
  if (set === undefined) return 'no limits';
  const status = set.settings.disabled ? 'disabled' : 'active';
  return html`<span class="${status}">${status}</span>`;
}

/** In the team's running period. */
export function charactersOf({ tag, settings, use }: SetTag): Html | string {
  const { characters: most } = settings;
  return most === undefined ? count(use.characters) : usageBar(`Characters of ${tag}`, use.characters, most);
}

/** Below `/console`. */
export function tagsPath(teamId: string): string {
  return `/teams/${teamId}/tags`;
}

/** Below `/console`. The tag is in the query: it may be anything printable. */
export function tagPath(teamId: string, tag: string): string {
  return `/teams/${teamId}/tag${queryOf({ tag })}`;
}
