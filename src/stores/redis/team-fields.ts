// The fields of a team's hash as what they mean: JSON in both directions (lua/ledger.lua lists them).
import { rangeBits } from '../../domain/key-limits.ts';
import type { KeyLimits } from '../../domain/key-limits.ts';
import type { KeyDigest } from '../../domain/api-key.ts';
import type { Micro } from '../../domain/money.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import type { RequestTag, TagSettings } from '../../domain/request-tag.ts';
import { NO_WINDOWS, windowLimits, writtenWindows } from '../../domain/window-limits.ts';
import type { StoredCounts, WindowLimit, WindowSubject, WindowTickets } from '../../domain/window-limits.ts';
import type { KeyRecord, Team } from '../../ports/team-registry.ts';

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

// Limits: their windows as a list

type WithWindows<Limits> = Omit<Limits, 'windows'> & { readonly windows?: readonly WindowLimit[] | undefined };

function listed<Limits extends { readonly windows?: string }>(limits: Limits): WithWindows<Limits> {
  const { windows = NO_WINDOWS } = limits;
  return { ...limits, windows: windows === NO_WINDOWS ? undefined : windowLimits(windows) };
}

function readWindows(windows: readonly WindowLimit[] | undefined): { readonly windows?: string } {
  return windows === undefined ? {} : { windows: writtenWindows(windows) };
}

export function readLimits({ windows = [], ...limits }: WithWindows<TeamLimits>): TeamLimits {
  return { ...limits, windows: writtenWindows(windows) };
}

export function storedLimits(limits: TeamLimits): WithWindows<TeamLimits> {
  return listed(limits);
}

// Teams

type TeamField = Omit<Team, 'balanceMicro' | 'limits' | 'nextPlan'> & {
  readonly limits: WithWindows<TeamLimits>;
  readonly nextPlan?: Omit<NonNullable<Team['nextPlan']>, 'limits'> & { readonly limits: WithWindows<TeamLimits> };
};

export function teamText({ balanceMicro: _balance, limits, nextPlan, ...team }: Team): string {
  const waiting = nextPlan && { ...nextPlan, limits: listed(nextPlan.limits) };
  return JSON.stringify({ ...team, limits: listed(limits), nextPlan: waiting } satisfies Record<keyof TeamField, unknown> | object);
}

export function readTeam(text: string, balance: string | undefined): Team {
  const { limits, nextPlan, ...team } = JSON.parse(text) as TeamField;
  const waiting = nextPlan && { nextPlan: { ...nextPlan, limits: readLimits(nextPlan.limits) } };
  return { ...team, limits: readLimits(limits), balanceMicro: readBalance(balance).micro, ...waiting };
}

interface Balance {
  readonly micro: Micro;
  readonly held: Micro;
}

export function readBalance(text: string | undefined): Balance {
  return text === undefined ? { micro: 0, held: 0 } : (JSON.parse(text) as Balance);
}

/** The period that runs. What was added to its balance, and deducted, is counted with it. */
export interface RunningPeriod {
  readonly number: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly anchorMs: number;
  readonly addedMicro: Micro;
  readonly deductedMicro: Micro;
}

export function readPeriod(text: string): RunningPeriod {
  return JSON.parse(text) as RunningPeriod;
}

/** One that has ended, as a field of `:periods` under its number. */
export interface EndedPeriod extends Omit<RunningPeriod, 'anchorMs'> {
  readonly plan: string;
  readonly limits: TeamLimits;
}

export function periodText({ limits, ...period }: EndedPeriod): string {
  return JSON.stringify({ ...period, limits: listed(limits) });
}

export function readEndedPeriod(text: string): EndedPeriod {
  const { limits, ...period } = JSON.parse(text) as Omit<EndedPeriod, 'limits'> & { readonly limits: WithWindows<TeamLimits> };
  return { ...period, limits: readLimits(limits) };
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
export function keyText({ record, digest, order }: KeyField): string {
  const { status, limits, ...key } = record;
  const ranges = limits.allowedAddresses?.map(rangeBits);
  return JSON.stringify({
    ...key,
    status: status === 'expired' ? 'active' : status,
    limits: listed(limits),
    allowedBits: ranges,
    digest,
    order,
  });
}

export function readKey(text: string): KeyField {
  const {
    digest,
    order,
    allowedBits: _bits,
    limits,
    ...key
  } = JSON.parse(text) as Omit<KeyRecord, 'lastUsedAtMs' | 'limits'> & {
    readonly limits: WithWindows<KeyLimits>;
    readonly digest?: KeyDigest;
    readonly order: number;
    readonly allowedBits?: unknown;
  };
  const { windows, ...others } = limits;
  return { record: { ...key, limits: { ...others, ...readWindows(windows) } }, digest, order };
}

// Tags

export function tagText(settings: TagSettings): string {
  return JSON.stringify(listed(settings));
}

export function readTag(text: string): TagSettings {
  const { windows, ...settings } = JSON.parse(text) as WithWindows<TagSettings>;
  return { ...settings, ...readWindows(windows) };
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

export interface TagCounter {
  readonly period: number;
  readonly used: number;
  readonly from: number;
}

export function readCounts(text: string): StoredCounts {
  const { tickets, windows } = JSON.parse(text) as StoredCounts;
  return { tickets, windows: windows.map((window) => ({ ...window, told: false })) };
}

export function countsText({ tickets, windows }: StoredCounts): string {
  return JSON.stringify({ tickets, windows: windows.map(({ told: _told, ...window }) => window) });
}

// Reservations

export interface OpenField {
  readonly key: string;
  readonly characters: number;
  readonly price: Micro;
  readonly period: number;
  readonly until: number;
  readonly ofAllowance?: boolean | undefined;
  readonly tickets?: WindowTickets | undefined;
  readonly tag?: RequestTag | undefined;
}

export function readOpen(text: string): OpenField {
  return JSON.parse(text) as OpenField;
}

// Usage

/** What was charged to a key, on a day, in a period. */
export interface Use {
  readonly day: number;
  readonly period: number;
  readonly keyId: string;
  readonly characters: number;
  readonly requests: number;
  readonly micro: Micro;
  /** Of the characters, those of the allowance for test keys. */
  readonly free: number;
}

/** In place of a day or a period: sums in which it is not known. */
export const UNKNOWN = -1;

/** Of the fields of `:days`: a number each, `DAY PERIOD KEY characters` and so on. */
export function readUses(fields: Readonly<Record<string, string>>): Use[] {
  const uses = new Map<string, { -readonly [Name in keyof Use]: Use[Name] }>();
  for (const [field, value] of Object.entries(fields)) {
    const [day, period, keyId, what] = field.split(' ') as [string, string, string, keyof UseCounts];
    const id = `${day} ${period} ${keyId}`;
    const use = uses.get(id) ?? { day: Number(day), period: Number(period), keyId, ...NOTHING };
    use[what] = Number(value);
    uses.set(id, use);
  }
  return [...uses.values()];
}

type UseCounts = Pick<Use, 'characters' | 'requests' | 'micro' | 'free'>;
const NOTHING: UseCounts = { characters: 0, requests: 0, micro: 0, free: 0 };

/** Fields and values in turn; those of nothing are left out. */
export function writtenUse({ day, period, keyId, ...counted }: Use): string[] {
  return Object.entries(counted).flatMap(([what, value]) => (value === 0 ? [] : [`${day} ${period} ${keyId} ${what}`, String(value)]));
}

/** The names of a use's fields. */
export function useFields({ day, period, keyId }: Use): string[] {
  return Object.keys(NOTHING).map((what) => `${day} ${period} ${keyId} ${what}`);
}
