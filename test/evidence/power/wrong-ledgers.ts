// Wrong stores that lie in their ledger: to admissions, to checks before a long body, and when a reservation is settled.
import { ulid } from 'ulid';
import { both, limits, of } from './lies.ts';
import type { Lie } from './lies.ts';

export interface WrongStore {
  readonly name: string;
  /** How the names of the contract's cases begin of which one must fail. */
  readonly part: string;
  readonly lie: Lie;
}

const TOUCH = { characters: undefined, reserve: false, leaseMs: 60_000, glossary: undefined } as const;

const rates: readonly WrongStore[] = [
  {
    name: 'rate: one request too many',
    part: 'limits: team: several slots',
    lie: limits((right) => ({ requestsPerSecond: right.requestsPerSecond + 1 })),
  },
  {
    name: 'rate: one request too few',
    part: 'limits: team: several slots',
    lie: limits((right) => ({ requestsPerSecond: right.requestsPerSecond - 1 })),
  },
  {
    name: 'rate: a slot is said to be free a millisecond late',
    part: 'request rate',
    lie: of('ledger', 'admit').answers((said) => (said.kind === 'rate_limited' ? { ...said, retryAfterMs: said.retryAfterMs + 1 } : said)),
  },
  {
    name: 'rate: every refusal says to wait for a second',
    part: 'request rate',
    lie: of('ledger', 'admit').answers((said) => (said.kind === 'rate_limited' ? { ...said, retryAfterMs: 1000 } : said)),
  },
  {
    name: 'rate: a refusal is said to hold as long as the wait',
    part: 'request rate',
    lie: of('ledger', 'admit').answers((said) => (said.kind === 'rate_limited' ? { ...said, fullForMs: said.retryAfterMs } : said)),
  },
  {
    name: 'rate: a refusal is said to hold although the key ends before',
    part: 'limits: order',
    lie: of('ledger', 'admit').answers((said) => (said.kind === 'rate_limited' ? { ...said, fullForMs: said.retryAfterMs - 1 } : said)),
  },
  {
    name: 'rate: requests without text take no slot',
    part: 'request rate',
    lie: of('ledger', 'admit').does(async (right, request) =>
      request.characters === undefined ? { kind: 'admitted', reservation: undefined } : right(request),
    ),
  },
  {
    name: 'rate: an open id takes a slot',
    part: 'request rate: an open id',
    lie: (right) => {
      const known = new Set<string>();
      return of('ledger', 'admit').does(async (admit, request) => {
        if (known.has(request.requestId)) await admit({ ...request, ...TOUCH, requestId: ulid() });
        known.add(request.requestId);
        return admit(request);
      })(right);
    },
  },
  {
    name: 'rate: a settlement frees its slot',
    part: 'request rate: slots still count',
    lie: (right) => {
      const settled = new Set<string>();
      return both(
        of('ledger', 'resolve').answers((said, teamId) => (settled.add(teamId), said)),
        of('ledger', 'admit').does(async (admit, request) => {
          const said = await admit(request);
          return said.kind === 'rate_limited' && settled.delete(request.teamId) ? { kind: 'admitted', reservation: undefined } : said;
        }),
      )(right);
    },
  },
  {
    name: 'rate: after a step back of the clock a slot is free too early',
    part: 'limits: team',
    lie: of('ledger', 'admit').answers((said) =>
      said.kind === 'rate_limited' ? { ...said, retryAfterMs: Math.min(said.retryAfterMs, 999) } : said,
    ),
  },
  {
    name: 'check: takes a slot',
    part: 'key and rate before a long body',
    lie: (right) =>
      of('ledger', 'check').does(async (check, asked) => {
        const said = await check(asked);
        if (said.kind === 'admitted') await right.ledger.admit({ ...TOUCH, ...asked, requestId: ulid() });
        return said;
      })(right),
  },
  {
    name: 'check: says nothing of the rate',
    part: 'key and rate before a long body',
    lie: of('ledger', 'check').answers((said) => (said.kind === 'rate_limited' ? { kind: 'admitted', reservation: undefined } : said)),
  },
  {
    name: 'check: lets a revoked key pass',
    part: 'key and rate before a long body',
    lie: of('ledger', 'check').answers((said) => (said.kind === 'key_revoked' ? { kind: 'admitted', reservation: undefined } : said)),
  },
  {
    name: 'report: the slot of the request itself counts as free',
    part: 'the reported rate and plan',
    lie: of('ledger', 'admit').answers((said) =>
      'rate' in said && said.rate !== undefined ? { ...said, rate: { ...said.rate, remaining: said.rate.remaining + 1 } } : said,
    ),
  },
  {
    name: 'report: the rate is reported unasked',
    part: 'the reported rate and plan',
    lie: of('ledger', 'admit').asks((request) => [{ ...request, reportRate: true }]),
  },
  {
    name: 'report: the plan is that of the first request',
    part: 'the reported rate and plan',
    lie: (right) => {
      const first = new Map<string, string>();
      return of('ledger', 'admit').answers((said, { teamId }) => {
        if (!('plan' in said) || said.plan === undefined) return said;
        if (!first.has(teamId)) first.set(teamId, said.plan);
        return { ...said, plan: first.get(teamId) };
      })(right);
    },
  },
];

