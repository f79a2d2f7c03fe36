// Counters: what one subject (a team, a key, a tag) has used and holds in the windows that are running, from minute to month.
import { windowAt, WINDOWS } from '../domain/window-limits.ts';
import type { Counted, CountedWindow, StoredCounts, WindowLimit, WindowName, WindowNumber, WindowUse } from '../domain/window-limits.ts';

/** The first number that a request exceeds. */
export interface ExceededWindow extends WindowNumber {
  readonly limit: number;
  readonly endMs: number;
}

/**
 * The rules, for every subject alike:
 *
 * - A request is counted when it takes its place, characters when they are reserved. What is released, expires or is not charged
 *   comes back to each window in which the request was counted and which is still the current one of its kind.
 * - A window that has ended (`nowMs >= endMs`) counts as empty; the next request that is counted begins the one that contains its
 *   moment. Until then nothing is changed.
 * - If the clock steps back before the window's beginning, the window stays; by more than its length, it becomes the window that
 *   contains the moment, and keeps its counts. So nobody is locked out for long or admitted twice.
 * - A window counts from the first request after it was limited. One that is no longer limited is counted, if others are, until it
 *   ends.
 */
export class WindowCounts {
  #tickets: number;
  readonly #windows: (CountedWindow | undefined)[] = WINDOWS.map(() => undefined);
  /** For the store that keeps it: whether it has been changed since it was written. */
  changed = false;

  constructor({ tickets, windows }: StoredCounts = { tickets: 0, windows: [] }) {
    this.#tickets = tickets;
    for (const window of windows) this.#windows[WINDOWS.indexOf(window.per)] = { ...window };
  }

  /**
   * The number by which a request is refused for now: of several, that of the window that ends last, so that it is worth waiting
   * for. `characters`: those that it would reserve; `undefined` if none. More than the whole number are not judged here.
   */
  exceeded(limits: readonly WindowLimit[], characters: number | undefined, nowMs: number): ExceededWindow | undefined {
    let found: ExceededWindow | undefined;
    for (const one of limits) {
      const window = this.#windows[WINDOWS.indexOf(one.per)];
      if (window === undefined || nowMs >= window.endMs) continue;
      const counts = exceededBy(one, window, characters);
      if (counts === undefined) continue;
      const endMs = endOf(window, nowMs);
      if (found === undefined || endMs > found.endMs) found = { per: one.per, counts, limit: one[counts]!, endMs };
    }
    return found;
  }

  /** The first window whose whole number is less than these characters: no waiting helps. */
  tooSmall(limits: readonly WindowLimit[], characters: number, nowMs: number): ExceededWindow | undefined {
    const one = limits.find((limit) => limit.characters !== undefined && characters > limit.characters);
    if (one === undefined) return undefined;
    return { per: one.per, counts: 'characters', limit: one.characters!, endMs: this.#endOf(one.per, nowMs) };
  }

  /** Counts a request that takes its place. Returns its ticket, with which its characters may come back. */
  count(limits: readonly WindowLimit[], nowMs: number): number {
    const before = this.#tickets++;
    for (const [i, per] of WINDOWS.entries()) {
      const window = this.#windows[i];
      const isLimited = limits.some((one) => one.per === per);
      if (window === undefined || nowMs >= window.endMs) {
        this.#windows[i] = isLimited ? { per, ...windowAt(per, nowMs), from: before, requests: 1, characters: 0 } : undefined;
        continue;
      }
      if (isFarBefore(window, nowMs)) Object.assign(window, windowAt(per, nowMs));
      window.requests++;
    }
    return this.#tickets;
  }

  /** The ticket that the next request gets. */
  get nextTicket(): number {
    return this.#tickets + 1;
  }

  /** Counts the characters that the request counted last reserves. */
  hold(characters: number): void {
    for (const window of this.#windows) if (window !== undefined) window.characters += characters;
  }

  /** Characters of the request with this ticket are not charged after all. */
  giveBack(ticket: number, characters: number): void {
    for (const window of this.#windows) {
      if (window === undefined || ticket <= window.from) continue;
      window.characters = Math.max(0, window.characters - characters);
    }
  }

  uses(limits: readonly WindowLimit[], nowMs: number): WindowUse[] {
    return limits.map((one) => {
      const window = this.#windows[WINDOWS.indexOf(one.per)];
      const isCurrent = window !== undefined && nowMs < window.endMs;
      const [usedRequests, usedCharacters] = isCurrent ? [window.requests, window.characters] : [0, 0];
      return { ...one, usedRequests, usedCharacters, endMs: this.#endOf(one.per, nowMs) };
    });
  }

  stored(): StoredCounts {
    return { tickets: this.#tickets, windows: this.#windows.filter((window) => window !== undefined).map((window) => ({ ...window })) };
  }

  #endOf(per: WindowName, nowMs: number): number {
    const window = this.#windows[WINDOWS.indexOf(per)];
    return window === undefined || nowMs >= window.endMs ? windowAt(per, nowMs).endMs : endOf(window, nowMs);
  }
}

function exceededBy(limit: WindowLimit, window: CountedWindow, characters: number | undefined): Counted | undefined {
  if (limit.requests !== undefined && window.requests >= limit.requests) return 'requests';
  const most = limit.characters;
  if (most === undefined || characters === undefined || characters > most) return undefined;
  return window.characters + characters > most ? 'characters' : undefined;
}

/** For a window that has not ended. */
function endOf(window: CountedWindow, nowMs: number): number {
  return isFarBefore(window, nowMs) ? windowAt(window.per, nowMs).endMs : window.endMs;
}

function isFarBefore({ startMs, endMs }: CountedWindow, nowMs: number): boolean {
  return nowMs < startMs - (endMs - startMs);
}
