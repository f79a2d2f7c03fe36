// Limits of a key on the command line: their flags, how these are read, and how limits are written for people.
import { limitsReport } from '../admin/reports.ts';
import { judgeLimits, LIMIT_NAMES } from '../domain/given-key-limits.ts';
import type { LimitName } from '../domain/given-key-limits.ts';
import type { KeyLimitChange, KeyLimits } from '../domain/key-limits.ts';
import type { KeyRecord } from '../ports/team-registry.ts';
import type { CommandContext, Flags } from './command.ts';
import { UsageError } from './command.ts';

const FLAGS: Readonly<Record<LimitName, string>> = {
  expires_at: 'expires-at',
  requests_per_second: 'requests-per-second',
  characters: 'characters',
  allowed_addresses: 'allow',
};
const NAMES = Object.keys(LIMIT_NAMES) as LimitName[];

export const LIMIT_FLAGS: Flags = {
  'expires-at': { kind: 'text', value: 'RFC3339', summary: 'from this moment on it is refused, such as 2027-01-31T18:00:00Z' },
  'requests-per-second': { kind: 'text', value: 'N', summary: "a rate of its own, within the team's" },
  characters: { kind: 'text', value: 'N', summary: "what it may use of the team's period" },
  allow: { kind: 'texts', value: 'CIDR', summary: 'an address or range that it may be used from, IPv4 or IPv6; may be repeated' },
};

/** What takes each of them away. */
export const NO_LIMIT_FLAGS: Flags = {
  'no-expires-at': { kind: 'switch', summary: 'it does not expire' },
  'no-requests-per-second': { kind: 'switch', summary: "only the team's rate holds for it" },
  'no-characters': { kind: 'switch', summary: "only the team's quota or credit holds for it" },
  'no-allow': { kind: 'switch', summary: 'it may be used from any address' },
};

/** Those that are given. Throws a `UsageError` that names the flag and what would be right. */
export function readLimits(context: CommandContext): KeyLimits {
  const judged = judgeLimits(
    {
      expires_at: context.text('expires-at'),
      requests_per_second: wholeOf(context.text('requests-per-second')),
      characters: wholeOf(context.text('characters')),
      allowed_addresses: context.texts('allow'),
    },
    context.io.nowMs(),
  );
  if (!('fault' in judged)) return judged.limits;
  const { name, at = 0, fault } = judged;
  throw new UsageError(`--${FLAGS[name]} ${JSON.stringify(context.texts(FLAGS[name])![at])} ${fault}`);
}

/** With `null` for those that are to be taken away; `undefined` where nothing is said of any. */
export function readLimitChange(context: CommandContext): KeyLimitChange | undefined {
  const limits = readLimits(context);
  const removed = NAMES.filter((name) => context.on(`no-${FLAGS[name]}`));
  const both = removed.find((name) => context.on(FLAGS[name]));
  if (both !== undefined) throw new UsageError(`--${FLAGS[both]} and --no-${FLAGS[both]} contradict each other; give one of them`);
  const change = { ...limits, ...Object.fromEntries(removed.map((name) => [LIMIT_NAMES[name], null])) };
  return Object.keys(change).length === 0 ? undefined : change;
}

function wholeOf(text: string | undefined): number | string | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : text;
}

/** `until 2027-01-31T18:00:00Z, 5/s, 100000 characters, from 10.0.0.0/8`; a dash where the key has none. */
export function limitsText(limits: KeyLimits): string {
  const { expires_at: until, requests_per_second: rate, characters, allowed_addresses: from } = limitsReport(limits);
  const parts = [
    until === undefined ? '' : `until ${until}`,
    rate === undefined ? '' : `${rate}/s`,
    characters === undefined ? '' : `${characters} characters`,
    from === undefined ? '' : `from ${from.join(' ')}`,
  ].filter((part) => part !== '');
  return parts.length === 0 ? '-' : parts.join(', ');
}

/** What people should know of a key that does not work, beside its status. */
export function statusNote({ status }: Pick<KeyRecord, 'status'>): string {
  switch (status) {
    case 'active':
      return '';
    case 'revoked':
      return '\n\nIt is revoked, and nothing brings it back: create another one.';
    case 'disabled':
      return '\n\nIt is disabled: its next request is refused, until it is enabled again.';
    case 'expired':
      return '\n\nIt has expired: give it a later --expires-at, or --no-expires-at.';
  }
}
