// Audit entries: how two states of a team differ, what remains without names, and ids that sort by time.
import { describe, expect, test } from 'vitest';
import {
  AUDIT_ID,
  auditId,
  auditIdsAlone,
  idBefore,
  momentOf,
  newKeyDifference,
  nextId,
  teamDifference,
  withoutNames,
} from '../../../src/domain/audit-entry.ts';
import { GENEROUS_QUOTA, PREPAID } from '../../../src/testing/store/team-under-test.ts';

const TEAM = { name: 'Acme', plan: 'prepaid', limits: PREPAID, balanceMicro: 7 };

describe('the difference between two states of a team', () => {
  test('has the members that differ, on both sides', () => {
    expect(teamDifference(TEAM, { ...TEAM, name: 'Other' })).toEqual({ before: { name: 'Acme' }, after: { name: 'Other' } });
    expect(teamDifference(TEAM, { ...TEAM, balanceMicro: 5 })).toEqual({ before: { balanceMicro: 7 }, after: { balanceMicro: 5 } });
    const limits = { ...PREPAID, maxGlossaries: 2 };
    expect(teamDifference(TEAM, { ...TEAM, limits })).toEqual({ before: { limits: PREPAID }, after: { limits } });
  });

  test('is empty if nothing differs, whatever else the team has', () => {
    expect(teamDifference({ ...TEAM }, { ...TEAM, limits: { ...PREPAID } })).toBeUndefined();
    const backwards = Object.fromEntries(Object.entries(PREPAID).toReversed()) as typeof PREPAID;
    expect(teamDifference(TEAM, { ...TEAM, limits: backwards })).toBeUndefined();
  });

  test('for a new team is all of it, with a balance only for credit', () => {
    expect(teamDifference(undefined, TEAM)).toEqual({ before: {}, after: TEAM });
    const quota = { name: 'Acme', plan: 'free', limits: GENEROUS_QUOTA };
    expect(teamDifference(undefined, { ...quota, balanceMicro: 0 })).toEqual({ before: {}, after: quota });
  });
});

test('an entry for a key has only what lists show', () => {
  const key = { keyId: 'K', teamId: 'T', digest: 'secret', display: 'la_live_Ab3d', label: 'l', mode: 'live' } as const;
  expect(newKeyDifference(key)).toEqual({ before: {}, after: { display: 'la_live_Ab3d', label: 'l', mode: 'live', status: 'active' } });
});

test('without names an entry keeps the actor, the action and numbers', () => {
  const who = { actor: 'cli:ada@host', action: 'updateTeam', keyId: undefined } as const;
  const before = { name: 'Acme', label: 'l', display: 'la_live_Ab3d', balanceMicro: 7 };
  const after = { name: 'Other', plan: 'free', limits: GENEROUS_QUOTA, mode: 'live', status: 'revoked' } as const;
  const { name: _name, ...rest } = after;
  expect(withoutNames({ ...who, reason: 'Acme asked', before, after })).toEqual({ ...who, before: { balanceMicro: 7 }, after: rest });
});

describe('ids', () => {
  test('sort by time, then by number, and contain the time', () => {
    const ids = [auditId(9, 10), auditId(10, 2), auditId(10, 11), auditId(1_800_000_000_000, 1)];
    expect(ids.toSorted()).toEqual(ids);
    expect(ids.map(momentOf)).toEqual([9, 10, 10, 1_800_000_000_000]);
    expect(ids.every((id) => AUDIT_ID.test(id))).toBe(true);
  });

  test('count up within a millisecond, and start again with the next', () => {
    const first = nextId(5, undefined);
    const second = nextId(5, first);
    const third = nextId(6, second);
    expect([first, second, third]).toEqual([auditId(5, 1), auditId(5, 2), auditId(6, 1)]);
    // If the clock was set back, later ids are still greater.
    expect(nextId(4, undefined) < first).toBe(true);
  });

  test('of one source without a change increase within a millisecond, after those of changes', () => {
    const idAt = auditIdsAlone(() => 0.999_999_999_9);
    const ids = [nextId(5, auditId(5, 999)), idAt(5), idAt(5), idAt(5), idAt(6)];
    expect(ids.toSorted()).toEqual(ids);
    expect([new Set(ids).size, ids.every((id) => AUDIT_ID.test(id))]).toEqual([5, true]);
  });

  test('the first id of a time is greater than all ids before it', () => {
    expect([idBefore(5) > auditId(4, 9_999_999_999_999), idBefore(5) < auditId(5, 1), idBefore(-3)]).toEqual([true, true, auditId(0, 0)]);
  });
});
