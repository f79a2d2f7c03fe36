// The list of teams, in pages: search, order, usage of their limits.
import { refusalOf } from '../../admin/admin-refusals.ts';
import { checked, detailOf } from '../../admin/input.ts';
import type { ListedPage } from '../../admin/operation.ts';
import { planReports } from '../../admin/operations/plans.ts';
import { chargedIn, STANDING_WORDS, TEAM_STANDINGS, teamSummaries } from '../../admin/operations/team-search.ts';
import type { TeamStanding } from '../../admin/operations/team-search.ts';
import { listTeams } from '../../admin/operations/teams.ts';
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
  readonly sort: Sort;
  readonly cursor: string | undefined;
  /** As they were sent. */
  readonly texts: Readonly<Record<'q' | 'plan' | 'standing', string>>;
}

async function teamsPage(visit: SignedInVisit, { context }: ConsoleParts): Promise<ConsoleAnswer> {
  const { request, nowMs } = visit;
  const asked = askedOf(request.query);
  if (holdsKey(request.query.get('q') ?? '')) return withoutKey();
  const plans = planReports(context).map(({ name }) => name);
  const read = checked(listTeams, Object.fromEntries(Object.entries(asked.texts).filter(([, text]) => text !== '')), nowMs);
  if ('kind' in read) {
    const fault = detailOf(read);
    return pageAnswer(content(visit, searchedBy(asked, plans, fault)), { [read.field ?? 'q']: fault });
  }
  const { q: display } = asked.texts;
  const keys = matchesDisplay(display) ? await context.options.teams.findKeys({ display }) : undefined;
  if (keys !== undefined && isUnavailable(keys)) return refusalOf(keys);
  const found = await teamSummaries(context, read.input, asked.cursor, PAGE_TEAMS);
  if (found.kind !== 'done') return refusalOf(found);
  const { compare } = SORTS[asked.sort];
  const teams = compare === undefined ? found.value.rows : found.value.rows.toSorted(compare);
  const main = html`${searchedBy(asked, plans, undefined)} ${standingNote(asked)}
  ${keys === undefined ? undefined : foundKeys(display, keys, nowMs, mayChange(visit))}
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
  const text = (name: string): string => (query.get(name) ?? '').trim();
  return {
    sort: Object.hasOwn(SORTS, sort) ? (sort as Sort) : 'created',
    cursor: canonicalUlid(query.get('cursor') ?? ''),
    texts: { q: text('q').slice(0, SEARCH_MAX), plan: text('plan'), standing: text('standing') },
  };
}

const ANY = { value: '', label: 'any' };

function searchedBy({ sort, texts }: Asked, plans: readonly string[], fault: string | undefined): Html {
  const keyless = { type: 'search', maxlength: SEARCH_MAX, pattern: NO_WHOLE_KEY, title: 'Only the first twelve characters of a key' };
  const named = [...new Set([...plans, texts.plan])].filter((name) => name !== '').map((name) => ({ value: name, label: name }));
  const standings = Object.entries(STANDING_WORDS).map(([value, label]) => ({ value, label }));
  const sorts = Object.entries(SORTS).map(([value, { label }]) => ({ value, label }));
  return searchForm({
    action: '/teams',
    fields: [
      searchText('q', 'Name, reference, id or beginning of a key', texts.q, keyless, 'long'),
      searchSelect('plan', 'Plan', [ANY, ...named], texts.plan),
      searchSelect('standing', 'Limit', [ANY, ...standings], texts.standing),
      searchSelect('sort', 'Order', sorts, sort),
    ],
    submit: 'Search',
    fault,
    isFiltered: Object.values(texts).some((text) => text !== ''),
  });
}

/** What the chosen standing means. */
function standingNote({ texts: { standing } }: Asked): Html | undefined {
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

/** What counts: not what test keys use for nothing. */
function used(summary: TeamSummary): Html {
  const { team } = summary;
  const characters = chargedIn(summary);
  if (team.limits.billing === 'credit') return html`${count(characters)} characters`;
  return usageBar(`Characters of ${team.name}`, characters, team.limits.characterLimit);
}

function shareOf(summary: TeamSummary): number {
  const { team } = summary;
  const characters = chargedIn(summary);
  return team.limits.billing === 'credit' ? characters / Number.MAX_SAFE_INTEGER : characters / Math.max(team.limits.characterLimit, 1);
}

/** Those without credit billing come last. */
function creditOf({ team }: TeamSummary): number {
  return team.limits.billing === 'credit' ? team.balanceMicro : Number.MAX_SAFE_INTEGER;
}

function nobody({ texts: { q, plan, standing } }: Asked, { checkedMax }: ListedPage<TeamSummary>): Html {
  if (plan !== '' || standing !== '')
    return html`<p class="soft">${checkedMax === undefined ? 'No team fits.' : 'None of these teams fits.'}</p>`;
  if (q === '') return html`<p class="soft">There are no teams here.</p>`;
  return html`<p class="soft">No team's name, reference or id contains “${q}”.</p>`;
}

function pages({ sort, cursor, texts }: Asked, { next, checkedMax }: ListedPage<TeamSummary>): Html | undefined {
  if (cursor === undefined && next === undefined) return undefined;
  const to = (at: unknown): string =>
    `${CONSOLE_PREFIX}/teams${queryOf({ ...texts, sort: sort === 'created' ? '' : sort, cursor: at as string | undefined })}`;
  const sorted = `Each page of ${PAGE_TEAMS} teams is sorted separately; pages are in order of creation.`;
  return html`${sort === 'created' ? undefined : html`<p class="soft">${sorted}</p>`} ${checkedNote(checkedMax, 'teams')}
  ${pager(cursor && to(undefined), next === undefined ? undefined : to(next), ['First page', 'Next page'])}`;
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
