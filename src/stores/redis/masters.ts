// Checks a master before admissions are sent to it, and again after a lost connection; if it may lack writes, the revocations
// of the last hour are applied to it again first.
import { Cluster } from 'ioredis';
import type { Redis } from 'ioredis';
import { storeErrorOf } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Log } from '../../ports/log.ts';
import { revocation } from '../records/key-registry.ts';
import type { FunctionAnswer } from './function-caller.ts';
import { nameOf, readMasterInfo, serverOf } from './master-info.ts';
import type { MasterInfo } from './master-info.ts';
import { RecentRevocations } from './recent-revocations.ts';
import type { Revocation } from './recent-revocations.ts';
import type { RedisConnection } from './redis-connection.ts';
import { UNAUDITED } from './redis-audit-log.ts';
import { ERASURES_KEY, teamKeys } from './redis-keys.ts';
import type { RunFunction } from './functions.ts';
import type { ServerClocks } from './server-clocks.ts';
import { changeArguments, DECISIONS_MAX, madeSteps, readGroup, UNSETTLED } from './record-steps.ts';
import { serverTime } from './store-round.ts';

interface MastersOptions {
  readonly redis: RedisConnection;
  readonly run: RunFunction;
  /** The master that holds a team. */
  readonly nodeOf: (teamId: string) => string;
  readonly causeOf: (error: unknown) => string;
  readonly clocks: ServerClocks;
  readonly shown: string;
  readonly log: Log;
  /** Called with the number of revoked keys that would have worked again. */
  readonly onRestored: (count: number) => void;
}

/** How many are applied at a time; this occupies the server for one or two milliseconds. */
const PIECE = 100;
/** After the clock: no deadline, because revocations are permanent, so that they may be late; and no offer of a period. */
const NO_DEADLINE = ['', '', '', '', ''];
const REPLICA: StoreUnavailable = { kind: 'unavailable', cause: 'readonly' };
const LOST = new Error('the connection was lost');
const UNKNOWN: StoreUnavailable = { kind: 'unavailable', cause: 'closed' };

export class Masters {
  readonly revocations = new RecentRevocations(() => performance.now());
  readonly #options: MastersOptions;
  /** The masters that admissions may be sent to. */
  readonly settled = new Set<string>();
  /** The info of each master when it was last checked. */
  readonly #known = new Map<string, MasterInfo>();
  readonly #looks = new Map<string, Promise<StoreUnavailable | undefined>>();
  /** Counts lost connections: a check during which a connection was lost does not cover the new connection. */
  #losses = 0;

