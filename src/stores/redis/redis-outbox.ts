// The outbox in Redis: finds, leases, postpones and counts the events of all teams.
import { RULES_FOLLOWED_MS } from '../../domain/event-rules.ts';
import type { EventRules } from '../../domain/event-rules.ts';
import { answering } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { DueEvent, KeptEvent, Outbox } from '../../ports/outbox.ts';
import { listEvents, memberOf, readEvent } from './event-codec.ts';
import type { RedisConnection } from './redis-connection.ts';
import { EVENTS_KEY, outboxKey, SENDER_KEY, TRIES_KEY } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';
import type { ServerClocks } from './server-clocks.ts';
import { serverTime } from './store-round.ts';
import type { TeamIndex } from './team-index.ts';

interface RedisOutboxParts {
  readonly link: RedisLink;
  readonly index: TeamIndex;
  readonly rules: EventRules;
}

/** How many teams are checked for unlisted events before events are looked for, and the pause after all of them were. */
const UNLISTED_PIECE = 100;
const UNLISTED_AGAIN_MS = 60_000;

export class RedisOutbox implements Outbox {
  readonly #parts: RedisOutboxParts;
  #checked = 0;
  #checkAtMs = 0;

  constructor(parts: RedisOutboxParts) {
    this.#parts = parts;
  }

  pending(): Promise<number | StoreUnavailable> {
    return this.#answer(({ redis }) => redis.zcard(EVENTS_KEY));
  }

  async due(limit: number): Promise<readonly DueEvent[] | StoreUnavailable> {
    // What cannot be checked now is checked later, and delays no listed events.
    await this.#listMissing();
    return this.#answer(async (link) => {
      const members = await link.redis.zrangebyscore(EVENTS_KEY, '-inf', await link.now(), 'LIMIT', 0, limit);
      if (members.length === 0) return [];
      const tries = await link.redis.hmget(TRIES_KEY, ...members);
      return members.map((member, i) => {
        const space = member.indexOf(' ');
        return { id: member.slice(space + 1), teamId: member.slice(0, space), tries: Number(tries[i] ?? 0) };
      });
    });
  }

  read({ id, teamId }: DueEvent): Promise<KeptEvent | undefined | StoreUnavailable> {
    return this.#answer(async ({ redis }) => {
      const packed = await redis.hgetBuffer(outboxKey(teamId), id);
      return packed === null ? undefined : readEvent(id, teamId, packed);
    });
  }

  /** Deletes the event first: if its list entry is left behind, the entry is found to be empty and removed later. */
  remove({ id, teamId }: DueEvent): Promise<StoreUnavailable | undefined> {
    const member = memberOf(teamId, id);
    return this.#answer(async ({ redis }) => {
      await redis.hdel(outboxKey(teamId), id);
      await Promise.all([redis.zrem(EVENTS_KEY, member), redis.hdel(TRIES_KEY, member)]);
      return undefined;
    });
  }

  postpone({ id, teamId, tries }: DueEvent, delayMs: number): Promise<StoreUnavailable | undefined> {
    const member = memberOf(teamId, id);
    return this.#answer(async (link) => {
      const dueMs = (await link.now()) + delayMs;
      await Promise.all([link.redis.hset(TRIES_KEY, member, tries + 1), link.redis.zadd(EVENTS_KEY, dueMs, member)]);
      return undefined;
    });
  }

  lease(holder: string, forMs: number): Promise<boolean | StoreUnavailable> {
    const { link, rules } = this.#parts;
    const args = [holder, link.clockWord, String(forMs), JSON.stringify(rules), String(2 * RULES_FOLLOWED_MS)];
    return this.#answer(async ({ run }) => {
      const reply = await run('lease_outbox', { keys: [SENDER_KEY], args });
      return String((reply as readonly unknown[])[1]) === 'leased';
    });
  }

  async release(holder: string): Promise<StoreUnavailable | undefined> {
    const released = await this.lease(holder, 0);
    return typeof released === 'boolean' ? undefined : released;
  }

  /**
   * Lists the unlisted events of a few teams, and continues from there next time: if a process stops between an operation and
   * updating the list, only the team knows the events.
   */
  async #listMissing(): Promise<StoreUnavailable | undefined> {
    const { link, index } = this.#parts;
    if (performance.now() < this.#checkAtMs) return undefined;
    return answering(async () => {
      const ids = await index.ids(this.#checked, UNLISTED_PIECE);
      await link.ask(async ({ redis }) => {
        const counts = await Promise.all(ids.map((teamId) => redis.hlen(outboxKey(teamId))));
        const nowMs = await link.now();
        for (const [i, teamId] of ids.entries()) if (counts[i]! > 0) await listEvents(redis, teamId, nowMs);
      });
      this.#checked += ids.length;
      if (ids.length === UNLISTED_PIECE) return undefined;
      this.#checked = 0;
      this.#checkAtMs = performance.now() + UNLISTED_AGAIN_MS;
      return undefined;
    });
  }

  #answer<T>(work: (link: RedisLink) => Promise<T>): Promise<T | StoreUnavailable> {
    return answering(() => this.#parts.link.ask(work));
  }
}

/** The rules of the gateway that sends events from this store, or did so within a day. */
export async function rulesInForce(redis: RedisConnection, clocks: ServerClocks): Promise<EventRules | undefined> {
  const [, untilMs, json] = /^\S+ (\d+) (.*)$/s.exec((await redis.get(SENDER_KEY)) ?? '') ?? [];
  if (json === undefined) return undefined;
  const nowMs = clocks.now() ?? (await serverTime(redis));
  return Number(untilMs) > nowMs - RULES_FOLLOWED_MS ? (JSON.parse(json) as EventRules) : undefined;
}
