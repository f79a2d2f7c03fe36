// Limits by minute to month as operators give them, in plans and for keys: as a list, and as requests=600/minute.
import { COUNTED, windowLimits, WINDOWS, writtenWindows } from './window-limits.ts';
import type { Counted, WindowLimit, WindowName } from './window-limits.ts';

export const WINDOW_ENTRIES_MAX = 6;
/** Same as a plan's characters. */
export const WINDOW_NUMBER_MAX = 1_000_000_000_000;

/** A fault follows the name of the field; `at` is the index of the entry. */
type JudgedWindows = { readonly value: string } | { readonly fault: string; readonly at?: number };

const ENTRY = 'an entry such as {"per": "minute", "requests": 600}';
const PERS = WINDOWS.join(', ');

/** The list as stores keep it. */
export function judgeWindows(given: unknown): JudgedWindows {
  if (!Array.isArray(given)) return { fault: `is not a list; write entries such as {"per": "minute", "requests": 600}` };
  if (given.length === 0) return { fault: 'is empty; give at least one entry' };
  if (given.length > WINDOW_ENTRIES_MAX) return { fault: `has more than ${WINDOW_ENTRIES_MAX} entries` };
  const limits: WindowLimit[] = [];
  for (const [at, entry] of given.entries()) {
    const fault = faultOf(entry, limits);
    if (fault !== undefined) return { fault, at };
    limits.push(entry as WindowLimit);
  }
  return { value: writtenWindows(limits) };
}

function faultOf(entry: unknown, before: readonly WindowLimit[]): string | undefined {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return `is not ${ENTRY}`;
  const { per, ...numbers } = entry as Record<string, unknown>;
  const unknown = Object.keys(numbers).find((name) => !isCounted(name));
  if (unknown !== undefined) return `has an unknown member; accepted are per, ${COUNTED.join(' and ')}`;
  if (!WINDOWS.some((name) => name === per)) return `has no per that is one of ${PERS}`;
  const counts = COUNTED.filter((name) => numbers[name] !== undefined);
  if (counts.length === 0) return 'has neither requests nor characters';
  const wrong = counts.find((name) => !isNumber(numbers[name]));
  if (wrong !== undefined) return `has ${wrong} that are not a whole number from 1 to ${WINDOW_NUMBER_MAX}`;
  const twice = counts.find((name) => before.some((one) => one.per === per && one[name] !== undefined));
  return twice === undefined ? undefined : `limits the ${twice} of a ${String(per)} a second time`;
}

function isCounted(name: string): name is Counted {
  return COUNTED.some((one) => one === name);
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= WINDOW_NUMBER_MAX;
}

const WRITTEN = /^(\w+)=(\d{1,15})\/(\w+)$/;

/** From `requests=600/minute`, as written on the command line and in forms. */
export function readWindowLimit(text: string): WindowLimit | { readonly fault: string } {
  const [, counts = '', most = '', per = ''] = WRITTEN.exec(text) ?? [];
  const fits = isCounted(counts) && WINDOWS.some((name) => name === per) && isNumber(Number(most));
  if (fits) return { per: per as WindowName, [counts]: Number(most) };
  return { fault: `is not a limit such as requests=600/minute or characters=1000000/day (${PERS}; 1 to ${WINDOW_NUMBER_MAX})` };
}

/** A change of some limits: what `set` names is replaced, what stands for the times in `removed` goes, and the others stay. */
interface WindowChange {
  readonly set: readonly WindowLimit[];
  readonly removed: readonly WindowName[];
}

/** `null` if nothing is left. */
export function changedWindows(written: string, { set, removed }: WindowChange): string | null {
  const standing = windowLimits(written).filter(({ per }) => !removed.includes(per));
  const result = writtenWindows([...set, ...standing]);
  return result === '' ? null : result;
}

/** For people: `600 requests/minute`, in the order of the list. */
export function windowTexts(written: string, shown: (number: number) => string = String): string[] {
  return windowLimits(written).flatMap((one) =>
    COUNTED.flatMap((counts) => (one[counts] === undefined ? [] : [`${shown(one[counts])} ${counts}/${one.per}`])),
  );
}
