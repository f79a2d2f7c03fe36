// The auditor of real processes has teeth: a right run passes, and each falsification is found by the guarantee that it breaks.
import { describe, expect, test } from 'vitest';
import { CREDIT_PLAN } from '../../support/gateway.ts';
import { limitsOf } from '../../support/door/terms.ts';
import { figuresOf, findings } from '../../support/auditor/witnessed.ts';
import type { Finding, Run, Seen, SeenResult, TeamAccount } from '../../support/auditor/witnessed.ts';

const [TEAM, KEY, START_MICRO] = ['team', 'key', 10_000_000];
const MONTH_END = Date.UTC(1970, 1);
const PRICE = CREDIT_PLAN.credit_minor_per_million;

function seen(characters: number, startedAtMs: number, result: SeenResult): Seen {
  return { teamId: TEAM, keyId: KEY, characters, via: 'a', startedAtMs, endedAtMs: startedAtMs + 50, afterRevocation: false, result };
}

const ok = (requestId: string, billed: number): SeenResult => ({ kind: 'ok', requestId, billed });
const failed = (requestId: string, status: number, code: string): SeenResult => ({ kind: 'fail', requestId, status, code });
const line = (requestId: string, characters: number) => ({ requestId, teamId: TEAM, keyId: KEY, characters });

/** Which has been charged so much. */
function account(characters: number, requests: number): TeamAccount {
  const created = { teamId: TEAM, display: '', label: '', mode: 'live', status: 'active', limits: {}, createdAtMs: 0 } as const;
  const balanceMicro = START_MICRO - characters * PRICE;
  return {
    teamId: TEAM,
    limits: { ...limitsOf(CREDIT_PLAN), requestsPerSecond: 2 },
    startMicro: START_MICRO,
    standing: {
      usedCharacters: characters,
      heldCharacters: 0,
      allowanceUsed: 0,
      allowanceHeld: 0,
      balanceMicro,
      heldMicro: 0,
      openReservations: 0,
    },
    keys: [{ ...created, keyId: KEY, lastUsedAtMs: 1300, characters, requests }],
    days: [{ day: 0, keyId: KEY, characters, requests }],
    periods: [{ characters }],
    windows: [{ per: 'month', usedRequests: 4, usedCharacters: characters, endMs: MONTH_END }],
  };
}

/** Delivered, failed, refused by a rate of two a second, and broken off: 10, 20, 5 and 30 characters. */
const SEEN: readonly Seen[] = [
  seen(10, 100, ok('a', 10)),
  seen(20, 200, failed('b', 503, 'engine_unavailable')),
  seen(5, 250, failed('c', 429, 'rate_limited')),
  seen(30, 1300, { kind: 'unknown' }),
];
const RIGHT: Run = { teams: [account(10, 1)], seen: SEEN, crashes: [] };
const LOGGED: Run = { ...RIGHT, delivered: [line('a', 10)] };

function withAccount(change: Partial<TeamAccount>, run = RIGHT): Run {
  return { ...run, teams: [{ ...run.teams[0]!, ...change }] };
}

const standing = (change: Partial<TeamAccount['standing']>): Run => withAccount({ standing: { ...RIGHT.teams[0]!.standing, ...change } });
const saw = (...more: readonly Seen[]): Run => ({ ...RIGHT, seen: [...SEEN, ...more] });
const crash = (via: string, atMs: number) => ({ ...RIGHT, teams: [account(0, 0)], crashes: [{ via, atMs, underWayMs: 10 }] });

