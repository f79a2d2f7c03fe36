// A second connection, for dictionaries: however large they are, no admission waits behind them.
import type { RedisConnection } from './redis-connection.ts';

export class BulkConnection {
  readonly #open: () => RedisConnection;
  #connection: RedisConnection | undefined = undefined;
  #connecting: Promise<void> | undefined = undefined;

  /** `open` gives a connection that is not connected yet. */
  constructor(open: () => RedisConnection) {
    this.#open = open;
  }

  /** Connects when it is first needed. Rejects when that fails; later it connects again by itself, and its commands tell whether it has. */
  async get(): Promise<RedisConnection> {
    const connection = (this.#connection ??= this.#open());
    this.#connecting ??= connection.connect();
    try {
      await this.#connecting;
    } finally {
      this.#connecting = Promise.resolve();
    }
    return connection;
  }

  close(): void {
    this.#connection?.disconnect();
    this.#connection = undefined;
  }
}
