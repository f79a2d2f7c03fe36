// The example of a store in PostgreSQL keeps the contract, drops what the retention ends, and survives its server.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accountsContract, storeContract } from 'lingate/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openPostgresStore } from '../../../config/examples/postgres-store.ts';
import { copyStoreTo } from '../../support/door/gateways.ts';
import { answered } from '../../../src/index.ts';
import { MovableClock } from '../../../src/testing.ts';
import { newId, teamUnderTest } from '../../support/door/contracts.ts';
import type { PluginStore } from '../../../src/ports/plugin.ts';
import type { Standing } from '../../../src/ports/team-registry.ts';
import type { OpenStore } from '../../../src/testing/store-contract.ts';
import { checkedStore } from '../../support/checked-store.ts';
import { fillRich, RICH } from '../../support/rich-store.ts';
import { startPostgres } from '../../support/postgres.ts';
/** Generous: other tests may use both cores, and overdue answers are not tested here. */
const WAIT_MS = 30_000;
const DAY_MS = 86_400_000;
const PRUNE_EVERY_MS = 3_600_000;
/** By then no period is still to come. */
const FAR_FUTURE_MS = Date.UTC(2099, 0);

const server = await startPostgres();
afterAll(() => server.stop());
/** Its URL. */
async function newDatabase(name: string): Promise<string> {
  const operator = new Client({ connectionString: server.url });
  await operator.connect();
  await operator.query(`create database ${name}`);
  await operator.end();
  return Object.assign(new URL(server.url), { pathname: name }).href;
}

const open: OpenStore = (clock) => openPostgresStore(server.url, clock, WAIT_MS);

describe('two instances on one database', () => {
  const contract = storeContract(open);
  test.each(contract.cases)('$name', ({ run: expectUpheld }) => expectUpheld());
  afterAll(() => contract.close());
});

describe('databases of their own', () => {
  let count = 0;
  const contract = accountsContract(async (clock) => openPostgresStore(await newDatabase(`own_${count++}`), clock, WAIT_MS));
  test.each(contract.cases)('$name', ({ run: expectUpheld }) => expectUpheld());
  afterAll(() => contract.close());
});

test('everything in it is copied to SQLite and back, with and without its teams', async () => {
  const clock = new MovableClock();
  const [first, second] = [await newDatabase('first'), await newDatabase('second')];
  const others = new Map([['postgres', (url: string) => openPostgresStore(url, clock, WAIT_MS)]]);
  const store = await openPostgresStore(first, clock, WAIT_MS);
  expect(await store.outbox.lease('', 0)).toBe(true);
  await fillRich(store, clock);
  const folder = mkdtempSync(join(tmpdir(), 'lingate-postgres-'));
  const round = async (name: string, expected: object): Promise<void> => {
    const file = `sqlite:${join(folder, name)}`;
    const copy = (from: string, to: string) => copyStoreTo({ from, to, restart: false, onProgress: () => undefined, others });
    const tally = await copy(first, file);
    expect(tally).toMatchObject(expected);
    expect(await copy(file, second)).toEqual(tally);
    for (const url of [first, file, second]) expect((await checkedStore(url, 0, FAR_FUTURE_MS, others)).findings).toEqual([]);
  };
  await round('whole.db', { teams: 3, keys: 8, glossaries: 2, openReservations: 5 });
  for (const teamId of [RICH.quota, RICH.credit]) expect(await store.teams.deleteTeam(teamId, { keepUsage: true })).toBe(true);
  const copied = await openPostgresStore(second, clock, WAIT_MS);
  expect(await copied.accounts.clear()).toBeUndefined();
  await round('left.db', { teams: 1, usagesOnly: 2 });
  const retained = async (of: PluginStore): Promise<unknown> => [
    answered(await of.history.periods(RICH.quota)),
    answered(await of.history.days(RICH.credit, { from: 0, to: 100_000 }))!.days,
  ];
  expect(await retained(copied)).toEqual(await retained(store));
  await store.close();
  await copied.close();
  rmSync(folder, { recursive: true });
});

test('what the retention ends is dropped: periods with their charges, tags, and deleted teams that have nothing else', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const [clock, url] = [new MovableClock(), await newDatabase('retained')];
  const store = await openPostgresStore(url, clock, WAIT_MS, 10);
  const operator = new Client({ connectionString: url });
  await operator.connect();
  const retained = async (): Promise<unknown> => {
    const { rows } = await operator.query<object>(
      `select (select count(*)::int from lingate.teams) as teams, (select count(*)::int from lingate.periods) as periods,
       (select sum(characters)::int from lingate.uses) as characters,
       (select count(*)::int from lingate.records where kind = 'tag_counts') as tags`,
    );
    return rows[0];
  };
  const [team, deleted] = [
    await teamUnderTest(store, { billing: 'credit', minorPerMillion: 1000, period: 'P1D' }, 1_000_000_000),
    await teamUnderTest(store, { characterLimit: 100 }),
  ];
  const charge = async (characters: number, tag: string): Promise<void> => {
    await team.commit((await team.reserve(characters, { tag: { name: tag, distinctMax: 10 } })).requestId);
  };
  await charge(1, 'old');
  await deleted.use(10);
  await store.teams.deleteTeam(deleted.teamId, { keepUsage: true });
  clock.step(8 * DAY_MS);
  await charge(20, 'new');
  clock.step(DAY_MS);
  await charge(300, 'new');
  const { balanceMicro } = await team.standing();
  vi.advanceTimersByTime(PRUNE_EVERY_MS);
  expect(await retained()).toEqual({ teams: 2, periods: 3, characters: 331, tags: 2 });
  clock.step(3 * DAY_MS);
  vi.advanceTimersByTime(PRUNE_EVERY_MS);
  await expect.poll(retained).toEqual({ teams: 1, periods: 2, characters: 320, tags: 1 });
  expect(await team.standing()).toMatchObject({ balanceMicro });
  expect(answered(await store.history.periods(team.teamId))!.at(-1)!.credit.balanceMicro).toBeGreaterThan(balanceMicro);
  expect(
    (await checkedStore(url, 0, FAR_FUTURE_MS, new Map([['postgres', () => openPostgresStore(url, clock, WAIT_MS)]]))).findings,
  ).toEqual([]);
  await operator.end();
  await store.close();
});

