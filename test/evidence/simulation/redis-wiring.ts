// The Redis store's own driver, on simulated connections to one simulated server.
import { answered } from '../../../src/domain/store-unavailable.ts';
import type { TagHistory, TagRegistry } from '../../../src/ports/tag-registry.ts';
import type { UsageHistory } from '../../../src/ports/usage-history.ts';
import type { RedisConnection } from '../../../src/stores/redis/redis-connection.ts';
import { LedgerTurns } from '../../../src/stores/redis/ledger-turns.ts';
import { ServerClocks } from '../../../src/stores/redis/server-clocks.ts';
import { keyDirectory, RedisLink } from '../../../src/stores/redis/redis-link.ts';
import { Connection } from './connection.ts';
import type { NoiseFault } from './faults.ts';
import { ModelServer } from './model-server.ts';
import { COMMAND_TIMEOUT_MS } from './scenario.ts';
import { SILENT } from '../../support/silent-log.ts';
import type { Process } from './virtual-time.ts';
import type { Change, SimulatedStore, StoreClient, World } from './world.ts';

export class RedisWiring implements SimulatedStore {
  readonly #world: World;
  readonly #server: ModelServer;
  readonly #connections = new Set<Connection>();
  #noise: NoiseFault | undefined;

  constructor(world: World) {
    this.#world = world;
    this.#server = new ModelServer(world);
  }

  get process(): Process {
    return this.#server.process;
  }

  async open(): Promise<void> {}

  async close(): Promise<void> {}

  connect(gateway: Process): StoreClient {
    const connection = new Connection(this.#world, this.#server, gateway);
    connection.noise = this.#noise;
    this.#connections.add(connection);
    const redis = connection as unknown as RedisConnection;
    const clocks = new ServerClocks();
    // Every gateway has met the server while its clock was right: one that is ahead at the start would be believed.
    clocks.learn('', performance.now(), performance.now(), this.#server.storeMs);
    clocks.forget('');
    const link = new RedisLink({ redis, shown: 'simulated', timeoutMs: COMMAND_TIMEOUT_MS, clocks, log: SILENT });
    // The server does what time alone does.
    const ledger = new LedgerTurns(link, () => Promise.resolve());
    return {
      keys: keyDirectory(link),
      ledger,
      close: async () => {
        await ledger.close();
        await link.close();
      },
      cut: (downMs) => connection.cut(downMs),
    };
  }

  async change(change: Change): Promise<boolean> {
    if (!this.#server.up) return false;
    this.#server.change(change);
    return true;
  }

  async standing(teamId: string) {
    return answered(await this.#server.store.teams.standing(teamId));
  }

  async usage(teamId: string) {
    return answered(await this.#server.store.teams.usage(teamId));
  }

  get history(): UsageHistory {
    return this.#server.store.history;
  }

  get tags(): TagHistory {
    return this.#server.store.tags;
  }

  get tagSettings(): TagRegistry {
    return this.#server.store.tagSettings;
  }

  restart(downMs: number, lostMs: number, clockByMs: number): void {
    this.#server.stop(lostMs);
    for (const connection of this.#connections) connection.cut(downMs);
    this.#world.time.after(this.#world.time.world, downMs, () => this.#server.start(clockByMs));
  }

  setClock(byMs: number): void {
    this.#server.setClock(byMs);
  }

  setWrong(byMs: number): void {
    this.#server.wrongByMs = byMs;
  }

  noise(noise: NoiseFault | undefined): void {
    this.#noise = noise;
    for (const connection of this.#connections) connection.noise = noise;
  }
}
