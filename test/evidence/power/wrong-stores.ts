// Wrong stores: each is a right one with one lie, and the part of the store's contract that must notice it.
import { both, limits, of } from './lies.ts';
import { WRONG_LEDGERS } from './wrong-ledgers.ts';
import type { WrongStore } from './wrong-ledgers.ts';

const counts: readonly WrongStore[] = [
  {
    name: 'windows: one too many of each',
    part: 'limits: team',
    lie: limits((right) => ({ windows: right.windows.replaceAll(/=(\d+)/g, (_all, most: string) => `=${Number(most) + 1}`) })),
  },
  { name: 'windows: no limits', part: 'limits: team', lie: limits(() => ({ windows: '' })) },
  {
    name: 'windows: a refusal is said to end a millisecond late',
    part: 'limits: team',
    lie: of('ledger', 'admit').answers((said) =>
      said.kind === 'rate_limited' && said.window !== undefined ? { ...said, retryAfterMs: said.retryAfterMs + 1 } : said,
    ),
  },
  {
    name: 'windows: a refusal for characters is said to hold',
    part: 'limits: team',
    lie: of('ledger', 'admit').answers((said) =>
      said.kind === 'rate_limited' && said.window !== undefined ? { ...said, fullForMs: said.retryAfterMs - 1 } : said,
    ),
  },
  {
    name: 'free characters: one too many',
    part: 'free characters of test keys',
    lie: limits((right) => ({ testAllowance: right.testAllowance + 1 })),
  },
  {
    name: 'free characters: live keys have none to spare',
    part: 'free characters of test keys',
    lie: limits(() => ({ testAllowance: 0 })),
  },
  {
    name: 'tags: a charge is counted for none',
    part: 'usage by tag',
    lie: of('ledger', 'admit').asks(({ tag: _tag, ...request }) => [request]),
  },
  {
    name: 'tags: one more is counted by itself',
    part: 'usage by tag',
    lie: of('ledger', 'admit').asks((request) => [
      request.tag === undefined ? request : { ...request, tag: { ...request.tag, distinctMax: request.tag.distinctMax + 1 } },
    ]),
  },
  {
    name: 'tags: a disabled one is admitted',
    part: 'settings of tags',
    lie: of('tagSettings', 'set').asks((team, tag, settings, most, by) => [team, tag, { ...settings, disabled: false }, most, by]),
  },
  {
    name: 'tags: one more may have settings',
    part: 'settings of tags: no more tags',
    lie: of('tagSettings', 'set').asks((team, tag, settings, most, by) => [team, tag, settings, most + 1, by]),
  },
  { name: 'tags: settings that are removed stay', part: 'settings of tags', lie: of('tagSettings', 'remove').does(() => true) },
  {
    name: 'usage: the last day is left out',
    part: 'usage by day',
    lie: of('history', 'days').asks((teamId, range) => [teamId, { ...range, to: range.to - 1 }]),
  },
  {
    name: 'usage: each day has one request',
    part: 'usage by day',
    lie: of('history', 'days').answers((said) => said && { ...said, days: said.days.map((day) => ({ ...day, requests: 1 })) }),
  },
  {
    name: 'usage: a period is closed while something is open in it',
    part: 'usage by period',
    lie: of('history', 'periods').answers((said) => said?.map((one, i) => (i > 0 ? { ...one, closed: true } : one))),
  },
  {
    name: 'usage: a closed period has the plan of today',
    part: 'usage by period',
    lie: of('history', 'periods').answers((said) => said?.map((one) => ({ ...one, plan: said[0]!.plan, limits: said[0]!.limits }))),
  },
  {
    name: 'usage: a period ends a millisecond late',
    part: 'periods',
    lie: of('teams', 'usage').answers((said) => said && { ...said, periodEndMs: said.periodEndMs + 1 }),
  },
  {
    name: 'periods: a week of the calendar begins with the team',
    part: 'periods by the calendar',
    lie: limits((right) => ({ period: right.period.replace('P7D@calendar', 'P7D') })),
  },
  { name: 'periods: a month has 30 days', part: 'periods', lie: limits((right) => ({ period: right.period.replace(/^P1M$/, 'P30D') })) },
  {
    name: 'invoices: credit that is spent late is in no period',
    part: 'what invoices need of periods',
    lie: of('history', 'periods').answers((said) =>
      said?.map((one, i) => (i > 0 ? { ...one, credit: { ...one.credit, spentMicro: 0 } } : one)),
    ),
  },
  {
    name: 'invoices: a period that ends after the span is in it',
    part: 'what invoices need of periods',
    lie: of('history', 'pagePeriods').asks((page, span) => [page, { ...span, endMs: span.endMs + 1 }]),
  },
];

