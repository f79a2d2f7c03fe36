// What a flood must not cost the store: rate windows that are known to be full, counts of refusals
// that are reported once a second, and unknown keys that are no longer looked up.
import { LRUCache } from 'lru-cache';
import { RATE_WINDOW_MS } from '../domain/admission.ts';
import type { FullWindows, RefusedCaller, UnknownKeyLimit } from '../ports/key-directory.ts';
import type { RateLimited } from '../ports/ledger.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { DayRange } from '../domain/usage-days.ts';
import { NO_REFUSALS } from '../domain/usage-days.ts';
import type { RefusalCode, RefusalCounter, RefusalCounts, RefusalDays } from '../ports/usage-history.ts';
import { callerNetwork } from '../domain/client-address.ts';

interface KnownFullOptions {
  /** The number of refusals remembered at most. */
  readonly keysMax: number;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

interface Known {
  readonly refused: RateLimited;
  readonly untilMs: number;
  judged: JudgedTags;
}

/** Asked with these tags, the store would have said first that one is disabled. */
interface JudgedTags {
  readonly sinceMs: number;
  readonly names: Set<string>;
}

/** Of so many tags within a second it is asked, so that new ones are no way to flood it. */
const TAGS_MAX = 100;

/** Clocks under adjustment may run so much faster: a slot is free that much earlier. */
const CLOCK_DRIFT = 0.001;

export class KnownFullWindows implements FullWindows {
  readonly #options: KnownFullOptions;
  /** Oldest first. All end within a second, so the oldest is nearly the first to end. */
  readonly #known = new Map<string, Known>();
  #droppedAtMs = -Infinity;

  constructor(options: KnownFullOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#known.size === 0;
  }

  refusal(caller: RefusedCaller): RateLimited | undefined {
    const known = this.#holding(nameOf(caller));
    const tag = caller.tag?.name;
    if (tag === undefined) return known?.refused;
    if (known !== undefined && this.#isJudged(known, tag)) return known.refused;
    return this.#holding(nameWithTag(caller))?.refused;
  }

  #holding(name: string): Known | undefined {
    const known = this.#known.get(name);
    return known === undefined || this.#options.now() >= known.untilMs ? undefined : known;
  }

  #isJudged({ judged: { sinceMs, names } }: Known, tag: string): boolean {
    return names.size >= TAGS_MAX || (names.has(tag) && this.#options.now() < sinceMs + RATE_WINDOW_MS);
  }

