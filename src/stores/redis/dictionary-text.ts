// The text of dictionaries in Redis, read and written in chunks, on a connection that admissions do not use.
import { nextTurn } from '../../core/turns.ts';
import { EntriesSplitter, isLarge, wholeObject, wholeObjectBytes, writtenEntries } from '../../domain/entries-text.ts';
import type { EntryPieces, WrittenEntries } from '../../domain/entries-text.ts';
import { answering } from '../../domain/store-unavailable.ts';
import type { DictionaryRecord, NewDictionary } from '../../ports/glossary-store.ts';
import { entriesKey } from './redis-keys.ts';
import type { RedisConnection } from './redis-connection.ts';
import type { RedisLink } from './redis-link.ts';

const CHUNK_BYTES = 65_536;
/** How long a text is kept before a glossary holds it: after each chunk, and then until the function makes it a glossary's. */
const UNHELD_MS = 60_000;

export class DictionaryText {
  readonly #link: RedisLink;
  readonly #bulk: BulkConnection;

  constructor(link: RedisLink, bulk: BulkConnection) {
    this.#link = link;
    this.#bulk = bulk;
  }

  async read(teamId: string, dictionaryId: string): Promise<EntryPieces | undefined> {
    const key = entriesKey(teamId, dictionaryId);
    const splitter = new EntriesSplitter();
    const first = await this.#chunk(key, 0);
    if (first.length === 0) return undefined;
    splitter.push(first);
    if (first.length < CHUNK_BYTES) return splitter.end();
    const length = await this.#ask((redis) => redis.strlen(key));
    for (let at = CHUNK_BYTES; at < length; at += CHUNK_BYTES) {
      const chunk = await this.#chunk(key, at);
      // It was deleted in the meantime; a text never changes.
      if (chunk.length < Math.min(CHUNK_BYTES, length - at)) return undefined;
      await nextTurn();
      splitter.push(chunk);
    }
    return length === 0 ? undefined : splitter.end();
  }

  /** Arguments for the function: the number of new dictionaries, then the id, bytes, JSON and length of each (lua/glossaries.lua). */
  async write(teamId: string, dictionaries: readonly (DictionaryRecord | NewDictionary)[]): Promise<readonly (string | Buffer)[]> {
    const added = dictionaries.filter((one) => 'entries' in one);
    const words: (string | Buffer)[] = [String(added.length)];
    for (const { dictionaryId, entries, written = writtenEntries(entries) } of added) {
      words.push(dictionaryId, String(written.bytes));
      if (isLarge(written.pieces)) {
        await this.#append(entriesKey(teamId, dictionaryId), written);
        words.push('', String(wholeObjectBytes(written.pieces)));
      } else {
        words.push(Buffer.concat([...wholeObject(written.pieces)]), '');
      }
    }
    return words;
  }

  /** Deletes what was written for a glossary that is not created because its team is gone. What cannot be deleted now expires. */
  async drop(teamId: string, dictionaries: readonly (DictionaryRecord | NewDictionary)[]): Promise<void> {
    for (const { dictionaryId } of dictionaries.filter((one) => 'entries' in one)) {
      await answering(() => this.#ask((redis) => redis.unlink(entriesKey(teamId, dictionaryId))));
    }
  }

  async #append(key: string, { pieces }: WrittenEntries): Promise<void> {
    for (const [i, piece] of pieces.entries()) {
      const isLast = i === pieces.length - 1;
      const bytes = Buffer.concat([Buffer.from(i === 0 ? '{' : ','), piece, Buffer.from(isLast ? '}' : '')]);
      await this.#ask<unknown>((redis) => (i === 0 ? redis.set(key, bytes, 'PX', UNHELD_MS) : redis.append(key, bytes)));
      await nextTurn();
    }
    await this.#ask((redis) => redis.pexpire(key, UNHELD_MS));
  }

  #chunk(key: string, at: number): Promise<Buffer> {
    return this.#ask((redis) => redis.getrangeBuffer(key, at, at + CHUNK_BYTES - 1));
  }

  #ask<T>(command: (redis: RedisConnection) => Promise<T>): Promise<T> {
    return this.#link.ask(async () => command(await this.#bulk.get()));
  }
}

/** A second connection, for dictionaries, so that no admission waits behind a large one. */
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
