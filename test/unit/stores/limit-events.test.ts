// The first refusal for a limit is recorded as an event by the admission that refuses, once over two instances of a store, with the
// usage at that moment; and never without a refusal.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { eventIds, eventRules } from '../../../src/domain/event-rules.ts';
import { toMicro } from '../../../src/domain/money.ts';
import { answered } from '../../../src/domain/store-unavailable.ts';
import { windowAt } from '../../../src/domain/window-limits.ts';
import { ReferenceData, referenceStore } from '../../support/reference-store.ts';
import type { LimitReached } from '../../../src/ports/outbox.ts';
import type { PluginStore } from '../../../src/ports/plugin.ts';
import type { Store } from '../../../src/ports/store.ts';
import { fromPlugin, withCallbacks } from '../../../src/stores/records/plugin-store.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import { PREPAID, freshKey, teamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import { promisedStore } from '../../support/promised-store.ts';
import { storesOfFile } from '../../support/stores-of-file.ts';
import type { StoreKind } from '../../support/stores-of-file.ts';
import { draws } from '../../support/seed.ts';

const RULES = eventRules([80, 100], [0]);
const HOUR_MS = 3_600_000;
const LOTS = 10_000;

type Kind = Pick<StoreKind, 'open'> & { readonly name: string };

/** The reference store as a plugin's, of which the gateway tells. */
function pluginKind(): Kind {
  const data = new ReferenceData();
  return {
    name: 'a plugin’s store',
    open: async (clock, events) => {
      const store = referenceStore(clock, data);
      return fromPlugin(store, withCallbacks(store.ledger), clock, events);
    },
  };
}

/** Stores of which the gateway tells what it has refused. */
function lookedFor(store: Store): PluginStore {
  const { ledger, ...others } = promisedStore(store);
  return {
    ...others,
    ledger: {
      ...ledger,
      async admit(asked) {
        // A gateway that sends renews its right.
        await store.outbox.lease('gateway', 0);
        const admission = await ledger.admit(asked);
        // Reported just after the answer, and before what is due is listed.
        await store.outbox.due(1);
        return admission;
      },
    },
  };
}

const KINDS: readonly Kind[] = [...(await storesOfFile()).kinds, pluginKind()];

