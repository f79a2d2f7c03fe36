// A team's fields, encoded and decoded as the driver needs them, and constants for Lua; the formats: row-formats.ts.
import { FOLLOWED_STEP_MS } from '../../domain/clock-judge.ts';
import { FURTHER_TAGS } from '../../domain/request-tag.ts';
import { RATE_WINDOW_MS, REMEMBER_MS } from '../../domain/reservation.ts';
import type { KeyLimits } from '../../domain/key-limits.ts';
import { LIMIT_NUMBERS } from '../../domain/plan.ts';
import type { LimitNumber, TeamLimits } from '../../domain/plan.ts';
import type { TeamContents, ToldRefusal } from '../../ports/store-contents.ts';
import type { KeyRecord } from '../../ports/team-registry.ts';
import { RECORD_TABLES } from '../records/record-tables.ts';
import { firstWindow } from '../../domain/limits.ts';
import { NO_WINDOWS } from '../../domain/window-limits.ts';
import { CORRECTED } from './server-clocks.ts';
import { recordFormat } from './record-format.ts';
import { ROWS } from './row-formats.ts';
import { packWindowLimits, readWindowLimits } from './window-layout.ts';

const { BOOKS, KEY, PLAN, ALLOWANCE } = ROWS;
export { BOOKS, KEY };
const NO_ALLOWANCE = ALLOWANCE.pack({ number: 0, used: 0, held: 0, told: 0 });

/** The names of a plan's numbers in Lua: `requests_per_second` etc. */
const PLAN_NUMBERS = LIMIT_NUMBERS.map((name) => `'${name.replace(/[A-Z]/g, '_$&').toLowerCase()}'`);

/** The fields that every team has, in the order in which functions return them. */
export const TEAM_FIELDS = ['name', 'plan', 'created', 'period', 'currency', 'p', 'b'] as const;
/** All fields that a team is read from (lua/team.lua); a team need not have those after the first. */
export const DESCRIPTION = [...TEAM_FIELDS, 'reference', 'next'] as const;

/** For Lua files, which use them of `constants`: by name, Lua expressions. */
export const CONSTANTS: Readonly<Record<string, string | number>> = {
  RATE_WINDOW_MS,
  REMEMBER_MS,
  FOLLOWED_STEP_MS,
  CORRECTED,
  DESCRIPTION: `'${DESCRIPTION.join(' ')}'`,
  PLAN_NUMBERS: `{ ${PLAN_NUMBERS.join(', ')} }`,
  /** The highest number in an integer of seven bytes that a double has exactly. */
  WHOLE_MAX: Number.MAX_SAFE_INTEGER,
  TEAM_WINDOWS: firstWindow('team'),
  KEY_WINDOWS: firstWindow('key'),
  TAG_WINDOWS: firstWindow('tag'),
  FURTHER_TAGS: `'${FURTHER_TAGS}'`,
  RECORD_TABLES: `{ ${RECORD_TABLES.map((name) => `'${name}'`).join(', ')} }`,
};

const [ON_CREDIT, HAS_WINDOWS] = [1, 2];

/**
 * Field `p` of a team: a byte for billing, the numbers, and the limits by minute to month; currency and period are separate texts.
 * Zeros at the end of the numbers are left out, as in plans written before there were such numbers: a team without them stays compact.
 */
export function packPlan(limits: TeamLimits): Buffer {
  const windows = packWindowLimits(limits.windows);
  const billing = (limits.billing === 'credit' ? ON_CREDIT : 0) + (windows.length > 0 ? HAS_WINDOWS : 0);
  const numbers = PLAN.pack({ ...limits, billing });
  return Buffer.concat([numbers.subarray(0, Math.max(1, numbers.findLastIndex((byte) => byte !== 0) + 1)), windows]);
}

/** Records written before the last numbers of the list were introduced have 0 for them. */
export function readPlan(packed: Buffer): Pick<TeamLimits, 'billing' | LimitNumber | 'windows'> {
  const [windows, before] = packed[0]! >= HAS_WINDOWS ? readWindowLimits(packed) : [NO_WINDOWS, packed];
  const { billing, ...numbers } = PLAN.read(Buffer.concat([before], PLAN.bytes));
  return { billing: billing % HAS_WINDOWS === ON_CREDIT ? 'credit' : 'quota', ...numbers, windows };
}

/** What test keys have used and hold of the plan's allowance in the current period, from the field `allowance` of a team. */
export function readAllowance(packed: Buffer | undefined, current: number): Pick<TeamContents, 'allowanceUsed' | 'allowanceHeld'> {
  const { number, used, held } = ALLOWANCE.read(packed ?? NO_ALLOWANCE);
  return number === current ? { allowanceUsed: used, allowanceHeld: held } : { allowanceUsed: 0, allowanceHeld: 0 };
}

