// Key limits as operators enter them: their names, validation, and error messages.
import { ALLOWED_ADDRESSES_MAX, canonicalRange, EXPIRES_AT_MAX, KEY_CHARACTERS_MAX, KEY_RATE_MAX } from './key-limits.ts';
import type { KeyLimits } from './key-limits.ts';
import { judgeWindows } from './given-windows.ts';
import { DAY_MS, rfc3339 } from './period.ts';
import { isScope, SCOPES, SCOPES_MAX } from './scopes.ts';

/** Names used by commands, the admin API and reports, in display order. */
export const LIMIT_NAMES = {
  expires_at: 'expiresAtMs',
  requests_per_second: 'requestsPerSecond',
  characters: 'characters',
  allowed_addresses: 'allowedAddresses',
  scopes: 'scopes',
  limits: 'windows',
} as const satisfies Record<string, keyof KeyLimits>;

export type LimitName = keyof typeof LIMIT_NAMES;

/** An error message, to follow the name of a field or flag; `at` is the index of the list entry at fault. */
interface LimitFault {
  readonly fault: string;
  readonly at?: number;
}

type JudgedLimits = { readonly limits: KeyLimits } | (LimitFault & { readonly name: LimitName });

type JudgedLimit<T> = { readonly value: T } | LimitFault;

/** As JSON values. Members that are `undefined` are not validated. */
export type GivenLimits = { readonly [Name in LimitName]?: unknown };

const JUDGES: { readonly [Name in LimitName]: (given: unknown, nowMs: number) => JudgedLimit<unknown> } = {
  expires_at: judgeExpiry,
  requests_per_second: (given) => judgeWhole(given, KEY_RATE_MAX),
  characters: (given) => judgeWhole(given, KEY_CHARACTERS_MAX),
  allowed_addresses: judgeRanges,
  scopes: judgeScopes,
  limits: judgeWindows,
};

/** Reports the first fault, in the order of `LIMIT_NAMES`. */
export function judgeLimits(given: GivenLimits, nowMs: number): JudgedLimits {
  const limits: Record<string, unknown> = {};
  for (const name of Object.keys(LIMIT_NAMES) as LimitName[]) {
    if (given[name] === undefined) continue;
    const judged = JUDGES[name](given[name], nowMs);
    if ('fault' in judged) return { ...judged, name };
    limits[LIMIT_NAMES[name]] = judged.value;
  }
  return { limits };
}

function judgeExpiry(given: unknown, nowMs: number): JudgedLimit<number> {
  const atMs = typeof given === 'string' ? parseRfc3339(given) : undefined;
  if (atMs === undefined) {
    const isWritten = typeof given === 'string' && RFC3339.test(given);
    return {
      fault: isWritten
        ? 'does not exist: there is no such day, time or offset'
        : 'is not an RFC 3339 time with a time zone, such as 2027-01-31T18:00:00Z',
    };
  }
  if (atMs <= nowMs) return { fault: `is in the past: it is ${rfc3339(Math.floor(nowMs / 1000) * 1000)} now` };
  return atMs > EXPIRES_AT_MAX ? { fault: `is later than ${rfc3339(EXPIRES_AT_MAX)}` } : { value: atMs };
}

function judgeWhole(given: unknown, max: number): JudgedLimit<number> {
  const isRight = typeof given === 'number' && Number.isInteger(given) && given >= 1 && given <= max;
  return isRight ? { value: given } : { fault: `is not a whole number from 1 to ${max}` };
}

/** Keeps the order and removes duplicates. */
function judgeRanges(given: unknown): JudgedLimit<readonly string[]> {
  if (!Array.isArray(given)) return { fault: 'is not a list of addresses and ranges' };
  if (given.length === 0) return { fault: 'is empty, which would allow no address; give at least one' };
  const ranges = given.map((text: unknown) => (typeof text === 'string' ? canonicalRange(text) : undefined));
  const at = ranges.indexOf(undefined);
  if (at !== -1) return { fault: 'is not an address or a range such as 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32', at };
  const different = [...new Set(ranges as string[])];
  if (different.length > ALLOWED_ADDRESSES_MAX)
    return { fault: `has more than ${ALLOWED_ADDRESSES_MAX} entries; join neighbours into ranges` };
  return { value: different };
}

/** Keeps the order and removes duplicates. */
function judgeScopes(given: unknown): JudgedLimit<readonly string[]> {
  if (!Array.isArray(given)) return { fault: 'is not a list of scopes' };
  if (given.length === 0) return { fault: 'is empty, which would allow nothing; give at least one scope' };
  const at = given.findIndex((text: unknown) => typeof text !== 'string' || !isScope(text));
  if (at !== -1) return { fault: `is not a scope; scopes are ${SCOPES.join(', ')}, and forward:NAME for forward routes of that name`, at };
  const different = [...new Set(given as string[])];
  return different.length > SCOPES_MAX ? { fault: `has more than ${SCOPES_MAX} entries` } : { value: different };
}

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))$/i;
const MINUTE_MS = 60_000;

/** In milliseconds: finer fractions are truncated, and a leap second counts as the second after it. `undefined` if invalid. */
export function parseRfc3339(text: string): number | undefined {
  const [, year, month, date, hour, minute, second, part = '', sign, zoneHour = '0', zoneMinute = '0'] = RFC3339.exec(text) ?? [];
  if (year === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined;
  if (Number(zoneHour) > 23 || Number(zoneMinute) > 59) return undefined;
  const midnight = new Date(`${year}-${month}-${date}T00:00:00Z`);
  // A day that does not exist yields NaN, or a day of the next month.
  if (Number.isNaN(midnight.getTime()) || midnight.getUTCDate() !== Number(date)) return undefined;
  const minutes = Number(hour) * 60 + Number(minute) - (sign === '-' ? -1 : 1) * (Number(zoneHour) * 60 + Number(zoneMinute));
  const secondMs = midnight.getTime() + minutes * MINUTE_MS + Number(second) * 1000;
  // Leap seconds end a month in UTC.
  if (Number(second) === 60 && (secondMs % DAY_MS !== 0 || new Date(secondMs).getUTCDate() !== 1)) return undefined;
  return secondMs + Number(part.padEnd(3, '0').slice(0, 3));
}