const registry: readonly WrongStore[] = [
  {
    name: 'keys: a revoked key is admitted',
    part: 'keys',
    lie: (right) =>
      of('teams', 'revokeKey').does(async (_revoke, keyId) => {
        const found = await right.teams.updateKey(keyId, {});
        return found === undefined || 'kind' in found ? undefined : { ...found, status: 'revoked' };
      })(right),
  },
  {
    name: 'keys: a change of a limit loses the others',
    part: 'keys with limits',
    lie: of('teams', 'updateKey').asks((keyId, change, by) => [
      keyId,
      change.limits === undefined
        ? change
        : {
            ...change,
            limits: {
              expiresAtMs: null,
              requestsPerSecond: null,
              characters: null,
              allowedAddresses: null,
              scopes: null,
              ...change.limits,
            },
          },
      by,
    ]),
  },
  {
    name: 'keys: a disabled key is admitted',
    part: 'keys with limits',
    lie: of('teams', 'updateKey').asks((keyId, { disabled: _disabled, ...change }, by) => [keyId, change, by]),
  },
  {
    name: 'keys: expires a millisecond late',
    part: 'keys with limits',
    lie: both(
      of('teams', 'createKey').asks((key, by) => [
        key.limits?.expiresAtMs === undefined ? key : { ...key, limits: { ...key.limits, expiresAtMs: key.limits.expiresAtMs + 1 } },
        by,
      ]),
      of('teams', 'updateKey').asks((keyId, change, by) => [
        keyId,
        typeof change.limits?.expiresAtMs === 'number'
          ? { ...change, limits: { ...change.limits, expiresAtMs: change.limits.expiresAtMs + 1 } }
          : change,
        by,
      ]),
    ),
  },
  {
    name: 'keys: an unknown address is let through',
    part: 'keys with limits',
    lie: of('ledger', 'admit').answers((said) => (said.kind === 'address_required' ? { kind: 'admitted', reservation: undefined } : said)),
  },
  {
    name: 'keys: a scope is found in the middle of another',
    part: 'keys with limits',
    lie: of('ledger', 'admit').answers((said, { scope }) =>
      said.kind === 'scope_missing' && scope?.includes('translate') === true ? { kind: 'admitted', reservation: undefined } : said,
    ),
  },
  {
    name: 'keys: whose limit it was is not said',
    part: 'limits: key',
    lie: of('ledger', 'admit').answers((said) =>
      said.kind === 'quota_exceeded' || said.kind === 'rate_limited' ? { ...said, of: undefined } : said,
    ),
  },
  {
    name: 'keys: the owner of a digest is not forgotten',
    part: 'deletion of teams: a deleted team exists',
    lie: (right) => {
      const found = new Map<string, Awaited<ReturnType<typeof right.keys.find>>>();
      return of('keys', 'find').does(async (find, digest) => {
        const said = await find(digest);
        if (said !== undefined) found.set(digest, said);
        return said ?? (found.get(digest) as typeof said);
      })(right);
    },
  },
  {
    name: 'teams: creating one again changes it',
    part: 'teams: creating a team again',
    lie: (right) =>
      of('teams', 'createTeam').does(async (create, team, by) => {
        await create(team, by);
        return (await right.teams.updateTeam(team.teamId, { name: team.name })) as never;
      })(right),
  },
  {
    name: 'teams: a page begins with the last team of the one before',
    part: 'teams: a page of teams',
    lie: of('teams', 'pageTeams').does(async (right, page) => {
      const said = await right(page);
      const last =
        page.after === undefined
          ? undefined
          : (await right({ ...page, after: undefined, limit: 1000 })).find(({ teamId }) => teamId === page.after);
      return last === undefined ? said : [last, ...said.slice(0, page.limit - 1)];
    }),
  },
  {
    name: 'teams: a search minds capitals',
    part: 'teams',
    lie: of('teams', 'pageTeams').does(async (right, page) =>
      (await right(page)).filter(
        (team) => page.search === undefined || [team.name, team.reference ?? '', team.teamId].some((text) => text.includes(page.search!)),
      ),
    ),
  },
  {
    name: 'teams: a change with an id is made again',
    part: 'teams: a change with an id',
    lie: of('teams', 'updateTeam').asks((teamId, { once: _once, ...change }, by) => [teamId, change, by]),
  },
  {
    name: 'teams: with every change the waiting plan is lost',
    part: 'plan changes at the end',
    lie: of('teams', 'updateTeam').asks((teamId, change, by) => [teamId, { nextPlan: null, ...change }, by]),
  },
  {
    name: 'teams: a plan for later is taken at once',
    part: 'plan changes at the end',
    lie: of('teams', 'updateTeam').asks((teamId, change, by) => [
      teamId,
      change.nextPlan ? { ...change, plan: change.nextPlan } : change,
      by,
    ]),
  },
  {
    name: 'teams: credit is added twice',
    part: 'teams: credit is added',
    lie: of('teams', 'updateTeam').asks((teamId, change, by) => [
      teamId,
      change.addMicro === undefined ? change : { ...change, addMicro: 2 * change.addMicro },
      by,
    ]),
  },
  {
    name: 'deletion: the usage is kept unasked',
    part: 'deletion of teams: with `keepUsage`',
    lie: of('teams', 'deleteTeam').asks((teamId, _deletion, by) => [teamId, { keepUsage: true }, by]),
  },
  {
    name: 'deletion: the usage is never kept',
    part: 'deletion of teams: with `keepUsage`',
    lie: of('teams', 'deleteTeam').asks((teamId, _deletion, by) => [teamId, { keepUsage: false }, by]),
  },
  {
    name: 'deletion: there is always something to delete',
    part: 'deletion of teams: after concurrent',
    lie: of('teams', 'deleteTeam').answers(() => true),
  },
  { name: 'audit: changes are not recorded', part: 'audit', lie: of('teams', 'updateTeam').asks((teamId, change) => [teamId, change]) },
  { name: 'audit: oldest first', part: 'audit', lie: of('audit', 'page').answers((said) => said.toReversed()) },
  {
    name: 'audit: a page has entries of all teams',
    part: 'audit',
    lie: of('audit', 'page').asks((page) => [{ ...page, teamId: undefined }]),
  },
  { name: 'audit: names stay in it', part: 'audit', lie: of('audit', 'forgetNames').does(() => undefined) },
];

