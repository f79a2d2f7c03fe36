// What a team, a key or a tag has used of its limits by minute to month, from the store's answers alone: a list of requests for each window.
import type { WindowUse } from '../../../src/domain/window-limits.ts';
import { COUNTED, windowAt, windowLimits, WINDOWS } from '../../../src/domain/window-limits.ts';
import type { WindowLimit, WindowName, WindowNumber } from '../../../src/domain/window-limits.ts';
import type { QuotaExceeded, RateLimited, WindowStanding } from '../../../src/ports/ledger.ts';

/** A reservation: what it is charged once it is committed. */
export interface Reserved {
  readonly state: 'open' | 'committed' | 'released' | 'expired';
  readonly characters: number;
  readonly leaseUntilMs: number;
}

interface Going {
  readonly endMs: number;
  requests: number;
  readonly reserved: Reserved[];
}

/** A number that a request exceeds. */
interface Exceeded extends WindowNumber {
  readonly limit: number;
  readonly endMs: number;
}

/** Clocks of a run step by seconds, so a window never moves back. */
export class WindowCheck {
  readonly #going = new Map<WindowName, Going>();
  /** How often something was counted, in each kind of window, after one had ended. */
  readonly ended = new Map<WindowName, number>();
  readonly #counts: 'if limited' | 'always';

  /** Whether windows that are going count on while there are no limits at all. */
  constructor(counts: 'if limited' | 'always' = 'if limited') {
    this.#counts = counts;
  }

  /** By what a request is refused for now, at most one number of each window. `characters`: those that it would reserve. */
  exceeded(written: string, characters: number | undefined, storeMs: number): Exceeded[] {
    return windowLimits(written).flatMap((limit): Exceeded[] => {
      const { per, requests = Infinity, characters: most = Infinity } = limit;
      const used = this.used(per, storeMs);
      const { endMs } = used;
      if (used.requests >= requests) return [{ per, counts: 'requests', limit: requests, endMs }];
      if (characters === undefined || characters > most || used.characters + characters <= most) return [];
      return [{ per, counts: 'characters', limit: most, endMs }];
    });
  }

