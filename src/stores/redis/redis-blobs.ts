// Blobs of the record space in Redis: lists of pieces, written and read one by one on a connection that admissions do not use.
import { nextTurn } from '../../core/turns.ts';
import { isLarge } from '../../domain/entries-text.ts';
import type { EntryPieces } from '../../domain/entries-text.ts';
import { answering } from '../../domain/store-unavailable.ts';
import type { NewBlob } from '../../ports/record-space.ts';
import { together } from './keyspace.ts';
import { blobKey, preparedKey } from './redis-keys.ts';
import type { RedisConnection } from './redis-connection.ts';
import type { RedisLink } from './redis-link.ts';

/** How long a blob is kept before it is attached: after each piece, and then until the change. */
const PREPARED_MS = 60_000;

export class RedisBlobs {
  readonly #link: RedisLink;
  readonly #bulk: BulkConnection;

  constructor(link: RedisLink, bulk: BulkConnection) {
    this.#link = link;
    this.#bulk = bulk;
  }

  read(teamId: string, blobId: string): Promise<EntryPieces | undefined> {
    return this.#ask((redis) => readPieces(redis, teamId, blobId));
  }

  /** The large ones. */
  async write(teamId: string, blobs: readonly NewBlob[]): Promise<void> {
    for (const { blobId, pieces } of blobs) {
      const key = preparedKey(teamId, blobId);
      for (const [i, piece] of pieces.entries()) {
        if (!isLarge(pieces)) break;
        const push = [i === 0 ? 'RPUSH' : 'RPUSHX', key, Buffer.from(piece)] as const;
        const first = i === 0 ? [['DEL', key] as const] : [];
        await this.#ask((redis) => together(redis, [...first, push, ['PEXPIRE', key, String(PREPARED_MS)]]));
        await nextTurn();
      }
    }
  }

  /** What cannot be deleted now expires. */
  async drop(teamId: string, blobs: readonly NewBlob[]): Promise<void> {
    for (const { blobId, pieces } of blobs) {
      if (isLarge(pieces)) await answering(() => this.#ask((redis) => redis.unlink(preparedKey(teamId, blobId))));
    }
  }

  #ask<T>(command: (redis: RedisConnection) => Promise<T>): Promise<T> {
    return this.#link.ask(async () => command(await this.#bulk.get()));
  }
}

/** One command for a small blob. `undefined` unless it is attached and complete. */
export async function readPieces(redis: RedisConnection, teamId: string, blobId: string): Promise<EntryPieces | undefined> {
  const key = blobKey(teamId, blobId);
  const [count, ...pieces] = await redis.lrangeBuffer(key, 0, 1);
  if (count === undefined) return undefined;
  while (pieces.length < Number(count)) {
    if (pieces.length > 0) await nextTurn();
    const piece = await redis.lindexBuffer(key, pieces.length + 1);
    // It was deleted in the meantime.
    if (piece === null) return undefined;
    pieces.push(piece);
  }
  return pieces;
}

/** A second connection, for blobs, so that no admission waits behind a large one. */
export class BulkConnection {
  readonly #open: () => RedisConnection;
  #connection: RedisConnection | undefined = undefined;
  #connecting: Promise<void> | undefined = undefined;

  /** `open` returns a connection that is not connected yet. */
  constructor(open: () => RedisConnection) {
    this.#open = open;
  }

  /**
   * Connects on first use and rejects if that fails. Afterwards the connection reconnects by itself, and its commands fail if
   * it is not connected.
   */
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
