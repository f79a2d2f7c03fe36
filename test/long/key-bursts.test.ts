// Limits of keys and of their team together, in bursts of unknown order: exact over two instances of each store, and over two gateways on one Redis.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answered } from '../../src/index.ts';
import { MovableClock, startScriptedEngine } from '../../src/testing.ts';
import { freshKey, newId, teamUnderTest } from '../support/door/contracts.ts';
import type { Admission } from '../../src/ports/ledger.ts';
import type { PluginStore } from '../../src/ports/plugin.ts';
import type { ScriptedEngine } from '../../src/testing/scripted-engine.ts';
import type { TeamUnderTest } from '../../src/testing/store/team-under-test.ts';
import { redisBacking, sqliteBacking } from '../support/backings.ts';
import { QUOTA_PLAN, startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { rateFault } from '../support/auditor/windows.ts';
import { startRedis } from '../support/redis.ts';
import type { RedisServer } from '../support/redis.ts';
import { seeded } from '../evidence/faults/seeded.ts';

const REQUESTS = 100_000;
const ROUNDS = 12;

interface Counted {
  slots: { readonly storeMs: number }[];
  used: number;
  held: number;
}

interface KeyCounted extends Counted {
  readonly keyId: string;
  readonly rate: number;
  readonly characters: number;
}

interface Reserved {
  readonly requestId: string;
  readonly key: KeyCounted;
  readonly characters: number;
}

/** One team with three limited keys, and the required result, whatever the order of a burst. */
class Burst {
  readonly violations: string[] = [];
  asked = 0;
  readonly #team: TeamUnderTest;
  readonly #stores: readonly PluginStore[];
  readonly #random: ReturnType<typeof seeded>;
  readonly #rate: number;
  readonly #characters: number;
  readonly #keys: readonly KeyCounted[];
  readonly #whole: Counted = { slots: [], used: 0, held: 0 };
  #open: Reserved[] = [];

  private constructor(
    team: TeamUnderTest,
    stores: readonly PluginStore[],
    random: ReturnType<typeof seeded>,
    rate: number,
    characters: number,
    keys: readonly KeyCounted[],
  ) {
    this.#team = team;
    this.#stores = stores;
    this.#random = random;
    this.#rate = rate;
    this.#characters = characters;
    this.#keys = keys;
  }

  static async of(stores: readonly PluginStore[], random: ReturnType<typeof seeded>): Promise<Burst> {
    const [rate, characters] = [random.between(20, 60), random.between(200, 2200)];
    const team = await teamUnderTest(stores[0]!, { requestsPerSecond: rate, characterLimit: characters });
    const keys = await Promise.all(
      Array.from({ length: 3 }, async (): Promise<KeyCounted> => {
        const limits = { requestsPerSecond: random.between(3, 18), characters: random.between(50, 750) };
        const key = { ...freshKey(team.teamId), limits };
        answered(await stores[0]!.teams.createKey(key));
        return { keyId: key.keyId, rate: limits.requestsPerSecond, characters: limits.characters, slots: [], used: 0, held: 0 };
      }),
    );
    return new Burst(team, stores, random, rate, characters, keys);
  }

  async round(nowMs: number): Promise<void> {
    const requests = Array.from({ length: this.#random.between(10, 70) }, () => ({
      key: this.#keys[this.#random.between(0, 2)]!,
      characters: this.#random.between(1, 30),
    }));
    this.asked += requests.length;
    const answers = await Promise.all(
      requests.map(({ key, characters }) => this.#admit({ requestId: newId(), keyId: key.keyId, characters })),
    );
    for (const [i, answer] of answers.entries()) this.#count(answer, requests[i]!, nowMs);
    for (const [i, answer] of answers.entries()) this.#judge(answer, requests[i]!, nowMs);
    this.#judgeLimits();
    await this.#settleSome();
    await this.#judgeBooks();
  }

  /** A busy file may answer too late on a busy machine; the id then tells whether the operation ran. */
  async #admit(request: { readonly requestId: string; readonly keyId: string; readonly characters: number }): Promise<Admission> {
    for (;;) {
      const answer = await this.#team.admit(request, this.#anyStore());
      if (answer.kind !== 'unavailable') return answer;
    }
  }

  #anyStore(): PluginStore {
    return this.#stores[this.#random.between(0, this.#stores.length - 1)]!;
  }

  #count(answer: Admission, { key, characters }: Omit<Reserved, 'requestId'>, nowMs: number): void {
    if (answer.kind === 'rate_limited') return;
    const ofBoth: readonly [Counted, number][] = [
      [this.#whole, this.#rate],
      [key, key.rate],
    ];
    for (const [{ slots }, rate] of ofBoth) {
      const fault = rateFault(slots, rate, false, nowMs);
      if (fault !== undefined) this.violations.push(fault);
      slots.push({ storeMs: nowMs });
    }
    if (answer.kind !== 'admitted' || answer.reservation === undefined) return;
    for (const one of [this.#whole, key]) one.held += characters;
    this.#open.push({ requestId: answer.reservation.requestId, key, characters });
  }

  /** Refused requests would not have fitted at the end either: a refused request takes nothing. */
  #judge(answer: Admission, { key, characters }: Omit<Reserved, 'requestId'>, nowMs: number): void {
    if (answer.kind === 'rate_limited') {
      const [{ slots }, rate] = answer.of === 'key' ? [key, key.rate] : [this.#whole, this.#rate];
      const fault = answer.limit === rate ? rateFault(slots, rate, true, nowMs) : `was told a limit of ${answer.limit}, not ${rate}`;
      if (fault !== undefined) this.violations.push(fault);
    } else if (answer.kind === 'quota_exceeded') {
      const [{ used, held }, limit] = answer.of === 'key' ? [key, key.characters] : [this.#whole, this.#characters];
      if (answer.characterLimit !== limit || used + held + characters <= limit) {
        this.violations.push(`characters that fit were refused: ${JSON.stringify({ answer, characters, key, team: this.#whole })}`);
      }
    } else if (answer.kind !== 'admitted') {
      this.violations.push(`an answer of another kind: ${answer.kind}`);
    }
  }

  #judgeLimits(): void {
    const over = ({ used, held }: Counted, characters: number): boolean => used + held > characters;
    if (over(this.#whole, this.#characters)) this.violations.push('the team is over a limit');
    for (const key of this.#keys) if (over(key, key.characters)) this.violations.push('a key is over a limit');
  }

  async #settleSome(): Promise<void> {
    const ending = this.#open.filter(() => this.#random.between(0, 2) > 0);
    this.#open = this.#open.filter((one) => !ending.includes(one));
    await Promise.all(
      ending.map(async ({ requestId, key, characters }) => {
        const isCommitted = this.#random.between(0, 1) === 0;
        for (const one of [this.#whole, key]) {
          one.held -= characters;
          if (isCommitted) one.used += characters;
        }
        const store = this.#anyStore();
        const settle = () => (isCommitted ? this.#team.commit(requestId, store) : this.#team.release(requestId, store));
        while ((await settle()).kind === 'unavailable');
      }),
    );
  }

  async #judgeBooks(): Promise<void> {
    const { usedCharacters, heldCharacters } = await this.#team.standing();
    if (usedCharacters !== this.#whole.used || heldCharacters !== this.#whole.held) this.violations.push('the team’s counts are others');
    const { keys } = await this.#team.usage();
    for (const { keyId, used } of this.#keys) {
      if (keys.find((key) => key.keyId === keyId)?.characters !== used) this.violations.push('a key’s count is another');
    }
  }
}

describe.each([
  ['redis', () => redisBacking()],
  ['sqlite', () => sqliteBacking('normal')],
] as const)('two instances on %s', (_name, make) => {
  test(`${REQUESTS} requests of limited keys: no limit is exceeded, and nothing that fits is refused`, { timeout: 600_000 }, async () => {
    const [clock, random, backing] = [new MovableClock(), seeded(), await make()];
    const stores = [await backing.open(clock), await backing.open(clock)];
    let asked = 0;
    while (asked < REQUESTS) {
      const burst = await Burst.of(stores, random);
      for (let round = 0; round < ROUNDS; round++) {
        clock.step(random.between(0, 2) === 0 ? random.between(1000, 3000) : random.between(0, 400));
        await burst.round(clock.nowMs());
      }
      expect([...new Set(burst.violations)]).toEqual([]);
      asked += burst.asked;
    }
    for (const store of stores) await store.close();
    await backing.remove();
  });
});

describe('two gateways on one Redis', () => {
  let redis: RedisServer;
  let engine: ScriptedEngine;
  let gateways: readonly TestGateway[];

  beforeAll(async () => {
    [redis, engine] = await Promise.all([startRedis(), startScriptedEngine()]);
    const one = (): Promise<TestGateway> => startGateway({ listener: 'node', store: redis.url, engineUrls: [engine.url] });
    gateways = [await one(), await one()];
  });

  afterAll(async () => {
    for (const gateway of gateways) await gateway.stop();
    await engine.close();
    await redis.stop();
  });

  const translate = async (index: number, key: string): Promise<number> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ text: ['0123456789'], target_lang: 'DE' });
    const response = await fetch(`http://127.0.0.1:${gateways[index % 2]!.port}/v1/translate`, { method: 'POST', headers, body });
    await response.arrayBuffer();
    return response.status;
  };

  test('a key’s characters are exact, whichever gateway is called, and both refuse a disabled one at once', async () => {
    const [gateway] = gateways;
    const team = await gateway!.team({ ...QUOTA_PLAN, requests_per_second: 1000 });
    answered(await gateway!.store.teams.updateKey(team.keyId, { limits: { characters: 105 } }));
    const statuses = await Promise.all(Array.from({ length: 60 }, (_none, index) => translate(index, team.key)));
    expect(Map.groupBy(statuses, (status) => status).get(200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 402)).toHaveLength(50);
    answered(await gateway!.store.teams.updateKey(team.keyId, { limits: { characters: null }, disabled: true }));
    expect([await translate(0, team.key), await translate(1, team.key)]).toEqual([401, 401]);
    answered(await gateway!.store.teams.updateKey(team.keyId, { disabled: false }));
    expect([await translate(0, team.key), await translate(1, team.key)]).toEqual([200, 200]);
    await expect.poll(async () => answered(await gateway!.store.teams.usage(team.teamId))?.characters).toBe(120);
  });
});
