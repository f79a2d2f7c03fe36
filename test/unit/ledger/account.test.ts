// The rules of an account: the order of checks as a table, and what holds whatever is admitted, settled or left to expire.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AdmissionRequest } from '../../../src/ports/ledger.ts';
import { addKey, openAccount, START, TEAM } from './memory-account.ts';
import type { MemoryAccount } from './memory-account.ts';

let serial = 0;

function request(characters: number | undefined, more: Partial<AdmissionRequest> = {}): AdmissionRequest {
  const base = { requestId: `R${serial++}`, teamId: TEAM, keyId: 'K', reserve: true, leaseMs: 1000, glossary: undefined };
  return { ...base, characters, ...more };
}

/** Each refuses by one more rule than the row after it, and everything below would refuse as well. */
const ORDER: readonly (readonly [answer: string, change: (opened: MemoryAccount, key: Record<string, unknown>) => void])[] = [
  ['key_unknown', ({ rows }) => rows.keys.clear()],
  ['key_revoked', (_, key) => void (key['status'] = 'revoked')],
  ['address_refused', (_, key) => limitKey(key, { allowedAddresses: ['192.0.2.0/24'] })],
  ['scope_missing', (_, key) => limitKey(key, { scopes: ['usage:read'] })],
  ['tag_disabled', ({ rows }) => rows.tags.put('tag_limits', 't', '{"disabled":true}')],
  ['rate_limited', ({ account }) => account.counts.slots.take(START)],
  ['text_too_long', ({ account }) => setLimit(account, { maxCharactersPerRequest: 9 })],
  ['glossary_missing', ({ rows }) => rows.glossaries.clear()],
  ['glossary_mismatch', ({ rows }) => void rows.glossaries.set('G', [])],
  ['quota_exceeded by a window', ({ account }) => setLimit(account, { windows: 'characters=5/day' })],
  ['quota_exceeded of key', (_, key) => limitKey(key, { characters: 5 })],
  ['quota_exceeded', ({ account }) => setLimit(account, { characterLimit: 5 })],
  ['admitted', () => undefined],
];

function limitKey(key: Record<string, unknown>, limits: Record<string, unknown>): void {
  key['limits'] = { ...(key['limits'] as object), ...limits };
}

function setLimit(account: MemoryAccount['account'], limits: object): void {
  account.setTeam({ ...account.team, limits: { ...account.team.limits, ...limits } });
}

describe('the order of checks', () => {
  test.each(ORDER.map(([answer], i) => [answer, i] as const))('%s comes before what follows', (answer, first) => {
    const opened = openAccount({ requestsPerSecond: 1 });
    opened.rows.glossaries.set('G', [{ sourceLang: 'EN', targetLang: 'DE', dictionaryId: 'D' }]);
    const key: Record<string, unknown> = {};
    // The later rules first, since a rule may undo what another has set.
    for (const [, change] of ORDER.slice(first).toReversed()) if (change !== ORDER[0]![1]) change(opened, key);
    addKey(opened, 'K', key);
    if (first === 0) ORDER[0]![1](opened, key);
    const glossary = { glossaryId: 'G', sourceLang: 'EN', targetLang: 'DE' };
    const asked = request(10, { glossary, address: '198.51.100.1', scope: 'translate:text', tag: { name: 't', distinctMax: 9 } });
    const given = opened.account.admit(asked, START + 1);
    const { kind, of, window } = given as { kind: string; of?: string; window?: object };
    expect(`${kind}${of === undefined ? '' : ` of ${of}`}${window === undefined ? '' : ' by a window'}`).toBe(answer);
  });
});

