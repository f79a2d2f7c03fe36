// A store as a contender of random histories: it is checked after every step, backed up, and moved to a store of another kind.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ReferenceData, referenceStore } from '../reference-store.ts';
import { copyStoreTo } from '../../../src/app/store-upkeep.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { PluginStore, WholePluginStore } from '../../../src/ports/plugin.ts';
import type { WholeStore } from '../../../src/stores/whole-store.ts';
import { openReader } from '../../../src/stores/open-reader.ts';
import type { OtherStores } from '../../../src/stores/open-reader.ts';
import { writeCopy } from '../../../src/stores/sqlite/file-copy.ts';
import { openRedisStore } from '../../../src/stores/redis/redis-store.ts';
import { openSqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { checkedBy, checkedStore } from '../checked-store.ts';
import { promisedStore } from '../promised-store.ts';
import { SILENT } from '../silent-log.ts';
import type { Contender } from './agreement.ts';

/** Databases that a Redis server needs for the contenders: half of them for each. */
export const DATABASES = 2000;

type Kind = 'SQLite' | 'Redis' | 'plugin';

const TIMEOUT_MS = 5000;
/** A copy leaves nothing out silently: it refuses what it cannot copy. */
const REFUSED = /holds data that cannot be copied: a deletion has been interrupted/;

/** `folder` and `redis` are the places of copies; a history begins in the first kind of its round, and each move leads to the next one. */
export class CheckedContender implements Contender {
  readonly name: string;
  readonly stores: PluginStore[] = [];
  readonly #clock: Clock;
  readonly #folder: string;
  readonly #redisUrl: string;
  readonly #round: readonly Kind[];
  /** The example of a plugin's store, by URL. */
  readonly #memories = new Map<string, ReferenceData>();
  #kind: Kind;
  #url = '';
  #places = 0;
  #reader: WholeStore | undefined;
  /** For the report: how often it was copied, and how often a copy was refused. */
  moves = 0;
  refusals = 0;

  constructor(round: readonly [Kind, ...Kind[]], clock: Clock, folder: string, redisUrl: string) {
    this.name = round[0];
    this.#round = round;
    this.#kind = round[0];
    this.#clock = clock;
    this.#folder = folder;
    this.#redisUrl = redisUrl;
  }

  /** Begins with an empty store of its own kind. */
  async open(): Promise<void> {
    this.#kind = this.#round[0]!;
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
    const before = this.#kind;
    this.#kind = this.#round[(this.#round.indexOf(before) + 1) % this.#round.length]!;
    const to = this.#nextPlace();
    try {
      await copyStoreTo({ from, to, restart: false, onProgress: () => undefined, others: this.#others });
      this.#url = to;
      this.moves++;
    } catch (error) {
      if (!(error instanceof Error) || !REFUSED.test(error.message)) throw error;
      this.#kind = before;
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
    if (this.#kind === 'plugin') return `memory:${place}`;
    if (this.#kind === 'SQLite') return `sqlite:${join(this.#folder, `${this.name}-${place}.db`)}`;
    return `${this.#redisUrl}/${(this.name === 'Redis' ? 0 : DATABASES / 2) + place}`;
  }

  async #openBoth(): Promise<void> {
    for (let i = 0; i < 2; i++) this.stores.push(await this.#openOne());
    this.#reader = await openReader(this.#url, this.#others);
  }

  get #others(): OtherStores {
    return new Map([['memory', (url) => Promise.resolve(this.#inMemory(url))]]);
  }

  #inMemory(url: string): WholePluginStore {
    const data = this.#memories.get(url) ?? new ReferenceData();
    this.#memories.set(url, data);
    return referenceStore(this.#clock, data);
  }

  async #openOne(): Promise<PluginStore> {
    if (this.#kind === 'plugin') return this.#inMemory(this.#url);
    const options = { log: SILENT, clock: this.#clock };
    const store =
      this.#kind === 'Redis'
        ? openRedisStore({ ...options, url: this.#url, commandTimeoutMs: TIMEOUT_MS })
        : openSqliteStore({ ...options, path: this.#url.slice('sqlite:'.length), durability: 'normal', busyTimeoutMs: TIMEOUT_MS });
    return promisedStore(await store);
  }
}
