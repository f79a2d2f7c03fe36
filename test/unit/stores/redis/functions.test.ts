// The functions themselves: called with arguments missing, called too late, and the only source of the server's time.
import type { Redis } from 'ioredis';
import { beforeEach, describe, expect, test } from 'vitest';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { packPlan } from '../../../../src/stores/redis/team-layout.ts';
import { encodeCall } from '../../../../src/stores/redis/ledger-codec.ts';
import { teamKeys } from '../../../../src/stores/redis/redis-keys.ts';
import { functionLibrary } from '../../../../src/stores/redis/functions.ts';
import type { FunctionName } from '../../../../src/stores/redis/functions.ts';
import { SERVERS_OWN, ServerClocks } from '../../../../src/stores/redis/server-clocks.ts';
import { singleGlossary } from '../../../../src/testing/store/dictionaries-under-test.ts';
import { emptyRedis } from '../../../support/redis-of-file.ts';
import { KEY, QUOTA, TEAM, asking, furnish, functionCalls, snapshot } from './fixture.ts';

const { team } = teamKeys(TEAM);
const LIBRARY = functionLibrary().name;
const NEVER_MS = 9_999_999_999_999;
const PAST_MS = 1;
const soonMs = (): number => Date.now() + 60_000;

interface Call {
  readonly name: FunctionName;
  readonly what: string;
  readonly keys: readonly string[];
  readonly args: (deadlineMs: number) => readonly (string | Buffer)[];
  /** Only for the ledger's function. */
  readonly operations?: number;
}

/** The period's bounds are used only by `create_team`: the other calls find a current period. */
function single(name: FunctionName, functionKeys: readonly string[], args: readonly (string | Buffer)[]): Call {
  return {
    name,
    what: String(args[0]),
    keys: functionKeys,
    args: (deadlineMs) => ['', String(deadlineMs), '1', String(NEVER_MS), 'P1M', '1', ...args],
  };
}

function ledger(what: string, operations: Parameters<typeof encodeCall>[0][number]): Call {
  const args = (deadlineMs: number) => [encodeCall([operations], undefined, SERVERS_OWN, deadlineMs)];
  return { name: 'ledger', what, keys: [team], args, operations: operations.length };
}

const ADMISSION = asking('r2');
const COMMIT = { requestId: 'r1', verdict: 'commit' } as const;

const NO_KEY = ['same_key', 'other', '', '', ''];
const AUDITED = ['0'.repeat(31), '{}', '1000'];

/** Calls that write if they are complete. */
const CALLS: readonly Call[] = [
  ledger('an admission', [ADMISSION]),
  ledger('a commit', [COMMIT]),
  ledger('a commit of a part', [{ ...COMMIT, characters: 3 }]),
  ledger('a commit of a part among others', [ADMISSION, { ...COMMIT, characters: 0 }, { requestId: 'r3', verdict: 'release' }]),
  ledger('three operations', [ADMISSION, COMMIT, { requestId: 'r3', verdict: 'release' }]),
  ledger('an admission with a glossary', [asking('r2', { glossary: { glossaryId: 'G1', sourceLang: 'EN', targetLang: 'DE' } })]),
  single(
    'create_team',
    [`${team}2`],
    ['0', '10', 'name', 'n', 'plan', 'p', 'currency', 'EUR', 'period', 'P1M', 'p', packPlan(QUOTA), ...AUDITED],
  ),
  single('update_team', [team], ['5', 'once', 'asked', '1000', '2', 'name', 'other', ...AUDITED]),
  single('change_records', [team], [...AUDITED, '2', ...NO_KEY, 'put_key', 'other', '0 {}', '\u0001', '']),
  single('free_records', [team], [...AUDITED, '1', 'put_key', KEY, '0 1 {}', '\u0001', '']),
  single(
    'change_records',
    [team],
    [...AUDITED, '5', ...'absent glossaries G2 put glossaries G2 {} put pairs G2 EN|DE:G2 attach G2 x hold G3 0'.split(' ')],
  ),
  single('free_records', [team], [...AUDITED, '3', 'remove', 'glossaries', 'G1', 'remove', 'pairs', 'G1', 'detach', 'G1']),
  single('tend', [team], ['400', '0']),
  single('drop_tags', [team], ['-1', 'tag_counts', '0']),
];

