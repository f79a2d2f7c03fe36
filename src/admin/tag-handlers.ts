// The admin API's handlers for tags with limits.
import { refuse } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';
import type { JsonMembers } from '../domain/json-body.ts';
import { readTag } from '../domain/request-tag.ts';
import { judgeTagSettings, TAG_LIMIT_NAMES } from '../domain/tag-settings.ts';
import type { TagLimitName, TagSettings } from '../domain/tag-settings.ts';
import { ofRecord } from './admin-handler.ts';
import type { AdminHandler, Input } from './admin-handler.ts';
import { BAD_TAG, done, NO_TEAM } from './admin-refusals.ts';
import type { Handled } from './admin-refusals.ts';
import type { AdminRouteId } from './admin-routes.ts';
import { tagReport } from './tag-operations.ts';

type TagRouteId = Extract<AdminRouteId, 'listTags' | 'showTag' | 'setTag' | 'deleteTag'>;

const NOTHING_TO_SET = refuse(
  'validation_error',
  'body: there is nothing to set; give a limit or disabled. DELETE removes all that is set for a tag.',
);

export const TAG_HANDLERS: Readonly<Record<TagRouteId, AdminHandler>> = {
  listTags: ofRecord(NO_TEAM, async ({ operations }, teamId) =>
    done(await operations.tags.list(teamId), (tags) => ({ value: { tags: tags.map(tagReport) } })),
  ),
  showTag: ofTag(async ({ operations }, teamId, tag) =>
    done(await operations.tags.show(teamId, tag), (found) => ({ value: tagReport(found) })),
  ),
  setTag: ofTag(async ({ operations, body }, teamId, tag) => {
    if (Object.keys(body).length === 0) return NOTHING_TO_SET;
    const settings = settingsOf(body);
    if ('kind' in settings) return settings;
    // Tags are in no log.
    return done(await operations.tags.set(teamId, tag, settings), (set) => ({ value: tagReport(set), audit: { team_id: teamId } }));
  }),
  deleteTag: ofTag(async ({ operations }, teamId, tag) =>
    done(await operations.tags.remove(teamId, tag), () => ({ value: {}, audit: { team_id: teamId } })),
  ),
};

/** For the tag in the path, as it is counted. */
function ofTag(handle: (input: Input, teamId: string, tag: string) => Promise<Handled>): AdminHandler {
  return ofRecord(NO_TEAM, async (input, teamId) => {
    const tag = decodedTag(input.parameters['tag'] ?? '');
    return tag === undefined ? BAD_TAG : handle(input, teamId, tag);
  });
}

function decodedTag(segment: string): string | undefined {
  try {
    return readTag(decodeURIComponent(segment)) ?? undefined;
  } catch {
    return undefined;
  }
}

/** A limit that is `null` is none. */
function settingsOf(body: JsonMembers): TagSettings | Refusal {
  const names = Object.keys(TAG_LIMIT_NAMES) as TagLimitName[];
  const given = Object.fromEntries(names.flatMap((name) => (body[name] === null ? [] : [[name, body[name]]])));
  const judged = judgeTagSettings({ ...given, disabled: body['disabled'] });
  if ('settings' in judged) return judged.settings;
  const { name, at, fault } = judged;
  return refuse('validation_error', `${name}${at === undefined ? '' : `[${at}]`}: ${fault}.`);
}
