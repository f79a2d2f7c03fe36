// The text of dictionaries in Redis: read and written in pieces, on a connection that no admission waits for.
import { nextTurn } from '../../core/turns.ts';
import { EntriesSplitter, isLarge, wholeObject, wholeObjectBytes, writtenEntries } from '../../domain/entries-text.ts';
import type { EntryPieces, WrittenEntries } from '../../domain/entries-text.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { DictionaryRecord, NewDictionary } from '../../ports/glossary-store.ts';
import type { BulkConnection } from './bulk-connection.ts';
import { entriesKey } from './redis-keys.ts';
import type { RedisConnection } from './redis-connection.ts';
import type { RedisLink } from './redis-link.ts';

const CHUNK_BYTES = 65_536;
/** How long a text stays that no glossary holds: after each piece of it, and then until the function that makes it a glossary's. */
const UNHELD_MS = 60_000;

export class DictionaryText {
  readonly #link: RedisLink;
  readonly #bulk: BulkConnection;

  constructor(link: RedisLink, bulk: BulkConnection) {
    this.#link = link;
    this.#bulk = bulk;
  }

  async read(teamId: string, dictionaryId: string): Promise<EntryPieces | undefined | StoreUnavailable> {
    const key = entriesKey(teamId, dictionaryId);
    const splitter = new EntriesSplitter();
    const first = await this.#chunk(key, 0);
    if (isUnavailable(first)) return first;
    if (first.length === 0) return undefined;
    splitter.push(first);
    if (first.length < CHUNK_BYTES) return splitter.end();
    const length = await this.#ask((redis) => redis.strlen(key));
    if (isUnavailable(length)) return length;
    for (let at = CHUNK_BYTES; at < length; at += CHUNK_BYTES) {
      const chunk = await this.#chunk(key, at);
      if (isUnavailable(chunk)) return chunk;
      // Deleted meanwhile: a text never changes.
      if (chunk.length < Math.min(CHUNK_BYTES, length - at)) return undefined;
      await nextTurn();
      splitter.push(chunk);
    }
    return length === 0 ? undefined : splitter.end();
  }

  /** Arguments for the function: how many dictionaries are new, then of each id, bytes, JSON and length (lua/glossaries.lua). */
  async write(
    teamId: string,
    dictionaries: readonly (DictionaryRecord | NewDictionary)[],
  ): Promise<readonly (string | Buffer)[] | StoreUnavailable> {
    const added = dictionaries.filter((one) => 'entries' in one);
    const words: (string | Buffer)[] = [String(added.length)];
    for (const { dictionaryId, entries, written = writtenEntries(entries) } of added) {
      words.push(dictionaryId, String(written.bytes));
      if (isLarge(written.pieces)) {
        const failed = await this.#append(entriesKey(teamId, dictionaryId), written);
        if (failed !== undefined) return failed;
        words.push('', String(wholeObjectBytes(written.pieces)));
      } else {
        words.push(Buffer.concat([...wholeObject(written.pieces)]), '');
      }
    }
    return words;
  }

  /** What was written for a glossary that is not to be: the team is gone. What cannot be removed now expires. */
  async drop(teamId: string, dictionaries: readonly (DictionaryRecord | NewDictionary)[]): Promise<void> {
    for (const { dictionaryId } of dictionaries.filter((one) => 'entries' in one)) {
      await this.#ask((redis) => redis.unlink(entriesKey(teamId, dictionaryId)));
    }
  }

  async #append(key: string, { pieces }: WrittenEntries): Promise<StoreUnavailable | undefined> {
    for (const [i, piece] of pieces.entries()) {
      const isLast = i === pieces.length - 1;
      const bytes = Buffer.concat([Buffer.from(i === 0 ? '{' : ','), piece, Buffer.from(isLast ? '}' : '')]);
      const done = await this.#ask<unknown>((redis) => (i === 0 ? redis.set(key, bytes, 'PX', UNHELD_MS) : redis.append(key, bytes)));
      if (isUnavailable(done)) return done;
      await nextTurn();
    }
    const kept = await this.#ask((redis) => redis.pexpire(key, UNHELD_MS));
    return isUnavailable(kept) ? kept : undefined;
  }

  #chunk(key: string, at: number): Promise<Buffer | StoreUnavailable> {
    return this.#ask((redis) => redis.getrangeBuffer(key, at, at + CHUNK_BYTES - 1));
  }

  #ask<T>(command: (redis: RedisConnection) => Promise<T>): Promise<T | StoreUnavailable> {
    return this.#link.ask(async () => command(await this.#bulk.get()));
  }
}
