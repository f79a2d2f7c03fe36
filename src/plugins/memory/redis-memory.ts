// Translations that gateways share in a Redis: if anything is wrong, nothing is known, and soon.
import { crc32 } from 'node:zlib';
import { Redis } from 'ioredis';
import type { Translation } from 'lingate';

/** A digest: 43 ASCII characters. */
export type TextKey = string;

/** `madeAtMs` by the wall clock of who made it. */
export interface SharedText {
  readonly translation: Translation;
  readonly madeAtMs: number;
}

interface RedisMemoryOptions {
  readonly url: string;
  readonly ageMaxMs: number;
  /** How long a look-up may take. */
  readonly lookUpMs: number;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** Called when it is away, with a word for the cause and no more often than it is tried. */
  readonly onAway: (cause: string) => void;
}

/** When it was away: how long until it is asked again, by one look-up. */
const PAUSE_MS = 1000;
const CONNECT_TIMEOUT_MS = 1000;
const RECONNECT_MAX_MS = 1000;
/** Longer ones are seldom the same, and would hold up the short ones. */
const VALUE_BYTES_MAX = 65_536;
const SCAN_COUNT = 1000;
const FORGET_COMMAND_MS = 5000;

export class RedisMemory {
  readonly #options: RedisMemoryOptions;
  readonly #redis: Redis;
  #awayUntilMs = -Infinity;
  #fullUntilMs = -Infinity;
  #silences = 0;
  #closed = false;

  constructor(options: RedisMemoryOptions) {
    this.#options = options;
    this.#redis = new Redis(options.url, {
      lazyConnect: true,
      protocol: 2,
      connectionName: 'lingate-memory',
      // Nothing waits for a server that is away, and nothing is sent again.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      connectTimeout: CONNECT_TIMEOUT_MS,
      retryStrategy: (times) => Math.min(50 * times, RECONNECT_MAX_MS),
    });
    // Without a listener ioredis prints each lost connection.
    this.#redis.on('error', () => undefined);
    this.#redis.on('ready', () => (this.#awayUntilMs = -Infinity));
  }

  /** One entry for each key; `undefined` where it is away. Never rejects. */
  async get(teamId: string, keys: readonly TextKey[]): Promise<readonly (SharedText | undefined)[] | undefined> {
    if (!this.#mayAsk()) return undefined;
    try {
      const values = await within(this.#redis.mget(keys.map((key) => nameOf(teamId, key))), this.#options.lookUpMs);
      this.#awayUntilMs = -Infinity;
      this.#silences = 0;
      return values.map((value, i) => (value === null ? undefined : decodeText(keys[i]!, value)));
    } catch (error) {
      this.#away(error);
      return undefined;
    }
  }

  /** Not waited for; what cannot be stored is lost. */
  set(teamId: string, key: TextKey, text: SharedText): void {
    const nowMs = this.#options.now();
    if (this.#redis.status !== 'ready' || nowMs < this.#awayUntilMs || nowMs < this.#fullUntilMs) return;
    const value = encodeText(key, text);
    if (value === undefined || Buffer.byteLength(value) > VALUE_BYTES_MAX) return;
    this.#redis.set(nameOf(teamId, key), value, 'PX', Math.ceil(this.#options.ageMaxMs)).catch((error: unknown) => {
      // Full, or a replica: reads go on, and there is no sense in writing for a while.
      this.#fullUntilMs = this.#options.now() + PAUSE_MS;
      if (!this.#closed) this.#options.onAway(causeOf(error));
    });
  }

  /** Of a team, or of all, and says how many texts that were. Rejects when it cannot. */
  async forget(teamId: string | undefined): Promise<number> {
    if (this.#redis.status === 'wait') await within(this.#redis.connect(), FORGET_COMMAND_MS);
    const match = `${PREFIX}:${teamId === undefined ? '' : `${literal(teamId)}:`}*`;
    let deleted = 0;
    let cursor = '0';
    do {
      const [next, names] = await within(this.#redis.scan(cursor, 'MATCH', match, 'COUNT', SCAN_COUNT), FORGET_COMMAND_MS);
      if (names.length > 0) deleted += await within(this.#redis.unlink(names), FORGET_COMMAND_MS);
      cursor = next;
    } while (cursor !== '0');
    return deleted;
  }

  close(): void {
    this.#closed = true;
    this.#redis.disconnect();
  }

  /** While it is away only one look-up in a while finds out whether it still is. */
  #mayAsk(): boolean {
    const { status } = this.#redis;
    if (status === 'wait') this.#redis.connect().catch(() => undefined);
    if (status !== 'ready') return false;
    if (this.#awayUntilMs === -Infinity) return true;
    const nowMs = this.#options.now();
    if (nowMs < this.#awayUntilMs) return false;
    this.#awayUntilMs = nowMs + PAUSE_MS;
    return true;
  }

  #away(error: unknown): void {
    if (this.#closed) return;
    this.#awayUntilMs = this.#options.now() + PAUSE_MS;
    this.#options.onAway(causeOf(error));
    // A connection that stays silent is given up: the server behind it may be another by now.
    this.#silences = error === SILENT ? this.#silences + 1 : 0;
    if (this.#silences > 1) this.#redis.disconnect(true);
  }
}

const PREFIX = 'lingate:memory';
const SILENT = new Error('no answer in time');

function nameOf(teamId: string, key: TextKey): string {
  return `${PREFIX}:${teamId}:${key}`;
}

/** A team's id as a pattern that fits nothing else: stores of plugins may have ids of any form. */
function literal(teamId: string): string {
  return teamId.replace(/[\\*?[\]]/g, String.raw`\$&`);
}

function causeOf(error: unknown): string {
  if (error === SILENT) return 'timeout';
  return /^[A-Z]+(?= )/.exec(error instanceof Error ? error.message : '')?.[0].toLowerCase() ?? 'away';
}

async function within<T>(reply: Promise<T>, ms: number): Promise<T> {
  const { promise: silence, reject } = Promise.withResolvers<never>();
  // A reply that has come while the process was busy is read first.
  const timer = setTimeout(() => setImmediate(reject, SILENT), ms);
  try {
    return await Promise.race([reply, silence]);
  } finally {
    clearTimeout(timer);
  }
}

/** JSON behind its checksum, with its own key, so that damage is noticed. */
type Written = readonly [key: TextKey, madeAtMs: number, text: string, detectedSourceLanguage: string | null];

const SUM_LENGTH = 8;

/** `undefined` for a text that UTF-8 cannot represent. */
export function encodeText(key: TextKey, { translation, madeAtMs }: SharedText): string | undefined {
  const { text, detectedSourceLanguage } = translation;
  if (!text.isWellFormed()) return undefined;
  const json = JSON.stringify([key, madeAtMs, text, detectedSourceLanguage ?? null] satisfies Written);
  return sumOf(json) + json;
}

/** `undefined` for anything but what `encodeText` has made for this key. */
export function decodeText(key: TextKey, value: string): SharedText | undefined {
  const json = value.slice(SUM_LENGTH);
  if (value.slice(0, SUM_LENGTH) !== sumOf(json)) return undefined;
  const [of, madeAtMs, text, detectedSourceLanguage] = JSON.parse(json) as Written;
  return of === key ? { translation: { text, detectedSourceLanguage: detectedSourceLanguage ?? undefined }, madeAtMs } : undefined;
}

function sumOf(json: string): string {
  return crc32(json).toString(16).padStart(SUM_LENGTH, '0');
}
