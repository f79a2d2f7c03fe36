// What was translated before, answered text by text: from this process, or from the Redis that gateways share, or not at all.
import { countCharacters } from 'lingate';
import type { KnownTexts, TextWork, Translation } from 'lingate';
import type { ProcessMemory } from './process-memory.ts';
import type { RedisMemory } from './redis-memory.ts';
import type { SharedText } from './shared-text.ts';
import { keyBeginning, keyOfText } from './text-key.ts';
import type { TextKey } from './text-key.ts';

/** What became of a text that was looked for: `unavailable` where this process does not know it, and Redis is away. */
export type Finding = 'hit' | 'miss' | 'unavailable';

/** What is shown to the operator. */
export interface MemoryCounts {
  readonly texts: Record<Finding, number>;
  /** Characters of texts that no engine was asked for. */
  saved: number;
}

export interface TextMemoryOptions {
  readonly process: ProcessMemory;
  readonly shared: RedisMemory | undefined;
  readonly ageMaxMs: number;
  /** Whether the characters of what is known are not charged. */
  readonly spared: boolean;
  readonly counts: MemoryCounts;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  readonly wallNow: () => number;
}

/** A piece of work whose texts are looked for. `known` is filled in from one place after the other. */
interface Search {
  readonly work: TextWork;
  readonly teamId: string;
  readonly keys: readonly (TextKey | undefined)[];
  readonly known: (Translation | undefined)[];
  readonly atMs: number;
}

/** Teams of which it is known since when nothing older counts; more are forgotten, the oldest first. */
const FORGOTTEN_MAX = 100_000;

export class TextMemory {
  readonly #options: TextMemoryOptions;
  /** From which moment on what is remembered of a team counts, and of all teams. */
  readonly #forgottenAtMs = new Map<string, number>();
  #allForgottenAtMs = -Infinity;

  constructor(options: TextMemoryOptions) {
    this.#options = options;
  }

  answer(work: TextWork): KnownTexts | undefined | Promise<KnownTexts> {
    const { teamId, text, engines, options } = work;
    const beginning = teamId === undefined ? undefined : keyBeginning(teamId, engines[0]!, options);
    if (teamId === undefined || beginning === undefined) return undefined;
    const keys = text.map((one) => keyOfText(beginning, one));
    const search: Search = { work, teamId, keys, known: keys.map((key) => this.#remembered(key)), atMs: this.#options.now() };
    const { shared } = this.#options;
    if (shared === undefined || search.known.every((one) => one !== undefined)) return this.#found(search, 'miss');
    return this.#foundShared(search, shared);
  }

  #remembered(key: TextKey | undefined): Translation | undefined {
    return key === undefined ? undefined : this.#options.process.get(key);
  }

  async #foundShared(search: Search, shared: RedisMemory): Promise<KnownTexts> {
    const { teamId, known } = search;
    const open = search.keys.flatMap((key, i) => (key === undefined || known[i] !== undefined ? [] : [{ key, i }]));
    const texts = await shared.get(
      teamId,
      open.map(({ key }) => key),
    );
    if (texts === undefined) return this.#found(search, 'unavailable');
    for (const [place, { key, i }] of open.entries()) {
      const text = texts[place];
      const ageMs = text === undefined ? Infinity : this.#ageOf(teamId, text);
      if (text === undefined || ageMs >= this.#options.ageMaxMs) continue;
      known[i] = text.translation;
      this.#options.process.set(key, teamId, text.translation, ageMs);
    }
    return this.#found(search, 'miss');
  }

  /** `Infinity` where it was made before its team was forgotten. One that another's clock made in the future is new. */
  #ageOf(teamId: string, { madeAtMs }: SharedText): number {
    const ageMs = Math.max(0, this.#options.wallNow() - madeAtMs);
    return this.#counts(teamId, this.#options.now() - ageMs) ? ageMs : Infinity;
  }

  #counts(teamId: string, sinceMs: number): boolean {
    return sinceMs > this.#allForgottenAtMs && sinceMs > (this.#forgottenAtMs.get(teamId) ?? -Infinity);
  }

  /** `without` is what the texts are counted as that are not known. */
  #found(search: Search, without: Finding): KnownTexts {
    const { work, known } = search;
    let hits = 0;
    let saved = 0;
    for (let i = 0; i < known.length; i++) {
      if (known[i] === undefined) continue;
      hits++;
      saved += countCharacters(work.text[i]!);
    }
    const { counts, spared } = this.#options;
    counts.texts[without] += known.length - hits;
    counts.texts.hit += hits;
    counts.saved += saved;
    return { translations: known, spared, learn: (translations, engine) => this.#learn(search, translations, engine) };
  }

  #learn({ work, teamId, keys, known, atMs }: Search, translations: readonly Translation[], engine: string): void {
    if (!this.#counts(teamId, atMs)) return;
    // The one that answered need not be the one that was asked for first.
    const beginning = engine === work.engines[0] ? undefined : keyBeginning(teamId, engine, work.options);
    const madeAtMs = this.#options.wallNow();
    let next = 0;
    for (let i = 0; i < keys.length; i++) {
      if (known[i] !== undefined) continue;
      const translation = translations[next++]!;
      const key = beginning === undefined ? keys[i] : keyOfText(beginning, work.text[i]!);
      if (key === undefined) continue;
      this.#options.process.set(key, teamId, translation);
      this.#options.shared?.set(teamId, key, { translation, madeAtMs });
    }
  }

  /** What is remembered of a team, or of all, does not count from now on, and what is on its way is not remembered. */
  async forget(teamId: string | undefined, pause: () => Promise<void>): Promise<void> {
    const nowMs = this.#options.now();
    if (teamId === undefined) {
      this.#allForgottenAtMs = nowMs;
    } else {
      this.#forgottenAtMs.delete(teamId);
      this.#forgottenAtMs.set(teamId, nowMs);
      if (this.#forgottenAtMs.size > FORGOTTEN_MAX) this.#forgottenAtMs.delete(this.#forgottenAtMs.keys().next().value!);
    }
    await this.#options.process.forget(teamId, pause);
  }
}
