// The list of teams: search, order, use of limits. The beginning of a key finds the key.
import { detailOf } from '../../admin/input.ts';
import { findKeys, foundKeys } from '../../admin/operations/keys.ts';
import { planReports } from '../../admin/operations/plans.ts';
import { chargedIn, STANDING_WORDS, TEAM_STANDINGS } from '../../admin/operations/team-search.ts';
import type { TeamStanding } from '../../admin/operations/team-search.ts';
import { listSummaries } from '../../admin/operations/teams.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { holdsKey, matchesDisplay } from '../../domain/api-key.ts';
import type { TeamSummary } from '../../ports/team-registry.ts';
import { CONSOLE_PREFIX, get, mayChange, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { queryOf, searchForm } from '../form.ts';
import { checkedNote, tableOf } from '../cells.ts';
import { orRefusal, pageOfQuery, pagesOf } from '../list-page.ts';
import type { ReadRows } from '../list-page.ts';
import { changes } from '../team-keys.ts';

export const TEAMS_ROUTES: readonly ConsoleRoute[] = [get('/teams', teamsPage)];

/** Of a key twelve characters: a browser sends no more, so that no key gets into a URL. */
const KEYLESS = {
  autocomplete: 'off',
  maxlength: 100,
  pattern: '(?!.*la_(live|test)_[A-Za-z0-9]{5}).*',
  title: 'Only the first twelve characters of a key',
};

type Sort = readonly [label: string, rank: (summary: TeamSummary) => number | string];

/** Ways to sort one page, by what is least first; the pages themselves are in order of creation. */
const SORTS: ReadonlyMap<string, Sort> = new Map([
  ['name', ['Name', ({ team }) => team.name]],
  ['used', ['Most used first', (summary) => -shareOf(summary)]],
  ['credit', ['Least credit first', ({ team }) => (isPrepaid(team) ? team.balanceMicro : Number.MAX_SAFE_INTEGER)]],
  ['active', ['Most recently used first', ({ lastUsedAtMs = 0 }) => -lastUsedAtMs]],
]);

function isPrepaid({ limits }: TeamSummary['team']): boolean {
  return limits.billing === 'credit';
}

/** Those without a quota come last. */
function shareOf(summary: TeamSummary): number {
  const { team } = summary;
  return chargedIn(summary) / (isPrepaid(team) ? Number.MAX_SAFE_INTEGER : Math.max(team.limits.characterLimit, 1));
}

function sorted(teams: readonly TeamSummary[], sort: string): readonly TeamSummary[] {
  const [, rank] = SORTS.get(sort) ?? [];
  if (rank === undefined) return teams;
  return teams.toSorted((one, other) => {
    const [a, b] = [rank(one), rank(other)];
    return typeof a === 'string' ? a.localeCompare(String(b), 'en') : a - Number(b);
  });
}

type SearchTexts = Readonly<Record<'q' | 'plan' | 'standing' | 'sort', string>>;

async function teamsPage(visit: SignedInVisit): Promise<ConsoleAnswer> {
  const text = (name: string): string => (visit.request.query.get(name) ?? '').trim();
  const texts: SearchTexts = { q: text('q'), plan: text('plan'), standing: text('standing'), sort: text('sort') };
  const { sort: _sort, ...asked } = texts;
  if (holdsKey(asked.q)) return withoutKey();
  const given = Object.fromEntries(Object.entries(asked).filter(([, sent]) => sent !== ''));
  const found = await orRefusal(() => pageOfQuery<TeamSummary>(listSummaries, visit, given, { orFirst: true }));
  const fault = 'words' in found ? detailOf(found) : undefined;
  const plans = planReports(visit.context).map(({ name }) => name);
  const main = html`<div class="title">
      <h1>Teams</h1>
      ${mayChange(visit) ? html`<a class="button" href="${CONSOLE_PREFIX}/teams/new">New team</a>` : undefined}
    </div>
    ${searchedBy(texts, plans, fault)} ${'words' in found ? undefined : await foundTeams(found, texts, visit)}`;
  return pageAnswer({ title: 'Teams', section: 'teams', main }, 'words' in found ? { [found.field ?? 'q']: fault! } : {});
}

async function foundTeams(found: ReadRows<TeamSummary>, texts: SearchTexts, visit: SignedInVisit): Promise<Html> {
  const { q, standing, sort } = texts;
  const to = (cursor?: string): string => `${CONSOLE_PREFIX}/teams${queryOf({ ...texts, cursor })}`;
  const keys = matchesDisplay(q) ? await keysThatBegin(q, visit) : undefined;
  const teams = { ...listSummaries, none: nobody(texts, found.checkedMax) };
  const pages = pagesOf(found, to);
  return html`${
    Object.hasOwn(TEAM_STANDINGS, standing)
      ? html`<p class="soft">Each of these teams ${TEAM_STANDINGS[standing as TeamStanding]}.</p>`
      : undefined
  }
  ${keys}
  ${found.rows.length === 0 && keys !== undefined ? undefined : await tableOf(teams, sorted(found.rows, sort), visit, { caption: 'Teams' })}
  ${pages && SORTS.has(sort) ? html`<p class="soft">Each page of teams is sorted separately; pages are in order of creation.</p>` : undefined}
  ${checkedNote(found.checkedMax, 'teams')} ${pages}`;
}

/** So that the URL leaves the browser's address bar; nothing of the key is repeated. */
function withoutKey(): ConsoleAnswer {
  const notice = html`<p>
    That was more of a key than may stand in an address; it was not searched for. Search for its first twelve characters, or give the whole
    key to <code>lingate key find</code>.
  </p>`;
  return { kind: 'see', to: '/teams', notice };
}

function searchedBy(texts: SearchTexts, plans: readonly string[], fault: string | undefined): Html {
  const { q, plan, standing } = texts;
  const options = (first: string, choices: readonly (readonly [string, string])[]) =>
    [['', first] as const, ...choices].map(([value, label]) => ({ value, label }));
  const named = [...new Set([...plans, plan])].filter((name) => name !== '').map((name) => [name, name] as const);
  const sorts = [...SORTS].map(([name, [label]]) => [name, label] as const);
  return searchForm({
    action: '/teams',
    fields: [
      { name: 'q', label: 'Name, reference, id or beginning of a key', attributes: KEYLESS },
      { name: 'plan', label: 'Plan', choices: options('any', named) },
      { name: 'standing', label: 'Limit', choices: options('any', Object.entries(STANDING_WORDS)) },
      { name: 'sort', label: 'Order', choices: options('Created', sorts) },
    ],
    texts,
    submit: 'Search',
    fault,
    isFiltered: q !== '' || plan !== '' || standing !== '',
  });
}

function nobody({ q, plan, standing }: SearchTexts, checkedMax: number | undefined): string {
  if (plan !== '' || standing !== '') return checkedMax === undefined ? 'No team fits.' : 'None of these teams fits.';
  return q === '' ? listSummaries.none! : `No team's name, reference or id contains “${q}”.`;
}

/** Limits the page. */
const KEYS_MAX = 200;

async function keysThatBegin(display: string, visit: SignedInVisit): Promise<Html> {
  const keys = await foundKeys(visit.context, { display });
  const none = html`No key begins with <code>${display}</code>.`;
  const change = mayChange(visit) ? changes : undefined;
  const around = { caption: `Keys that begin with ${display}`, hidden: ['Limits'], most: KEYS_MAX, change };
  return html`<h2>Keys that begin with <code>${display}</code></h2>
    ${await tableOf({ ...findKeys, none }, keys, visit, around)}
    ${keys.length > 1 ? html`<p class="soft">Several keys begin with these twelve characters: <code>lingate key find</code> with the whole key finds the right one.</p>` : undefined}`;
}
