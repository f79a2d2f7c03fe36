// A team's tags: those that were used lately or have limits, and each with what it has used and what may be done to it.
import { NO_TEAM, refusalOf } from '../../admin/admin-refusals.ts';
import { limitsText } from '../../admin/fields.ts';
import { refused } from '../../admin/operation.ts';
import { limitsReport } from '../../admin/operations/key-rows.ts';
import { deleteTag, setTag } from '../../admin/operations/tags.ts';
import type { Refusal } from '../../core/outcome.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { dayOf } from '../../domain/period.ts';
import { FURTHER_TAGS, readTag, TAG_CHARACTERS_MAX, TAG_FAULT } from '../../domain/request-tag.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { SetTag } from '../../ports/tag-registry.ts';
import type { Team } from '../../ports/team-registry.ts';
import { CONSOLE_PREFIX, finding, get, mayChange, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { EMPTY_FORM } from '../form.ts';
import { factList, freeText, htmlTable, numeric, windowFacts } from '../html-table.ts';
import { sentIn } from '../operation-form.ts';
import { recordRoutes } from '../record-page.ts';
import type { Action } from '../record-page.ts';
import { queryOf, searchForm, searchText } from '../search-form.ts';
import { count, usageBar } from '../shown.ts';
import { findTeam, limitTexts } from '../team-keys.ts';

/** Of what was charged, up to today. */
const TAG_DAYS = 30;
/** Limits the page. */
const TAGS_MAX = 200;

interface TeamTag {
  readonly team: Team;
  readonly tag: string;
  /** What was charged to it lately. */
  readonly characters: number;
  readonly requests: number;
  readonly set: SetTag | undefined;
}

/** Those with settings first, then by what was charged. */
async function tagsOf(team: Team, { context }: ConsoleParts, nowMs: number): Promise<readonly TeamTag[] | Refusal> {
  const today = dayOf(nowMs);
  const [set, days] = await Promise.all([
    context.part('tags').registry.list(team.teamId),
    context.options.tagHistory?.days(team.teamId, { from: today - TAG_DAYS + 1, to: today }) ?? [],
  ]);
  if (set === undefined) return NO_TEAM;
  if (isUnavailable(set)) return refusalOf(set);
  if (isUnavailable(days)) return refusalOf(days);
  const tags = new Map<string, TeamTag>(set.map((one) => [one.tag, { ...unused(team, one.tag), set: one }]));
  for (const { tag, characters, requests } of days) {
    const found = tags.get(tag) ?? unused(team, tag);
    tags.set(tag, { ...found, characters: found.characters + characters, requests: found.requests + requests });
  }
  const settings = ({ set: own }: TeamTag): number => (own === undefined ? 1 : 0);
  return [...tags.values()].toSorted((one, other) => settings(one) - settings(other) || other.characters - one.characters);
}

function unused(team: Team, tag: string): TeamTag {
  return { team, tag, characters: 0, requests: 0, set: undefined };
}

/** `sent` is what was asked for and is no tag. */
async function tagsPage(visit: SignedInVisit, parts: ConsoleParts, team: Team, sent = ''): Promise<ConsoleAnswer> {
  const tags = await tagsOf(team, parts, visit.nowMs);
  if ('problem' in tags) return tags;
  const title = `Tags of ${team.name}`;
  const fault = sent === '' ? undefined : `A tag ${TAG_FAULT}.`;
  const search = searchForm({
    action: `/teams/${team.teamId}/tag`,
    fields: [searchText('tag', 'Tag', sent, { required: 'required', maxlength: TAG_CHARACTERS_MAX, spellcheck: 'false' }, 'long')],
    submit: mayChange(visit) ? 'Limit or show' : 'Show',
    fault,
    isFiltered: false,
  });
  const main = html`<h1>${title}</h1>
    <p class="soft">
      Of team <a href="${CONSOLE_PREFIX}/teams/${team.teamId}">${team.name}</a>. Callers send a tag in <code>Lingate-Tag</code>, or in their
      client’s own field; its limits are for all keys together.
    </p>
    ${search} ${tagsTable(team, tags)}`;
  return pageAnswer({ title, section: 'teams', main }, fault === undefined ? {} : { tag: fault });
}

const COUNTS = [`Characters, ${TAG_DAYS} days`, `Requests, ${TAG_DAYS} days`].map(numeric);
const COLUMNS = [freeText('Tag'), 'Status', ...COUNTS, 'Characters, this period', freeText('Limits')] as const;

function tagsTable({ teamId, name }: Team, tags: readonly TeamTag[]): Html {
  if (tags.length === 0) return html`<p class="soft">No tag was used in the last ${TAG_DAYS} days, and none has limits.</p>`;
  const link = (tag: string): Html => html`<a href="${CONSOLE_PREFIX}/teams/${teamId}/tag${queryOf({ tag })}">${tag}</a>`;
  const rows = tags
    .slice(0, TAGS_MAX)
    .map(({ tag, set, characters, requests }) => [
      tag === FURTHER_TAGS && set === undefined ? 'further tags' : link(tag),
      statusOf(set),
      count(characters),
      count(requests),
      set === undefined ? '–' : charactersOf(set),
      set === undefined ? '–' : (limitsText(limitsReport(set.settings)) ?? '–'),
    ]);
  const left = tags.length - rows.length;
  return html`${htmlTable({ caption: `Tags of ${name}`, columns: COLUMNS, rows, wide: true })}
  ${left > 0 ? html`<p class="soft">${count(left)} more are listed by <code>lingate usage export --tags</code>.</p>` : undefined}`;
}

function statusOf(set: SetTag | undefined): Html | string {
  if (set === undefined) return 'no limits';
  const status = set.settings.disabled ? 'disabled' : 'active';
  return html`<span class="${status}">${status}</span>`;
}

/** In the team's running period. */
function charactersOf({ tag, settings, use }: SetTag): Html | string {
  const { characters: most } = settings;
  return most === undefined ? count(use.characters) : usageBar(`Characters of ${tag}`, use.characters, most);
}

/** By the path's `id`, and the `tag` of the form or of the query. */
async function findTag(visit: SignedInVisit, parts: ConsoleParts): Promise<TeamTag | ConsoleAnswer> {
  const team = await findTeam(visit, parts);
  if ('problem' in team) return team;
  const isForm = visit.request.method === 'POST';
  const sent = isForm ? visit.form('tag') : (visit.request.query.get('tag') ?? '');
  const tag = readTag(sent);
  if (typeof tag !== 'string') {
    if (isForm) return refusalOf(refused('tag', TAG_FAULT));
    return tag === undefined ? { kind: 'see', to: `/teams/${team.teamId}/tags` } : tagsPage(visit, parts, team, sent);
  }
  const tags = await tagsOf(team, parts, visit.nowMs);
  return 'problem' in tags ? tags : (tags.find((one) => one.tag === tag) ?? unused(team, tag));
}

function tagFacts({ set, tag, characters, requests }: TeamTag): Html {
  const note = isDisabled({ set }) ? ': its requests are refused until it is enabled again' : '';
  const charged = requests === 0 ? 'nothing' : `${count(characters)} characters, ${count(requests)} requests`;
  const rate = set?.settings.requestsPerSecond;
  return factList(
    ['Status', html`${statusOf(set)}${note}`],
    [`Charged in ${TAG_DAYS} days`, charged],
    ['Characters, this period', set && charactersOf(set)],
    ['Rate', set && (rate === undefined ? 'no limit of its own' : `at most ${count(rate)} a second, of all keys together`)],
    ...windowFacts(set?.use.windows, tag),
  );
}

function isDisabled({ set }: Pick<TeamTag, 'set'>): boolean {
  return set?.settings.disabled === true;
}

const LIMITS = ['requests_per_second', 'characters', 'limits'] as const;

/** Disabling and enabling leave the limits as they are. */
function turn(name: string, disabled: boolean, words: Pick<Action<TeamTag>, 'about' | 'told' | 'when'>): Action<TeamTag> {
  const title = disabled ? 'Disable' : 'Enable';
  return {
    one: setTag,
    name,
    title,
    submit: `${title} the tag`,
    ...(disabled ? { danger: true } : {}),
    given: ({ team, tag, set }) => {
      const standing = sentIn(setTag, LIMITS, limitTexts(set?.settings ?? {}), EMPTY_FORM, 0);
      return { id: team.teamId, tag, ...standing, disabled };
    },
    ...words,
  };
}

const ACTIONS: readonly Action<TeamTag>[] = [
  {
    one: setTag,
    name: '',
    title: 'Limits',
    submit: 'Save',
    about: () => 'Changes take effect at the next request with this tag, everywhere.',
    fields: LIMITS,
    texts: ({ set }) => limitTexts(set?.settings ?? {}),
    whole: true,
    given: ({ team, tag, set }, sent) => ({ id: team.teamId, tag, ...sent, ...(isDisabled({ set }) ? { disabled: true } : {}) }),
    told: (_value, { tag }) => `Tag ${tag} is saved.`,
  },
  turn('disable', true, {
    when: (tag) => !isDisabled(tag),
    about: () => 'Requests with this tag are refused, everywhere. It can be enabled again.',
    told: (_value, { tag }) => `Tag ${tag} is disabled: requests with it are refused.`,
  }),
  turn('enable', false, {
    when: isDisabled,
    about: () => 'Its requests are answered again, within its limits.',
    told: (_value, { tag }) => `Tag ${tag} is enabled.`,
  }),
  {
    one: deleteTag,
    name: 'delete',
    title: 'Remove the limits',
    submit: 'Remove the limits',
    danger: true,
    when: ({ set }) => set !== undefined,
    about: () => 'Only the limits of the team and of its keys apply then. What was charged with the tag stays in the usage.',
    given: ({ team, tag }) => ({ id: team.teamId, tag }),
    told: (_value, { tag }) => `Tag ${tag} has no limits any more.`,
    to: (_value, { team }) => `/teams/${team.teamId}/tags`,
  },
];

export const TAG_ROUTES: readonly ConsoleRoute[] = [
  get('/teams/{id}/tags', finding(findTeam, tagsPage)),
  ...recordRoutes<TeamTag>({
    path: '/teams/{id}/tag',
    find: findTag,
    at: ({ team }) => `/teams/${team.teamId}/tag`,
    named: ({ tag }) => ({ tag }),
    page: (forms, found) => {
      const { team, tag } = found;
      const title = `Tag ${tag}`;
      const main = html`<h1>${title}</h1>
        <p class="soft">
          Of team <a href="${CONSOLE_PREFIX}/teams/${team.teamId}">${team.name}</a>, one of
          <a href="${CONSOLE_PREFIX}/teams/${team.teamId}/tags">its tags</a>
        </p>
        ${tagFacts(found)} ${forms}`;
      return { title, section: 'teams', main };
    },
    actions: ACTIONS,
  }),
];
