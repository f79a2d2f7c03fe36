// Looks each text up in the process's cache, then in the Redis that gateways share, and caches new translations in both.
import { countCharacters } from 'lingate';
import type { KnownTexts, TextWork, Translation } from 'lingate';
import type { ProcessMemory } from './process-memory.ts';
import type { RedisMemory } from './redis-memory.ts';
import type { SharedText } from './shared-text.ts';
import { keyBeginning, KeyBytes, keyOfText, OptionsParts, teamPart } from './text-key.ts';
import type { TextKey } from './text-key.ts';

/** Result of looking a text up. `unavailable`: not cached in this process, and Redis is down. */
type Finding = 'hit' | 'miss' | 'unavailable';

/** Shown to the operator. */
export interface MemoryCounts {
  readonly texts: Record<Finding, number>;
  /** Characters of hits. */
  saved: number;
}

interface TextMemoryOptions {
  readonly process: ProcessMemory;
  readonly shared: RedisMemory | undefined;
  readonly ageMaxMs: number;
  /** Whether hits are free. */
  readonly spared: boolean;
  readonly counts: MemoryCounts;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  readonly wallNow: () => number;
}

/** Limit on remembered `forget` times of teams; the oldest are dropped. */
const FORGOTTEN_MAX = 100_000;

/** The look-up of a piece of work; `translations` is filled in step by step. */
class Search implements KnownTexts {
  readonly translations: (Translation | undefined)[];
  readonly spared: boolean;
  readonly work: TextWork;
  readonly teamId: string;
  readonly atMs: number;
  /** When the request started. Whatever was forgotten since then also applies to it, even if stages before this one took long. */
  readonly startedAtMs: number;
  /** The options' part of keys for the first engine. */
  readonly part: string;
  readonly #by: TextMemory;

  constructor(by: TextMemory, work: TextWork, teamId: string, part: string, atMs: number, spared: boolean) {
    this.#by = by;
    this.work = work;
    this.teamId = teamId;
    this.part = part;
    this.atMs = atMs;
    this.startedAtMs = work.x.startedAtMs;
    this.spared = spared;
    this.translations = [];
    for (let i = 0; i < work.text.length; i++) this.translations.push(undefined);
  }

  learn(translations: readonly Translation[], engine: string): void {
    this.#by.learn(this, translations, engine);
  }
}

export class TextMemory {
  readonly #options: TextMemoryOptions;
  readonly #key = new KeyBytes();
  readonly #parts = new OptionsParts();
  /** Entries made before these times do not count, per team and for all. */
  readonly #forgottenAtMs = new Map<string, number>();
  #allForgottenAtMs = -Infinity;

  constructor(options: TextMemoryOptions) {
    this.#options = options;
  }

  answer(work: TextWork): KnownTexts | undefined | Promise<KnownTexts> {
    const { teamId, engines, text } = work;
    if (teamId === undefined) return undefined;
    const { shared, now, spared } = this.#options;
    const part = this.#parts.of(engines[0]!, work.options);
    const search = new Search(this, work, teamId, part, now(), spared);
    let open = this.#look(search, part, text.length);
    if (open > 0 && work.expected !== engines[0]) open = this.#look(search, this.#partOf(search, work.expected), open);
    return shared === undefined || open === 0 ? this.#found(search, 'miss') : this.#foundShared(search, shared);
  }