describe('time alone', () => {
  test('ends a lease, whose characters come back, and a period, whose reservations stay in it', () => {
    const opened = openAccount({ characterLimit: 10 });
    addKey(opened, 'K');
    const { account, rows } = opened;
    expect(account.admit(request(10), START)).toMatchObject({ kind: 'admitted' });
    expect(account.admit(request(1), START + 999)).toMatchObject({ kind: 'quota_exceeded', characterLimit: 10 });
    expect(account.admit(request(10, { requestId: 'late', leaseMs: 40 * 86_400_000 }), START + 1000)).toMatchObject({ kind: 'admitted' });
    const next = rows.periods.at(-1)!.endMs;
    expect(account.admit(request(10), next)).toMatchObject({ kind: 'admitted' });
    expect(account.standing()).toMatchObject({ usedCharacters: 0, heldCharacters: 10, openReservations: 2 });
    expect(account.resolve('late', 'commit', next)).toEqual({ kind: 'committed' });
    expect(account.counts.used).toBe(0);
    expect(rows.charges).toMatchObject([{ period: 1, characters: 10 }]);
    expect(rows.periods.map(({ number }) => number)).toEqual([1, 2]);
  });

  test('brings a plan that has waited, and its length of period, from the end of the one before', () => {
    const { account, rows } = openAccount();
    const { limits } = account.team;
    account.setTeam({ ...account.team, nextPlan: { name: 'big', limits: { ...limits, period: 'P1D', characterLimit: 9 } } });
    const { endMs } = account.counts.period;
    account.catchUp(endMs + 5);
    expect(account.shown()).toMatchObject({ plan: 'big', limits: { characterLimit: 9 } });
    expect(account.counts.period).toMatchObject({ number: 2, startMs: endMs, endMs: endMs + 86_400_000, anchorMs: endMs });
    expect(rows.changes).toHaveLength(1);
  });
});

describe('test keys', () => {
  test('use their allowance for nothing, whatever the quota is', () => {
    const opened = openAccount({ testAllowance: 10, characterLimit: 5 });
    addKey(opened, 'K', { mode: 'test' });
    const { account } = opened;
    expect(account.admit(request(10, { requestId: 'one' }), START)).toMatchObject({ kind: 'admitted' });
    expect(account.admit(request(1), START)).toMatchObject({ kind: 'quota_exceeded', of: 'test_keys', characterLimit: 10 });
    account.resolve('one', 'commit', START, 4);
    expect(account.standing()).toMatchObject({ usedCharacters: 4, allowanceUsed: 4, allowanceHeld: 0 });
    addKey(opened, 'L');
    expect(account.admit(request(5, { keyId: 'L' }), START + 1000)).toMatchObject({ kind: 'admitted' });
  });
});

const step = fc.record({
  ms: fc.constantFrom(0, 1, 400, 1100, 70_000),
  characters: fc.integer({ min: 0, max: 60 }),
  keyId: fc.constantFrom('K', 'L'),
  settle: fc.constantFrom('commit', 'part', 'release', 'none'),
});

test('whatever happens: no limit is passed, what is held is what is open, and what is charged is what was committed', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const most = { quota: 300, window: 90, key: 120, rate: 2 };
      const opened = openAccount({ requestsPerSecond: most.rate, characterLimit: most.quota, windows: `characters=${most.window}/minute` });
      addKey(opened, 'K', { limits: { characters: most.key } });
      addKey(opened, 'L');
      const { account, rows } = opened;
      const taken: number[] = [];
      const open = new Map<string, { keyId: string; characters: number; untilMs: number }>();
      let [nowMs, committed] = [START, 0];
      for (const { ms, characters, keyId, settle } of steps) {
        nowMs += ms;
        const asked = request(characters, { keyId });
        const answer = account.admit(asked, nowMs);
        if (answer.kind !== 'rate_limited') taken.push(nowMs);
        for (const [id, { untilMs }] of open) if (untilMs <= nowMs) open.delete(id);
        if (answer.kind === 'admitted') open.set(asked.requestId, { keyId, characters, untilMs: nowMs + 1000 });
        const [oldest] = open.keys();
        if (oldest !== undefined && settle !== 'none') {
          const part = settle === 'part' ? Math.floor(open.get(oldest)!.characters / 2) : open.get(oldest)!.characters;
          account.resolve(oldest, settle === 'release' ? 'release' : 'commit', nowMs, part);
          if (settle !== 'release') committed += part;
          open.delete(oldest);
        }
        const held = [...open.values()].reduce((sum, one) => sum + one.characters, 0);
        expect(account.standing()).toMatchObject({ heldCharacters: held, usedCharacters: committed, openReservations: open.size });
        expect(committed + held).toBeLessThanOrEqual(most.quota);
        expect(account.key('K')!.usedInPeriod()).toBeLessThanOrEqual(most.key);
        expect(taken.filter((atMs) => nowMs - atMs < 1000).length).toBeLessThanOrEqual(most.rate);
        for (const { usedCharacters } of account.windowCounts.get('team')!.uses([{ per: 'minute' }], nowMs))
          expect(usedCharacters).toBeLessThanOrEqual(most.window);
      }
      expect(rows.charges.reduce((sum, one) => sum + one.characters, 0)).toBe(committed);
    }),
  );
});