  /** From when the store was asked: the window was full for no longer than it says. */
  note(caller: RefusedCaller, refused: RateLimited, askedAtMs: number): void {
    const { keysMax, now } = this.#options;
    const fullForMs = Math.min(refused.fullForMs ?? 0, RATE_WINDOW_MS) * (1 - CLOCK_DRIFT);
    const untilMs = askedAtMs + fullForMs;
    const nowMs = now();
    // The store may have decided before the change for which everything was dropped.
    if (untilMs <= nowMs || askedAtMs <= this.#droppedAtMs) return;
    // What is refused by a tag's limit is not refused with another tag.
    const name = refused.of === 'tag' ? nameWithTag(caller) : nameOf(caller);
    const known = this.#known.get(name);
    const judged = judgedWith(caller, known?.judged, askedAtMs);
    if (known !== undefined && known.untilMs >= untilMs) {
      known.judged = judged;
      return;
    }
    this.#known.delete(name);
    this.#known.set(name, { refused, untilMs, judged });
    for (const [oldest, { untilMs: endsMs }] of this.#known) {
      if (endsMs > nowMs && this.#known.size <= keysMax) break;
      this.#known.delete(oldest);
    }
  }

  /** Also what the store was asked until now: this gateway has changed a team or a key. */
  drop(): void {
    this.#known.clear();
    this.#droppedAtMs = this.#options.now();
  }
}

function judgedWith({ tag }: RefusedCaller, before: JudgedTags | undefined, askedAtMs: number): JudgedTags {
  const isWithin = before !== undefined && askedAtMs >= before.sinceMs && askedAtMs < before.sinceMs + RATE_WINDOW_MS;
  const judged = isWithin ? before : { sinceMs: askedAtMs, names: new Set<string>() };
  if (tag !== undefined) judged.names.add(tag.name);
  return judged;
}

/** Apart by address and scope, because others may not be allowed, which is reported first. */
function nameOf({ keyId, address, scope }: RefusedCaller): string {
  return address === undefined && scope === undefined ? keyId : `${keyId} ${address ?? '-'} ${scope ?? '-'}`;
}

/** No other name has a line break. */
function nameWithTag(caller: RefusedCaller): string {
  return `${nameOf(caller)}\n${caller.tag?.name ?? ''}`;
}

interface PendingRefusalsOptions {
  readonly days: RefusalDays & {
    add(teamId: string, counts: RefusalCounts, nowMs: number): Promise<StoreUnavailable | undefined>;
  };
  /** The time that is believed. */
  readonly nowMs: () => number;
  readonly everyMs?: number;
  /** Teams whose counts wait at most; the store has them sooner if there are more. */
  readonly teamsMax?: number;
}

const EVERY_MS = 1000;
const TEAMS_MAX = 1000;
/** Teams that are reported at a time. */
const TOGETHER_MAX = 16;

/**
 * What could not be reported is dropped, because it may have been counted: never more than were
 * refused. A killed process loses its last second.
 */
export class PendingRefusals implements RefusalCounter, RefusalDays {
  readonly #options: PendingRefusalsOptions;
  #pending = new Map<string, Record<RefusalCode, number>>();
  #timer: NodeJS.Timeout | undefined;
  #reporting: Promise<void> = Promise.resolve();

  constructor(options: PendingRefusalsOptions) {
    this.#options = options;
  }

  count(teamId: string, code: RefusalCode): void {
    const known = this.#pending.get(teamId);
    if (known !== undefined) {
      known[code]++;
      return;
    }
    this.#pending.set(teamId, { ...NO_REFUSALS, [code]: 1 });
    if (this.#pending.size >= (this.#options.teamsMax ?? TEAMS_MAX)) void this.flush();
    else this.#timer ??= setTimeout(() => void this.flush(), this.#options.everyMs ?? EVERY_MS).unref();
  }

  /** Includes what this process has not reported yet. */
  async sum(teamId: string, range: DayRange): Promise<RefusalCounts | StoreUnavailable> {
    await this.flush();
    return this.#options.days.sum(teamId, range);
  }

  /** Resolves when everything counted before was reported. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const counted = [...this.#pending];
    this.#pending = new Map();
    if (counted.length > 0) this.#reporting = this.#reporting.then(() => this.#report(counted));
    return this.#reporting;
  }

  async #report(counted: readonly (readonly [string, RefusalCounts])[]): Promise<void> {
    const nowMs = this.#options.nowMs();
    for (let first = 0; first < counted.length; first += TOGETHER_MAX) {
      const some = counted.slice(first, first + TOGETHER_MAX);
      const outcomes = await Promise.all(
        some.map(async ([teamId, counts]) => this.#options.days.add(teamId, counts, nowMs).catch(() => undefined)),
      );
      // A store that does not answer would hold up what stops the process, once for each batch.
      if (outcomes.some((one) => isUnavailable(one))) return;
    }
  }
}

const MINUTE_MS = 60_000;
/** Beyond this many, the one that was longest not seen is dropped. */
const ADDRESSES_MAX = 10_000;

export class AddressLimit implements UnknownKeyLimit {
  readonly #perMinute: number;
  /** Each for a minute from its first unknown key on. */
  readonly #counts = new LRUCache<string, { unknown: number }>({ max: ADDRESSES_MAX, ttl: MINUTE_MS });

  /** `perMinute`: unknown keys per address and minute; further ones are not looked up. */
  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  reached(address: string): boolean {
    return (this.#counts.get(callerNetwork(address))?.unknown ?? 0) >= this.#perMinute;
  }

  add(address: string): void {
    const network = callerNetwork(address);
    const count = this.#counts.get(network);
    if (count === undefined) this.#counts.set(network, { unknown: 1 });
    else count.unknown++;
  }
}
