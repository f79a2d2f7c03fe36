// Waits until a replica has a write of a team, on a separate connection, because WAIT blocks every command behind it.
import type { Redis } from 'ioredis';
import { readMasterInfo, serverOf } from './masters.ts';
import { ownConnection } from './redis-connection.ts';
import { markKey } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';
import type { RedisTarget } from './redis-url.ts';
import { within } from './failure-cause.ts';

const REPLICAS = 1;
const WAIT_MS = 1000;
const MARK_KEPT_MS = 1000;

export class Replication {
  readonly #link: RedisLink;
  readonly #target: RedisTarget;
  readonly #commandTimeoutMs: number;

  constructor(link: RedisLink, target: RedisTarget, commandTimeoutMs: number) {
    this.#link = link;
    this.#target = target;
    this.#commandTimeoutMs = commandTimeoutMs;
  }

  /** As `TeamRegistry.replicated`: `false` also if it cannot be determined, `undefined` without replicas. */
  async confirm(teamIds: readonly string[]): Promise<boolean | undefined> {
    // One team of each master is enough: a replica that has a write has all earlier writes of its master.
    const teams = new Map(teamIds.map((teamId) => [this.#link.nodeOf(teamId), teamId]));
    const found = await Promise.all([...teams].map(([node, teamId]) => this.#confirm(node, teamId)));
    if (found.includes(false)) return false;
    return found.includes(true) ? true : undefined;
  }

  async #confirm(node: string, teamId: string): Promise<boolean | undefined> {
    const { redis, masters } = this.#link;
    try {
      const server = serverOf(redis, node);
      if (server === undefined) return false;
      const { runId, hasReplicas } = await readMasterInfo(server);
      // A different server from the one that was written to may lack the write altogether.
      if (runId !== masters.runIdOf(node)) return false;
      if (!hasReplicas) return undefined;
      const own = ownConnection(this.#target, node, this.#commandTimeoutMs + WAIT_MS);
      try {
        return await within(this.#wait(own, teamId, runId), 2 * this.#commandTimeoutMs + WAIT_MS);
      } finally {
        own.disconnect();
      }
    } catch {
      return false;
    }
  }

  async #wait(own: Redis, teamId: string, runId: string | undefined): Promise<boolean> {
    await own.connect();
    if ((await readMasterInfo(own)).runId !== runId) return false;
    // WAIT only covers writes of its own connection, so set a key after the write in question.
    await own.set(markKey(teamId), '', 'PX', MARK_KEPT_MS);
    const confirmed = Number(await own.call('WAIT', REPLICAS, WAIT_MS)) >= REPLICAS;
    // Delete the key now: its name contains the team's id, and the team may have been deleted.
    await own.unlink(markKey(teamId));
    return confirmed;
  }
}
