// The list of teams, in pages: search, order, usage of their limits.
import { refusalOf } from '../../admin/admin-refusals.ts';
import type { Page } from '../../admin/admin-result.ts';
import { readTeamFilter, TEAM_CRITERION_NAMES, TEAM_STANDINGS } from '../../admin/team-filter.ts';
import type { TeamCriterionName, TeamStanding } from '../../admin/team-filter.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { holdsKey, matchesDisplay } from '../../domain/api-key.ts';
import { minorRoundedDown } from '../../domain/money.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import { canonicalUlid } from '../../domain/ulid.ts';
import type { FoundKey, TeamSummary } from '../../ports/team-registry.ts';
import { CONSOLE_PREFIX, get, mayChange, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { checkedNote, freeText, htmlTable, numeric, pager } from '../html-table.ts';
import { queryOf, searchForm, searchSelect, searchText } from '../search-form.ts';
import { count, day, money, usageBar } from '../shown.ts';
import { keyLink, keyStatus, lastUse } from '../team-keys.ts';

export const TEAMS_ROUTES: readonly ConsoleRoute[] = [get('/teams', teamsPage)];

const PAGE_TEAMS = 50;
const SEARCH_MAX = 100;
/** The length of a key's visible part: a browser sends no more, so that no key gets into a URL. */
const NO_WHOLE_KEY = '(?!.*la_(live|test)_[A-Za-z0-9]{5}).*';

/** Sorts within one page; the pages themselves are in order of creation. */
const SORTS = {
  created: { label: 'Created', compare: undefined },
  name: { label: 'Name', compare: (a: TeamSummary, b: TeamSummary) => a.team.name.localeCompare(b.team.name, 'en') },
  used: { label: 'Most used first', compare: (a: TeamSummary, b: TeamSummary) => shareOf(b) - shareOf(a) },
  credit: { label: 'Least credit first', compare: (a: TeamSummary, b: TeamSummary) => creditOf(a) - creditOf(b) },
  active: { label: 'Most recently used first', compare: (a: TeamSummary, b: TeamSummary) => (b.lastUsedAtMs ?? 0) - (a.lastUsedAtMs ?? 0) },
} as const;
type Sort = keyof typeof SORTS;

interface Asked {
  readonly search: string;
  readonly sort: Sort;
  readonly cursor: string | undefined;
  /** The texts of the filter's criteria. */
  readonly criteria: Readonly<Record<TeamCriterionName, string>>;
}

async function teamsPage(visit: SignedInVisit, { operations }: ConsoleParts): Promise<ConsoleAnswer> {
  const { request, nowMs } = visit;
  const asked = askedOf(request.query);
  if (holdsKey(request.query.get('q') ?? '')) return withoutKey();
  const plans = operations.plans.list().map(({ name }) => name);
  const read = readTeamFilter((name) => asked.criteria[name]);
  if ('fault' in read) {
    const fault = `${read.field}: ${read.fault}.`;
    return pageAnswer(content(visit, searchedBy(asked, plans, fault)), { [read.field]: fault });
  }
  const keys = matchesDisplay(asked.search) ? await operations.context.options.teams.findKeys({ display: asked.search }) : undefined;
  if (keys !== undefined && isUnavailable(keys)) return refusalOf(keys);
  const page = { after: asked.cursor, limit: PAGE_TEAMS, search: asked.search === '' ? undefined : asked.search };
  const found = await operations.listSummaries(page, read.filter);
  if (found.kind !== 'done') return refusalOf(found);
  const { compare } = SORTS[asked.sort];
  const teams = compare === undefined ? found.value.items : found.value.items.toSorted(compare);
  const main = html`${searchedBy(asked, plans, undefined)} ${standingNote(asked)}
  ${keys === undefined ? undefined : foundKeys(asked.search, keys, nowMs, mayChange(visit))}
  ${teams.length > 0 ? listed(teams, nowMs) : keys === undefined ? nobody(asked, found.value) : undefined} ${pages(asked, found.value)}`;
  return pageAnswer(content(visit, main));
}

function content(visit: SignedInVisit, main: Html) {
  return {
    title: 'Teams',
    section: 'teams',
    main: html`<div class="title">
        <h1>Teams</h1>
        ${mayChange(visit) ? html`<a class="button" href="${CONSOLE_PREFIX}/teams/new">New team</a>` : undefined}
      </div>
      ${main}`,
  } as const;
}

/** Redirects, so that the URL does not stay in the browser's address bar; nothing of the key is repeated. */
function withoutKey(): ConsoleAnswer {
  const notice = html`<p>
    That was more of a key than may stand in an address; it was not searched for. Search for its first twelve characters, or give the whole
    key to <code>lingate key find</code>.
  </p>`;
  return { kind: 'see', to: '/teams', notice };
}

/** A wrong order or cursor is ignored: a truncated link still opens the teams. */
function askedOf(query: URLSearchParams): Asked {
  const sort = query.get('sort') ?? '';
  return {
    search: (query.get('q') ?? '').trim().slice(0, SEARCH_MAX),
    sort: Object.hasOwn(SORTS, sort) ? (sort as Sort) : 'created',
    cursor: canonicalUlid(query.get('cursor') ?? ''),
    criteria: Object.fromEntries(TEAM_CRITERION_NAMES.map((name) => [name, (query.get(name) ?? '').trim()])) as Asked['criteria'],
  };
}

const STANDING_LABELS: Readonly<Record<TeamStanding, string>> = {
  near_limit: 'near the limit',
  over_quota: 'over quota',
  out_of_credit: 'out of credit',
};

const ANY = { value: '', label: 'any' };

function searchedBy({ search, sort, criteria }: Asked, plans: readonly string[], fault: string | undefined): Html {
  const keyless = { type: 'search', maxlength: SEARCH_MAX, pattern: NO_WHOLE_KEY, title: 'Only the first twelve characters of a key' };
  const named = [...new Set([...plans, criteria.plan])].filter((name) => name !== '').map((name) => ({ value: name, label: name }));
  const standings = Object.entries(STANDING_LABELS).map(([value, label]) => ({ value, label }));
  const sorts = Object.entries(SORTS).map(([value, { label }]) => ({ value, label }));
  return searchForm({
    action: '/teams',
    fields: [
      searchText('q', 'Name, reference, id or beginning of a key', search, keyless, 'long'),
      searchSelect('plan', 'Plan', [ANY, ...named], criteria.plan),
      searchSelect('standing', 'Limit', [ANY, ...standings], criteria.standing),
      searchSelect('sort', 'Order', sorts, sort),
    ],
    submit: 'Search',
    fault,
    isFiltered: [search, ...Object.values(criteria)].some((text) => text !== ''),
  });
}

/** What the chosen standing means. */
function standingNote({ criteria: { standing } }: Asked): Html | undefined {
  if (!Object.hasOwn(TEAM_STANDINGS, standing)) return undefined;
  return html`<p class="soft">Each of these teams ${TEAM_STANDINGS[standing as TeamStanding]}.</p>`;
}

function listed(teams: readonly TeamSummary[], nowMs: number): Html {
  const columns = ['Team', freeText('Reference'), 'Plan', 'Used this period', numeric('Credit'), numeric('Keys'), 'Last use', 'Created'];
  const rows = teams.map((summary) => {
    const { team, activeKeys } = summary;
    const name = html`<a href="${CONSOLE_PREFIX}/teams/${team.teamId}">${team.name}</a>`;
    const credit = team.limits.billing === 'credit' ? money(minorRoundedDown(team.balanceMicro), team.limits.currency) : '–';
    return [
      name,
      team.reference ?? '–',
      team.plan,
      used(summary),
      credit,
      count(activeKeys),
      lastUse(summary, nowMs),
      day(team.createdAtMs),
    ];
  });
  return htmlTable({ caption: 'Teams', columns, rows });
}

function used({ team, characters }: TeamSummary): Html {
  if (team.limits.billing === 'credit') return html`${count(characters)} characters`;
  return usageBar(`Characters of ${team.name}`, characters, team.limits.characterLimit);
}

function shareOf({ team, characters }: TeamSummary): number {
  return team.limits.billing === 'credit' ? characters / Number.MAX_SAFE_INTEGER : characters / Math.max(team.limits.characterLimit, 1);
}

/** Those without credit billing come last. */
function creditOf({ team }: TeamSummary): number {
  return team.limits.billing === 'credit' ? team.balanceMicro : Number.MAX_SAFE_INTEGER;
}

function nobody({ search, criteria }: Asked, { checkedMax }: Page<TeamSummary>): Html {
  if (Object.values(criteria).some((text) => text !== ''))
    return html`<p class="soft">${checkedMax === undefined ? 'No team fits.' : 'None of these teams fits.'}</p>`;
  if (search === '') return html`<p class="soft">There are no teams here.</p>`;
  return html`<p class="soft">No team's name, reference or id contains “${search}”.</p>`;
}

function pages({ search, sort, cursor, criteria }: Asked, { next, checkedMax }: Page<TeamSummary>): Html | undefined {
  if (cursor === undefined && next === undefined) return undefined;
  const to = (at: string | undefined): string =>
    `${CONSOLE_PREFIX}/teams${queryOf({ q: search, ...criteria, sort: sort === 'created' ? '' : sort, cursor: at })}`;
  const sorted = `Each page of ${PAGE_TEAMS} teams is sorted separately; pages are in order of creation.`;
  return html`${sort === 'created' ? undefined : html`<p class="soft">${sorted}</p>`} ${checkedNote(checkedMax, 'teams')}
  ${pager(cursor && to(undefined), next && to(next), ['First page', 'Next page'])}`;
}

/** Limits the page. */
const KEYS_MAX = 200;

const COLUMNS = ['Key', freeText('Team'), freeText('Label'), 'Mode', 'Status', 'Last use'] as const;

function foundKeys(display: string, keys: readonly FoundKey[], nowMs: number, withChanges: boolean): Html {
  if (keys.length === 0) return html`<p class="soft">No key begins with <code>${display}</code>.</p>`;
  const rows = keys.slice(0, KEYS_MAX).map((key) => {
    const team = `${CONSOLE_PREFIX}/teams/${key.teamId}`;
    const which = html`<span class="unseen"> ${key.display} of ${key.teamName}</span>`;
    return [
      keyLink(key.teamId, key),
      html`<a href="${team}">${key.teamName}</a>`,
      key.label === '' ? '–' : key.label,
      key.mode,
      keyStatus(key),
      lastUse(key, nowMs),
      ...(withChanges ? [key.status !== 'revoked' ? html`<a href="${team}/keys/${key.keyId}/revoke">Revoke${which}</a>` : '–'] : []),
    ];
  });
  return html`<h2>Keys that begin with <code>${display}</code></h2>
    ${htmlTable({ caption: `Keys that begin with ${display}`, columns: withChanges ? [...COLUMNS, 'Change'] : COLUMNS, rows })}
    ${keys.length > 1 ? html`<p class="soft">Several keys begin with these twelve characters: <code>lingate key find</code> with the whole key finds the right one.</p>` : undefined}`;
}