const records: readonly WrongStore[] = [
  {
    name: 'records: a change is made from what was read before',
    part: 'record space',
    lie: (right) =>
      of('records', 'change').does(async (_change, group, names, decide, keyId) => {
        const before = await right.records.read(group, names);
        await Promise.resolve();
        return right.records.change(group, names, (_values, head) => decide(Array.isArray(before) ? before : [], head), keyId);
      })(right),
  },
  {
    name: 'records: a page of an index has what comes after it',
    part: 'record space: an index',
    lie: of('records', 'page').asks((group, page) => [group, { ...page, below: `${page.below}~` }]),
  },
  {
    name: 'records: the group of a record is not found',
    part: 'record space',
    lie: of('records', 'groupOf').does(() => undefined),
  },
  {
    name: 'gateways: old records are recent',
    part: 'records of gateways',
    lie: of('gateways', 'recent').asks((withinMs) => [withinMs + 1]),
  },
  {
    name: 'engines: a report that is repeated counts twice',
    part: 'what engines with a limit',
    lie: (right) => {
      let report = 0;
      return of('engineUse', 'add').asks((sent) => [{ ...sent, report: ++report }])(right);
    },
  },
  {
    name: 'engines: every report reaches the limit',
    part: 'what engines with a limit',
    lie: of('engineUse', 'add').answers((said) => ({ ...said, reachesNow: said.characters > 0 })),
  },
  {
    name: 'requests: everybody gets the claim',
    part: 'requests that take effect once: of concurrent claims',
    lie: of('idempotency', 'claim').answers((said, { recordId }) => (said.kind === 'running' ? { kind: 'claimed', recordId } : said)),
  },
  {
    name: 'requests: whoever takes over gets a new id',
    part: 'requests that take effect once: whoever takes over',
    lie: of('idempotency', 'claim').answers((said, { recordId }) => (said.kind === 'claimed' ? { kind: 'claimed', recordId } : said)),
  },
  {
    name: 'requests: another one under the id gets the answer',
    part: 'requests that take effect once: a different request',
    lie: of('idempotency', 'claim').answers((said) => (said.kind === 'other_request' ? { kind: 'answered', answer: '' } : said)),
  },
  {
    name: 'secrets: each process has its own',
    part: 'shared secrets',
    lie: of('secrets', 'agree').does((_right, _name, candidate) => candidate),
  },
  { name: 'events: two gateways send', part: 'events', lie: of('outbox', 'lease').answers(() => true) },
  { name: 'events: one that was delivered is due again', part: 'events', lie: of('outbox', 'remove').does(() => undefined) },
  { name: 'events: a failed one is due at once', part: 'events', lie: of('outbox', 'postpone').asks((event) => [event, 0]) },
  { name: 'glossaries: one too many', part: 'glossaries', lie: limits((right) => ({ maxGlossaries: right.maxGlossaries + 1 })) },
  { name: 'glossaries: of any size', part: 'bytes of glossaries', lie: of('glossaries', 'create').asks((glossary) => [glossary]) },
  {
    name: 'glossaries: another team sees them',
    part: 'glossaries: a team never sees',
    lie: (right) =>
      of('glossaries', 'find').does(
        async (find, teamId, id) =>
          (await find(teamId, id)) ??
          ((owner) => (typeof owner === 'string' ? find(owner, id) : undefined))(await right.glossaries.ownerOf(id)),
      )(right),
  },
  {
    name: 'glossaries: a change from an outdated record is made',
    part: 'dictionaries of glossaries',
    lie: (right) =>
      of('glossaries', 'change').does(async (change, asked, most) => {
        const said = await change(asked, most);
        if (said.kind !== 'outdated') return said;
        const now = await right.glossaries.find(asked.teamId, asked.glossaryId);
        return now === undefined || 'kind' in now ? said : change({ ...asked, revision: now.revision }, most);
      })(right),
  },
  { name: 'glossaries: one that was removed is still listed', part: 'glossaries', lie: of('glossaries', 'remove').answers(() => true) },
];

export const WRONG_STORES: readonly WrongStore[] = [...WRONG_LEDGERS, ...counts, ...registry, ...records];