const redis = emptyRedis();
let client: Redis;
let store: PluginStore;

beforeEach(async () => {
  ({ client } = redis);
  store = await redis.open();
  await furnish(store, { ...QUOTA, maxGlossaries: 2 });
  await store.ledger.admit({ ...asking('r0'), tag: { name: 'acme', distinctMax: 1 } });
  await store.ledger.resolve(TEAM, 'r0', 'commit');
  await store.ledger.admit(asking('r1'));
  answered(
    await store.glossaries.create(
      singleGlossary({ glossaryId: 'G1', teamId: TEAM, name: 'n', sourceLang: 'EN', targetLang: 'DE', entries: { a: 'b' } }),
    ),
  );
});

function run({ name, keys: functionKeys }: Call, args: readonly (string | Buffer)[], given = functionKeys): Promise<unknown> {
  return client.callBuffer('FCALL', `${LIBRARY}_${name}`, given.length, ...given, ...args);
}

describe.each(CALLS)('the function $name with $what', (call) => {
  test('with an argument or key missing fails and changes nothing', async () => {
    const before = await snapshot(client);
    const full = call.args(soonMs());
    const missing = /is missing|too short/;
    for (let length = 0; length < full.length; length++) await expect(run(call, full.slice(0, length))).rejects.toThrow(missing);
    for (let length = 0; length < call.keys.length; length++)
      await expect(run(call, full, call.keys.slice(0, length))).rejects.toThrow(missing);
    const last = full.at(-1)!;
    for (let bytes = 0; call.name === 'ledger' && bytes < last.length; bytes++) {
      await expect(run(call, [last.slice(0, bytes)])).rejects.toThrow(missing);
    }
    expect(await snapshot(client)).toEqual(before);
  });

  test('past its deadline answers the time and changes nothing', async () => {
    const before = await snapshot(client);
    const reply = await run(call, call.args(PAST_MS));
    if (call.operations === undefined) expect(reply).toEqual([expect.any(Number), Buffer.from('late')]);
    else expect((reply as Buffer).subarray(8).toString()).toBe('T'.repeat(call.operations));
    expect(await snapshot(client)).toEqual(before);
  });

  test('whose clock has stepped back by more than an hour answers the time and changes nothing', async () => {
    const before = await snapshot(client);
    const reply = await run(call, call.args(Date.now() + 3_700_000));
    if (call.operations === undefined) expect(reply).toEqual([expect.any(Number), Buffer.from('late')]);
    else expect((reply as Buffer).subarray(8).toString()).toBe('T'.repeat(call.operations));
    expect(await snapshot(client)).toEqual(before);
  });

  test('before its deadline does its work', async () => {
    const before = await snapshot(client);
    await run(call, call.args(soonMs()));
    expect(await snapshot(client)).not.toEqual(before);
  });
});

describe("the store's time", () => {
  test('is known from the start, without a call of its own', async () => {
    const fresh = await redis.open();
    await client.config('RESETSTAT');
    expect(await fresh.ledger.admit(asking('r2'))).toMatchObject({ kind: 'admitted' });
    expect(await functionCalls(client)).toBe(1);
    expect(await fresh.ledger.admit(asking('r3'))).toMatchObject({ kind: 'admitted' });
    expect(await functionCalls(client)).toBe(2);
  });

  test('is never overestimated, and follows a clock that is set', () => {
    const time = new ServerClocks();
    expect(time.at('a', 0)).toBe(0);
    // Sent at 100, received at 180: the server's clock read 5000 at some time in between.
    time.learn('a', 100, 180, 5000);
    expect(time.at('a', 180)).toBe(5000);
    // A quicker reply narrows the estimate; a slower one that is consistent changes nothing.
    time.learn('a', 200, 210, 5080);
    expect(time.at('a', 210)).toBe(5080);
    time.learn('a', 300, 400, 5200);
    expect(time.at('a', 400)).toBe(5270);
    time.learn('a', 500, 510, 1000);
    expect(time.at('a', 510)).toBe(1000);
    time.learn('a', 600, 610, 9000);
    expect(time.at('a', 610)).toBe(9000);
    expect(time.at('b', 610)).toBe(0);
    time.forget();
    expect(time.at('a', 610)).toBe(0);
  });
});
