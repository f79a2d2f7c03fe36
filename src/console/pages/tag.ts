// A team's tags: the list with a way to any tag, and the page of one, with what it has used and the forms to limit, disable and enable it.
import { refusalOf } from '../../admin/admin-refusals.ts';
import { refused } from '../../admin/operation.ts';
import { deleteTag, setTag } from '../../admin/operations/tags.ts';
import type { Refusal } from '../../core/outcome.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { readTag, TAG_CHARACTERS_MAX, TAG_FAULT } from '../../domain/request-tag.ts';
import type { SetTag } from '../../ports/tag-registry.ts';
import type { Team } from '../../ports/team-registry.ts';
import { changedAnswer, CONSOLE_PREFIX, finding, get, mayChange, pageAnswer, post } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { hiddenField, postForm } from '../form.ts';
import type { FieldFaults } from '../form.ts';
import { fact, windowFacts } from '../html-table.ts';
import { limitTexts } from '../key-limit-fields.ts';
import { carriedOut, formFields, sentIn } from '../operation-page.ts';
import { searchForm, searchText } from '../search-form.ts';
import { count } from '../shown.ts';
import { findTeam } from '../team-keys.ts';
import { charactersOf, TAG_DAYS, tagPath, tagsOf, tagsPath, tagsTable, tagStatus } from '../team-tags.ts';
import type { TeamTag } from '../team-tags.ts';

const ONE = '/teams/{id}/tag';
export const TAG_ROUTES: readonly ConsoleRoute[] = [
  get(
    '/teams/{id}/tags',
    finding(findTeam, (visit, parts, team) => tagsPage(visit, parts, team, '')),
  ),
  get(ONE, finding(findTeam, shown)),
  post(ONE, finding(findTeamTag, save)),
  post(
    `${ONE}/disable`,
    finding(findTeamTag, (visit, parts, found) => turn(visit, parts, found, true)),
  ),
  post(
    `${ONE}/enable`,
    finding(findTeamTag, (visit, parts, found) => turn(visit, parts, found, false)),
  ),
  post(`${ONE}/delete`, finding(findTeamTag, remove)),
];

interface TagOfTeam {
  readonly team: Team;
  readonly tag: TeamTag;
}