  /** A request took its place. */
  count(written: string, storeMs: number): void {
    const limits = windowLimits(written);
    if (!this.#isCounting(written)) return;
    for (const per of WINDOWS) {
      const going = this.#going.get(per);
      if (going !== undefined && storeMs < going.endMs) {
        going.requests++;
        continue;
      }
      if (going !== undefined) this.ended.set(per, (this.ended.get(per) ?? 0) + 1);
      this.#going.delete(per);
      if (isLimited(limits, per)) this.#going.set(per, { endMs: windowAt(per, storeMs).endMs, requests: 1, reserved: [] });
    }
  }

  /** What the request that was counted last reserved. */
  hold(written: string, reserved: Reserved): void {
    if (this.#isCounting(written)) for (const going of this.#going.values()) going.reserved.push(reserved);
  }

  #isCounting(written: string): boolean {
    return this.#counts === 'always' || windowLimits(written).length > 0;
  }

  used(per: WindowName, storeMs: number): { readonly requests: number; readonly characters: number; readonly endMs: number } {
    const going = this.#going.get(per);
    if (going === undefined || storeMs >= going.endMs) return { requests: 0, characters: 0, endMs: windowAt(per, storeMs).endMs };
    const { endMs, requests, reserved } = going;
    const counting = reserved.filter(({ state, leaseUntilMs }) => state === 'committed' || (state === 'open' && storeMs < leaseUntilMs));
    return { requests, characters: counting.reduce((total, one) => total + one.characters, 0), endMs };
  }
}

function isLimited(limits: readonly WindowLimit[], per: WindowName): boolean {
  return limits.some((one) => one.per === per);
}

/** A team, or a key or a tag of it (`of`), with its limits as stores write them. */
export interface Windowed {
  readonly of?: 'key' | 'tag';
  readonly written: string;
  readonly check: WindowCheck;
}

interface Asked {
  /** Those that the request reserves; `undefined` if none. */
  readonly characters: number | undefined;
  readonly storeMs: number;
  /** Whether no clock has changed for so long that all that is held is certain. */
  readonly isCertain: boolean;
}

/** What is wrong with an answer, which refuses by `told` or by no window: exact in both directions. */
export function windowFault(
  subjects: readonly Windowed[],
  told: RateLimited | undefined,
  { characters, storeMs, isCertain }: Asked,
): string | undefined {
  const named = told?.window && nameOf(told.of, { ...told.window, limit: told.limit, endMs: storeMs + told.retryAfterMs });
  if (!isCertain && told?.window?.counts === 'characters') return undefined;
  const exceeded = subjects.map(({ of, written, check }) =>
    check.exceeded(written, isCertain ? characters : undefined, storeMs).map((one) => ({ name: nameOf(of, one), endMs: one.endMs })),
  );
  if (!isCertain && named !== undefined)
    return exceeded.flat().some(({ name }) => name === named) ? undefined : `was told ${named}, which it does not exceed`;
  const first = exceeded.find((list) => list.length > 0) ?? [];
  const lastMs = Math.max(...first.map(({ endMs }) => endMs));
  const expected = first.find(({ endMs }) => endMs === lastMs)?.name;
  return named === expected ? undefined : `for ${characters} exceeds ${expected ?? 'no window'} and was told ${named ?? 'of none'}`;
}

/** The same for texts that are longer than a window's whole number. */
export function wholeFault(subjects: readonly Windowed[], told: QuotaExceeded | undefined, characters: number, storeMs: number) {
  const named = told?.window && nameOf(told.of, { ...told.window, limit: told.characterLimit, endMs: told.periodEndMs });
  const small = subjects.flatMap(({ of, written, check }) =>
    windowLimits(written)
      .filter((one) => characters > (one.characters ?? Infinity))
      .map(({ per, characters: limit = 0 }) => nameOf(of, { per, counts: 'characters', limit, endMs: check.used(per, storeMs).endMs })),
  );
  return named === small[0] ? undefined : `for ${characters} is too long for ${small[0] ?? 'no window'} and was told ${named ?? 'of none'}`;
}

/** What is wrong with the report of what is left, after the request was counted. */
export function standingFault(
  subjects: readonly Windowed[],
  told: readonly WindowStanding[],
  { storeMs, isCertain }: Omit<Asked, 'characters'>,
): string | undefined {
  const left = (
    of: 'key' | 'tag' | undefined,
    one: WindowNumber & { readonly limit: number; readonly endMs: number },
    remaining: number,
  ): string => `${isCertain || one.counts === 'requests' ? remaining : 'some'} of ${nameOf(of, one)}`;
  const expected = subjects.flatMap(({ of, written, check }) =>
    windowLimits(written).flatMap((limits) => {
      const { endMs, ...used } = check.used(limits.per, storeMs);
      return COUNTED.filter((counts) => limits[counts] !== undefined).map((counts) => {
        const limit = limits[counts]!;
        return left(of, { per: limits.per, counts, limit, endMs }, Math.max(0, limit - used[counts]));
      });
    }),
  );
  const reported = told.map((one) => left(one.of, { ...one, endMs: storeMs + one.resetMs }, one.remaining));
  return reported.join() === expected.join() ? undefined : `has ${expected.join()} left and was told ${reported.join()}`;
}

/** What is wrong with what is shown of a window. */
export function shownFault(
  check: WindowCheck,
  { per, usedRequests, usedCharacters, endMs }: WindowUse,
  storeMs: number,
): string | undefined {
  const used = check.used(per, storeMs);
  const [is, was] = [
    [usedRequests, usedCharacters, endMs],
    [used.requests, used.characters, used.endMs],
  ].map((counts) => counts.join()) as [string, string];
  return is === was ? undefined : `has used ${is} of its ${per}, counted were ${was}`;
}

function nameOf(of: string | undefined, { per, counts, limit, endMs }: WindowNumber & { readonly limit: number; readonly endMs: number }) {
  return `${of ?? 'team'}:${per}:${counts} of ${limit} until ${endMs}`;
}