  /** Fills in what this process has under these options and returns how many texts remain open. */
  #look({ work, teamId, translations, atMs }: Search, part: string, openBefore: number): number {
    const key = this.#key;
    if (!key.begin(teamPart(teamId), part)) return openBefore;
    let open = openBefore;
    for (let i = 0; i < translations.length; i++) {
      if (translations[i] !== undefined || !key.add(work.text[i]!)) continue;
      const known = this.#options.process.get(key, atMs);
      if (known === undefined) continue;
      translations[i] = known;
      open--;
    }
    return open;
  }

  #partOf({ work, part }: Search, engine: string): string {
    return engine === work.engines[0] ? part : this.#parts.of(engine, work.options);
  }

  async #foundShared(search: Search, shared: RedisMemory): Promise<KnownTexts> {
    const { work, teamId, translations } = search;
    const engines = work.expected === work.engines[0] ? [work.expected] : [work.engines[0]!, work.expected];
    const wanted = engines.flatMap((engine) => {
      const beginning = keyBeginning(teamPart(teamId), this.#partOf(search, engine));
      return [...translations.keys()].flatMap((i) => {
        const key = translations[i] === undefined ? keyOfText(beginning, work.text[i]!) : undefined;
        return key === undefined ? [] : [{ engine, i, key }];
      });
    });
    const texts = await shared.get(
      teamId,
      wanted.map(({ key }) => key),
    );
    if (texts === undefined) return this.#found(search, 'unavailable');
    for (const [place, { engine, i }] of wanted.entries()) {
      const text = texts[place];
      if (text === undefined || translations[i] !== undefined) continue;
      const madeAtMs = this.#madeAtMs(teamId, text);
      if (madeAtMs === undefined) continue;
      translations[i] = text.translation;
      this.#keep(search, engine, i, text.translation, madeAtMs);
    }
    return this.#found(search, 'miss');
  }

  /** `undefined` if it is too old or older than the team's last `forget`. A time in the future, by another clock, counts as now. */
  #madeAtMs(teamId: string, text: SharedText): number | undefined {
    const { wallNow, now, ageMaxMs } = this.#options;
    const ageMs = Math.max(0, wallNow() - text.madeAtMs);
    const madeAtMs = now() - ageMs;
    return ageMs < ageMaxMs && this.#counts(teamId, madeAtMs) ? madeAtMs : undefined;
  }

  #keep(search: Search, engine: string, i: number, translation: Translation, madeAtMs: number): void {
    const key = this.#key;
    if (!key.begin(teamPart(search.teamId), this.#partOf(search, engine)) || !key.add(search.work.text[i]!)) return;
    this.#options.process.set(key, translation, madeAtMs);
  }

  #counts(teamId: string, sinceMs: number): boolean {
    return sinceMs > this.#allForgottenAtMs && sinceMs > (this.#forgottenAtMs.get(teamId) ?? -Infinity);
  }

  /** Counts; texts that were not found count as `without`. */
  #found(search: Search, without: Finding): KnownTexts {
    const { counts } = this.#options;
    const { translations, work } = search;
    for (let i = 0; i < translations.length; i++) {
      if (translations[i] === undefined) {
        counts.texts[without]++;
      } else {
        counts.texts.hit++;
        counts.saved += countCharacters(work.text[i]!);
      }
    }
    return search;
  }

  /** `translations` are those of the texts that were still open. */
  learn(search: Search, translations: readonly Translation[], engine: string): void {
    const { work, teamId, startedAtMs } = search;
    if (!this.#counts(teamId, startedAtMs)) return;
    const { shared, process, now, wallNow } = this.#options;
    const key = this.#key;
    const team = teamPart(teamId);
    const part = this.#partOf(search, engine);
    if (!key.begin(team, part)) return;
    const beginning = shared === undefined ? undefined : keyBeginning(team, part);
    // Not the time of writing: a gateway that has forgotten the team already must not use what was in progress at that moment.
    const madeAtMs = wallNow() - (now() - startedAtMs);
    let next = 0;
    for (let i = 0; i < work.text.length; i++) {
      if (search.translations[i] !== undefined) continue;
      const text = work.text[i]!;
      const translation = translations[next++]!;
      if (key.add(text)) process.set(key, translation, startedAtMs);
      const shareKey: TextKey | undefined = beginning === undefined ? undefined : keyOfText(beginning, text);
      if (shareKey !== undefined) shared!.set(teamId, shareKey, { translation, madeAtMs });
    }
  }

  /** Drops a team's entries, or all; translations in progress are not cached. */
  async forget(teamId: string | undefined, pause: () => Promise<void>): Promise<void> {
    const nowMs = this.#options.now();
    if (teamId === undefined) {
      this.#allForgottenAtMs = nowMs;
      this.#options.process.clear();
      return;
    }
    this.#forgottenAtMs.delete(teamId);
    this.#forgottenAtMs.set(teamId, nowMs);
    if (this.#forgottenAtMs.size > FORGOTTEN_MAX) this.#forgottenAtMs.delete(this.#forgottenAtMs.keys().next().value!);
    await this.#options.process.dropTeam(teamPart(teamId), pause);
  }
}