/** The field with its name; none if it would only say that there is nothing. */
export function allowanceField(
  { period: { number }, allowanceUsed: used, allowanceHeld: held, toldRefusals }: TeamContents,
  always = false,
): (string | Buffer)[] {
  const isTold = toldRefusals.some((one) => one.code === 'quota_exceeded' && one.testKeys === true && one.number === number);
  if (!always && used + held === 0 && !isTold) return [];
  return ['allowance', ALLOWANCE.pack({ number, used, held, told: isTold ? 1 : 0 })];
}

/**
 * Field `t` of a team: the highest percentage told, of this period; and of refusals what lua/outbox.lua describes, `flags` 1 for
 * one for the quota in this period, and 2 for one for credit.
 */
const TOLD = recordFormat({ number: 'd', percent: 'd', flags: 'I1', credits: 'I4' });
const [QUOTA_TOLD, CREDIT_TOLD] = [1, 2];
/** Field `n:<key>`: the period of the last refusal told by a key's own limit. */
const KEY_TOLD = recordFormat({ number: 'd', startMs: 'd' });

/** What events have told of a team, in fields of its record; `undefined` for what none has. */
export function toldFields(
  { period, toldPercents, toldRefusals }: Pick<TeamContents, 'period' | 'toldPercents' | 'toldRefusals'>,
  always = false,
): (string | Buffer)[] {
  const { number, startMs } = period;
  const percent = toldPercents.find((one) => one.number === number)?.percent ?? 0;
  let [flags, credits] = [0, 0];
  const ofKeys: (string | Buffer)[] = [];
  for (const one of toldRefusals) {
    if (one.code === 'credit_exhausted') {
      flags += one.told ? CREDIT_TOLD : 0;
      credits = one.number;
    } else if (one.number === number) {
      if (one.keyId === undefined && one.testKeys !== true) flags += QUOTA_TOLD;
      else if (one.keyId !== undefined) ofKeys.push(`n:${one.keyId}`, KEY_TOLD.pack({ number, startMs }));
    }
  }
  const isTold = always || percent > 0 || flags > 0 || credits > 0;
  return [...(isTold ? ['t', TOLD.pack({ number, percent, flags, credits })] : []), ...ofKeys];
}

/** The percentage told of the current period, and refusals told; of past periods none count. */
export function readTold(fields: ReadonlyMap<string, Buffer>, current: number): { percent: number; refusals: ToldRefusal[] } {
  const told = TOLD.read(Buffer.concat([fields.get('t') ?? Buffer.of()], TOLD.bytes));
  const isCurrent = told.number === current;
  const refusals: ToldRefusal[] = [];
  if (isCurrent && told.flags % CREDIT_TOLD === QUOTA_TOLD) refusals.push({ code: 'quota_exceeded', number: current });
  const allowance = ALLOWANCE.read(fields.get('allowance') ?? NO_ALLOWANCE);
  if (allowance.number === current && allowance.told === 1) refusals.push({ code: 'quota_exceeded', testKeys: true, number: current });
  if (told.credits > 0) refusals.push({ code: 'credit_exhausted', number: told.credits, told: told.flags >= CREDIT_TOLD });
  const ofKeys = [...fields].filter(([name]) => name.startsWith('n:')).toSorted(([one], [other]) => (one < other ? -1 : 1));
  for (const [name, value] of ofKeys) {
    const { number } = KEY_TOLD.read(value);
    if (number === current) refusals.push({ code: 'quota_exceeded', keyId: name.slice(2), number });
  }
  return { percent: isCurrent ? told.percent : 0, refusals };
}

/** The first byte of a key's state (lua/layout.lua). `guarded`: its limits are in the field `l:<key>`; `scoped`: they include scopes. */
type StateWord = 'revoked' | 'active' | 'guarded' | 'scoped';
const STATE_WORDS: readonly StateWord[] = ['revoked', 'active', 'guarded', 'scoped'];

/** Whether the key's limits are in a field of their own. */
export function isGuarded(word: StateWord): boolean {
  return word === 'guarded' || word === 'scoped';
}

/** The state of a key that is not revoked. */
export function activeWord(hasLimits: boolean, { scopes }: KeyLimits): StateWord {
  if (!hasLimits) return 'active';
  return scopes === undefined ? 'guarded' : 'scoped';
}

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

export function readKeyState(packed: Buffer): KeyState {
  const { word, lastUsedAtMs, ...counts } = KEY.read(packed);
  return { ...counts, word: STATE_WORDS[word] ?? 'revoked', lastUsedAtMs: lastUsedAtMs === 0 ? undefined : lastUsedAtMs };
}
