// Looks each text up in the process's cache, then in the shared Redis, and caches in both.
import { hash } from 'node:crypto';
import { countCharacters, keyOfOptions } from 'lingate';
import type { KnownTexts, TextWork, Translation } from 'lingate';
import { LRUCache } from 'lru-cache';
import type { RedisMemory, SharedText, TextKey } from './redis-memory.ts';

/** Result of looking a text up. `unavailable`: not cached in this process, and Redis is down. */
type Finding = 'hit' | 'miss' | 'unavailable';

/** Shown to the operator. */
export interface MemoryCounts {
  readonly texts: Record<Finding, number>;
  /** Characters of hits. */
  saved: number;
}

interface TextMemoryOptions {
  /** Of what the process caches. */
  readonly bytesMax: number;
  readonly shared: RedisMemory | undefined;
  readonly ageMaxMs: number;
  /** Whether hits are free. */
  readonly spared: boolean;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  readonly wallNow: () => number;
}

/** Limit on remembered `forget` times of teams; the oldest are dropped. */
const FORGOTTEN_MAX = 100_000;
/** Change it when the content of keys changes; entries with older keys are then not found. */
const KEY_VERSION = 'lingate memory 1';

/** The length in front prevents ambiguity. */
function counted(part: string): string {
  return `${part.length}:${part}`;
}

/** A digest of all that determines a translation; `undefined` if UTF-8 cannot represent it. */
export function keyOfText(beginning: string, text: string): TextKey | undefined {
  return text.isWellFormed() && beginning.isWellFormed() ? hash('sha256', beginning + text, 'base64url') : undefined;
}

/** The look-up of a piece of work; `translations` is filled in step by step. */
interface Search extends KnownTexts {
  readonly work: TextWork;
  readonly teamId: string;
  /** Of the first engine, and of the one to be asked while that one fails. */
  readonly engines: readonly string[];
  readonly translations: (Translation | undefined)[];
  /** Of every text, by engine. */
  readonly keysFor: (engine: string) => readonly (TextKey | undefined)[];
}

export class TextMemory {
  readonly process: ProcessMemory;
  readonly counts: MemoryCounts = { texts: { hit: 0, miss: 0, unavailable: 0 }, saved: 0 };
  readonly #options: TextMemoryOptions;
  /** Entries made before these times do not count, per team and for all. */
  readonly #forgottenAtMs = new Map<string, number>();
  #allForgottenAtMs = -Infinity;

  constructor(options: TextMemoryOptions) {
    this.#options = options;
    this.process = new ProcessMemory(options);
  }

  answer(work: TextWork): KnownTexts | undefined | Promise<KnownTexts> {
    if (work.teamId === undefined) return undefined;
    const { shared, now } = this.#options;
    const search = this.#searchFor(work, work.teamId);
    const { translations } = search;
    const nowMs = now();
    for (const engine of search.engines) {
      if (!translations.includes(undefined)) break;
      const keys = search.keysFor(engine);
      for (const [i, key] of keys.entries()) if (key !== undefined) translations[i] ??= this.process.get(key, nowMs);
    }
    return shared === undefined || !translations.includes(undefined) ? this.#found(search, 'miss') : this.#foundShared(search, shared);
  }

