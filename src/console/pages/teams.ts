// The teams, a page at a time: search, order, what each has used of its limits.
import type { TeamUse } from '../../admin/operations.ts';
import { canonicalUlid } from '../../domain/ulid.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { minorRoundedDown } from '../../domain/money.ts';
import { CONSOLE_PREFIX } from '../prefix.ts';
import { get, pageAnswer } from '../route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../route.ts';
import { count, day, money, usageBar } from '../shown.ts';
import { table } from '../table.ts';

export const TEAMS_ROUTES: readonly ConsoleRoute[] = [get('/teams', teamsPage)];

const PAGE_TEAMS = 25;
const SEARCH_MAX = 100;

const SORTS = {
  created: { label: 'Created', compare: undefined },
  name: { label: 'Name', compare: (a: TeamUse, b: TeamUse) => a.team.name.localeCompare(b.team.name, 'en') },
  used: { label: 'Most used', compare: (a: TeamUse, b: TeamUse) => shareOf(b) - shareOf(a) },
} as const;
type Sort = keyof typeof SORTS;

interface Asked {
  readonly search: string;
  readonly sort: Sort;
  readonly cursor: string | undefined;
}

async function teamsPage({ request }: SignedInVisit, { operations }: ConsoleParts): Promise<ConsoleAnswer> {
  const asked = askedOf(request.query);
  const found = await operations.listTeamsWithUse({
    after: asked.cursor,
    limit: PAGE_TEAMS,
    search: asked.search === '' ? undefined : asked.search,
  });
  const { compare } = SORTS[asked.sort];
  const teams = compare === undefined ? found.teams : found.teams.toSorted(compare);
  const main = html`<div class="title">
      <h1>Teams</h1>
      <a class="button" href="${CONSOLE_PREFIX}/teams/new">New team</a>
    </div>
    ${searchForm(asked)} ${teams.length === 0 ? nobody(asked) : listed(teams)} ${pager(asked, found.next)}`;
  return pageAnswer({ title: 'Teams', section: 'teams', main });
}

/** Whatever does not fit is left out: a link that somebody has cut still leads to teams. */
function askedOf(query: URLSearchParams): Asked {
  const sort = query.get('sort') ?? '';
  return {
    search: (query.get('q') ?? '').trim().slice(0, SEARCH_MAX),
    sort: Object.hasOwn(SORTS, sort) ? (sort as Sort) : 'created',
    cursor: canonicalUlid(query.get('cursor') ?? ''),
  };
}

function searchForm({ search, sort }: Asked): Html {
  const options = Object.entries(SORTS).map(
    ([name, { label }]) => html`<option value="${name}" ${name === sort ? html` selected` : undefined}>${label}</option>`,
  );
  return html`<form class="search" role="search" action="${CONSOLE_PREFIX}/teams">
    <label for="search">Name or id</label>
    <input id="search" type="search" name="q" value="${search}" maxlength="${SEARCH_MAX}" />
    <label for="sort">Order</label>
    <select id="sort" name="sort">
      ${options}
    </select>
    <button>Search</button>
  </form>`;
}

function listed(teams: readonly TeamUse[]): Html {
  const columns = [
    { label: 'Team' },
    { label: 'Plan' },
    { label: 'Used this period' },
    { label: 'Credit', figures: true },
    { label: 'Created' },
  ];
  const rows = teams.map((use) => {
    const { team } = use;
    const credit = team.limits.billing === 'credit' ? money(minorRoundedDown(team.balanceMicro), team.limits.currency) : '–';
    return [html`<a href="${CONSOLE_PREFIX}/teams/${team.teamId}">${team.name}</a>`, team.plan, used(use), credit, day(team.createdAtMs)];
  });
  return table({ caption: 'Teams', columns, rows });
}

function used({ team, characters }: TeamUse): Html {
  if (team.limits.billing === 'credit') return html`${count(characters)} characters`;
  return usageBar(`Characters of ${team.name}`, characters, team.limits.characterLimit);
}

function shareOf({ team, characters }: TeamUse): number {
  return team.limits.billing === 'credit' ? characters / Number.MAX_SAFE_INTEGER : characters / Math.max(team.limits.characterLimit, 1);
}

function nobody({ search }: Asked): Html {
  if (search === '') return html`<p class="soft">There are no teams here.</p>`;
  return html`<p class="soft">No team's name or id holds “${search}”.</p>`;
}

function pager({ search, sort, cursor }: Asked, next: string | undefined): Html | undefined {
  if (cursor === undefined && next === undefined) return undefined;
  const to = (more: Readonly<Record<string, string>>): string => {
    const query = new URLSearchParams({ ...(search === '' ? {} : { q: search }), ...(sort === 'created' ? {} : { sort }), ...more });
    return `${CONSOLE_PREFIX}/teams${query.size === 0 ? '' : `?${query.toString()}`}`;
  };
  return html`<nav class="pager" aria-label="Pages">
    ${cursor === undefined ? undefined : html`<a href="${to({})}">First page</a>`}
    ${next === undefined ? undefined : html`<a href="${to({ cursor: next })}" rel="next">Next page</a>`}
  </nav>`;
}
