// Keys on the command line, and what tags share with them: flags of their limits, parsing, and text for people.
import { limitsReport } from '../admin/reports.ts';
import { judgeLimits, LIMIT_NAMES } from '../domain/given-key-limits.ts';
import type { LimitName } from '../domain/given-key-limits.ts';
import { readWindowLimit, windowTexts } from '../domain/given-windows.ts';
import type { WindowChange } from '../domain/given-windows.ts';
import { hasLimits } from '../domain/key-limits.ts';
import type { KeyLimitChange, KeyLimits } from '../domain/key-limits.ts';
import { rfc3339 } from '../domain/period.ts';
import { SCOPES } from '../domain/scopes.ts';
import { NO_WINDOWS, WINDOWS } from '../domain/window-limits.ts';
import type { WindowLimit } from '../domain/window-limits.ts';
import type { KeyRecord } from '../ports/team-registry.ts';
import type { CommandContext, Flags } from './command.ts';
import { UsageError } from './command.ts';
import { textTable } from './text-table.ts';

const FLAGS: Readonly<Record<LimitName, string>> = {
  expires_at: 'expires-at',
  requests_per_second: 'requests-per-second',
  characters: 'characters',
  allowed_addresses: 'allow',
  scopes: 'scope',
  limits: 'limit',
};
/** The flags that remove them, without `no-`. */
const REMOVED: Readonly<Record<LimitName, string>> = { ...FLAGS, scopes: 'scopes' };
const NAMES = Object.keys(LIMIT_NAMES) as LimitName[];

export const LIMIT_FLAGS: Flags = {
  'expires-at': { kind: 'text', value: 'RFC3339', summary: 'when the key expires, for example 2027-01-31T18:00:00Z' },
  'requests-per-second': { kind: 'text', value: 'N', summary: "the key's own rate, within the team's" },
  characters: { kind: 'text', value: 'N', summary: "how many characters it may use in each of the team's periods" },
  allow: { kind: 'texts', value: 'CIDR', summary: 'an IPv4 or IPv6 address or range from which the key may be used; may be repeated' },
  scope: { kind: 'texts', value: 'SCOPE', summary: `what the key may be used for: ${SCOPES.join(', ')}, forward:NAME; may be repeated` },
  limit: {
    kind: 'texts',
    value: 'LIMIT',
    summary: 'such as requests=600/minute or characters=1000000/day (minute, hour, day, week, month; UTC); may be repeated',
  },
};

/** The flags that remove each limit. */
export const NO_LIMIT_FLAGS: Flags = {
  'no-expires-at': { kind: 'switch', summary: 'remove the expiry' },
  'no-requests-per-second': { kind: 'switch', summary: "remove the rate: only the team's applies" },
  'no-characters': { kind: 'switch', summary: "remove the limit: only the team's quota or credit applies" },
  'no-allow': { kind: 'switch', summary: 'allow every address' },
  'no-scopes': { kind: 'switch', summary: 'allow everything' },
  'no-limit': {
    kind: 'texts',
    value: 'TIME',
    summary: 'remove what --limit has set for minute, hour, day, week or month; may be repeated',
  },
};

/** The limits that are given. Throws a `UsageError` that names the flag and what would be right. */
export function readLimits(context: CommandContext): KeyLimits {
  const judged = judgeLimits(
    {
      expires_at: context.text('expires-at'),
      requests_per_second: wholeOf(context.text('requests-per-second')),
      characters: wholeOf(context.text('characters')),
      allowed_addresses: context.texts('allow'),
      scopes: context.texts('scope'),
      limits: givenWindows(context),
    },
    context.io.nowMs(),
  );
  if (!('fault' in judged)) return judged.limits;
  const { name, at, fault } = judged;
  const given = context.texts(FLAGS[name])!;
  // A fault of a whole list is about none of its values.
  const value = at === undefined && given.length > 1 ? '' : ` ${JSON.stringify(given[at ?? 0])}`;
  throw new UsageError(`--${FLAGS[name]}${value} ${fault}`);
}

/** One entry for each time; a number that is given twice is left to be found. */
function givenWindows(context: CommandContext): readonly WindowLimit[] | undefined {
  const limits = context.texts('limit')?.map((text) => {
    const limit = readWindowLimit(text);
    if ('fault' in limit) throw new UsageError(`--limit ${JSON.stringify(text)} ${limit.fault}`);
    return limit;
  });
  return limits?.reduce<WindowLimit[]>((joined, limit) => {
    const at = joined.findIndex(({ per, ...one }) => per === limit.per && Object.keys(limit).every((name) => !Object.hasOwn(one, name)));
    return at === -1 ? [...joined, limit] : joined.toSpliced(at, 1, { ...joined[at]!, ...limit });
  }, []);
}

