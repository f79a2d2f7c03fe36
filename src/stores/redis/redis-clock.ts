// The clock of a Redis store: asks every master for its time twice a second, and keeps the latest believed time in Redis, by which
// gateways judge the servers when they start, and learn what others have found or an operator has accepted.
import { agree } from '../../domain/clock-judge.ts';
import { answering } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { AcceptedClock, ClocksApart, ClockStep, StoreClock } from '../../ports/clock.ts';
import { nameOf } from './master-info.ts';
import { mastersOf } from './redis-connection.ts';
import type { RedisConnection } from './redis-connection.ts';
import { CLOCK_KEY } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';
import type { ServerClocks, SimulatedServers } from './server-clocks.ts';
import { serverTime } from './server-call.ts';

/** How often the latest time is written. */
const MARK_EVERY_MS = 60_000;

interface ServerTime {
  readonly server: string;
  readonly nowMs: number;
}

/** Reads the time of every master. */
async function readClocks(redis: RedisConnection, clocks: ServerClocks, servers?: SimulatedServers): Promise<ServerTime[]> {
  return Promise.all(
    mastersOf(redis).map(async (master) => {
      const server = 'slots' in redis ? nameOf(master) : '';
      const sentAtMs = performance.now();
      const nowMs = servers?.wallMs() ?? (await serverTime(master));
      clocks.learn(server, sentAtMs, performance.now(), nowMs);
      return { server, nowMs };
    }),
  );
}

/** Before anything else is read or written: the servers are judged by what the store remembers, or else by each other. */
export async function beginClocks(redis: RedisConnection, clocks: ServerClocks, servers?: SimulatedServers): Promise<void> {
  const latest = await readMark(redis);
  if (latest !== undefined) clocks.begin(latest);
  else {
    const times = await Promise.all(mastersOf(redis).map(async (master) => servers?.wallMs() ?? serverTime(master)));
    clocks.begin(times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)]!);
  }
  await readClocks(redis, clocks, servers);
}

export class RedisClock implements StoreClock {
  readonly #link: RedisLink;
  readonly #clocks: ServerClocks;
  readonly #servers: SimulatedServers | undefined;
  #markedMs = -Infinity;

  constructor(link: RedisLink, clocks: ServerClocks, servers?: SimulatedServers) {
    this.#link = link;
    this.#clocks = clocks;
    this.#servers = servers;
  }

  step(): ClockStep | undefined {
    return this.#clocks.step();
  }

  look(): Promise<StoreUnavailable | undefined> {
    return answering(() =>
      this.#link.ask(async (redis) => {
        await readClocks(redis, this.#clocks, this.#servers);
        this.#clocks.look();
        if (this.step() !== undefined) this.#clocks.confirm((await readMark(redis)) ?? Number.NaN);
        if (this.step() === undefined) await this.#mark(redis);
        return undefined;
      }),
    );
  }

  accept(): Promise<AcceptedClock | ClocksApart | StoreUnavailable> {
    return answering(() =>
      this.#link.ask(async (redis): Promise<AcceptedClock | ClocksApart> => {
        const servers = await readClocks(redis, this.#clocks, this.#servers);
        const steppedMs = this.step()?.byMs ?? 0;
        const [{ nowMs } = { nowMs: 0 }] = servers;
        if (!servers.every((other) => agree(other.nowMs, nowMs))) return { kind: 'apart', servers };
        await redis.set(CLOCK_KEY, String(nowMs));
        this.#clocks.confirm(nowMs);
        return { kind: 'accepted', nowMs, steppedMs };
      }),
    );
  }

  /** Once a minute, and as soon as a step is believed: gateways that still wait then believe it too. */
  async #mark(redis: RedisConnection): Promise<void> {
    const nowMs = this.#clocks.now();
    if (nowMs === undefined || Math.abs(nowMs - this.#markedMs) < MARK_EVERY_MS) return;
    await redis.set(CLOCK_KEY, String(nowMs));
    this.#markedMs = nowMs;
  }
}

async function readMark(redis: RedisConnection): Promise<number | undefined> {
  const latest = Number((await redis.get(CLOCK_KEY)) ?? undefined);
  return Number.isSafeInteger(latest) ? latest : undefined;
}