const reservations: readonly WrongStore[] = [
  { name: 'quota: one character too many', part: 'quota', lie: limits((right) => ({ characterLimit: right.characterLimit + 1 })) },
  { name: 'quota: the overage does not count', part: 'quota: the limit and its overage', lie: limits(() => ({ overageCharacters: 0 })) },
  {
    name: 'quota: a request for all that is left is refused',
    part: 'quota: the limit and its overage',
    lie: limits((right) => ({ characterLimit: right.characterLimit - 1 })),
  },
  {
    name: 'quota: what is open is not counted',
    part: 'limits: team: characters of a period',
    lie: of('ledger', 'admit').asks((request) => [request.reserve ? { ...request, charged: 0 } : request]),
  },
  {
    name: 'quota: a refusal names another end of the period',
    part: 'quota: the refusal names',
    lie: of('ledger', 'admit').answers((said) => (said.kind === 'quota_exceeded' ? { ...said, periodEndMs: said.periodEndMs - 1 } : said)),
  },
  {
    name: 'length: one character too many',
    part: 'admission: order of checks',
    lie: limits((right) => ({ maxCharactersPerRequest: right.maxCharactersPerRequest + 1 })),
  },
  {
    name: 'credit: a price is rounded down',
    part: 'credit: the refusal rounds',
    lie: of('ledger', 'admit').answers((said) =>
      said.kind === 'credit_exhausted' ? { ...said, requiredMinor: said.requiredMinor - 1 } : said,
    ),
  },
  {
    name: 'credit: a millionth too dear',
    part: 'credit: a commit deducts',
    lie: limits((right) => ({ minorPerMillion: right.minorPerMillion + 1 })),
  },
  {
    name: 'credit: what reservations hold is withdrawn',
    part: 'credit: credit can be withdrawn',
    lie: of('teams', 'updateTeam').does(async (right, teamId, change, by) => {
      const said = await right(teamId, change, by);
      if (said === undefined || !('kind' in said) || said.kind !== 'credit_not_free') return said;
      return right(teamId, { ...change, addMicro: -said.freeMicro }, by);
    }),
  },
  {
    name: 'resolve: released → committed',
    part: 'settlement of reservations',
    lie: of('ledger', 'resolve').answers((said) => (said.kind === 'released' ? { kind: 'committed' } : said)),
  },
  {
    name: 'resolve: a commit of an unknown id is released',
    part: 'settlement of reservations',
    lie: of('ledger', 'resolve').answers((said) => (said.kind === 'absent' ? { kind: 'released' } : said)),
  },
  {
    name: 'resolve: a release is a commit',
    part: 'settlement of reservations: a release followed by',
    lie: of('ledger', 'resolve').does(async (right, teamId, requestId) => {
      const said = await right(teamId, requestId, 'commit');
      return said.kind === 'committed' ? { kind: 'released' } : said;
    }),
  },
  {
    name: 'resolve: a commit charges nothing',
    part: 'settlement of reservations: a commit followed by',
    lie: of('ledger', 'resolve').does(async (right, teamId, requestId) => {
      const said = await right(teamId, requestId, 'release');
      return said.kind === 'released' ? { kind: 'committed' } : said;
    }),
  },
  {
    name: 'resolve: a release leaves what is held',
    part: 'settlement of reservations: a release followed by',
    lie: of('ledger', 'resolve').does((right, ...asked) => (asked[2] === 'release' ? { kind: 'released' } : right(...asked))),
  },
  {
    name: 'resolve: a commit counts again when it is repeated',
    part: 'settlement of reservations: a commit followed by a commit',
    lie: (right) => {
      const kept = new Map<string, Parameters<typeof right.ledger.admit>[0]>();
      const settled = new Set<string>();
      return both(
        of('ledger', 'admit').answers((said, request) => (kept.set(request.requestId, request), said)),
        of('ledger', 'resolve').does(async (resolve, teamId, requestId, verdict, characters) => {
          const said = await resolve(teamId, requestId, verdict, characters);
          const request = kept.get(requestId);
          if (request !== undefined && said.kind === 'absent' && settled.has(requestId)) {
            const again = { ...request, requestId: ulid() };
            await right.ledger.admit(again);
            await resolve(teamId, again.requestId, 'commit', characters);
          }
          if (said.kind === 'committed') settled.add(requestId);
          return said;
        }),
      )(right);
    },
  },
  {
    name: 'resolve: a release of an unknown id is released',
    part: 'settlement of reservations: a settlement that overtakes',
    lie: of('ledger', 'resolve').does(async (resolve, ...asked) => {
      const said = await resolve(...asked);
      return said.kind === 'absent' && asked[2] === 'release' ? { kind: 'released' } : said;
    }),
  },
  {
    name: 'admit: an id that was settled is not admitted again',
    part: 'open ids',
    lie: (right) => {
      const settled = new Set<string>();
      return both(
        of('ledger', 'resolve').answers((said, _teamId, requestId) => (said.kind !== 'absent' && settled.add(requestId), said)),
        of('ledger', 'admit').does(async (admit, request) =>
          settled.has(request.requestId) ? { kind: 'admitted', reservation: undefined } : admit(request),
        ),
      )(right);
    },
  },
  {
    name: 'lease: ends a millisecond late',
    part: 'settlement of reservations: a lease expires',
    lie: of('ledger', 'admit').asks((request) => [{ ...request, leaseMs: request.leaseMs + 1 }]),
  },
  {
    name: 'lease: ends a millisecond early',
    part: 'settlement of reservations: a commit one millisecond before',
    lie: of('ledger', 'admit').asks((request) => [{ ...request, leaseMs: request.leaseMs - 1 }]),
  },
  {
    name: 'part: all is charged',
    part: 'partial charges',
    lie: of('ledger', 'resolve').asks((teamId, id, verdict) => [teamId, id, verdict]),
  },
  {
    name: 'part: its request is not counted',
    part: 'partial charges',
    lie: of('ledger', 'resolve').does(async (right, teamId, id, verdict, characters) => {
      if (characters !== 0) return right(teamId, id, verdict, characters);
      const said = await right(teamId, id, 'release');
      return said.kind === 'released' ? { kind: 'committed' } : said;
    }),
  },
  {
    name: 'glossary: is not looked for',
    part: 'dictionaries of glossaries',
    lie: of('ledger', 'admit').asks((request) => [{ ...request, glossary: undefined }]),
  },
  {
    name: 'glossary: any region will do',
    part: 'dictionaries of glossaries: with `byBase`',
    lie: of('ledger', 'admit').asks((request) => [
      request.glossary === undefined ? request : { ...request, glossary: { ...request.glossary, byBase: true } },
    ]),
  },
  {
    name: 'glossary: one for another pair is missing',
    part: 'dictionaries of glossaries',
    lie: of('ledger', 'admit').answers((said) => (said.kind === 'glossary_mismatch' ? { kind: 'glossary_missing' } : said)),
  },
];

export const WRONG_LEDGERS: readonly WrongStore[] = [...rates, ...reservations];