  constructor(options: MastersOptions) {
    this.#options = options;
    const { redis } = options;
    if (!(redis instanceof Cluster)) {
      redis.on('close', () => this.#lose(''));
      redis.on('ready', () => void this.settle(''));
      return;
    }
    const watch = (node: Redis): void => void node.on('close', () => this.#lose(nameOf(node)));
    for (const node of redis.nodes('all')) watch(node);
    redis.on('+node', watch);
    // A master that becomes a replica keeps its connections, and may have other data when it becomes a master again.
    redis.on('refresh', () => this.#keepOnly(new Set(redis.slots.map((nodes) => nodes?.[0]))));
  }

  /** The id of the process when it was last checked. */
  runIdOf(name: string): string | undefined {
    return this.#known.get(name)?.runId;
  }

  /** Makes sure that admissions may be sent to a master; otherwise returns the reason. */
  settle(name: string): Promise<StoreUnavailable | undefined> {
    const under = this.#looks.get(name);
    if (under !== undefined) return under;
    const look = this.#look(name).finally(() => this.#looks.delete(name));
    this.#looks.set(name, look);
    return look;
  }

  async #look(name: string): Promise<StoreUnavailable | undefined> {
    const { redis, causeOf } = this.#options;
    const losses = this.#losses;
    try {
      const server = serverOf(redis, name);
      if (server === undefined) return UNKNOWN;
      const info = await readMasterInfo(server);
      if (!info.isMaster) return REPLICA;
      await this.#readClock(name, server);
      if (info.identity === undefined || info.identity !== this.#known.get(name)?.identity) await this.#reapply(name);
      if (losses !== this.#losses) return { kind: 'unavailable', cause: causeOf(LOST) };
      this.#known.set(name, info);
      this.settled.add(name);
      return undefined;
    } catch (error) {
      return { kind: 'unavailable', cause: causeOf(error) };
    }
  }

  /** Applies the revocations for this master's teams again. Revocations that it still has are not affected. */
  async #reapply(name: string): Promise<void> {
    const { nodeOf, log, shown, onRestored } = this.#options;
    const revocations = this.revocations.all().filter(({ teamId }) => nodeOf(teamId) === name);
    let restored = 0;
    for (let first = 0; first < revocations.length; first += PIECE) {
      const results = await Promise.all(revocations.slice(first, first + PIECE).map((one) => this.#revoke(one)));
      restored += results.filter(Boolean).length;
    }
    // Without revocations nothing was lost, as on the first connection to a master.
    if (revocations.length === 0) return;
    onRestored(restored);
    const server = name === '' ? {} : { server: name };
    const members = { store: shown, ...server, applied: revocations.length, restored };
    const words = 'the store has another master or was restarted: revocations of the last hour were applied again';
    if (restored > 0) log.warn(words, members);
    else log.info(words, members);
  }

  /** Whether the key, or the team, would have worked again. */
  async #revoke({ teamId, keyId, keepUsage }: Revocation): Promise<boolean> {
    try {
      if (keyId === undefined) return await this.#delete(teamId, keepUsage === true);
      return await this.#revokeKey(teamId, keyId);
    } catch (error) {
      // A broken record of one team must not prevent all others from being served; the cause has been logged.
      if (this.#options.causeOf(error) === 'refused') return false;
      throw error;
    }
  }

  /** As operators do it, but without an audit entry: nobody ordered this. */
  async #revokeKey(teamId: string, keyId: string): Promise<boolean> {
    let answer = await this.#answer('read_group', teamId, [keyId]);
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions++) {
      const group = readGroup(teamId, keyId, answer);
      const change = group?.head.key && revocation(group.head.key);
      if (change?.key === undefined) return false;
      answer = await this.#answer('free_records', teamId, [...UNAUDITED, ...changeArguments(group!, madeSteps(group!, change))]);
      if (answer.word === 'changed') return true;
    }
    throw storeErrorOf(UNSETTLED);
  }

  async #answer(
    name: 'read_group' | 'free_records',
    teamId: string,
    args: readonly (string | Buffer)[],
  ): Promise<Omit<FunctionAnswer, 'kind'>> {
    const call = { keys: [teamKeys(teamId).team], args: [this.#clockWord(teamId), ...NO_DEADLINE, ...args] };
    const [nowMs, word, ...values] = (await this.#options.run(name, call)) as readonly unknown[];
    return { nowMs: Number(nowMs), word: String(word), values };
  }

  /** The first step disables the team; the janitor completes unfinished deletions. */
  async #delete(teamId: string, keepUsage: boolean): Promise<boolean> {
    const { run, redis } = this.#options;
    const { team } = teamKeys(teamId);
    const wasThere = (await redis.hexists(team, 'b')) === 1;
    if (!wasThere) return false;
    await run('note_team', { keys: [ERASURES_KEY], args: [teamId, String(this.#options.clocks.now() ?? 0)] });
    await run('delete_team', { keys: [team], args: [this.#clockWord(teamId), ...NO_DEADLINE, keepUsage ? '1' : '', ...UNAUDITED] });
    return true;
  }

  /** Before anything runs there: a new master's clock may be wrong. */
  async #readClock(name: string, server: Redis): Promise<void> {
    const { clocks } = this.#options;
    if (clocks.isGiven) return;
    const sentAtMs = performance.now();
    const nowMs = await serverTime(server);
    clocks.learn(name, sentAtMs, performance.now(), nowMs);
  }

  #clockWord(teamId: string): string {
    return this.#options.clocks.clockWordOf(this.#options.nodeOf(teamId));
  }

  #lose(name: string): void {
    this.#losses++;
    this.settled.delete(name);
  }

  #keepOnly(masters: ReadonlySet<string | undefined>): void {
    for (const name of this.settled) if (!masters.has(name)) this.#lose(name);
  }
}
