// The clock of a Redis store: asks every master for its time twice a second, and has the latest time that the store has seen in Redis,
// by which gateways judge the servers, and learn what an operator has accepted.
import { agree } from '../../domain/clock-judge.ts';
import { answering } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { AcceptedClock, ClocksApart, ClockStep, StoreClock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { acceptedClock, ClockMarks, markText, mentionAhead, readMark } from '../records/record-clock.ts';
import { mastersOf, nameOf } from './redis-connection.ts';
import type { RedisConnection } from './redis-connection.ts';
import { CLOCK_KEY } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';
import type { ServerClocks, SimulatedServers } from './server-clocks.ts';
import { serverTime } from './server-call.ts';

interface ServerTime {
  readonly server: string;
  readonly nowMs: number;
}

/** Reads the time of every master, and what Redis has as the latest one. */
async function readClocks(redis: RedisConnection, clocks: ServerClocks, servers?: SimulatedServers) {
  const times = await Promise.all(
    mastersOf(redis).map(async (master): Promise<ServerTime> => {
      const server = 'slots' in redis ? nameOf(master) : '';
      const sentAtMs = performance.now();
      const nowMs = servers?.wallMs() ?? (await serverTime(master));
      clocks.learn(server, sentAtMs, performance.now(), nowMs);
      return { server, nowMs };
    }),
  );
  clocks.keep(times.map(({ server }) => server));
  return { times, mark: readMark(await redis.get(CLOCK_KEY)) };
}

/** Before anything else is read or written. */
export async function beginClocks(redis: RedisConnection, clocks: ServerClocks, log: Log, servers?: SimulatedServers): Promise<void> {
  const { times, mark } = await readClocks(redis, clocks, servers);
  clocks.begin(mark);
  mentionAhead(log, clocks.now(Math.max(...times.map(({ nowMs }) => nowMs)))!, mark.latestMs);
}

export class RedisClock implements StoreClock {
  readonly #link: RedisLink;
  readonly #clocks: ServerClocks;
  readonly #servers: SimulatedServers | undefined;
  readonly #marks = new ClockMarks();

  constructor(link: RedisLink, clocks: ServerClocks, servers?: SimulatedServers) {
    this.#link = link;
    this.#clocks = clocks;
    this.#servers = servers;
  }

  step(): ClockStep | undefined {
    return this.#clocks.step();
  }

  look(): Promise<number | undefined | StoreUnavailable> {
    return answering(() =>
      this.#link.ask(async (redis) => {
        const { mark } = await readClocks(redis, this.#clocks, this.#servers);
        this.#clocks.compare(mark.latestMs);
        const next = this.#marks.next(mark, this.#clocks.now()!, this.step()?.byMs ?? 0);
        if (next !== undefined) await redis.set(CLOCK_KEY, markText(next));
        return (next ?? mark).latestMs;
      }),
    );
  }

  accept(): Promise<AcceptedClock | ClocksApart | StoreUnavailable> {
    return answering(() =>
      this.#link.ask(async (redis): Promise<AcceptedClock | ClocksApart> => {
        const { times, mark } = await readClocks(redis, this.#clocks, this.#servers);
        const [{ nowMs } = { nowMs: 0 }] = times;
        if (!times.every((other) => agree(other.nowMs, nowMs))) return { kind: 'apart', servers: times };
        await redis.set(CLOCK_KEY, markText({ latestMs: nowMs, wrong: undefined }));
        this.#clocks.compare(nowMs);
        return acceptedClock(nowMs, mark.latestMs);
      }),
    );
  }
}