/** `undefined` without such flags. */
export function readWindowChange(context: CommandContext): WindowChange | undefined {
  const removed = (context.texts('no-limit') ?? []).map((text) => {
    const per = WINDOWS.find((name) => name === text);
    if (per === undefined) throw new UsageError(`--no-limit ${JSON.stringify(text)} is not one of ${WINDOWS.join(', ')}`);
    return per;
  });
  const set = givenWindows(context) ?? [];
  const both = removed.find((per) => set.some((one) => one.per === per));
  if (both !== undefined) throw new UsageError(`--limit …/${both} and --no-limit ${both} contradict each other; give one of them`);
  return set.length + removed.length === 0 ? undefined : { set, removed };
}

/** Limits to remove are `null`; `undefined` if no flag of a limit was given. Those by minute to month: `readWindowChange`. */
export function readLimitChange(context: CommandContext): KeyLimitChange | undefined {
  const { windows: _windows, ...limits } = readLimits(context);
  const removed = NAMES.filter((name) => name !== 'limits' && context.on(`no-${REMOVED[name]}`));
  const both = removed.find((name) => context.on(FLAGS[name]));
  if (both !== undefined) throw new UsageError(`--${FLAGS[both]} and --no-${REMOVED[both]} contradict each other; give one of them`);
  const change = { ...limits, ...Object.fromEntries(removed.map((name) => [LIMIT_NAMES[name], null])) };
  return Object.keys(change).length === 0 ? undefined : change;
}

function wholeOf(text: string | undefined): number | string | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : text;
}

/** `until 2027-01-31T18:00:00Z, 5/s, 100000 characters, from 10.0.0.0/8, only usage:read`; a dash if the key has none. */
export function limitsText(limits: KeyLimits): string {
  const { expires_at: until, requests_per_second: rate, characters, allowed_addresses: from, scopes } = limitsReport(limits);
  const windows = windowTexts(limits.windows ?? NO_WINDOWS);
  const parts = [
    until === undefined ? '' : `until ${until}`,
    rate === undefined ? '' : `${rate}/s`,
    characters === undefined ? '' : `${characters} characters`,
    ...windows,
    from === undefined ? '' : `from ${from.join(' ')}`,
    scopes === undefined ? '' : `only ${scopes.join(' ')}`,
  ].filter((part) => part !== '');
  return parts.length === 0 ? '-' : parts.join(', ');
}

/** What to know about a key that does not work, besides its status. */
export const STATUS_NOTES: Readonly<Record<KeyRecord['status'], string>> = {
  active: '',
  revoked: '\n\nIt is revoked, which is permanent: create another one.',
  disabled: '\n\nIt is disabled: its requests are refused until it is enabled again.',
  expired: '\n\nIt has expired: give it a later --expires-at, or --no-expires-at.',
};

/** A table of keys, with the columns of `head` in front of their last use. */
export function keyTable<Key extends KeyRecord>(
  keys: readonly Key[],
  nowMs: number,
  head: readonly string[],
  cells: (key: Key) => readonly string[],
): string {
  const limited = keys.some(({ limits }) => hasLimits(limits));
  const rows = keys.map((key) => {
    const { keyId, display, label, mode, status, lastUsedAtMs, limits } = key;
    const used = lastUse(lastUsedAtMs, nowMs);
    return [keyId, display, label || '-', mode, status, ...cells(key), used, ...(limited ? [limitsText(limits)] : [])];
  });
  return textTable(['KEY', 'BEGINS WITH', 'LABEL', 'MODE', 'STATUS', ...head, 'LAST USED', ...(limited ? ['LIMITS'] : [])], rows);
}

/** `3 minutes ago (…)`: with the exact time, because a rotation waits until it stops changing. */
export function lastUse(lastUsedAtMs: number | undefined, nowMs: number): string {
  return lastUsedAtMs === undefined ? 'never' : `${ago(lastUsedAtMs, nowMs)} (${rfc3339(lastUsedAtMs)})`;
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** `3 minutes ago`. A time in the future, because of a slow clock, counts as now. */
function ago(thenMs: number, nowMs: number): string {
  const elapsed = nowMs - thenMs;
  for (const [unit, lengthMs] of UNITS) {
    const count = Math.floor(elapsed / lengthMs);
    if (count >= 1) return `${count} ${unit}${count === 1 ? '' : 's'} ago`;
  }
  return 'just now';
}
