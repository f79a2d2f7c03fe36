// A team's tags: those that have limits, those that were used lately, and what may be done to each.
import { RefusedError, refused } from '../../admin/operation.ts';
import type { RowColumn } from '../../admin/operation.ts';
import { deleteTag, limitedTag, limitsOf, listTags, setTag, showTag } from '../../admin/operations/tags.ts';
import type { LimitedTagRow } from '../../admin/operations/tags.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { dayOf } from '../../domain/period.ts';
import { FURTHER_TAGS, readTag, TAG_CHARACTERS_MAX, TAG_FAULT } from '../../domain/request-tag.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { Team } from '../../ports/team-registry.ts';
import { CONSOLE_PREFIX, finding, get, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { queryOf, searchForm } from '../form.ts';
import { factsOf, tableOf } from '../cells.ts';
import type { Action } from '../record-page.ts';
import { findTeam, limitTexts } from '../team-keys.ts';
import { recordRoutes } from '../record-page.ts';

/** Of what was charged, up to today. */
const TAG_DAYS = 30;
/** Limits the page. */
const TAGS_MAX = 200;

/** `sent` is what was asked for and is no tag. */
async function tagsPage(visit: SignedInVisit, team: Team, sent = ''): Promise<ConsoleAnswer> {
  const { value } = await listTags.run!(visit.context, { id: team.teamId });
  const used = await usedTags(team, visit);
  const title = `Tags of ${team.name}`;
  const fault = sent === '' ? undefined : `A tag ${TAG_FAULT}.`;
  const search = searchForm({
    action: `/teams/${team.teamId}/tag`,
    fields: [{ name: 'tag', label: 'Tag', required: true, attributes: { maxlength: TAG_CHARACTERS_MAX, spellcheck: 'false' } }],
    texts: { tag: sent },
    submit: 'Show',
    fault,
  });
  const leadsTo = ({ tag }: LimitedTagRow): string => addressOf(team, tag);
  const around = { caption: 'Tags with limits', leadsTo, most: TAGS_MAX, more: `lingate tag list ${team.teamId}` };
  const main = html`<h1>${title}</h1>
    <p class="soft">
      Of team <a href="${CONSOLE_PREFIX}/teams/${team.teamId}">${team.name}</a>. Callers send a tag in <code>Lingate-Tag</code>, or in their
      client’s own field; its limits are for all keys together.
    </p>
    ${search}
    <h2>With limits</h2>
    ${await tableOf(listTags, value as readonly LimitedTagRow[], visit, around)} ${used}`;
  return pageAnswer({ title, section: 'teams', main }, fault === undefined ? {} : { tag: fault });
}

interface UsedTag {
  readonly tag: string;
  readonly characters: number;
  readonly requests: number;
}

const USED: readonly RowColumn<UsedTag>[] = [
  { head: 'Tag', cell: ({ tag }) => (tag === FURTHER_TAGS ? 'further tags' : tag), holds: 'text' },
  { head: 'Characters', cell: ({ characters }) => characters, holds: 'figures' },
  { head: 'Requests', cell: ({ requests }) => requests, holds: 'figures' },
];

/** What was charged lately, most first. */
async function usedTags(team: Team, visit: SignedInVisit): Promise<Html> {
  const today = dayOf(visit.nowMs);
  const span = { from: today - TAG_DAYS + 1, to: today };
  const days = answered(await visit.context.options.tagHistory?.days(team.teamId, span)) ?? [];
  const sums = new Map<string, UsedTag>();
  for (const { tag, characters, requests } of days) {
    const sum = sums.get(tag) ?? { characters: 0, requests: 0 };
    sums.set(tag, { tag, characters: sum.characters + characters, requests: sum.requests + requests });
  }
  const rows = [...sums.values()].toSorted((one, other) => other.characters - one.characters);
  const caption = `Used in the last ${TAG_DAYS} days`;
  const leadsTo = ({ tag }: UsedTag) => (tag === FURTHER_TAGS ? undefined : addressOf(team, tag));
  const around = { caption, leadsTo, most: TAGS_MAX, more: 'lingate usage export --tags' };
  return html`<h2>${caption}</h2>
    ${await tableOf({ columns: USED, none: 'No tag was used.' }, rows, visit, around)}`;
}

interface TeamTag {
  readonly team: Team;
  readonly tag: string;
  /** Its limits, if it has some. */
  readonly row: LimitedTagRow | undefined;
}

/** Below `/console`. The tag is in the query: it may be anything printable. */
function addressOf({ teamId }: Team, tag: string): string {
  return `/teams/${teamId}/tag${queryOf({ tag })}`;
}

/** By the path's `id`, and the `tag` of the form or of the query. */
async function findTag(visit: SignedInVisit): Promise<TeamTag | ConsoleAnswer> {
  const team = await findTeam(visit);
  const isForm = visit.request.method === 'POST';
  const sent = isForm ? visit.form('tag') : (visit.request.query.get('tag') ?? '');
  const tag = readTag(sent);
  if (typeof tag !== 'string') {
    if (isForm) throw new RefusedError(refused('tag', TAG_FAULT));
    return tag === undefined ? { kind: 'see', to: `/teams/${team.teamId}/tags` } : tagsPage(visit, team, sent);
  }
  return { team, tag, row: await limitedTag(visit.context, team.teamId, tag) };
}

const ACTIONS: readonly Action<TeamTag>[] = [
  {
    one: setTag,
    name: '',
    title: 'Limits',
    submit: 'Save',
    about: 'Changes take effect at the next request with this tag, everywhere.',
    fields: ['requests_per_second', 'characters', 'limits'],
    texts: (found) => limitTexts(limitsOf(found.row ?? {})),
    whole: true,
    given: ({ row }, sent) => ({ ...sent, ...(row?.disabled === true && { disabled: true }) }),
    notice: (_value, { tag }) => `Tag ${tag} is saved.`,
  },
  {
    one: deleteTag,
    name: 'delete',
    title: 'Remove the limits',
    danger: true,
    when: ({ row }) => row !== undefined,
    about: 'Only the limits of the team and of its keys apply then. What was charged with the tag stays in the usage.',
    notice: (_value, { tag }) => `Tag ${tag} has no limits any more.`,
    to: (_value, { team }) => `/teams/${team.teamId}/tags`,
  },
];

export const TAG_ROUTES: readonly ConsoleRoute[] = [
  get('/teams/{id}/tags', finding(findTeam, tagsPage)),
  ...recordRoutes<TeamTag>({
    path: '/teams/{id}/tag',
    find: findTag,
    at: ({ team }) => `/teams/${team.teamId}/tag`,
    ids: ({ team, tag }) => ({ id: team.teamId, tag }),
    named: ({ tag }) => ({ tag }),
    page: async (forms, { team, tag, row }, visit) => {
      const title = `Tag ${tag}`;
      const main = html`<h1>${title}</h1>
        <p class="soft">
          Of team <a href="${CONSOLE_PREFIX}/teams/${team.teamId}">${team.name}</a>, one of
          <a href="${CONSOLE_PREFIX}/teams/${team.teamId}/tags">its tags</a>
        </p>
        ${row === undefined ? html`<p>It has no limits.</p>` : await factsOf(showTag, row, visit)} ${forms}`;
      return { title, section: 'teams', main };
    },
    actions: ACTIONS,
    buttons: { of: [setTag], row: ({ row }) => row ?? { disabled: false } },
  }),
];
