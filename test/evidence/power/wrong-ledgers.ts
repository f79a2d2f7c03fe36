// Wrong stores that lie in their ledger: to admissions, to checks before a long body, and when a reservation is settled.
import { ulid } from 'ulid';
import { both, limits, of, wrongIn } from './lies.ts';
import type { Lie, WrongByPart } from './lies.ts';

const TOUCH = { characters: undefined, reserve: false, leaseMs: 60_000, glossary: undefined } as const;

const rates: WrongByPart<Lie> = {
  'limits: team: several slots': {
    'rate: one request too many': limits((right) => ({ requestsPerSecond: right.requestsPerSecond + 1 })),
    'rate: one request too few': limits((right) => ({ requestsPerSecond: right.requestsPerSecond - 1 })),
  },
  'request rate': {
    'rate: a slot is said to be free a millisecond late': of('ledger', 'admit').answers((said) =>
      said.kind === 'rate_limited' ? { ...said, retryAfterMs: said.retryAfterMs + 1 } : said,
    ),
    'rate: every refusal says to wait for a second': of('ledger', 'admit').answers((said) =>
      said.kind === 'rate_limited' ? { ...said, retryAfterMs: 1000 } : said,
    ),
    'rate: a refusal is said to hold as long as the wait': of('ledger', 'admit').answers((said) =>
      said.kind === 'rate_limited' ? { ...said, fullForMs: said.retryAfterMs } : said,
    ),
    'rate: requests without text take no slot': of('ledger', 'admit').does(async (right, request) =>
      request.characters === undefined ? { kind: 'admitted', reservation: undefined } : right(request),
    ),
  },
  'limits: order': {
    'rate: a refusal is said to hold although the key ends before': of('ledger', 'admit').answers((said) =>
      said.kind === 'rate_limited' ? { ...said, fullForMs: said.retryAfterMs - 1 } : said,
    ),
  },
  'request rate: an open id': {
    'rate: an open id takes a slot': (right) => {
      const known = new Set<string>();
      return of('ledger', 'admit').does(async (admit, request) => {
        if (known.has(request.requestId)) await admit({ ...request, ...TOUCH, requestId: ulid() });
        known.add(request.requestId);
        return admit(request);
      })(right);
    },
  },
  'request rate: slots still count': {
    'rate: a settlement frees its slot': (right) => {
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
  'limits: team': {
    'rate: after a step back of the clock a slot is free too early': of('ledger', 'admit').answers((said) =>
      said.kind === 'rate_limited' ? { ...said, retryAfterMs: Math.min(said.retryAfterMs, 999) } : said,
    ),
  },
  'key and rate before a long body': {
    'check: takes a slot': (right) =>
      of('ledger', 'check').does(async (check, asked) => {
        const said = await check(asked);
        if (said.kind === 'admitted') await right.ledger.admit({ ...TOUCH, ...asked, requestId: ulid() });
        return said;
      })(right),
    'check: says nothing of the rate': of('ledger', 'check').answers((said) =>
      said.kind === 'rate_limited' ? { kind: 'admitted', reservation: undefined } : said,
    ),
    'check: lets a revoked key pass': of('ledger', 'check').answers((said) =>
      said.kind === 'key_revoked' ? { kind: 'admitted', reservation: undefined } : said,
    ),
  },
  'the reported rate and plan': {
    'report: the slot of the request itself counts as free': of('ledger', 'admit').answers((said) =>
      'rate' in said && said.rate !== undefined ? { ...said, rate: { ...said.rate, remaining: said.rate.remaining + 1 } } : said,
    ),
    'report: the rate is reported unasked': of('ledger', 'admit').asks((request) => [{ ...request, reportRate: true }]),
    'report: the plan is that of the first request': (right) => {
      const first = new Map<string, string>();
      return of('ledger', 'admit').answers((said, { teamId }) => {
        if (!('plan' in said) || said.plan === undefined) return said;
        if (!first.has(teamId)) first.set(teamId, said.plan);
        return { ...said, plan: first.get(teamId) };
      })(right);
    },
  },
};

const reservations: WrongByPart<Lie> = {
  quota: {
    'quota: one character too many': limits((right) => ({ characterLimit: right.characterLimit + 1 })),
  },
  'quota: the limit and its overage': {
    'quota: the overage does not count': limits(() => ({ overageCharacters: 0 })),
    'quota: a request for all that is left is refused': limits((right) => ({ characterLimit: right.characterLimit - 1 })),
  },
  'limits: team: characters of a period': {
    'quota: what is open is not counted': of('ledger', 'admit').asks((request) => [request.reserve ? { ...request, charged: 0 } : request]),
  },
  'quota: the refusal names': {
    'quota: a refusal names another end of the period': of('ledger', 'admit').answers((said) =>
      said.kind === 'quota_exceeded' ? { ...said, periodEndMs: said.periodEndMs - 1 } : said,
    ),
  },
  'admission: order of checks': {
    'length: one character too many': limits((right) => ({ maxCharactersPerRequest: right.maxCharactersPerRequest + 1 })),
  },
  'credit: the refusal rounds': {
    'credit: a price is rounded down': of('ledger', 'admit').answers((said) =>
      said.kind === 'credit_exhausted' ? { ...said, requiredMinor: said.requiredMinor - 1 } : said,
    ),
  },
  'credit: a commit deducts': {
    'credit: a millionth too dear': limits((right) => ({ minorPerMillion: right.minorPerMillion + 1 })),
  },
  'credit: credit can be withdrawn': {
    'credit: what reservations hold is withdrawn': of('teams', 'updateTeam').does(async (right, teamId, change, by) => {
      const said = await right(teamId, change, by);
      if (said === undefined || !('kind' in said) || said.kind !== 'credit_not_free') return said;
      return right(teamId, { ...change, addMicro: -said.freeMicro }, by);
    }),
  },
  'settlement of reservations': {
    'resolve: released → committed': of('ledger', 'resolve').answers((said) => (said.kind === 'released' ? { kind: 'committed' } : said)),
    'resolve: a commit of an unknown id is released': of('ledger', 'resolve').answers((said) =>
      said.kind === 'absent' ? { kind: 'released' } : said,
    ),
  },
  'settlement of reservations: a release followed by': {
    'resolve: a release is a commit': of('ledger', 'resolve').does(async (right, teamId, requestId) => {
      const said = await right(teamId, requestId, 'commit');
      return said.kind === 'committed' ? { kind: 'released' } : said;
    }),
    'resolve: a release leaves what is held': of('ledger', 'resolve').does((right, ...asked) =>
      asked[2] === 'release' ? { kind: 'released' } : right(...asked),
    ),
  },
  'settlement of reservations: a commit followed by': {
    'resolve: a commit charges nothing': of('ledger', 'resolve').does(async (right, teamId, requestId) => {
      const said = await right(teamId, requestId, 'release');
      return said.kind === 'released' ? { kind: 'committed' } : said;
    }),
  },
  'settlement of reservations: a commit followed by a commit': {
    'resolve: a commit counts again when it is repeated': (right) => {
      const retained = new Map<string, Parameters<typeof right.ledger.admit>[0]>();
      const settled = new Set<string>();
      return both(
        of('ledger', 'admit').answers((said, request) => (retained.set(request.requestId, request), said)),
        of('ledger', 'resolve').does(async (resolve, teamId, requestId, verdict, characters) => {
          const said = await resolve(teamId, requestId, verdict, characters);
          const request = retained.get(requestId);
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
  'settlement of reservations: a settlement that overtakes': {
    'resolve: a release of an unknown id is released': of('ledger', 'resolve').does(async (resolve, ...asked) => {
      const said = await resolve(...asked);
      return said.kind === 'absent' && asked[2] === 'release' ? { kind: 'released' } : said;
    }),
  },
  'open ids': {
    'admit: an id that was settled is not admitted again': (right) => {
      const settled = new Set<string>();
      return both(
        of('ledger', 'resolve').answers((said, _teamId, requestId) => (said.kind !== 'absent' && settled.add(requestId), said)),
        of('ledger', 'admit').does(async (admit, request) =>
          settled.has(request.requestId) ? { kind: 'admitted', reservation: undefined } : admit(request),
        ),
      )(right);
    },
  },
  'settlement of reservations: a lease expires': {
    'lease: ends a millisecond late': of('ledger', 'admit').asks((request) => [{ ...request, leaseMs: request.leaseMs + 1 }]),
  },
  'settlement of reservations: a commit one millisecond before': {
    'lease: ends a millisecond early': of('ledger', 'admit').asks((request) => [{ ...request, leaseMs: request.leaseMs - 1 }]),
  },
  'partial charges': {
    'part: all is charged': of('ledger', 'resolve').asks((teamId, id, verdict) => [teamId, id, verdict]),
    'part: its request is not counted': of('ledger', 'resolve').does(async (right, teamId, id, verdict, characters) => {
      if (characters !== 0) return right(teamId, id, verdict, characters);
      const said = await right(teamId, id, 'release');
      return said.kind === 'released' ? { kind: 'committed' } : said;
    }),
  },
  'dictionaries of glossaries': {
    'glossary: is not looked for': of('ledger', 'admit').asks((request) => [{ ...request, glossary: undefined }]),
    'glossary: one for another pair is missing': of('ledger', 'admit').answers((said) =>
      said.kind === 'glossary_mismatch' ? { kind: 'glossary_missing' } : said,
    ),
  },
  'dictionaries of glossaries: with `byBase`': {
    'glossary: any region will do': of('ledger', 'admit').asks((request) => [
      request.glossary === undefined ? request : { ...request, glossary: { ...request.glossary, byBase: true } },
    ]),
  },
};

export const WRONG_LEDGERS = [...wrongIn(rates), ...wrongIn(reservations)];
