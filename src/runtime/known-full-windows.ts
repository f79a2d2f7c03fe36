// Remembers refusals by a rate until a slot may be free, by key and tag, so that a flood is refused without asking the store.
import { RATE_WINDOW_MS } from '../domain/reservation.ts';
import type { FullWindows, RefusedCaller } from '../ports/full-windows.ts';
import type { RateLimited } from '../ports/ledger.ts';

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

/** The store was asked with these tags, and so none of them was disabled, which it would have said first. */
interface JudgedTags {
  readonly sinceMs: number;
  readonly names: Set<string>;
}

/** Of how many different tags within a second the store is asked whether they are disabled, so that new ones are no way to flood it. */
const TAGS_MAX = 100;

/** Clocks that are being adjusted may run this much faster than ours: a slot is free that much earlier. */
const CLOCK_DRIFT = 0.001;

export class KnownFullWindows implements FullWindows {
  readonly #options: KnownFullOptions;
  /** Oldest first. All of them end within a second, so the oldest is also nearly the first to end. */
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

  /** Counted from when the store was asked: by then the window was not full for longer than the store says. */
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

  /** Forgets everything, and what the store was asked until now: this gateway has changed a team or a key. */
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
