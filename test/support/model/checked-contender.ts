// A store of either kind as a contender of random histories: it is checked after every step, backed up, and moved to another place.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { copyStoreTo } from '../../../src/app/store-upkeep.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { PluginStore } from '../../../src/ports/plugin.ts';
import type { StoreReader } from '../../../src/ports/store-contents.ts';
import { openReader } from '../../../src/stores/open-reader.ts';
import { writeCopy } from '../../../src/stores/sqlite/file-copy.ts';
import { openRedisStore } from '../../../src/stores/redis/redis-store.ts';
import { openSqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { checkedBy, checkedStore } from '../checked-store.ts';
import { promisedStore } from '../promised-store.ts';
import { SILENT } from '../silent-log.ts';
import type { Contender } from './agreement.ts';

/** Databases that a Redis server needs for the contenders: half of them for each. */
export const DATABASES = 2000;

type Kind = 'SQLite' | 'Redis';

const TIMEOUT_MS = 5000;
/** A copy leaves nothing out silently: it refuses what it cannot copy. */
const REFUSED = /holds data that cannot be copied: a deletion has been interrupted/;

/** `folder` and `redis` are the places of copies; a history begins in the store of its kind, and each move leads to one of the other kind. */
export class CheckedContender implements Contender {
  readonly name: Kind;
  readonly stores: PluginStore[] = [];
  readonly #clock: Clock;
  readonly #folder: string;
  readonly #redisUrl: string;
  #kind: Kind;
  #url = '';
  #places = 0;
  #reader: StoreReader | undefined;
  /** For the report: how often it was copied, and how often a copy was refused. */
  moves = 0;
  refusals = 0;

  constructor(name: Kind, clock: Clock, folder: string, redisUrl: string) {
    this.name = name;
    this.#kind = name;
    this.#clock = clock;
    this.#folder = folder;
    this.#redisUrl = redisUrl;
  }

  /** Begins with an empty store of its own kind. */
  async open(): Promise<void> {
    this.#kind = this.name;
    this.#url = this.#nextPlace();
    await this.#openBoth();
  }

  async close(): Promise<void> {
    await this.#reader?.close();
    await Promise.all(this.stores.splice(0).map((store) => store.close()));
  }

  /** What the check finds, as text; empty if it finds nothing. */
  async faults(): Promise<string> {
    const { findings } = await checkedBy(this.#reader!);
    return findings.map((finding) => `the check of ${this.name} finds ${JSON.stringify(finding)}`).join('\n');
  }

  async move(): Promise<void> {
    await this.#backUp();
    const from = this.#url;
    await this.close();
    this.#kind = this.#kind === 'SQLite' ? 'Redis' : 'SQLite';
    const to = this.#nextPlace();
    try {
      await copyStoreTo({ from, to, restart: false, onProgress: () => undefined });
      this.#url = to;
      this.moves++;
    } catch (error) {
      if (!(error instanceof Error) || !REFUSED.test(error.message)) throw error;
      this.#kind = this.#kind === 'SQLite' ? 'Redis' : 'SQLite';
      this.refusals++;
    }
    await this.#openBoth();
  }

  async #backUp(): Promise<void> {
    if (this.#kind !== 'SQLite') return;
    const file = join(this.#folder, `backup-${this.name}.db`);
    writeCopy(this.#url.slice('sqlite:'.length), file);
    const { findings } = await checkedStore(`sqlite:${file}`);
    rmSync(file);
    if (findings.length > 0) throw new Error(`the check of a backup finds ${JSON.stringify(findings)}`);
  }

  /** Each contender has databases of its own in the server. */
  #nextPlace(): string {
    const place = this.#places++;
    if (this.#kind === 'SQLite') return `sqlite:${join(this.#folder, `${this.name}-${place}.db`)}`;
    return `${this.#redisUrl}/${(this.name === 'Redis' ? 0 : DATABASES / 2) + place}`;
  }

  async #openBoth(): Promise<void> {
    for (let i = 0; i < 2; i++) this.stores.push(promisedStore(await this.#openOne()));
    this.#reader = await openReader(this.#url);
  }

  #openOne(): ReturnType<typeof openRedisStore> {
    const options = { log: SILENT, clock: this.#clock };
    return this.#kind === 'Redis'
      ? openRedisStore({ ...options, url: this.#url, commandTimeoutMs: TIMEOUT_MS })
      : openSqliteStore({ ...options, path: this.#url.slice('sqlite:'.length), durability: 'normal', busyTimeoutMs: TIMEOUT_MS });
  }
}
