// The list of teams: search, order, use of limits. The beginning of a key finds the key.
import { checked, detailOf } from '../../admin/input.ts';
import type { OperationContext } from '../../admin/operation-context.ts';
import type { FoundKeyRow } from '../../admin/operations/key-rows.ts';
import { findKeys, foundKeys } from '../../admin/operations/keys.ts';
import { planReports } from '../../admin/operations/plans.ts';
import { chargedIn, STANDING_WORDS, summaryColumns, TEAM_STANDINGS, teamSummaries } from '../../admin/operations/team-search.ts';
import type { TeamStanding } from '../../admin/operations/team-search.ts';
import { listTeams } from '../../admin/operations/teams.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { holdsKey, matchesDisplay } from '../../domain/api-key.ts';
import { canonicalUlid } from '../../domain/ulid.ts';
import type { TeamSummary } from '../../ports/team-registry.ts';
import { CONSOLE_PREFIX, get, mayChange, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { holding, queryOf, searchForm, selectField, textField } from '../form.ts';
import { checkedNote, pager, tableOf } from '../cells.ts';
import { orRefusal } from '../list-page.ts';
import { changes } from '../team-keys.ts';

export const TEAMS_ROUTES: readonly ConsoleRoute[] = [get('/teams', teamsPage)];

const PAGE_TEAMS = 50;
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

async function teamsPage(visit: SignedInVisit, { context }: ConsoleParts): Promise<ConsoleAnswer> {
  const { request, nowMs } = visit;
  const text = (name: string): string => (request.query.get(name) ?? '').trim();
  const { sort, ...asked }: SearchTexts = { q: text('q'), plan: text('plan'), standing: text('standing'), sort: text('sort') };
  if (holdsKey(asked.q)) return withoutKey();
  const plans = planReports(context).map(({ name }) => name);
  const given = Object.fromEntries(Object.entries(asked).filter(([, sent]) => sent !== ''));
  const read = await orRefusal(async () => ({ input: checked(listTeams, given, nowMs) }));
  if ('words' in read) {
    const fault = detailOf(read);
    return page(visit, searchedBy({ ...asked, sort }, plans, fault), { [read.field ?? 'q']: fault });
  }
  const keys = matchesDisplay(asked.q) ? await foundKeys(context, { display: asked.q }) : undefined;
  // A wrong order or cursor is ignored: a truncated link still opens the teams.
  const cursor = canonicalUlid(request.query.get('cursor') ?? '');
  const { rows, next, checkedMax } = await teamSummaries(context, read.input, cursor, PAGE_TEAMS);
  const to = (at?: unknown): string => `${CONSOLE_PREFIX}/teams${queryOf({ ...asked, sort, cursor: at as string | undefined })}`;
  const isAll = cursor === undefined && next === undefined;
  const pages = html`${SORTS.has(sort) ? html`<p class="soft">Each page of ${PAGE_TEAMS} teams is sorted separately; pages are in order of creation.</p>` : undefined}
  ${checkedNote(checkedMax, 'teams')} ${pager(cursor && to(), next === undefined ? undefined : to(next), ['First page', 'Next page'])}`;
  return page(
    visit,
    html`${searchedBy({ ...asked, sort }, plans, undefined)} ${standingNote(asked.standing)}
    ${keys && (await keysThatBegin(asked.q, keys, visit, context))}
    ${rows.length > 0 ? await tableOf({ columns: summaryColumns }, sorted(rows, sort), { caption: 'Teams', context, nowMs }) : keys === undefined ? nobody(asked, checkedMax) : undefined}
    ${isAll ? undefined : pages}`,
  );
}

function page(visit: SignedInVisit, list: Html, faults = {}): ConsoleAnswer {
  const main = html`<div class="title">
      <h1>Teams</h1>
      ${mayChange(visit) ? html`<a class="button" href="${CONSOLE_PREFIX}/teams/new">New team</a>` : undefined}
    </div>
    ${list}`;
  return pageAnswer({ title: 'Teams', section: 'teams', main }, faults);
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
  const shown = holding(texts);
  const options = (first: string, choices: readonly (readonly [string, string])[]) =>
    [['', first] as const, ...choices].map(([value, label]) => ({ value, label }));
  const named = [...new Set([...plans, plan])].filter((name) => name !== '').map((name) => [name, name] as const);
  const sorts = [...SORTS].map(([name, [label]]) => [name, label] as const);
  return searchForm({
    action: '/teams',
    fields: [
      textField(shown, 'q', 'Name, reference, id or beginning of a key', { more: KEYLESS }),
      selectField(shown, 'plan', 'Plan', options('any', named)),
      selectField(shown, 'standing', 'Limit', options('any', Object.entries(STANDING_WORDS))),
      selectField(shown, 'sort', 'Order', options('Created', sorts)),
    ],
    submit: 'Search',
    fault,
    isFiltered: q !== '' || plan !== '' || standing !== '',
  });
}

/** What the chosen standing means. */
function standingNote(standing: string): Html | undefined {
  if (!Object.hasOwn(TEAM_STANDINGS, standing)) return undefined;
  return html`<p class="soft">Each of these teams ${TEAM_STANDINGS[standing as TeamStanding]}.</p>`;
}

function nobody({ q, plan, standing }: Omit<SearchTexts, 'sort'>, checkedMax: number | undefined): Html {
  const isFiltered = plan !== '' || standing !== '';
  if (isFiltered) return html`<p class="soft">${checkedMax === undefined ? 'No team fits.' : 'None of these teams fits.'}</p>`;
  return html`<p class="soft">${q === '' ? 'There are no teams here.' : html`No team's name, reference or id contains “${q}”.`}</p>`;
}

/** Limits the page. */
const KEYS_MAX = 200;

async function keysThatBegin(
  display: string,
  keys: readonly FoundKeyRow[],
  visit: SignedInVisit,
  context: OperationContext,
): Promise<Html> {
  if (keys.length === 0) return html`<p class="soft">No key begins with <code>${display}</code>.</p>`;
  const around = {
    caption: `Keys that begin with ${display}`,
    context,
    nowMs: visit.nowMs,
    hidden: ['Limits'],
    change: mayChange(visit) ? changes : undefined,
  };
  return html`<h2>Keys that begin with <code>${display}</code></h2>
    ${await tableOf(findKeys, keys.slice(0, KEYS_MAX), around)}
    ${keys.length > 1 ? html`<p class="soft">Several keys begin with these twelve characters: <code>lingate key find</code> with the whole key finds the right one.</p>` : undefined}`;
}