/** `sent` is what was asked for and is no tag. */
async function tagsPage(visit: SignedInVisit, parts: ConsoleParts, team: Team, sent: string): Promise<ConsoleAnswer> {
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

/** The page of the tag in the query. */
async function shown(visit: SignedInVisit, parts: ConsoleParts, team: Team): Promise<ConsoleAnswer> {
  const sent = visit.request.query.get('tag') ?? '';
  const tag = readTag(sent);
  if (tag === undefined) return { kind: 'see', to: tagsPath(team.teamId) };
  if (tag === null) return tagsPage(visit, parts, team, sent);
  const found = await teamTag(visit, parts, team, tag);
  return 'problem' in found ? found : tagPage(visit, found, {});
}

/** By the path's `id`, and the `tag` of the form. */
async function findTeamTag(visit: SignedInVisit, parts: ConsoleParts): Promise<TagOfTeam | Refusal> {
  const team = await findTeam(visit, parts);
  if ('problem' in team) return team;
  const tag = readTag(visit.form('tag'));
  return typeof tag === 'string' ? teamTag(visit, parts, team, tag) : refusalOf(refused('tag', TAG_FAULT));
}

async function teamTag({ nowMs }: SignedInVisit, parts: ConsoleParts, team: Team, name: string): Promise<TagOfTeam | Refusal> {
  const tags = await tagsOf(team, parts, nowMs);
  if ('problem' in tags) return tags;
  return { team, tag: tags.find(({ tag }) => tag === name) ?? { tag: name, characters: 0, requests: 0, set: undefined } };
}

/** `faults` are the errors of the form that was sent, which is shown with the values sent. */
function tagPage(visit: SignedInVisit, found: TagOfTeam, faults: FieldFaults): ConsoleAnswer {
  const { team, tag } = found;
  const title = `Tag ${tag.tag}`;
  const main = html`<h1>${title}</h1>
    <p class="soft">
      Of team <a href="${CONSOLE_PREFIX}/teams/${team.teamId}">${team.name}</a>, one of
      <a href="${CONSOLE_PREFIX}${tagsPath(team.teamId)}">its tags</a>
    </p>
    ${facts(tag)} ${mayChange(visit) ? forms(found, visit, faults) : undefined}`;
  return pageAnswer({ title, section: 'teams', main }, faults);
}

function facts({ set, characters, requests }: TeamTag): Html {
  const note = set?.settings.disabled === true ? ': its requests are refused until it is enabled again' : '';
  return html`<dl class="facts">
    ${fact('Status', html`${tagStatus(set)}${note}`)} ${fact(`Charged in ${TAG_DAYS} days`, charged(characters, requests))}
    ${set === undefined ? undefined : limitFacts(set)}
  </dl>`;
}

function charged(characters: number, requests: number): string {
  return requests === 0 ? 'nothing' : `${count(characters)} characters, ${count(requests)} requests`;
}

function limitFacts(set: SetTag): Html {
  const { requestsPerSecond: rate } = set.settings;
  return html`${fact('Characters, this period', charactersOf(set))}
  ${fact('Rate', rate === undefined ? 'no limit of its own' : `at most ${count(rate)} a second, of all keys together`)}
  ${windowFacts(set.use.windows, set.tag)}`;
}

function forms({ team, tag: { tag, set } }: TagOfTeam, visit: SignedInVisit, faults: FieldFaults): Html {
  const { formToken, form } = visit;
  const here = `/teams/${team.teamId}/tag`;
  const wasSent = Object.keys(faults).length > 0;
  const texts = { form: wasSent ? form : limitTexts(set?.settings ?? {}), faults };
  const named = hiddenField('tag', tag);
  const isDisabled = set?.settings.disabled === true;
  return html`<div class="forms">
    <section aria-labelledby="limits">
      <h2 id="limits">Limits</h2>
      <p class="soft">Changes take effect at the next request with this tag, everywhere.</p>
      ${postForm({ action: here, formToken, fields: html`${named} ${formFields(setTag, LIMITS, texts)}`, submit: 'Save' })}
    </section>
    <section aria-labelledby="use">
      ${
        isDisabled
          ? html`<h2 id="use">Enable</h2>
              <p>Its requests are answered again, within its limits.</p>
              ${postForm({ action: `${here}/enable`, formToken, fields: named, submit: 'Enable the tag' })}`
          : html`<h2 id="use">Disable</h2>
              <p>Requests with this tag are refused, everywhere. It can be enabled again.</p>
              ${postForm({ action: `${here}/disable`, formToken, fields: named, submit: 'Disable the tag', danger: true })}`
      }
      ${set === undefined ? undefined : removeForm(here, formToken, named)}
    </section>
  </div>`;
}

function removeForm(here: string, formToken: string, named: Html): Html {
  return html`<h2>Remove the limits</h2>
    <p>Only the limits of the team and of its keys apply then. What was charged with the tag stays in the usage.</p>
    ${postForm({ action: `${here}/delete`, formToken, fields: named, submit: 'Remove the limits', danger: true })}`;
}

const LIMITS = ['requests_per_second', 'characters', 'limits'] as const;

function save(visit: SignedInVisit, parts: ConsoleParts, found: TagOfTeam): Promise<ConsoleAnswer> {
  const limits = Object.fromEntries(Object.entries(sentIn(setTag, LIMITS, visit.form, visit.nowMs)).filter(([, value]) => value !== null));
  const disabled = found.tag.set?.settings.disabled === true ? { disabled: true } : {};
  return change(visit, parts, found, { ...limits, ...disabled }, 'is saved');
}

function turn(visit: SignedInVisit, parts: ConsoleParts, found: TagOfTeam, disabled: boolean): Promise<ConsoleAnswer> {
  const words = disabled ? 'is disabled: requests with it are refused' : 'is enabled';
  const standing = limitTexts(found.tag.set?.settings ?? {});
  const limits = Object.entries(sentIn(setTag, LIMITS, standing, visit.nowMs)).filter(([, value]) => value !== null);
  return change(visit, parts, found, { ...Object.fromEntries(limits), disabled }, words);
}

async function change(
  visit: SignedInVisit,
  parts: ConsoleParts,
  found: TagOfTeam,
  settings: Readonly<Record<string, unknown>>,
  words: string,
): Promise<ConsoleAnswer> {
  const {
    team: { teamId: id },
    tag: { tag },
  } = found;
  const set = await carriedOut(setTag, { id, tag, ...settings }, visit, parts);
  if (!('value' in set)) return 'faults' in set ? tagPage(visit, found, besideAField(set.faults)) : set;
  return changedAnswer(tagPath(id, tag), html`<p>Tag ${tag} ${words}.</p>`, set);
}

/** What is wrong with the form as a whole stands beside its first field. */
function besideAField({ body, ...faults }: FieldFaults): FieldFaults {
  return body === undefined ? faults : { [LIMITS[0]]: 'Enter at least one limit.' };
}

async function remove(visit: SignedInVisit, parts: ConsoleParts, found: TagOfTeam): Promise<ConsoleAnswer> {
  const {
    team: { teamId: id },
    tag: { tag },
  } = found;
  const removed = await carriedOut(deleteTag, { id, tag }, visit, parts);
  if (!('value' in removed)) return 'faults' in removed ? tagPage(visit, found, removed.faults) : removed;
  return changedAnswer(tagsPath(id), html`<p>Tag ${tag} has no limits any more.</p>`, removed);
}
