// Wrong stores: each is a right one with one lie, and the part of the store's contract that must notice it.
import { both, limits, of, wrongIn } from './lies.ts';
import type { Lie, WrongByPart } from './lies.ts';
import { WRONG_LEDGERS } from './wrong-ledgers.ts';

const counts: WrongByPart<Lie> = {
  'limits: team': {
    'windows: one too many of each': limits((right) => ({
      windows: right.windows.replaceAll(/=(\d+)/g, (_all, most: string) => `=${Number(most) + 1}`),
    })),
    'windows: no limits': limits(() => ({ windows: '' })),
    'windows: a refusal is said to end a millisecond late': of('ledger', 'admit').answers((said) =>
      said.kind === 'rate_limited' && said.window !== undefined ? { ...said, retryAfterMs: said.retryAfterMs + 1 } : said,
    ),
    'windows: a refusal for characters is said to hold': of('ledger', 'admit').answers((said) =>
      said.kind === 'rate_limited' && said.window !== undefined ? { ...said, fullForMs: said.retryAfterMs - 1 } : said,
    ),
  },
  'free characters of test keys': {
    'free characters: one too many': limits((right) => ({ testAllowance: right.testAllowance + 1 })),
    'free characters: live keys have none to spare': limits(() => ({ testAllowance: 0 })),
  },
  'usage by tag': {
    'tags: a charge is counted for none': of('ledger', 'admit').asks(({ tag: _tag, ...request }) => [request]),
    'tags: one more is counted by itself': of('ledger', 'admit').asks((request) => [
      request.tag === undefined ? request : { ...request, tag: { ...request.tag, distinctMax: request.tag.distinctMax + 1 } },
    ]),
  },
  'settings of tags': {
    'tags: a disabled one is admitted': of('tagSettings', 'set').asks((team, tag, settings, most, by) => [
      team,
      tag,
      { ...settings, disabled: false },
      most,
      by,
    ]),
    'tags: settings that are removed stay': of('tagSettings', 'remove').does(() => true),
  },
  'settings of tags: no more tags': {
    'tags: one more may have settings': of('tagSettings', 'set').asks((team, tag, settings, most, by) => [
      team,
      tag,
      settings,
      most + 1,
      by,
    ]),
  },
  'usage by day': {
    'usage: the last day is left out': of('history', 'days').asks((teamId, range) => [teamId, { ...range, to: range.to - 1 }]),
    'usage: each day has one request': of('history', 'days').answers(
      (said) => said && { ...said, days: said.days.map((day) => ({ ...day, requests: 1 })) },
    ),
  },
  'usage by period': {
    'usage: a period is closed while something is open in it': of('history', 'periods').answers((said) =>
      said?.map((one, i) => (i > 0 ? { ...one, closed: true } : one)),
    ),
    'usage: a closed period has the plan of today': of('history', 'periods').answers((said) =>
      said?.map((one) => ({ ...one, plan: said[0]!.plan, limits: said[0]!.limits })),
    ),
  },
  periods: {
    'usage: a period ends a millisecond late': of('teams', 'usage').answers(
      (said) => said && { ...said, periodEndMs: said.periodEndMs + 1 },
    ),
    'periods: a month has 30 days': limits((right) => ({ period: right.period.replace(/^P1M$/, 'P30D') })),
  },
  'periods by the calendar': {
    'periods: a week of the calendar begins with the team': limits((right) => ({ period: right.period.replace('P7D@calendar', 'P7D') })),
  },
  'what invoices need of periods': {
    'invoices: credit that is spent late is in no period': of('history', 'periods').answers((said) =>
      said?.map((one, i) => (i > 0 ? { ...one, credit: { ...one.credit, spentMicro: 0 } } : one)),
    ),
    'invoices: a period that ends after the span is in it': of('history', 'pagePeriods').asks((page, span) => [
      page,
      { ...span, endMs: span.endMs + 1 },
    ]),
  },
};

