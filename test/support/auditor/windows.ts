// Limits of a second and by minute to month, as the auditor counts them: each request by itself, from the store's answers alone.
import type { WindowName, WindowUse } from '../../../src/domain/window-limits.ts';
import type { QuotaExceeded, RateLimited, WindowStanding } from '../../../src/ports/ledger.ts';
import { WINDOW_NAMES, windowAt } from '../reference/calendar.ts';

/** A reservation: what it is charged once it is committed. */
export interface Reserved {
  readonly state: 'open' | 'committed' | 'released' | 'expired';
  readonly characters: number;
  readonly leaseUntilMs: number;
}

interface Limit {
  readonly per: WindowName;
  readonly unit: 'requests' | 'characters';
  readonly most: number;
}

/** A limit with the end of the window in which it counts. */
interface Standing extends Limit {
  readonly endMs: number;
}

interface Going {
  readonly endMs: number;
  requests: number;
  readonly reserved: Reserved[];
}

const SECOND_MS = 1000;

/** As stores write them, `requests=600/minute characters=1000000/day`: the shortest window first, in it requests first. */
function limitsIn(written: string): Limit[] {
  const limits = [...written.matchAll(/(requests|characters)=(\d+)\/(\w+)/g)];
  return limits.map(([, unit, most, per]) => ({ per: per as WindowName, unit: unit as Limit['unit'], most: Number(most) }));
}

/** What a team, a key or a tag has used of its windows. Clocks of a run step by seconds, so a window never moves back. */
export class Windows {
  readonly #going = new Map<WindowName, Going>();
  /** How often something was counted, in each kind of window, after one had ended. */
  readonly ended = new Map<WindowName, number>();
  readonly #counts: 'if limited' | 'always';

  /** Whether windows that are going count on while there are no limits at all. */
  constructor(counts: 'if limited' | 'always' = 'if limited') {
    this.#counts = counts;
  }

  /** By what a request is refused for now, at most one limit of each window. `characters`: those that it would reserve. */
  exceeded(written: string, characters: number | undefined, storeMs: number): Standing[] {
    const full = limitsIn(written).filter(({ per, unit, most }) => {
      const used = this.used(per, storeMs);
      if (unit === 'requests') return used.requests >= most;
      return characters !== undefined && characters <= most && used.characters + characters > most;
    });
    const first = full.filter(({ per }, i) => full.findIndex((one) => one.per === per) === i);
    return first.map((limit) => ({ ...limit, endMs: this.used(limit.per, storeMs).endMs }));
  }