  #searchFor(work: TextWork, teamId: string): Search {
    const { text, options, engines, expected } = work;
    const keys = new Map<string, readonly (TextKey | undefined)[]>();
    const keysFor = (engine: string): readonly (TextKey | undefined)[] => {
      const known = keys.get(engine);
      if (known !== undefined) return known;
      const beginning = counted(`${KEY_VERSION}|${counted(teamId)}${counted(engine)}${keyOfOptions(options)}`);
      const made = text.map((one) => keyOfText(beginning, one));
      keys.set(engine, made);
      return made;
    };
    const search: Search = {
      work,
      teamId,
      engines: expected === engines[0] ? [expected] : [engines[0]!, expected],
      translations: text.map(() => undefined),
      spared: this.#options.spared,
      keysFor,
      learn: (translations, engine) => this.#learn(search, translations, engine),
    };
    return search;
  }

  async #foundShared(search: Search, shared: RedisMemory): Promise<KnownTexts> {
    const { teamId, translations } = search;
    const open = search.engines.flatMap((engine) =>
      search.keysFor(engine).flatMap((key, i) => (key === undefined || translations[i] !== undefined ? [] : [{ i, key }])),
    );
    const texts = await shared.get(
      teamId,
      open.map(({ key }) => key),
    );
    if (texts === undefined) return this.#found(search, 'unavailable');
    for (const [place, { i, key }] of open.entries()) {
      const text = texts[place];
      if (text === undefined || translations[i] !== undefined) continue;
      const madeAtMs = this.#madeAtMs(teamId, text);
      if (madeAtMs === undefined) continue;
      translations[i] = text.translation;
      this.process.set(key, { teamId, translation: text.translation, madeAtMs });
    }
    return this.#found(search, 'miss');
  }

  /** `undefined` if too old, or older than the team's last `forget`. A future time is now. */
  #madeAtMs(teamId: string, text: SharedText): number | undefined {
    const { wallNow, now, ageMaxMs } = this.#options;
    const ageMs = Math.max(0, wallNow() - text.madeAtMs);
    const madeAtMs = now() - ageMs;
    return ageMs < ageMaxMs && this.#counts(teamId, madeAtMs) ? madeAtMs : undefined;
  }

  #counts(teamId: string, sinceMs: number): boolean {
    return sinceMs > this.#allForgottenAtMs && sinceMs > (this.#forgottenAtMs.get(teamId) ?? -Infinity);
  }

  /** Counts; texts that were not found count as `without`. */
  #found(search: Search, without: Finding): KnownTexts {
    const { counts } = this;
    for (const [i, translation] of search.translations.entries()) {
      counts.texts[translation === undefined ? without : 'hit']++;
      if (translation !== undefined) counts.saved += countCharacters(search.work.text[i]!);
    }
    return search;
  }

  /** `translations` are those of the texts that were still open. */
  #learn(search: Search, translations: readonly Translation[], engine: string): void {
    const { teamId, work } = search;
    // When the request started: whatever was forgotten since then also applies to it.
    const { startedAtMs } = work.x;
    if (!this.#counts(teamId, startedAtMs)) return;
    const { shared, now, wallNow } = this.#options;
    // Not when it is written: one that has forgotten the team must not use what was in
    // progress.
    const sharedAtMs = wallNow() - (now() - startedAtMs);
    const open = search.keysFor(engine).filter((_key, i) => search.translations[i] === undefined);
    for (const [i, key] of open.entries()) {
      const translation = translations[i]!;
      if (key === undefined) continue;
      this.process.set(key, { teamId, translation, madeAtMs: startedAtMs });
      shared?.set(teamId, key, { translation, madeAtMs: sharedAtMs });
    }
  }

  /** Drops a team's entries, or all; translations in progress are not cached. */
  async forget(teamId: string | undefined, pause: () => Promise<void>): Promise<void> {
    const nowMs = this.#options.now();
    if (teamId === undefined) {
      this.#allForgottenAtMs = nowMs;
      this.process.clear();
      return;
    }
    this.#forgottenAtMs.delete(teamId);
    this.#forgottenAtMs.set(teamId, nowMs);
    if (this.#forgottenAtMs.size > FORGOTTEN_MAX) this.#forgottenAtMs.delete(this.#forgottenAtMs.keys().next().value!);
    await this.process.dropTeam(teamId, pause);
  }
}

interface Remembered {
  readonly teamId: string;
  readonly translation: Translation;
  readonly madeAtMs: number;
}

/** Besides its translation: its key, two objects, and its links in the cache and in the set. */
const ENTRY_BYTES = 340;
/** Entries that are looked at in one turn. */
const LOOKED_AT_ONCE = 10_000;

export class ProcessMemory {
  readonly #ageMaxMs: number;
  readonly #cache: LRUCache<TextKey, Remembered>;
  /** The keys again: unlike the cache, a set can be walked through while it changes. */
  readonly #keys = new Set<TextKey>();

  constructor({ bytesMax, ageMaxMs }: Pick<TextMemoryOptions, 'bytesMax' | 'ageMaxMs'>) {
    this.#ageMaxMs = ageMaxMs;
    // A unit of a string takes one byte or two.
    const sizeCalculation = ({ translation }: Remembered): number => ENTRY_BYTES + 2 * translation.text.length;
    const dispose = (_gone: Remembered, key: TextKey, reason: string): void => {
      if (reason !== 'set') this.#keys.delete(key);
    };
    this.#cache = new LRUCache({ maxSize: bytesMax, sizeCalculation, dispose });
  }

  /** Bytes of the entries. */
  get bytes(): number {
    return this.#cache.calculatedSize;
  }

  get texts(): number {
    return this.#cache.size;
  }

  get(key: TextKey, nowMs: number): Translation | undefined {
    const known = this.#cache.get(key);
    if (known === undefined || nowMs - known.madeAtMs < this.#ageMaxMs) return known?.translation;
    this.#cache.delete(key);
    return undefined;
  }

  /** A translation that is larger than the cache is not stored. */
  set(key: TextKey, remembered: Remembered): void {
    this.#cache.set(key, remembered);
    if (this.#cache.has(key)) this.#keys.add(key);
    else this.#keys.delete(key);
  }

  /** Drops what was made at or before this time; awaits `pause` now and then. */
  dropUntil(ms: number, pause: () => Promise<void>): Promise<void> {
    return this.#drop(({ madeAtMs }) => madeAtMs <= ms, pause);
  }

  /** Drops a team's entries; awaits `pause` now and then. */
  dropTeam(teamId: string, pause: () => Promise<void>): Promise<void> {
    return this.#drop((one) => one.teamId === teamId, pause);
  }

  clear(): void {
    this.#cache.clear();
  }

  async #drop(goes: (remembered: Remembered) => boolean, pause: () => Promise<void>): Promise<void> {
    let looked = 0;
    for (const key of this.#keys) {
      const one = this.#cache.peek(key);
      if (one !== undefined && goes(one)) this.#cache.delete(key);
      if (++looked % LOOKED_AT_ONCE === 0) await pause();
    }
  }
}
