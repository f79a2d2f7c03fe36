// The list of teams: search, order, use of limits. The beginning of a key finds the key.
import { findKeys, foundKeys } from '../../admin/operations/keys.ts';
import { planReports } from '../../admin/operations/plans.ts';
import { chargedIn, STANDING_WORDS, TEAM_STANDINGS } from '../../admin/operations/team-search.ts';
import type { TeamStanding } from '../../admin/operations/team-search.ts';
import { listSummaries } from '../../admin/operations/teams.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { holdsKey, matchesDisplay } from '../../domain/api-key.ts';
import type { TeamSummary } from '../../ports/team-registry.ts';
import { CONSOLE_PREFIX, get, mayChange } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import type { Field } from '../form.ts';
import { tableOf } from '../cells.ts';
import { listAnswer } from '../list-page.ts';
import type { ListPage, AskedTexts } from '../list-page.ts';
import { changes } from '../team-keys.ts';

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

const TEAMS: ListPage<TeamSummary> = {
  one: listSummaries,
  section: 'teams',
  orFirst: true,
  form: {
    texts: (sent) => ({ q: sent('q'), plan: sent('plan'), standing: sent('standing'), sort: sent('sort') }),
    fields: searchFields,
    given: ({ sort: _sort, ...asked }) => Object.fromEntries(Object.entries(asked).filter(([, sent]) => sent !== '')),
  },
  besideTitle: (visit) => (mayChange(visit) ? html`<a class="button" href="${CONSOLE_PREFIX}/teams/new">New team</a>` : undefined),
  async above({ texts: { q = '', standing = '' }, visit }) {
    const words = Object.hasOwn(TEAM_STANDINGS, standing) ? TEAM_STANDINGS[standing as TeamStanding] : undefined;
    return html`${words && html`<p class="soft">Each of these teams ${words}.</p>`}
    ${matchesDisplay(q) ? await keysThatBegin(q, visit) : undefined}`;
  },
  table({ rows, texts, checkedMax }) {
    if (rows.length === 0 && matchesDisplay(texts['q']!)) return undefined;
    return { caption: 'Teams', none: nobody(texts, checkedMax), rows: sorted(rows, texts['sort']!) };
  },
  below: ({ texts, isFirst, next }) =>
    SORTS.has(texts['sort']!) && !(isFirst && next === undefined)
      ? html`<p class="soft">Each page of teams is sorted separately; pages are in order of creation.</p>`
      : undefined,
};

export const TEAMS_ROUTES: readonly ConsoleRoute[] = [
  get('/teams', (visit) => (holdsKey(visit.request.query.get('q') ?? '') ? withoutKey() : listAnswer(TEAMS, visit))),
];

/** So that the URL leaves the browser's address bar; nothing of the key is repeated. */
function withoutKey(): ConsoleAnswer {
  const notice = html`<p>
    That was more of a key than may stand in an address; it was not searched for. Search for its first twelve characters, or give the whole
    key to <code>lingate key find</code>.
  </p>`;
  return { kind: 'see', to: '/teams', notice };
}

function searchFields({ plan = '' }: AskedTexts, { context }: SignedInVisit): readonly Field[] {
  const options = (first: string, choices: readonly (readonly [string, string])[]) =>
    [['', first] as const, ...choices].map(([value, label]) => ({ value, label }));
  const plans = new Set([...planReports(context).map(({ name }) => name), plan].filter((name) => name !== ''));
  return [
    { name: 'q', label: 'Name, reference, id or beginning of a key', attributes: KEYLESS },
    {
      name: 'plan',
      label: 'Plan',
      choices: options(
        'any',
        [...plans].map((name) => [name, name] as const),
      ),
    },
    { name: 'standing', label: 'Limit', choices: options('any', Object.entries(STANDING_WORDS)) },
    {
      name: 'sort',
      label: 'Order',
      choices: options(
        'Created',
        [...SORTS].map(([name, [label]]) => [name, label] as const),
      ),
    },
  ];
}

function nobody({ q, plan, standing }: AskedTexts, checkedMax: number | undefined): string {
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