test('a schema of another layout is refused in one line, and left as it is', async () => {
  const url = await newDatabase('other');
  const operator = new Client({ connectionString: url });
  await operator.connect();
  await operator.query('create schema lingate');
  await expect(openPostgresStore(url, new MovableClock())).rejects.toThrow(
    /^the store 127\.0\.0\.1:\d+ has a schema lingate of another version \(without a layout, this one has Lingate, layout 2\): .+$/,
  );
  await (await openPostgresStore(await newDatabase('ours'), new MovableClock())).close();
  expect((await operator.query(`select from pg_tables where schemaname = 'lingate'`)).rowCount).toBe(0);
  await operator.end();
});

async function standingOf({ teams }: Awaited<ReturnType<OpenStore>>, teamId: string): Promise<Standing> {
  return answered(await teams.standing(teamId))!;
}

describe('a server that ends connections, refuses writes or is away', () => {
  const clock = new MovableClock();
  const operator = new Client({ connectionString: server.url });
  beforeAll(() => operator.connect());
  afterAll(() => operator.end());

  test('operations that lose their connection are unavailable or done, never half done', async () => {
    const store = await open(clock);
    const team = await teamUnderTest(store, { characterLimit: 1000, requestsPerSecond: 10_000 });
    const admissions = { over: false };
    const ending = (async () => {
      while (!admissions.over)
        await operator.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'lingate'`);
    })();
    const ids = Array.from({ length: 150 }, newId);
    await Promise.all(ids.map((requestId) => team.admit({ requestId, characters: 10, leaseMs: 60_000 })));
    admissions.over = true;
    await ending;
    // The same again says how each of them ended, and makes those that were not made.
    const answers = await Promise.all(ids.map((requestId) => team.admit({ requestId, characters: 10, leaseMs: 60_000 })));
    expect(answers.filter(({ kind }) => kind === 'admitted')).toHaveLength(100);
    expect(answers.filter(({ kind }) => kind === 'quota_exceeded')).toHaveLength(50);
    expect(await team.standing()).toMatchObject({ heldCharacters: 1000, openReservations: 100 });
    await store.close();
  });

  test('a change that loses its connection has its audit entry, or neither was made', async () => {
    const store = await open(clock);
    const { teamId } = await teamUnderTest(store, { billing: 'credit' });
    const before = (await standingOf(store, teamId)).balanceMicro;
    const changes = { over: false };
    const ending = (async () => {
      while (!changes.over)
        await operator.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'lingate'`);
    })();
    const by = { actor: 'cli:ada@host', action: 'updateTeam' } as const;
    const answers = await Promise.all(Array.from({ length: 100 }, () => store.teams.updateTeam(teamId, { addMicro: 1 }, by)));
    changes.over = true;
    await ending;
    const made = (await standingOf(store, teamId)).balanceMicro - before;
    expect(made).toBeGreaterThanOrEqual(answers.filter((answer) => answer !== undefined && 'teamId' in answer).length);
    const entries = answered(await store.audit.page({ teamId, after: undefined, sinceMs: undefined, limit: 200 }));
    expect(entries.map(({ after }) => after.balanceMicro)).toEqual(Array.from({ length: made }, (_, i) => before + made - i));
    await store.close();
  });

  test('a database that takes no writes is unavailable, with advice, until it takes them again', async () => {
    const store = await open(clock);
    const team = await teamUnderTest(store);
    await operator.query('alter database postgres set default_transaction_read_only = on');
    await operator.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'lingate'`);
    await expect
      .poll(() => store.ping())
      .toMatchObject({ kind: 'unavailable', cause: '25006', advice: expect.stringContaining('read-only') as string });
    expect(await team.admit()).toMatchObject({ kind: 'unavailable' });
    await operator.query('set default_transaction_read_only = off');
    await operator.query('alter database postgres reset default_transaction_read_only');
    await operator.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'lingate'`);
    await expect.poll(() => store.ping()).toBeUndefined();
    expect((await team.admit()).kind).toBe('admitted');
    await store.close();
  });

  test('one that cannot be reached is a StoreError in one line', async () => {
    await expect(openPostgresStore('postgres://nobody@127.0.0.1:1/none', clock)).rejects.toThrow(/^the store .*ECONNREFUSED/);
  });
});