describe.each(KINDS)('$name', ({ open }) => {
  const clock = new MovableClock();
  const opened = Promise.all([open(clock, RULES), open(clock, RULES)]);

  async function scene(...args: Parameters<typeof teamUnderTest> extends [unknown, ...infer Rest] ? Rest : never) {
    const [store, again] = await opened;
    const here = lookedFor(store);
    const there = lookedFor(again);
    const team = await teamUnderTest(here, ...args);
    const reported = async (): Promise<{ readonly id: string; readonly facts: LimitReached }[]> => {
      // Events of an admission are listed after it, on the same connection.
      for (const one of [here, there, here, there]) await one.teams.findTeam(team.teamId);
      const due = answered(await store.outbox.due(LOTS)).filter(({ teamId }) => teamId === team.teamId);
      const retained = await Promise.all(due.map(async (event) => answered(await store.outbox.read(event))));
      return retained.flatMap((event) => (event?.facts.kind === 'limit_reached' ? [{ id: event.id, facts: event.facts }] : []));
    };
    return { team, store, here, there, reported };
  }

  test('the first request that the quota refuses in a period is told, with the usage at that moment', async () => {
    const { team, here, there, reported } = await scene({ characterLimit: 100, period: 'PT1H' });
    await team.use(60);
    expect(await reported()).toEqual([]);
    const { periodStartMs } = await team.usage();
    expect((await team.admit({ characters: 41 }, there)).kind).toBe('quota_exceeded');
    for (const store of [here, there]) expect((await team.admit({ characters: 50 }, store)).kind).toBe('quota_exceeded');
    const period = { startMs: periodStartMs, number: 1 };
    expect(await reported()).toMatchObject([
      {
        id: eventIds.quotaLimit(team.teamId, period),
        facts: {
          code: 'quota_exceeded',
          requiredCharacters: 41,
          usage: { characters: 60, team: { teamId: team.teamId }, keys: [{ keyId: team.keyId, characters: 60, requests: 1 }] },
        },
      },
    ]);
    expect((await reported())[0]!.facts).not.toHaveProperty('keyId');
    clock.step(HOUR_MS);
    await team.use(100);
    expect(await reported()).toHaveLength(1);
    expect((await team.admit({ characters: 1 })).kind).toBe('quota_exceeded');
    expect((await team.admit({ characters: 2 }, there)).kind).toBe('quota_exceeded');
    const required = (await reported()).map(({ facts }) => (facts.code === 'quota_exceeded' ? (facts.requiredCharacters ?? 0) : 0));
    expect(required.toSorted((one, other) => one - other)).toEqual([1, 41]);
  });

  test('a refusal for credit is told once, and again after credit was added, but not after some was taken', async () => {
    const { team, here, there, reported } = await scene({ ...PREPAID, minorPerMillion: 1_000_000 }, toMicro(5));
    const refuse = async (characters: number, store = here): Promise<void> => {
      expect((await team.admit({ characters }, store)).kind).toBe('credit_exhausted');
      // A gateway looks for added credit again after this time.
      clock.step(1000);
    };
    await refuse(6);
    await refuse(7, there);
    const first = eventIds.creditLimit(team.teamId, 1);
    expect(await reported()).toMatchObject([
      { id: first, facts: { code: 'credit_exhausted', requiredMicro: toMicro(6), usage: { team: { balanceMicro: toMicro(5) } } } },
    ]);
    answered(await here.teams.updateTeam(team.teamId, { addMicro: toMicro(-1) }));
    await refuse(8, there);
    expect(await reported()).toHaveLength(1);
    answered(await there.teams.updateTeam(team.teamId, { addMicro: toMicro(1) }));
    await team.use(5);
    expect(await reported()).toHaveLength(1);
    await refuse(1);
    await refuse(1, there);
    expect((await reported()).map(({ id }) => id).toSorted()).toEqual([first, eventIds.creditLimit(team.teamId, 2)]);
  });

  test('a key’s own limit is told with the key, once in a period, apart from the team’s', async () => {
    const { team, here, there, reported } = await scene({ characterLimit: 100, period: 'PT1H' });
    const limited = freshKey(team.teamId, 'limited');
    answered(await here.teams.createKey({ ...limited, limits: { characters: 10 } }));
    const key = team.withKey(limited.keyId);
    for (const store of [there, here])
      expect(await key.admit({ characters: 11 }, store)).toMatchObject({ kind: 'quota_exceeded', of: 'key' });
    const facts = { code: 'quota_exceeded', keyId: limited.keyId, requiredCharacters: 11 };
    expect(await reported()).toMatchObject([{ facts }]);
    expect(await team.admit({ characters: 101 }, there)).toMatchObject({ kind: 'quota_exceeded' });
    expect(await reported()).toHaveLength(2);
    clock.step(HOUR_MS);
    for (const store of [there, here]) await key.admit({ characters: 12 }, store);
    expect((await reported()).filter((one) => one.facts.keyId === limited.keyId)).toMatchObject([
      { facts },
      { facts: { requiredCharacters: 12 } },
    ]);
  });

  test('the free characters of test keys are told apart from the team’s quota, once in a period', async () => {
    const { team, here, there, reported } = await scene({ characterLimit: 100, testAllowance: 10, period: 'PT1H' });
    const tests = team.withKey((await team.newKey('tests', 'test')).keyId);
    await tests.use(7);
    for (const store of [there, here])
      expect(await tests.admit({ characters: 4 }, store)).toMatchObject({ kind: 'quota_exceeded', of: 'test_keys' });
    const { periodStartMs } = await team.usage();
    const facts = { code: 'quota_exceeded', testKeys: true, requiredCharacters: 4, usage: { characters: 7, allowanceUsed: 7 } };
    expect(await reported()).toMatchObject([{ id: eventIds.testLimit(team.teamId, { startMs: periodStartMs, number: 1 }), facts }]);
    expect(await team.admit({ characters: 101 }, there)).toMatchObject({ kind: 'quota_exceeded' });
    expect(await reported()).toHaveLength(2);
    clock.step(HOUR_MS);
    for (const store of [there, here]) await tests.admit({ characters: 11 }, store);
    expect((await reported()).filter((one) => one.facts.testKeys === true)).toMatchObject([
      { facts },
      { facts: { requiredCharacters: 11 } },
    ]);
  });

  test('the first refusal by each window of the team and of a key is told, once over both instances, and again in the next window', async () => {
    const { team, here, there, reported } = await scene({ windows: 'requests=2/minute characters=20/month' });
    const limited = freshKey(team.teamId, 'limited');
    answered(await here.teams.createKey({ ...limited, limits: { windows: 'characters=5/hour' } }));
    const startMs = (per: 'minute' | 'hour' | 'month'): number => windowAt(per, clock.nowMs()).startMs;
    clock.step(windowAt('hour', clock.nowMs()).endMs - clock.nowMs());
    await team.use(5);
    const key = team.withKey(limited.keyId);
    await key.use(5);
    const first = eventIds.windowLimit(team.teamId, 'minute', startMs('minute'));
    for (const store of [here, there, here]) expect((await team.admit({ characters: 1 }, store)).kind).toBe('rate_limited');
    expect(await reported()).toMatchObject([
      { id: first, facts: { code: 'rate_limited', window: { per: 'minute', counts: 'requests' }, requiredCharacters: 1 } },
    ]);
    clock.step(60_000);
    for (const store of [there, here]) expect((await key.admit({ characters: 2 }, store)).kind).toBe('rate_limited');
    const ofKey = eventIds.windowLimit(limited.keyId, 'hour', startMs('hour'));
    expect((await reported()).find(({ id }) => id === ofKey)).toMatchObject({
      facts: { keyId: limited.keyId, window: { per: 'hour', counts: 'characters' }, requiredCharacters: 2 },
    });
    for (const store of [there, here]) expect((await team.admit({ characters: 11 }, store)).kind).toBe('rate_limited');
    const ofMonth = eventIds.windowLimit(team.teamId, 'month', startMs('month'));
    for (let i = 0; i < 2; i++) expect((await team.touch()).kind).toBe('admitted');
    expect((await team.touch()).kind).toBe('rate_limited');
    const second = eventIds.windowLimit(team.teamId, 'minute', startMs('minute'));
    expect((await reported()).map(({ id }) => id).toSorted()).toEqual([first, ofKey, ofMonth, second].toSorted());
  });

  test('other refusals, and a store without rules, tell nothing', async () => {
    const { team, reported } = await scene({ characterLimit: 10, maxCharactersPerRequest: 20, requestsPerSecond: 3 });
    const silent = await open(clock, undefined);
    expect((await team.admit({ characters: 21 })).kind).toBe('text_too_long');
    expect((await team.admit({ characters: 11 }, promisedStore(silent))).kind).toBe('quota_exceeded');
    expect((await team.admit({ characters: 5 })).kind).toBe('admitted');
    expect((await team.admit({ characters: 11 })).kind).toBe('rate_limited');
    expect(await reported()).toEqual([]);
    await silent.close();
    clock.step(1000);
    expect((await team.admit({ characters: 6 })).kind).toBe('quota_exceeded');
    expect(await reported()).toHaveLength(1);
  });

  test('in random histories exactly the first refusals are told, each under one id', async () => {
    const characters = fc.integer({ min: 1, max: 40 });
    const isThere = fc.boolean();
    const who = fc.constantFrom('team' as const, 'key' as const);
    const move = fc.oneof(
      { weight: 12, arbitrary: fc.record({ kind: fc.constant('use' as const), characters, isThere, who, commits: fc.boolean() }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('add' as const), minor: fc.integer({ min: 1, max: 60 }), isThere }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('take' as const), minor: fc.integer({ min: 1, max: 9 }), isThere }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1000, HOUR_MS / 2, HOUR_MS) }) },
    );
    const history = fc.asyncProperty(fc.boolean(), fc.array(move, { minLength: 5, maxLength: 40 }), async (onCredit, moves) => {
      const terms = onCredit ? { ...PREPAID, minorPerMillion: 1_000_000 } : { characterLimit: 100 };
      const { team, here, there, reported } = await scene({ ...terms, period: 'PT1H' }, toMicro(100));
      const limited = freshKey(team.teamId, 'limited');
      answered(await here.teams.createKey({ ...limited, limits: { characters: 50 } }));
      const expected = new Set<string>();
      let [period, credits, isCreditReported] = [1, 0, false];
      let { periodStartMs: startMs, periodEndMs } = await team.usage();
      for (const one of moves) {
        if (one.kind === 'wait') clock.step(one.ms);
        else if (one.kind !== 'use') {
          const addMicro = toMicro(one.kind === 'add' ? one.minor : -one.minor);
          // What is not there cannot be taken.
          await (one.isThere ? there : here).teams.updateTeam(team.teamId, { addMicro }).catch(() => undefined);
          isCreditReported &&= one.kind === 'take';
        } else {
          const store = one.isThere ? there : here;
          const key = one.who === 'team' ? team : team.withKey(limited.keyId);
          const admission = await key.admit({ characters: one.characters }, store);
          if (clock.nowMs() >= periodEndMs) {
            ({ periodStartMs: startMs, periodEndMs } = await team.usage());
            period++;
          }
          if (admission.kind === 'quota_exceeded') {
            expected.add(eventIds.quotaLimit(admission.of === 'key' ? limited.keyId : team.teamId, { startMs, number: period }));
          } else if (admission.kind === 'credit_exhausted') {
            if (!isCreditReported) expected.add(eventIds.creditLimit(team.teamId, ++credits));
            isCreditReported = true;
          } else if (admission.kind === 'admitted' && one.commits) await key.commit(admission.reservation!.requestId, store);
          clock.step(1000);
        }
      }
      const ids = (await reported()).map(({ id }) => id.replace(/-(\d+)-\d+$/, '-$1'));
      expect(ids.toSorted()).toEqual([...expected].map((id) => id.replace(/-(\d+)-\d+$/, '-$1')).toSorted());
    });
    await fc.assert(history, { numRuns: draws(8) });
  });
});
