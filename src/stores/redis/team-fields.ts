// The fields of a team's hash as what they mean: JSON in both directions (lua/ledger.lua lists them).
import { rangeBits } from '../../domain/key-limits.ts';
import type { KeyDigest } from '../../domain/api-key.ts';
import type { Micro } from '../../domain/money.ts';
import type { HeldReservation } from '../../ledger/open-reservations.ts';
import { shownKey } from '../../ledger/key-account.ts';
import type { StoredTagUses } from '../../ledger/tag-account.ts';
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
  /** Of a deleted team, as long as anything of it is left. */
  deleted: 'deleted',
  used: 'used',
  key: (keyId: string) => `key:${keyId}`,
  usedBy: (keyId: string) => `used:${keyId}`,
  tag: (tag: string) => `tag:${tag}`,
  open: (requestId: string) => `open:${requestId}`,
  /** A change of the team that is remembered by its id. */
  once: (id: string) => `once:${id}`,
  windows: (subject: string) => `windows:${subject}`,
} as const;

/** What follows the prefix of a field's name; `undefined` for other fields. */
export function idIn(field: string, prefix: string): string | undefined {
  return field.startsWith(prefix) ? field.slice(prefix.length) : undefined;
}

/** Of the fields with this prefix: what follows it, and the text. */
export function fieldsWith(fields: ReadonlyMap<string, string>, prefix: string): (readonly [id: string, text: string])[] {
  return [...fields].flatMap(([field, text]) => {
    const id = idIn(field, prefix);
    return id === undefined ? [] : [[id, text] as const];
  });
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

/** A key's record as it is stored: `status` ignores expiry, and its last use is with what it has used. */
type StoredKey = Omit<KeyRecord, 'lastUsedAtMs'>;

interface KeyField {
  readonly record: StoredKey;
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
  type Stored = Omit<KeyField, 'record'> & StoredKey & { readonly allowedBits?: unknown };
  const { digest, order, allowedBits: _bits, ...record } = JSON.parse(text) as Stored;
  return { record, digest, order };
}

/** The ids of a team's keys, in order of creation. */
export function keyIdsOf(fields: ReadonlyMap<string, string>): readonly string[] {
  const keys = fieldsWith(fields, FIELD.key('')).map(([keyId, text]) => ({ keyId, order: readKey(text).order }));
  return keys.toSorted((one, other) => one.order - other.order || (one.keyId < other.keyId ? -1 : 1)).map(({ keyId }) => keyId);
}

/** A key's record as lists show it at a moment. */
export function fieldKey(text: string, fields: ReadonlyMap<string, string>, nowMs: number): KeyRecord {
  const { record } = readKey(text);
  return shownKey(record, readCounter(fields.get(FIELD.usedBy(record.keyId))).atMs, nowMs);
}

// Counters

/** What a team or a key has used and holds in a period. */
export interface PeriodCounter {
  readonly period: number;
  readonly used: number;
  readonly held: number;
  readonly requests: number;
  /** Of a key: when it was used last, if ever. */
  readonly atMs?: number;
  /** Of a team: what is of its allowance for test keys, if anything was. */
  readonly testUsed?: number;
  readonly testHeld?: number;
}

/** With a number, of the period of that number: nothing, if another one was counted last. */
export function readCounter(text: string | undefined, number?: number): PeriodCounter {
  const nothing: PeriodCounter = { period: number ?? 0, used: 0, held: 0, requests: 0 };
  const counter = text === undefined ? nothing : (JSON.parse(text) as PeriodCounter);
  return counter.period === (number ?? counter.period) ? counter : { ...nothing, atMs: counter.atMs };
}

/** The record `tag_uses` of a tag, whose slots are a list beside the team's hash. */
export function readTagUses(text: string, slots: readonly string[] = []): string {
  return JSON.stringify({ ...(JSON.parse(text) as Omit<StoredTagUses, 'slots'>), slots: countedSlots(slots) });
}

/** The field without the slots, and their times. */
export function tagUsesText(record: string): { readonly text: string; readonly times: readonly string[] } {
  const { slots, ...text } = JSON.parse(record) as StoredTagUses;
  return { text: JSON.stringify(text), times: slotTimes(slots) };
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
export function readCharges(fields: ReadonlyMap<string, string>): ChargeRow[] {
  const charges = new Map<string, { -readonly [Name in keyof ChargeRow]: ChargeRow[Name] }>();
  for (const [field, value] of fields) {
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
