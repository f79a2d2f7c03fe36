// Copying a store: source and copy answer alike, whatever their kinds; stores that are half-written, in use or not empty are refused.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { copyStoreTo } from '../../../src/app/store-upkeep.ts';
import { ReferenceData, referenceStore } from '../../support/reference-store.ts';
import { answered } from '../../../src/domain/store-unavailable.ts';
import { dayOf, movedCredit } from '../../../src/domain/period.ts';
import type { PluginStore, WholePluginStore } from '../../../src/ports/plugin.ts';
import type { OtherStores } from '../../../src/stores/open-reader.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import { entriesIn } from '../../../src/testing/store/dictionaries-under-test.ts';
import { freshKey, PREPAID, teamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import { openRedisStore } from '../../../src/stores/redis/redis-store.ts';
import { inProcess } from '../../support/lingate-command.ts';
import { checkedStore } from '../../support/checked-store.ts';
import { promisedStore } from '../../support/promised-store.ts';
import { startRedis } from '../../support/redis.ts';
import { openBy } from '../../support/store-place.ts';
import type { RedisServer } from '../../support/redis.ts';
import { fillRich, RICH, RICH_ADDRESS, RICH_SCOPE, RICH_REQUEST, RICH_EVENTS } from '../../support/rich-store.ts';
import { SILENT } from '../../support/silent-log.ts';

const directory = mkdtempSync(join(tmpdir(), 'lingate-copy-'));
const servers: RedisServer[] = [];
const clients: Redis[] = [];
let count = 0;

beforeAll(async () => {
  for (let i = 0; i < 2; i++) {
    const server = await startRedis();
    servers.push(server);
    clients.push(new Redis(server.port, '127.0.0.1', { protocol: 2 }));
  }
});
beforeEach(async () => {
  await Promise.all(clients.map((client) => client.flushall()));
});
afterAll(async () => {
  for (const client of clients) client.disconnect();
  await Promise.all(servers.map((server) => server.stop()));
  rmSync(directory, { recursive: true, force: true });
});

type Kind = 'sqlite' | 'redis' | 'memory';
const sqliteUrl = (): string => `sqlite:${join(directory, `${count++}.db`)}`;
const urlOf = (kind: Kind, which: 0 | 1): string =>
  kind === 'sqlite' ? sqliteUrl() : kind === 'redis' ? servers[which]!.url : `memory:${count++}`;

/** Those of the plugin, whose stores go by this clock. */
const memories = new Map<string, ReferenceData>();
let latest = new MovableClock();
const dataOf = (url: string): ReferenceData => memories.get(url) ?? memories.set(url, new ReferenceData()).get(url)!;
const inMemory = (url: string, clock: MovableClock): WholePluginStore => referenceStore(clock, dataOf(url));
const others: OtherStores = new Map([['memory', async (url) => inMemory(url, latest)]]);

async function open(url: string, clock: MovableClock): Promise<PluginStore> {
  if (url.startsWith('memory')) {
    const store = inMemory(url, clock);
    expect(await store.outbox.lease('', 0)).toBe(true);
    return store;
  }
  return promisedStore(await openBy(clock, url, { events: RICH_EVENTS }));
}

async function filled(url: string): Promise<MovableClock> {
  const clock = (latest = new MovableClock());
  const store = await open(url, clock);
  await fillRich(store, clock);
  // What a gateway tells is looked for before what is due is listed.
  await store.outbox.due(1);
  await store.close();
  return clock;
}

const FAR_FUTURE_MS = Date.UTC(2099, 0);
const copy = (from: string, to: string, restart = false) => copyStoreTo({ from, to, restart, onProgress: () => undefined, others });
const { quota, credit, idle } = RICH;

/** The answers of every reading method of the ports, for everything in the store; of its past periods all, or those with use. */
async function everyAnswer(store: PluginStore, clock: MovableClock, periods: 'all' | 'used' = 'all'): Promise<unknown> {
  const { teams, keys, glossaries, history, ledger } = store;
  const digests = [RICH.digest, 'digest-two', 'digest-three', 'digest-four', 'digest-limited', 'digest-disabled', 'digest-of-nobody'];
  const range = { from: 0, to: dayOf(clock.nowMs()) };
  const all = { after: undefined, limit: 10, search: undefined };
  const perTeam = await Promise.all(
    [quota, credit, idle, '01JTEAM000000000000000000X'].map(async (teamId) => ({
      team: await teams.findTeam(teamId),
      keys: await teams.listKeys(teamId),
      usage: await teams.usage(teamId),
      standing: await teams.standing(teamId),
      glossaries: await glossaries.list(teamId),
      refusals: await store.records.list(teamId, 'refusals'),
      days: await history.days(teamId, range),
      periods: periodsOf(await history.periods(teamId), periods),
    })),
  );
  return {
    list: await teams.listTeams(),
    summaries: await teams.pageSummaries(all),
    search: await teams.pageTeams({ ...all, search: 'renamed' }),
    owners: await Promise.all(digests.map(async (digest) => keys.find(digest))),
    found: await Promise.all(digests.map((digest) => teams.findKeys({ digest }))),
    shown: await teams.findKeys({ display: 'la_live_Ab3d' }),
    limited: await teams.findKeys({ display: 'la_live_Lim1' }),
    perTeam,
    pages: await history.pageDays(all, range),
    entries: [
      await entriesIn(glossaries, quota, RICH.glossary),
      await entriesIn(glossaries, quota, RICH.dictionary),
      await entriesIn(glossaries, credit, RICH.largeGlossary),
    ],
    audit: await store.audit.page({ teamId: undefined, after: undefined, sinceMs: undefined, limit: 100 }),
    auditOfOne: await store.audit.page({ teamId: credit, after: undefined, sinceMs: undefined, limit: 100 }),
    remembered: [
      await ledger.resolve(credit, RICH.doneId, 'commit'),
      await admit(store, credit, RICH.creditKey, RICH.doneId),
      await admit(store, credit, RICH.creditKey, RICH.openId),
      await admit(store, quota, RICH.revokedKey, 'r1'),
      await admit(store, quota, RICH.disabledKey, 'r2'),
      await admit(store, quota, RICH.expiredKey, 'r3'),
      await admit(store, quota, RICH.revokedLimitedKey, 'r4'),
      await admit(store, quota, RICH.limitedKey, 'r5', '192.0.2.1'),
    ],
  };
}

function periodsOf(found: Awaited<ReturnType<PluginStore['history']['periods']>>, which: 'all' | 'used') {
  return answered(found)?.filter((one, i) => which === 'all' || i === 0 || one.requests > 0 || movedCredit(one.credit));
}

function admit({ ledger }: PluginStore, teamId: string, keyId: string, requestId: string, address = RICH_ADDRESS) {
  const glossary = { glossaryId: RICH.glossary, sourceLang: 'EN', targetLang: 'FR' };
  const forGlossary = teamId === quota ? glossary : undefined;
  const from = { address, scope: RICH_SCOPE };
  return ledger.admit({ requestId, teamId, keyId, characters: 3, reserve: true, leaseMs: 60_000, glossary: forGlossary, ...from });
}

/** What happens after the copy: the window fills, reservations expire or are settled, days and periods continue. */
async function future(store: PluginStore, clock: MovableClock, withChange: boolean, periods: 'all' | 'used'): Promise<unknown> {
  const answers: unknown[] = [];
  answers.push(...(await futureOfLimited(store, clock)));
  for (let i = 0; i < 7; i++) answers.push(await admit(store, quota, RICH.key, `01JREQ0000000000000000002${i}`));
  answers.push(await store.ledger.resolve(quota, RICH.openId, 'commit'), await store.ledger.resolve(quota, RICH.laterId, 'commit'));
  if (withChange)
    answers.push(
      await store.teams.updateTeam(quota, {
        plan: { name: 'x', limits: (await limitsOf(store))! },
        once: { id: 'change1', request: 'another' },
      }),
    );
  const again = { ...RICH_REQUEST, holder: 'copy', recordId: 'another', teamId: undefined };
  if (withChange) {
    for (const id of [RICH_REQUEST.id, `${RICH_REQUEST.id}-interrupted`]) answers.push(await store.idempotency.claim({ ...again, id }));
    expect(answers.slice(-2)).toEqual([
      { kind: 'answered', answer: '{"status":200}' },
      { kind: 'claimed', recordId: RICH_REQUEST.recordId },
    ]);
  }
  clock.step(1001);
  answers.push(await admit(store, quota, RICH.otherKey, '01JREQ00000000000000000031'));
  answers.push(await store.ledger.resolve(quota, '01JREQ00000000000000000031', 'commit'), await everyAnswer(store, clock, periods));
  clock.step(61_000);
  answers.push(await store.teams.standing(credit), await store.teams.standing(quota));
  clock.step(86_400_000 * 8);
  answers.push(await admit(store, quota, RICH.otherKey, '01JREQ00000000000000000032'));
  answers.push(await store.ledger.resolve(quota, '01JREQ00000000000000000032', 'commit'), await everyAnswer(store, clock, periods));
  return answers;
}

/** The same for the key with every limit: one of its two slots is taken, 78 of its 150 characters are used or held. */
async function futureOfLimited(store: PluginStore, clock: MovableClock): Promise<unknown[]> {
  const answers = [await admitOf(store, '01JREQ00000000000000000050', 30)];
  // The team's window has a free slot again, the key's has none.
  clock.step(100);
  answers.push(await admitOf(store, '01JREQ00000000000000000051', 30));
  const released = await store.ledger.resolve(quota, RICH.limitedId, 'release');
  clock.step(1001);
  for (let i = 0; i < 3; i++) answers.push(await admitOf(store, `01JREQ0000000000000000006${i}`, 42));
  clock.step(1001);
  const kinds = ['admitted', 'rate_limited', 'admitted', 'quota_exceeded', 'rate_limited'];
  expect(answers.map((answer) => answer.kind)).toEqual(kinds);
  expect(answers.filter(({ kind }) => kind !== 'admitted')).toMatchObject([
    { of: 'key', limit: 2 },
    { of: 'key', characterLimit: 150 },
    { of: 'key' },
  ]);
  return [...answers, released];
}

function admitOf({ ledger }: PluginStore, requestId: string, characters: number) {
  const request = { requestId, teamId: quota, keyId: RICH.limitedKey, characters, reserve: true, leaseMs: 60_000, glossary: undefined };
  return ledger.admit({ ...request, address: RICH_ADDRESS, scope: RICH_SCOPE, reportRate: true });
}

async function limitsOf(store: PluginStore) {
  const team = await store.teams.findTeam(quota);
  return team !== undefined && 'limits' in team ? team.limits : undefined;
}

describe.each([
  // Each kind once as the source and once as the target: neither knows the other.
  ['sqlite', 'redis'],
  ['redis', 'memory'],
  ['memory', 'sqlite'],
] as const)('from %s to %s', (kind, other) => {
  test('both give the same answers, now and later', async () => {
    const [from, to] = [urlOf(kind, 0), urlOf(other, 1)];
    const clock = await filled(from);
    const tally = await copy(from, to);
    expect(tally).toMatchObject({ teams: 3, keys: 8, glossaries: 2, openReservations: 5 });
    // The chores of a store that is open beside the other must not meet the other's future.
    const own = new MovableClock();
    own.set(clock.nowMs());
    const [source, target] = [await open(from, clock), await open(to, own)];
    // The reference store keeps no others.
    const periods = kind === 'memory' || other === 'memory' ? 'used' : 'all';
    const withChange = kind === 'sqlite';
    expect(await everyAnswer(target, own, periods)).toEqual(await everyAnswer(source, clock, periods));
    const expected = await future(source, clock, withChange, periods);
    expect(await future(target, own, withChange, periods)).toEqual(expected);
    await source.close();
    await target.close();
  });

  test('what deleted teams have left is in the copy', async () => {
    const [from, to] = [urlOf(kind, 0), urlOf(other, 1)];
    const clock = await filled(from);
    const source = await open(from, clock);
    for (const teamId of [quota, credit]) expect(await source.teams.deleteTeam(teamId, { keepUsage: true })).toBe(true);
    const left = async ({ history }: PluginStore): Promise<unknown> => {
      const range = { from: dayOf(clock.nowMs()) - 390, to: dayOf(clock.nowMs()) };
      const days = [await history.days(quota, range), await history.days(credit, range)].map((found) =>
        found !== undefined && 'days' in found
          ? [found.team.plan, found.team.name, found.days, found.keys.map(({ keyId, mode }) => [keyId, mode])]
          : found,
      );
      return [days, await history.periods(quota), await history.periods(credit)];
    };
    const expected = await left(source);
    await source.close();
    const tally = await copy(from, to);
    expect(tally).toMatchObject({ teams: 1, usagesOnly: 2 });
    const target = await open(to, clock);
    expect(await left(target)).toEqual(expected);
    expect(await target.teams.findTeam(quota)).toBeUndefined();
    expect(await target.teams.deleteTeam(quota, { keepUsage: false })).toBe(true);
    expect(await target.history.periods(quota)).toBeUndefined();
    await target.close();
    expect((await checkedStore(to, 0, FAR_FUTURE_MS, others)).findings).toEqual([]);
  });
});

describe('refused in one line:', () => {
  let from: string;
  beforeEach(async () => {
    from = sqliteUrl();
    await filled(from);
  });

  test('a source of either kind that is in use', async () => {
    const store = await open(from, new MovableClock());
    await expect(copy(from, servers[1]!.url)).rejects.toThrow(/^sqlite:\S+ is in use: another process has it open; stop the gateways/);
    await store.close();
    await copy(from, servers[0]!.url);
    const serving = promisedStore(await openRedisStore({ url: servers[0]!.url, log: SILENT, commandTimeoutMs: 5000 }));
    await serving.gateways.leave({ host: 'h', file: 'f' });
    await expect(copy(servers[0]!.url, sqliteUrl())).rejects.toThrow(/^the store redis:\S+ was in use by a gateway within the last minute/);
    await serving.close();
  });

  test('a target of either kind that is not empty', async () => {
    const to = sqliteUrl();
    await copy(from, to);
    await expect(copy(from, to)).rejects.toThrow(/^the store sqlite:\S+ is not empty \(it has teams\): choose an empty store$/);
    await expect(copy(from, to, true)).rejects.toThrow(/is not empty/);
    await copy(from, servers[1]!.url);
    await expect(copy(from, servers[1]!.url, true)).rejects.toThrow(/^the store redis:\S+ is not empty \(it has teams\): choose/);
  });

  test('a store as its own target, unknown kinds, and stores that do not exist', async () => {
    await expect(copy(from, from)).rejects.toThrow(/are the same store/);
    await expect(copy('redis://localhost/', 'redis://127.0.0.1:6379/0')).rejects.toThrow(/are the same store/);
    await expect(copy(from, 'mine:x')).rejects.toThrow(/^the store mine:x cannot be opened: .*must name the plugin that opens mine: URLs$/);
    await expect(copy('postgres://u:p@h/db', from)).rejects.toThrow(/^the store postgres:\/\/\*\*\*@h\/db cannot be opened/);
    await expect(copy(sqliteUrl(), servers[1]!.url)).rejects.toThrow(/there is no store at sqlite:/);
    await expect(copy(servers[0]!.url, sqliteUrl())).rejects.toThrow(/there is no store at redis:/);
    await expect(copy(from, `sqlite:${from.slice('sqlite:'.length)}/a.db`)).rejects.toThrow(/sqlite:\S+ /);
    await expect(copy(from, 'redis://127.0.0.1:1')).rejects.toThrow(/cannot be used \(ECONNREFUSED\)/);
  });

  test('a source with a fault, which leaves the target half-written', async () => {
    const database = new DatabaseSync(from.slice('sqlite:'.length));
    database.exec(`DELETE FROM pieces WHERE blob = '${RICH.dictionary}'`);
    database.close();
    await expect(copy(from, servers[1]!.url)).rejects.toThrow(
      /^the source has a fault \(team \w+: dictionary \w+ has no entries\): run "lingate store check"/,
    );
    await expect(open(servers[1]!.url, new MovableClock())).rejects.toThrow(/is half-written/);
  });
});

describe.each(['sqlite', 'redis'] as const)('an interrupted copy into %s', (kind) => {
  test('cannot be used, is repeated only on demand, and is complete then', async () => {
    const [from, to] = [sqliteUrl(), urlOf(kind, 1)];
    const clock = await filled(from);
    const stop = copyStoreTo({
      from,
      to,
      restart: false,
      onProgress: ({ teams }) => {
        if (teams === 2) throw new Error('the power is gone');
      },
    });
    await expect(stop).rejects.toThrow('the power is gone');
    await expect(open(to, clock)).rejects.toThrow(
      /^the store \S+ is half-written: a copy into it has not ended; repeat that "lingate store copy" with --restart/,
    );
    for (const words of [
      ['team', 'list'],
      ['store', 'check'],
      ['store', 'migrate'],
      ['store', 'copy', '--from', to, '--to', sqliteUrl()],
    ]) {
      const { status, stderr } = await inProcess(words, { LINGATE_STORE: to });
      expect([status, stderr.split('\n').at(-2)]).toEqual([1, expect.stringContaining('is half-written')]);
    }
    await expect(copy(from, to)).rejects.toThrow(/is half-written/);
    await copy(from, to, true);
    // The chores of a store that is open beside the other must not meet the other's future.
    const own = new MovableClock();
    own.set(clock.nowMs());
    const [source, target] = [await open(from, clock), await open(to, own)];
    expect(await everyAnswer(target, own)).toEqual(await everyAnswer(source, clock));
    await source.close();
    await target.close();
  });
});

describe("a plugin's store", () => {
  let from: string;
  let clock: MovableClock;
  beforeEach(async () => {
    from = urlOf('memory', 0);
    clock = await filled(from);
  });

  test('is reported by the check for a key that cannot be found', async () => {
    // Found first.
    dataOf(from).owners.unshift({ digest: RICH.digest, owner: { keyId: RICH.creditKey, teamId: credit, mode: 'live' } });
    const { findings } = await checkedStore(from, 0, FAR_FUTURE_MS, others);
    expect(findings).toEqual([{ what: 'digest', teamId: quota, keyId: RICH.key, detail: 'its digest does not lead to it' }]);
  });

  test('tells of a period of Redis that has ended and was not told of', async () => {
    const [redis, to, file] = [urlOf('redis', 0), urlOf('memory', 1), sqliteUrl()];
    const source = await open(redis, clock);
    const team = await teamUnderTest(source);
    // What has ended before a gateway looked for the first time is not reported.
    await source.outbox.due(1);
    await team.use(5);
    await team.setLimits({ period: 'P7D' });
    await source.close();
    await copy(redis, to);
    await copy(to, file);
    const last = await open(file, clock);
    const kinds = async (): Promise<string[]> =>
      Promise.all(answered(await last.outbox.due(100)).map(async (event) => answered(await last.outbox.read(event))!.facts.kind));
    expect((await kinds()).filter((kind) => kind === 'period_closed')).toEqual(['period_closed']);
    expect(answered(await last.history.periods(team.teamId))).toMatchObject([{ number: 2 }, { number: 1, characters: 5, closed: true }]);
    await last.close();
  });
});

test.each(['redis', 'memory'] as const)(
  'waiting events are copied over %s with their times and tries, and so are the recorded thresholds',
  async (kind) => {
    const [from, middle, to] = [sqliteUrl(), urlOf(kind, 0), sqliteUrl()];
    const clock = await filled(from);
    expect((await copy(from, middle)).events).toBeGreaterThan(7);
    await copy(middle, to);
    const rows = (url: string, sql: string): unknown[] => {
      const database = new DatabaseSync(url.slice('sqlite:'.length));
      const found = database.prepare(sql).all();
      database.close();
      return found;
    };
    const events = "SELECT id, value FROM records WHERE team = 0 AND kind = 'events' ORDER BY id";
    const parsed = (url: string) =>
      rows(url, events).map((row) => ({ ...(row as object), value: JSON.parse((row as { value: string }).value) as unknown }));
    expect(parsed(to)).toEqual(parsed(from));
    // Nothing that was reported is reported again.
    const [source, target] = [await open(from, clock), await open(to, clock)];
    for (const one of [target, source]) await one.outbox.due(1);
    expect(parsed(to)).toEqual(parsed(from));
    await Promise.all([source.close(), target.close()]);
    const store = await open(middle, clock);
    const due = answered(await store.outbox.due(100));
    expect(await Promise.all(due.map((one) => store.outbox.read(one)))).not.toContain(undefined);
    expect(due.length).toBeGreaterThan(7);
    await store.close();
  },
);

test.each(['redis', 'memory'] as const)('refusals that were told are copied over %s, so that none is told again', async (kind) => {
  const [from, middle, to] = [sqliteUrl(), urlOf(kind, 0), sqliteUrl()];
  const clock = await filled(from);
  const source = await open(from, clock);
  const plain = await teamUnderTest(source, { characterLimit: 10 });
  const prepaid = await teamUnderTest(source, PREPAID);
  const limited = freshKey(plain.teamId, 'limited');
  answered(await source.teams.createKey({ ...limited, limits: { characters: 5 } }));
  for (const refused of [plain, plain.withKey(limited.keyId), prepaid]) await refused.admit({ characters: 11 });
  // A refusal is reported after its answer.
  await source.outbox.due(1);
  answered(await source.teams.updateTeam(prepaid.teamId, { addMicro: 1 }));
  clock.step(120_000);
  await prepaid.admit({ characters: 11 });
  const limits = async (store: PluginStore): Promise<unknown[]> => {
    const due = answered(await store.outbox.due(1000));
    const read = await Promise.all(due.map(async (event) => answered(await store.outbox.read(event))));
    return read.flatMap((event) => (event?.facts.kind === 'limit_reached' ? [event.id] : [])).toSorted();
  };
  const before = await limits(source);
  expect(before.length).toBeGreaterThanOrEqual(4);
  await source.close();
  await copy(from, middle);
  await copy(middle, to);
  const target = await open(to, clock);
  for (const refused of [plain, plain.withKey(limited.keyId), prepaid]) await refused.admit({ characters: 11 }, target);
  expect(await limits(target)).toEqual(before);
  await target.close();
});
