// The formats of a team's data that Lua functions and the driver share; lua/layout.lua has the rest.
import { RATE_WINDOW_MS, REMEMBER_MS } from '../../domain/reservation.ts';
import { LIMIT_NUMBERS } from '../../domain/plan.ts';
import type { LimitNumber, TeamLimits } from '../../domain/plan.ts';
import { dayOf } from '../../domain/period.ts';
import type { KeyRecord } from '../../ports/team-registry.ts';

const DOUBLE = 8;
const PLAN_BYTES = 1 + DOUBLE * LIMIT_NUMBERS.length;

/** The names of a plan's numbers in Lua, after billing: `REQUESTS_PER_SECOND` etc.; their values are indexes. */
const PLAN_PLACES = ['BILLING', ...LIMIT_NUMBERS.map((name) => name.replace(/[A-Z]/g, '_$&').toUpperCase())];

/** Constants put at the start of every function. */
export const CONSTANTS = [
  `local RATE_WINDOW_MS, REMEMBER_MS = ${RATE_WINDOW_MS}, ${REMEMBER_MS}`,
  `local PLAN, PLAN_BYTES = '>B${'d'.repeat(LIMIT_NUMBERS.length)}', ${PLAN_BYTES}`,
  `local ${PLAN_PLACES.join(', ')} = ${PLAN_PLACES.map((_, i) => i + 1).join(', ')}`,
].join('\n');

/** Field `p` of a team: a byte for billing, then the numbers; currency and period are separate text fields. */
export function packPlan(limits: TeamLimits): Buffer {
  const packed = Buffer.alloc(PLAN_BYTES);
  packed.writeUInt8(limits.billing === 'credit' ? 1 : 0);
  for (const [i, name] of LIMIT_NUMBERS.entries()) packed.writeDoubleBE(limits[name], 1 + DOUBLE * i);
  return packed;
}

/** Records written before the last numbers of the list were introduced have 0 for them. */
export function readPlan(packed: Buffer): Pick<TeamLimits, 'billing' | LimitNumber> {
  const whole = Buffer.concat([packed], PLAN_BYTES);
  const numbers = LIMIT_NUMBERS.map((name, i) => [name, whole.readDoubleBE(1 + DOUBLE * i)] as const);
  return { billing: packed[0] === 1 ? 'credit' : 'quota', ...(Object.fromEntries(numbers) as Record<LimitNumber, number>) };
}

/** Field `b` of a team. */
export interface PeriodBooks {
  readonly number: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly usedCharacters: number;
  readonly balanceMicro: number;
}

export function readPeriodBooks(packed: Buffer): PeriodBooks {
  const [number, startMs, endMs, usedCharacters, balanceMicro] = doubles(packed, 0, 5) as [number, number, number, number, number];
  return { number, startMs, endMs, usedCharacters, balanceMicro };
}

/** The first byte of a key's state (lua/layout.lua). `guarded`: its limits are in the field `l:<key>`. */
export type StateWord = 'revoked' | 'active' | 'guarded';
const STATE_WORDS: readonly StateWord[] = ['revoked', 'active', 'guarded'];

export function byteOf(word: StateWord): number {
  return STATE_WORDS.indexOf(word);
}

/** Field `k<key>` of a team. The counts are for the period `number`. */
export interface KeyState extends Pick<KeyRecord, 'lastUsedAtMs'> {
  readonly word: StateWord;
  readonly number: number;
  readonly characters: number;
  readonly requests: number;
  /** The day of the last count; 0 if the key's days already include all counts. */
  readonly day: number;
}

const KEY_DAY_AT = 1 + 4 * DOUBLE;
const KEY_BYTES = KEY_DAY_AT + 3;

export function readKeyState(packed: Buffer): KeyState {
  const [lastUse, number, characters, requests] = doubles(packed, 1, 4) as [number, number, number, number];
  return {
    word: STATE_WORDS[packed[0]!] ?? 'revoked',
    lastUsedAtMs: lastUse === 0 ? undefined : lastUse,
    number,
    characters,
    requests,
    day: packed.length < KEY_BYTES ? dayOf(lastUse) : packed.readUIntBE(KEY_DAY_AT, 3),
  };
}

/** Reads an integer of seven bytes. */
export function readWide(packed: Buffer, at: number): number {
  return packed[at]! * 2 ** 48 + packed.readUIntBE(at + 1, 6);
}

export function writeWide(into: Buffer, value: number, at: number): void {
  into.writeUInt8(Math.floor(value / 2 ** 48), at);
  into.writeUIntBE(value % 2 ** 48, at + 1, 6);
}

function doubles(packed: Buffer, from: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => packed.readDoubleBE(from + DOUBLE * i));
}
