// What the scripts and the driver both have to know of how teams lie in Redis; lua/layout.lua says the rest.
import { RATE_WINDOW_MS, REMEMBER_MS } from '../../domain/reservation.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import type { KeyRecord } from '../../ports/team-registry.ts';

/** The numbers of a team's plan in the order in which field `p` holds them, behind a byte that tells the billing. */
const PLAN_NUMBERS = [
  'requestsPerSecond',
  'maxCharactersPerRequest',
  'maxGlossaries',
  'characterLimit',
  'overageCharacters',
  'overageCapMinor',
  'minorPerMillion',
] as const;

const DOUBLE = 8;

/** What stands in front of every script. */
export const CONSTANTS = [
  `local RATE_WINDOW_MS, REMEMBER_MS = ${RATE_WINDOW_MS}, ${REMEMBER_MS}`,
  `local PLAN, PLAN_NUMBERS = '>B${'d'.repeat(PLAN_NUMBERS.length)}', { '${PLAN_NUMBERS.join("', '")}' }`,
].join('\n');

/** All numbers and the billing; currency and period are texts of their own. */
export function packPlan(limits: TeamLimits): Buffer {
  const packed = Buffer.alloc(1 + DOUBLE * PLAN_NUMBERS.length);
  packed.writeUInt8(limits.billing === 'credit' ? 1 : 0);
  for (const [i, name] of PLAN_NUMBERS.entries()) packed.writeDoubleBE(limits[name], 1 + DOUBLE * i);
  return packed;
}

export function readPlan(packed: Buffer): Pick<TeamLimits, 'billing' | (typeof PLAN_NUMBERS)[number]> {
  const numbers = PLAN_NUMBERS.map((name, i) => [name, packed.readDoubleBE(1 + DOUBLE * i)] as const);
  return {
    billing: packed[0] === 1 ? 'credit' : 'quota',
    ...(Object.fromEntries(numbers) as Record<(typeof PLAN_NUMBERS)[number], number>),
  };
}

/** Field `b` of a team. */
export interface Books {
  readonly number: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly usedCharacters: number;
  readonly balanceMicro: number;
}

export function readBooks(packed: Buffer): Books {
  const [number, startMs, endMs, usedCharacters, balanceMicro] = doubles(packed, 0, 5) as [number, number, number, number, number];
  return { number, startMs, endMs, usedCharacters, balanceMicro };
}

/** Field `k<key>` of a team. The counts are those of `number`'s period. */
export interface KeyState extends Pick<KeyRecord, 'status' | 'lastUsedAtMs'> {
  readonly number: number;
  readonly characters: number;
  readonly requests: number;
}

export function readKeyState(packed: Buffer): KeyState {
  const [lastUse, number, characters, requests] = doubles(packed, 1, 4) as [number, number, number, number];
  return {
    status: packed[0] === 1 ? 'active' : 'revoked',
    lastUsedAtMs: lastUse === 0 ? undefined : lastUse,
    number,
    characters,
    requests,
  };
}

function doubles(packed: Buffer, from: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => packed.readDoubleBE(from + DOUBLE * i));
}
