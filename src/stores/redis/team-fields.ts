// The fields of a team's hash as what they mean: JSON in both directions (lua/ledger.lua lists them).
import { rangeBits } from '../../domain/key-limits.ts';
import type { KeyDigest } from '../../domain/api-key.ts';
import type { Micro } from '../../domain/money.ts';
import { tagSubject } from '../../domain/window-limits.ts';
import type { StoredCounts, WindowSubject } from '../../domain/window-limits.ts';
import type { HeldReservation } from '../../ledger/account.ts';
import { readTagUses } from '../../ledger/tag-uses.ts';
import type { StoredTagUses, TagCounter } from '../../ledger/tag-uses.ts';
import type { KeyRecord, Team } from '../../ports/team-registry.ts';
import type { WindowSlots } from '../../ports/whole-accounts.ts';
import type { ChargeRow, RunningPeriod } from '../../ports/usage-history.ts';

export const FIELD = {
  team: 'team',
  period: 'period',
  balance: 'balance',
  lease: 'lease',
  /** How many keys were made. */
  keys: 'keys',
  /** How many of its events had a number. */
  events: 'events',
  /** Of a deleted team, as long as anything of it is left. */
  deleted: 'deleted',
  key: (keyId: string) => `key:${keyId}`,
  used: (keyId: string) => `used:${keyId}`,
  tag: (tag: string) => `tag:${tag}`,
  open: (requestId: string) => `open:${requestId}`,
  /** A change of the team that is remembered by its id. */
  once: (id: string) => `once:${id}`,
  ofPeriod: (subject: WindowSubject | 'test keys') => `count:${subject}:period`,
  ofWindows: (subject: WindowSubject) => `count:${subject}:windows`,
} as const;

/** What follows the prefix of a field's name; `undefined` for other fields. */
export function idIn(field: string, prefix: string): string | undefined {
  return field.startsWith(prefix) ? field.slice(prefix.length) : undefined;
}

/** The tag of a field of `count:tag:NAME:windows`, which a tag has from its first settings on. */
export function countedTag(field: string): string | undefined {
  return /^count:tag:(.*):windows$/.exec(field)?.[1];
}

// Teams

export function teamText({ balanceMicro: _balance, ...team }: Team): string {
  return JSON.stringify(team);
}

export function readTeam(text: string, balance: string | undefined): Team {
  return { ...(JSON.parse(text) as Omit<Team, 'balanceMicro'>), balanceMicro: readBalance(balance).micro };
}

interface Balance {
  readonly micro: Micro;
  readonly held: Micro;
}

export function readBalance(text: string | undefined): Balance {
  return text === undefined ? { micro: 0, held: 0 } : (JSON.parse(text) as Balance);
}

export function readPeriod(text: string): RunningPeriod {
  return JSON.parse(text) as RunningPeriod;
}

// Keys

/** A key's record as it is stored: `status` ignores expiry, and its last use is a field of its own. */
interface KeyField {
  readonly record: Omit<KeyRecord, 'lastUsedAtMs'>;
  readonly digest: KeyDigest | undefined;
  /** Its place among the team's keys, from 1. */
  readonly order: number;
}

/** Lua compares the bits of addresses and ranges, because it cannot read them. */
export function keyText({ record: { status, ...key }, digest, order }: KeyField): string {
  const allowedBits = key.limits.allowedAddresses?.map(rangeBits);
  return JSON.stringify({ ...key, status: status === 'expired' ? 'active' : status, allowedBits, digest, order });
}

export function readKey(text: string): KeyField {
  const {
    digest,
    order,
    allowedBits: _bits,
    ...record
  } = JSON.parse(text) as KeyField['record'] &
    Omit<KeyField, 'record'> & {
      readonly allowedBits?: unknown;
    };
  return { record, digest, order };
}

// Counters

/** What a subject has used and holds in the period of that number; a tag's `used` includes what is held. */
export interface PeriodCounter {
  readonly period: number;
  readonly used: number;
  readonly held: number;
  readonly requests: number;
}

/** Of the period of that number: nothing, if another one was counted last. */
export function readCounter(text: string | undefined, number: number): PeriodCounter {
  const counter = text === undefined ? undefined : (JSON.parse(text) as PeriodCounter);
  return counter?.period === number ? counter : { period: number, used: 0, held: 0, requests: 0 };
}

/** The record `tag_uses` of a tag, which admissions have in pieces. `slots`: the times of its list, if they are known. */
export function readTagPieces(tag: string, get: (field: string) => string | undefined, slots: readonly string[]): string | undefined {
  const [counts, inPeriod] = [get(FIELD.ofWindows(tagSubject(tag))), get(FIELD.ofPeriod(tagSubject(tag)))];
  if (counts === undefined || inPeriod === undefined) return undefined;
  const uses = { ...(JSON.parse(counts) as StoredCounts), inPeriod: JSON.parse(inPeriod) as TagCounter, slots: countedSlots(slots) };
  return JSON.stringify(uses satisfies StoredTagUses);
}

export function tagPieces(tag: string, record: string) {
  const { inPeriod, slots, ...counts } = readTagUses(record);
  const fields: readonly (readonly [field: string, text: string])[] = [
    [FIELD.ofWindows(tagSubject(tag)), JSON.stringify(counts)],
    [FIELD.ofPeriod(tagSubject(tag)), JSON.stringify(inPeriod)],
  ];
  return { fields, slots: slotTimes(slots) };
}

/** Of a list with a time for each request. */
export function countedSlots(times: readonly string[]): readonly WindowSlots[] {
  const counted = [...Map.groupBy(times, Number)].map(([atMs, { length }]) => ({ atMs, count: length }));
  return counted.toSorted((one, other) => one.atMs - other.atMs);
}

export function slotTimes(slots: readonly WindowSlots[]): string[] {
  return slots.flatMap(({ atMs, count }) => Array.from({ length: count }, () => String(atMs)));
}

// Reservations

export function readOpen(text: string): HeldReservation {
  return { ofAllowance: false, tickets: undefined, tag: undefined, ...(JSON.parse(text) as Partial<HeldReservation>) } as HeldReservation;
}

// Usage

type Charged = Omit<ChargeRow, 'keyId' | 'day' | 'period'>;
const NOTHING: Charged = { characters: 0, requests: 0, micro: 0, ofAllowance: 0 };

/** Of the fields of `:days`: a number each, `DAY PERIOD KEY characters` and so on. */
export function readCharges(fields: Readonly<Record<string, string>>): ChargeRow[] {
  const charges = new Map<string, { -readonly [Name in keyof ChargeRow]: ChargeRow[Name] }>();
  for (const [field, value] of Object.entries(fields)) {
    const [day, period, keyId, what] = field.split(' ') as [string, string, string, keyof Charged];
    const id = `${day} ${period} ${keyId}`;
    const charge = charges.get(id) ?? { day: Number(day), period: Number(period), keyId, ...NOTHING };
    charge[what] = Number(value);
    charges.set(id, charge);
  }
  return [...charges.values()];
}

/** Fields and their values; those of nothing are left out. */
export function chargeFields({ day, period, keyId, ...charged }: ChargeRow): (readonly [field: string, value: string])[] {
  return Object.entries(charged).flatMap(([what, value]) => (value === 0 ? [] : [[`${day} ${period} ${keyId} ${what}`, String(value)]]));
}
