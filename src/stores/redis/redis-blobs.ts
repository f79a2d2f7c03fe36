// Blobs of the record space in Redis: lists of pieces, written and read one by one on a connection that admissions do not use.
import { nextTurn } from '../../core/turns.ts';
import { isLarge } from '../../domain/entries-text.ts';
import type { EntryPieces } from '../../domain/entries-text.ts';
import { answering } from '../../domain/store-unavailable.ts';
import type { NewBlob } from '../../ports/record-space.ts';
import { blobOf, groupKey, OF_TEAM, preparedOf } from './redis-keys.ts';
import type { RedisConnection } from './redis-connection.ts';
import type { RedisLink } from './redis-link.ts';

/** How long a blob stays before it is attached: after each piece, and then until the change. */
const PREPARED_MS = 60_000;

export class RedisBlobs {
  readonly #link: RedisLink;
  readonly #bulk: RedisConnection;
  #connecting: Promise<void> | undefined = undefined;

  /** `bulk`: a second connection, not connected yet, so that no admission waits behind a large blob. */
  constructor(link: RedisLink, bulk: RedisConnection) {
    this.#link = link;
    this.#bulk = bulk;
  }

  /** `undefined` unless it is attached and complete. */
  read(group: string, blobId: string): Promise<EntryPieces | undefined> {
    return this.#ask(async (redis) => {
      const count = Number((await redis.hget(groupKey(group) + OF_TEAM.blobs, blobId)) ?? 0);
      const pieces: Buffer[] = [];
      for (let i = 0; i < count; i++) {
        if (i > 0) await nextTurn();
        const piece = await redis.lindexBuffer(groupKey(group) + blobOf(blobId), i);
        // It was deleted in the meantime.
        if (piece === null) return undefined;
        pieces.push(piece);
      }
      return count === 0 ? undefined : pieces;
    });
  }

  /** The large ones; the change that attaches them writes the small ones. */
  async write(group: string, blobs: readonly NewBlob[]): Promise<undefined> {
    for (const blob of blobs) if (isLarge(blob.pieces)) await this.#write(group, blob);
  }

  async writeSmall(group: string, blob: NewBlob): Promise<void> {
    if (!isLarge(blob.pieces)) await this.#write(group, blob);
  }

  async #write(group: string, { blobId, pieces }: NewBlob): Promise<void> {
    const key = groupKey(group) + preparedOf(blobId);
    for (const [i, piece] of pieces.entries()) {
      await this.#ask(async (redis) => {
        const transaction = redis.multi();
        if (i === 0) transaction.del(key).rpush(key, Buffer.from(piece));
        else transaction.rpushx(key, Buffer.from(piece));
        const done = await transaction.pexpire(key, PREPARED_MS).exec().catch(firstOf);
        for (const [error] of done ?? []) if (error) throw error;
      });
      if (i > 0) await nextTurn();
    }
  }

  /** What cannot be deleted now expires. */
  async drop(group: string, blobs: readonly NewBlob[]): Promise<void> {
    for (const { blobId } of blobs) {
      await answering(() => this.#ask((redis) => redis.unlink(groupKey(group) + preparedOf(blobId))));
    }
  }

  #ask<T>(command: (redis: RedisConnection) => Promise<T>): Promise<T> {
    return this.#link.ask(async () => {
      await this.#connected();
      return command(this.#bulk);
    });
  }

  /** Connects on first use and rejects if that fails. Afterwards it reconnects by itself, and commands fail while it does. */
  async #connected(): Promise<void> {
    this.#connecting ??= this.#bulk.connect();
    try {
      await this.#connecting;
    } finally {
      this.#connecting = Promise.resolve();
    }
  }
}

/** A transaction that is refused only says so; why is said of the command that was. */
function firstOf(refused: Error & { readonly previousErrors?: readonly Error[] }): never {
  throw refused.previousErrors?.[0] ?? refused;
}