describe('a run passes', () => {
  test.each<[string, Run]>([
    ['as it should be', RIGHT],
    ['with logs', LOGGED],
    ['what broke off was charged', { ...RIGHT, teams: [account(40, 2)] }],
    ['what broke off was handed over, and charged', { ...RIGHT, teams: [account(40, 2)], delivered: [line('a', 10), line('x', 30)] }],
    ['a delivery under way at a crash was not charged', crash('a', 120)],
    ['the store crashed under a delivery', crash('store', 155)],
  ])('%s', (_name, run) => {
    expect(findings(run)).toEqual([]);
  });

  test('with its figures', () => {
    const nothing = { ok: 1, failed: 2, unknown: 1, okCharacters: 10, unreadCharacters: 0, uncharged: 0 };
    expect(figuresOf(RIGHT)).toEqual({ ...nothing, chargedCharacters: 10 });
    expect(figuresOf({ ...RIGHT, teams: [account(0, 0)] })).toMatchObject({ uncharged: 1 });
    expect(figuresOf({ ...LOGGED, delivered: [line('a', 10), line('x', 30)] })).toMatchObject({ unreadCharacters: 30 });
  });
});

describe('a falsification is found', () => {
  test.each<[string, Finding['guarantee'], Run]>([
    ['a delivery is not logged', 'L0', { ...LOGGED, delivered: [] }],
    ['the log has what nobody sent', 'L0', { ...LOGGED, delivered: [line('a', 10), line('x', 31)], teams: [account(41, 2)] }],
    ['a failure is charged', 'L1', { ...RIGHT, teams: [account(30, 2)], seen: SEEN.slice(0, 3) }],
    ['a failure is logged as delivered', 'L1', { ...LOGGED, delivered: [line('a', 10), line('b', 20)], teams: [account(30, 2)] }],
    ['more is charged than ever broke off', 'L1', { ...RIGHT, teams: [account(41, 2)] }],
    ['a delivery is charged twice', 'L1', { ...RIGHT, teams: [account(20, 2)], seen: SEEN.slice(0, 3) }],
    ['a delivery is not charged', 'L2', { ...RIGHT, teams: [account(0, 0)] }],
    ['a delivery is not charged, and another gateway crashed', 'L2', crash('b', 120)],
    ['a delivery is not charged that ended before the crash', 'L2', crash('a', 161)],
    ['less is charged than was delivered', 'L2', { ...RIGHT, teams: [account(9, 1)] }],
    ['more is billed than was sent', 'L2', { ...RIGHT, seen: [seen(10, 100, ok('a', 11)), ...SEEN.slice(1)] }],
    ['what was handed over is not charged', 'L2', { ...LOGGED, delivered: [line('a', 10), line('x', 30)] }],
    ['the team has used more than its keys', 'L3', standing({ usedCharacters: 11 })],
    ['the balance is another', 'L3', standing({ balanceMicro: START_MICRO })],
    ['a count is negative', 'L3', standing({ heldCharacters: -1 })],
    ['characters are held', 'L5', standing({ heldCharacters: 1 })],
    ['a reservation is open', 'L5', standing({ openReservations: 1 })],
    ['one too many in a second', 'L6', saw(seen(0, 300, ok('d', 0)))],
    ['a refusal without cause', 'L6', saw(seen(0, 2500, failed('d', 429, 'rate_limited')))],
    ['a revoked key is accepted', 'L7', saw({ ...seen(0, 1200, ok('d', 0)), afterRevocation: true })],
    ['a use is not recorded', 'L8', saw(seen(0, 1301, ok('d', 0)))],
    ['a day has less', 'L9', withAccount({ days: [{ day: 0, keyId: KEY, characters: 9, requests: 1 }] })],
    ['a day has a request more', 'L9', withAccount({ days: [{ day: 0, keyId: KEY, characters: 10, requests: 2 }] })],
    [
      'a month has what was not charged',
      'L11',
      withAccount({ windows: [{ per: 'month', usedRequests: 4, usedCharacters: 30, endMs: MONTH_END }] }),
    ],
    ['the periods have more', 'L9', withAccount({ periods: [{ characters: 10 }, { characters: 1 }] })],
  ])('%s: %s', (_name, guarantee, run) => {
    expect(findings(run).map((one) => one.guarantee)).toContain(guarantee);
  });
});