const registry: WrongByPart<Lie> = {
  keys: {
    'keys: a revoked key is admitted': (right) =>
      of('teams', 'revokeKey').does(async (_revoke, keyId) => {
        const found = await right.teams.updateKey(keyId, {});
        return found === undefined || 'kind' in found ? undefined : { ...found, status: 'revoked' };
      })(right),
  },
  'keys with limits': {
    'keys: a change of a limit loses the others': of('teams', 'updateKey').asks((keyId, change, by) => [
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
    'keys: a disabled key is admitted': of('teams', 'updateKey').asks((keyId, { disabled: _disabled, ...change }, by) => [
      keyId,
      change,
      by,
    ]),
    'keys: expires a millisecond late': both(
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
    'keys: an unknown address is let through': of('ledger', 'admit').answers((said) =>
      said.kind === 'address_required' ? { kind: 'admitted', reservation: undefined } : said,
    ),
    'keys: a scope is found in the middle of another': of('ledger', 'admit').answers((said, { scope }) =>
      said.kind === 'scope_missing' && scope?.includes('translate') === true ? { kind: 'admitted', reservation: undefined } : said,
    ),
  },
  'limits: key': {
    'keys: whose limit it was is not said': of('ledger', 'admit').answers((said) =>
      said.kind === 'quota_exceeded' || said.kind === 'rate_limited' ? { ...said, of: undefined } : said,
    ),
  },
  'deletion of teams: a deleted team exists': {
    'keys: the owner of a digest is not forgotten': (right) => {
      const found = new Map<string, Awaited<ReturnType<typeof right.keys.find>>>();
      return of('keys', 'find').does(async (find, digest) => {
        const said = await find(digest);
        if (said !== undefined) found.set(digest, said);
        return said ?? (found.get(digest) as typeof said);
      })(right);
    },
  },
  'teams: creating a team again': {
    'teams: creating one again changes it': (right) =>
      of('teams', 'createTeam').does(async (create, team, by) => {
        await create(team, by);
        return (await right.teams.updateTeam(team.teamId, { name: team.name })) as never;
      })(right),
  },
  'teams: a page of teams': {
    'teams: a page begins with the last team of the one before': of('teams', 'pageTeams').does(async (right, page) => {
      const said = await right(page);
      const last =
        page.after === undefined
          ? undefined
          : (await right({ ...page, after: undefined, limit: 1000 })).find(({ teamId }) => teamId === page.after);
      return last === undefined ? said : [last, ...said.slice(0, page.limit - 1)];
    }),
  },
  teams: {
    'teams: a search minds capitals': of('teams', 'pageTeams').does(async (right, page) =>
      (await right(page)).filter(
        (team) => page.search === undefined || [team.name, team.reference ?? '', team.teamId].some((text) => text.includes(page.search!)),
      ),
    ),
  },
  'teams: a change with an id': {
    'teams: a change with an id is made again': of('teams', 'updateTeam').asks((teamId, { once: _once, ...change }, by) => [
      teamId,
      change,
      by,
    ]),
  },
  'plan changes at the end': {
    'teams: with every change the waiting plan is lost': of('teams', 'updateTeam').asks((teamId, change, by) => [
      teamId,
      { nextPlan: null, ...change },
      by,
    ]),
    'teams: a plan for later is taken at once': of('teams', 'updateTeam').asks((teamId, change, by) => [
      teamId,
      change.nextPlan ? { ...change, plan: change.nextPlan } : change,
      by,
    ]),
  },
  'teams: credit is added': {
    'teams: credit is added twice': of('teams', 'updateTeam').asks((teamId, change, by) => [
      teamId,
      change.addMicro === undefined ? change : { ...change, addMicro: 2 * change.addMicro },
      by,
    ]),
  },
  'deletion of teams: with `keepUsage`': {
    'deletion: the usage is kept unasked': of('teams', 'deleteTeam').asks((teamId, _deletion, by) => [teamId, { keepUsage: true }, by]),
    'deletion: the usage is never kept': of('teams', 'deleteTeam').asks((teamId, _deletion, by) => [teamId, { keepUsage: false }, by]),
  },
  'deletion of teams: after concurrent': {
    'deletion: there is always something to delete': of('teams', 'deleteTeam').answers(() => true),
  },
  audit: {
    'audit: changes are not recorded': of('teams', 'updateTeam').asks((teamId, change) => [teamId, change]),
    'audit: oldest first': of('audit', 'page').answers((said) => said.toReversed()),
    'audit: a page has entries of all teams': of('audit', 'page').asks((page) => [{ ...page, teamId: undefined }]),
    'audit: names stay in it': of('audit', 'forgetNames').does(() => undefined),
  },
};

const records: WrongByPart<Lie> = {
  'record space': {
    'records: a change is made from what was read before': (right) =>
      of('records', 'change').does(async (_change, group, names, decide, keyId) => {
        const before = await right.records.read(group, names);
        await Promise.resolve();
        return right.records.change(group, names, (_values, head) => decide(Array.isArray(before) ? before : [], head), keyId);
      })(right),
    'records: the group of a record is not found': of('records', 'groupOf').does(() => undefined),
  },
  'record space: an index': {
    'records: a page of an index has what comes after it': of('records', 'page').asks((group, page) => [
      group,
      { ...page, below: `${page.below}~` },
    ]),
  },
  'records of gateways': {
    'gateways: old records are recent': of('gateways', 'recent').asks((withinMs) => [withinMs + 1]),
  },
  'what engines with a limit': {
    'engines: a report that is repeated counts twice': (right) => {
      let report = 0;
      return of('engineUse', 'add').asks((sent) => [{ ...sent, report: ++report }])(right);
    },
    'engines: every report reaches the limit': of('engineUse', 'add').answers((said) => ({ ...said, reachesNow: said.characters > 0 })),
  },
  'requests that take effect once: of concurrent claims': {
    'requests: everybody gets the claim': of('idempotency', 'claim').answers((said, { recordId }) =>
      said.kind === 'running' ? { kind: 'claimed', recordId } : said,
    ),
  },
  'requests that take effect once: whoever takes over': {
    'requests: whoever takes over gets a new id': of('idempotency', 'claim').answers((said, { recordId }) =>
      said.kind === 'claimed' ? { kind: 'claimed', recordId } : said,
    ),
  },
  'requests that take effect once: a different request': {
    'requests: another one under the id gets the answer': of('idempotency', 'claim').answers((said) =>
      said.kind === 'other_request' ? { kind: 'answered', answer: '' } : said,
    ),
  },
  'shared secrets': {
    'secrets: each process has its own': of('secrets', 'agree').does((_right, _name, candidate) => candidate),
  },
  events: {
    'events: two gateways send': of('outbox', 'lease').answers(() => true),
    'events: one that was delivered is due again': of('outbox', 'remove').does(() => undefined),
    'events: a failed one is due at once': of('outbox', 'postpone').asks((event) => [event, 0]),
  },
  glossaries: {
    'glossaries: one too many': limits((right) => ({ maxGlossaries: right.maxGlossaries + 1 })),
    'glossaries: one that was removed is still listed': of('glossaries', 'remove').answers(() => true),
  },
  'bytes of glossaries': {
    'glossaries: of any size': of('glossaries', 'create').asks((glossary) => [glossary]),
  },
  'glossaries: a team never sees': {
    'glossaries: another team sees them': (right) =>
      of('glossaries', 'find').does(
        async (find, teamId, id) =>
          (await find(teamId, id)) ??
          ((owner) => (typeof owner === 'string' ? find(owner, id) : undefined))(await right.glossaries.ownerOf(id)),
      )(right),
  },
  'dictionaries of glossaries': {
    'glossaries: a change from an outdated record is made': (right) =>
      of('glossaries', 'change').does(async (change, asked, most) => {
        const said = await change(asked, most);
        if (said.kind !== 'outdated') return said;
        const now = await right.glossaries.find(asked.teamId, asked.glossaryId);
        return now === undefined || 'kind' in now ? said : change({ ...asked, revision: now.revision }, most);
      })(right),
  },
};

export const WRONG_STORES = [...WRONG_LEDGERS, ...wrongIn(counts), ...wrongIn(registry), ...wrongIn(records)];