  /** A request took its place. */
  count(written: string, storeMs: number): void {
    if (!this.#isCounting(written)) return;
    for (const per of WINDOW_NAMES) {
      const going = this.#going.get(per);
      if (going !== undefined && storeMs < going.endMs) {
        going.requests++;
        continue;
      }
      if (going !== undefined) this.ended.set(per, (this.ended.get(per) ?? 0) + 1);
      this.#going.delete(per);
      if (limitsIn(written).some((limit) => limit.per === per))
        this.#going.set(per, { endMs: windowAt(per, storeMs).endMs, requests: 1, reserved: [] });
    }
  }

  /** What the request that was counted last reserved. */
  hold(written: string, reserved: Reserved): void {
    if (this.#isCounting(written)) for (const going of this.#going.values()) going.reserved.push(reserved);
  }

  #isCounting(written: string): boolean {
    return this.#counts === 'always' || written !== '';
  }

  used(per: WindowName, storeMs: number): { readonly requests: number; readonly characters: number; readonly endMs: number } {
    const going = this.#going.get(per);
    if (going === undefined || storeMs >= going.endMs) return { requests: 0, characters: 0, endMs: windowAt(per, storeMs).endMs };
    return { requests: going.requests, characters: standing(going.reserved, storeMs), endMs: going.endMs };
  }
}

/** The characters that are charged or held. */
export function standing(reserved: Iterable<Reserved>, storeMs: number): number {
  let total = 0;
  for (const { state, characters, leaseUntilMs } of reserved)
    if (state === 'committed' || (state === 'open' && storeMs < leaseUntilMs)) total += characters;
  return total;
}

/** What is wrong with an admission or a refusal by a rate after these slots, oldest first; exact in both directions. */
export function rateFault(slots: readonly { readonly storeMs: number }[], rate: number, isRefused: boolean, storeMs: number) {
  const decisive = slots.at(-rate);
  const isFull = decisive !== undefined && storeMs - decisive.storeMs < SECOND_MS;
  if (isFull === isRefused) return undefined;
  const since = decisive === undefined ? 'no slot' : `${storeMs - decisive.storeMs} ms since the slot`;
  return `was ${isRefused ? 'refused' : 'admitted'} at ${storeMs} with ${since} ${rate} slots ago`;
}

/** A team, or a key or a tag of it (`of`), with its limits as stores write them. */
export interface Windowed {
  readonly of?: 'key' | 'tag';
  readonly written: string;
  readonly windows: Windows;
}

interface Asked {
  /** Those that the request reserves; `undefined` if none. */
  readonly characters: number | undefined;
  readonly storeMs: number;
  /** Whether no clock has changed for so long that all that is held is certain. */
  readonly isCertain: boolean;
}

/** What is wrong with an answer, which refuses by `told` or by no window: exact in both directions. */
export function windowFault(subjects: readonly Windowed[], told: RateLimited | undefined, { characters, storeMs, isCertain }: Asked) {
  const named = told?.window && nameOf(told.of, told.window.per, told.window.counts, told.limit, storeMs + told.retryAfterMs);
  if (!isCertain && told?.window?.counts === 'characters') return undefined;
  const exceeded = subjects.map(({ of, written, windows }) =>
    windows
      .exceeded(written, isCertain ? characters : undefined, storeMs)
      .map(({ per, unit, most, endMs }) => ({ name: nameOf(of, per, unit, most, endMs), endMs })),
  );
  if (!isCertain && named !== undefined)
    return exceeded.flat().some(({ name }) => name === named) ? undefined : `was told ${named}, which it does not exceed`;
  // The first subject that is full says so, by that window of it which ends last.
  const first = exceeded.find((full) => full.length > 0) ?? [];
  const lastMs = Math.max(...first.map(({ endMs }) => endMs));
  const expected = first.find(({ endMs }) => endMs === lastMs)?.name;
  return named === expected ? undefined : `for ${characters} exceeds ${expected ?? 'no window'} and was told ${named ?? 'of none'}`;
}

/** The same for texts that are longer than a window's whole number. */
export function tooLongFault(subjects: readonly Windowed[], told: QuotaExceeded | undefined, characters: number, storeMs: number) {
  const named = told?.window && nameOf(told.of, told.window.per, told.window.counts, told.characterLimit, told.periodEndMs);
  const [expected] = subjects.flatMap(({ of, written, windows }) =>
    limitsIn(written)
      .filter(({ unit, most }) => unit === 'characters' && characters > most)
      .map(({ per, unit, most }) => nameOf(of, per, unit, most, windows.used(per, storeMs).endMs)),
  );
  return named === expected ? undefined : `for ${characters} is too long for ${expected ?? 'no window'} and was told ${named ?? 'of none'}`;
}

/** What is wrong with the report of what is left, after the request was counted. */
export function leftFault(subjects: readonly Windowed[], told: readonly WindowStanding[], storeMs: number, isCertain: boolean) {
  const left = (unit: Limit['unit'], remaining: number, name: string): string =>
    `${isCertain || unit === 'requests' ? remaining : 'some'} of ${name}`;
  const expected = subjects.flatMap(({ of, written, windows }) =>
    limitsIn(written).map(({ per, unit, most }) => {
      const used = windows.used(per, storeMs);
      return left(unit, Math.max(0, most - used[unit]), nameOf(of, per, unit, most, used.endMs));
    }),
  );
  const reported = told.map(({ of, per, counts, limit, remaining, resetMs }) =>
    left(counts, remaining, nameOf(of, per, counts, limit, storeMs + resetMs)),
  );
  return reported.join() === expected.join() ? undefined : `has ${expected.join()} left and was told ${reported.join()}`;
}

/** What is wrong with what is shown of a window. */
export function shownFault(windows: Windows, { per, usedRequests, usedCharacters, endMs }: WindowUse, storeMs: number) {
  const used = windows.used(per, storeMs);
  const [is, was] = [`${usedRequests},${usedCharacters},${endMs}`, `${used.requests},${used.characters},${used.endMs}`];
  return is === was ? undefined : `has used ${is} of its ${per}, counted were ${was}`;
}

function nameOf(of: string | undefined, per: WindowName, unit: Limit['unit'], most: number, endMs: number): string {
  return `${of ?? 'team'}:${per}:${unit} of ${most} until ${endMs}`;
}
