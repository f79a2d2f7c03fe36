// Requests that take effect once: what a process leaves that dies, a store that fails, and many at a time.
import { afterEach, describe, expect, test } from 'vitest';
import { IdempotentRequests, LEASE_MS } from '../../../src/admin/idempotent-requests.ts';
import type { AskedRecords, Ran } from '../../../src/admin/idempotent-requests.ts';
import { OperationContext } from '../../../src/admin/operation-context.ts';
import { createKey } from '../../../src/admin/operations/keys.ts';
import { createTeam } from '../../../src/admin/operations/teams.ts';
import { updateTeam } from '../../../src/admin/operations/team-changes.ts';
import { answered } from '../../../src/domain/store-unavailable.ts';
import type { Store } from '../../../src/ports/store.ts';
import { openSqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import { newId } from '../../../src/testing/store/team-under-test.ts';
import { CREDIT_PLAN } from '../../support/gateway.ts';
import { SILENT } from '../../support/silent-log.ts';

const UNAVAILABLE = { kind: 'unavailable', cause: 'closed' } as const;
const monotonic = (): number => performance.now();

let store: Store | undefined;
afterEach(async () => {
  await store?.close();
  store = undefined;
});

async function scene() {
  const clock = new MovableClock();
  store = await openSqliteStore({ path: ':memory:', log: SILENT, clock, durability: 'normal', commandTimeoutMs: 5000 });
  const { teams, audit, idempotency } = store;
  const context = new OperationContext({ teams, plans: () => new Map([['prepaid', CREDIT_PLAN]]), newId, audit, actor: 'x' });
  const of = (records: AskedRecords): IdempotentRequests => new IdempotentRequests({ records, now: monotonic });
  const recordId = newId();
  const asked = { id: newId(), request: 'r', recordId, teamId: recordId };
  return { clock, teams, context, records: idempotency, of, asked };
}

type Scene = Awaited<ReturnType<typeof scene>>;

/** Runs it in a process that dies before the answer is recorded; then its claim has ended. */
async function cutShort({ clock, records, of, asked }: Scene, run: (id: string) => Promise<unknown>): Promise<void> {
  const dead = of(records).run(asked, async (id) => {
    await run(id);
    throw new Error('killed');
  });
  await expect(dead).rejects.toThrow('killed');
  clock.step(LEASE_MS);
}

const retained = <T>(answer: T): Ran<T> => ({
  answer,
  fate: 'stored',
  stored: () => ({ answer: JSON.stringify(answer), teamId: undefined }),
});
const never = async (): Promise<never> => Promise.reject(new Error('was run again'));

describe('a process that dies', () => {
  test('between a creation and its record: whoever repeats the request finds what was created', async () => {
    const it = await scene();
    const { teams, context, records, of, asked } = it;
    const create = async (id: string) =>
      answered(await createTeam.run!(context, { name: 'Acme', plan: 'prepaid', credit_minor: 500 }, { id }));
    await cutShort(it, create);
    const again = await of(records).run({ ...asked, recordId: newId() }, async (id) => retained(await create(id)));
    expect(again).toMatchObject({ kind: 'ran', answer: { kind: 'done', value: { team_id: asked.recordId } } });
    expect(answered(await teams.listTeams()).map(({ teamId, balanceMicro }) => [teamId, balanceMicro])).toEqual([
      [asked.recordId, 500_000_000],
    ]);
  });

  test('between adding credit and the record: the repetition adds none', async () => {
    const it = await scene();
    const { teams, context, records, of, asked } = it;
    const made = await createTeam.run!(context, { name: 'Acme', plan: 'prepaid', credit_minor: 500 }, { id: asked.recordId });
    expect(made.kind).toBe('done');
    const add = async () =>
      updateTeam.run!(context, { id: asked.recordId, add_credit_minor: 7 }, { once: { id: asked.id, request: asked.request } });
    await cutShort(it, add);
    expect(await of(records).run(asked, async () => retained(await add()))).toMatchObject({ kind: 'ran', answer: { kind: 'done' } });
    expect(answered(await teams.findTeam(asked.recordId))?.balanceMicro).toBe(507_000_000);
  });

  test('between creating a key and the record: the key that nobody has seen is revoked', async () => {
    const it = await scene();
    const { teams, context, records, of, asked } = it;
    const teamId = newId();
    await createTeam.run!(context, { name: 'Acme', plan: 'prepaid', credit_minor: 0 }, { id: teamId });
    const create = async (id: string) => createKey.run!(context, { id: teamId, mode: 'live' }, { id });
    await cutShort(it, create);
    const again = await of(records).run(asked, async (id) => retained(await create(id)));
    const keys = answered(await teams.listKeys(teamId))!;
    expect(keys.map(({ status }) => status).toSorted()).toEqual(['active', 'revoked']);
    expect(again).toMatchObject({ answer: { value: { key_id: keys.find(({ status }) => status === 'active')!.keyId } } });
  });
});

test('of fifty at a time in one process one runs; the others get its kept answer, which may have less than its own', async () => {
  const { records, of, asked } = await scene();
  const requests = of(records);
  let runs = 0;
  const create = async (): Promise<Ran<string>> => {
    runs++;
    return { answer: 'with a secret', fate: 'stored', stored: () => ({ answer: '"without"', teamId: undefined }) };
  };
  const all = await Promise.all(Array.from({ length: 50 }, async () => requests.run(asked, create)));
  expect(runs).toBe(1);
  expect(all.filter((one) => one.kind === 'ran')).toEqual([{ kind: 'ran', answer: 'with a secret' }]);
  expect(all.filter((one) => one.kind === 'answered').length).toBe(49);
  expect(await requests.run({ ...asked, request: 'another' }, never)).toEqual({ kind: 'other_request' });
});

test('a request that is refused, or fails, is run again at once, by this process or another', async () => {
  const { records, of, asked } = await scene();
  const requests = of(records);
  for (const fate of ['forgotten', 'unknown'] as const) {
    const ids: string[] = [];
    for (const one of [requests, of(records), requests]) {
      await one.run({ ...asked, recordId: newId() }, async (id) => {
        ids.push(id);
        return { answer: fate, fate, stored: () => ({ answer: '""', teamId: undefined }) };
      });
    }
    // After a refusal nothing is left; after a failure the same record may exist.
    expect(new Set(ids).size).toBe(fate === 'forgotten' ? 3 : 1);
  }
});

test('a store that does not answer refuses the request before anything is changed', async () => {
  const { records, of, asked } = await scene();
  const away: AskedRecords = {
    claim: async () => UNAVAILABLE,
    finish: async (...held) => records.finish(...held),
    release: async (...held) => records.release(...held),
  };
  expect(await of(away).run(asked, never)).toEqual(UNAVAILABLE);
});

test('a claim or a record whose confirmation was lost holds up nobody: the process claims again, and records again', async () => {
  const { records, of, asked } = await scene();
  let lost = 2;
  const shaky = async <T>(work: Promise<T>): Promise<T | typeof UNAVAILABLE> => {
    const result = await work;
    return lost-- > 0 ? UNAVAILABLE : result;
  };
  const lossy: AskedRecords = {
    claim: (claim) => shaky(records.claim(claim)),
    finish: (...held) => shaky(records.finish(...held)),
    release: (...held) => records.release(...held),
  };
  const requests = of(lossy);
  lost = 1;
  expect(await requests.run(asked, never)).toEqual(UNAVAILABLE);
  expect(
    await requests.run(asked, async () => {
      lost = 1;
      return retained('done');
    }),
  ).toEqual({ kind: 'ran', answer: 'done' });
  expect(await of(records).run(asked, never)).toEqual({ kind: 'answered', answer: '"done"' });
});
