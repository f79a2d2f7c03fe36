// Waits until a replica has a write of a team, on a separate connection, because WAIT blocks every command behind it.
import type { Redis } from 'ioredis';
import { causeOf, within } from './failure-cause.ts';
import { eachServer, ownConnection, serverOf } from './redis-connection.ts';
import { markKey } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';

const REPLICAS = 1;
const WAIT_MS = 1000;
const MARK_KEPT_MS = 1000;

export class Replication {
  readonly #link: RedisLink;
  readonly #commandTimeoutMs: number;
  /** The process that each connection has led to, since it was made last. */
  readonly #runIds = new Map<string, string | undefined>();

  constructor(link: RedisLink, commandTimeoutMs: number) {
    this.#link = link;
    this.#commandTimeoutMs = commandTimeoutMs;
    eachServer(link.redis, (server, name) => {
      const note = (): Promise<void> => readReplication(server).then(({ runId }) => void this.#runIds.set(name, runId));
      const noteReady = (): void => void note().catch(() => this.#runIds.delete(name));
      if (server.status === 'ready') noteReady();
      server.on('ready', noteReady);
      server.on('close', () => this.#runIds.delete(name));
    });
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
    try {
      const server = serverOf(this.#link.redis, node);
      if (server === undefined) return false;
      const { runId, hasReplicas } = await readReplication(server);
      // A different server from the one that was written to may lack the write altogether.
      if (!this.#runIds.has(node) || runId !== this.#runIds.get(node)) return false;
      if (!hasReplicas) return undefined;
      const own = ownConnection(server, this.#commandTimeoutMs + WAIT_MS);
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
    if ((await readReplication(own)).runId !== runId) return false;
    // WAIT only covers writes of its own connection, so set a key after the write in question.
    await own.set(markKey(teamId), '', 'PX', MARK_KEPT_MS);
    const confirmed = Number(await own.call('WAIT', REPLICAS, WAIT_MS)) >= REPLICAS;
    // Delete the key now: its name contains the team's id, and the team may have been deleted.
    await own.unlink(markKey(teamId));
    return confirmed;
  }
}

/** The process of a server, `undefined` if INFO is not permitted, and whether it has replicas, or had one within `repl-backlog-ttl` (an hour). */
async function readReplication(server: Redis): Promise<{ readonly runId: string | undefined; readonly hasReplicas: boolean }> {
  try {
    const info = await server.info('server', 'replication');
    const member = (name: string): string => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1] ?? '';
    const hasReplicas = Number(member('connected_slaves')) > 0 || member('repl_backlog_active') === '1';
    return { runId: member('run_id'), hasReplicas };
  } catch (error) {
    if (['noperm', 'refused'].includes(causeOf(error))) return { runId: undefined, hasReplicas: false };
    throw error;
  }
}
