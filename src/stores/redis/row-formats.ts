// The rows of a team's data that Lua functions and the driver both read and write, field by field: the one place for both.
import { LIMIT_NUMBERS } from '../../domain/plan.ts';
import type { LimitNumber } from '../../domain/plan.ts';
import { recordFormat } from './record-format.ts';
import type { RecordFormat } from './record-format.ts';

/**
 * 64 bytes with the billing: Redis keeps a hash compact as long as none of its values is longer, so the last number, which is whole like
 * the others, is shorter. `packPlan` leaves out the zero bytes at the end.
 */
const PLAN_NUMBERS = Object.fromEntries(LIMIT_NUMBERS.map((name) => [name, name === 'testAllowance' ? 'I7' : 'd'])) as Record<
  LimitNumber,
  'd' | 'I7'
>;
/** What an open reservation holds. */
const OPEN_HELD = { characters: 'd', priceMicro: 'd', periodNumber: 'd' } as const;
/** The held characters of the period `number`, and the held micro of all periods. */
const HEAD_HELD = { heldCharacters: 'I7', heldMicro: 'I7' } as const;

/**
 * Each is in Lua, too: `KEY` is the format for `pack` and `parse`, `KEY_BYTES` its length (`luaFormats`). A new field is the last
 * one, because rows written before are shorter.
 */
export const ROWS = {
  /**
   * Field `p` of a team: 1 for credit, plus 2 if limits by minute to month follow the plan's numbers (`WINDOW_LIMIT`). Currency and
   * period are texts in fields of their own.
   */
  PLAN: recordFormat({ billing: 'I1', ...PLAN_NUMBERS }),
  /** Field `b` of a team: the period's number and bounds, the characters used in it, and the balance. */
  BOOKS: recordFormat({ number: 'd', startMs: 'd', endMs: 'd', usedCharacters: 'd', balanceMicro: 'd' }),
  /** Field `allowance` of a team: in which period, what test keys have used and hold of it, and 1 if a refusal for it was told. */
  ALLOWANCE: recordFormat({ number: 'd', used: 'd', held: 'd', told: 'I1' }),
  /**
   * Field `k<key>` of a team: its status, its last use (0 for never), number, characters and requests of the last period it was used
   * in, and the day of the last count, 0 if the key's days include all counts.
   */
  KEY: recordFormat({ word: 'I1', lastUsedAtMs: 'd', number: 'd', characters: 'd', requests: 'd', day: 'I3' }),
  /**
   * Field `l:<key>` of a team: 1 if the key is disabled, plus 2 if it is limited by minute to month, then its limits, 0 for none; its
   * scopes and its address ranges follow, and at the end those by minute to month (`WINDOW_LIMIT`).
   */
  KEY_LIMITS: recordFormat({ disabled: 'I1', expiresAtMs: 'd', requestsPerSecond: 'd', characters: 'd' }),
  /**
   * Field `w:<key>` of a team: the period and the characters held in it, maintained only if they are limited; then the key's rate
   * window: the time of the newest slot, that time in the scale of the slots, and how many there are; the slots follow.
   */
  KEY_COUNTS: recordFormat({ heldIn: 'I4', heldCharacters: 'I7', newestMs: 'I6', low: 'I2', total: 'I3' }),
  /**
   * A limit by minute to month: the window's number (domain/window-limits.ts), and its numbers, 0 for none. Such a list is the end of
   * its field, and its last byte is how many there are.
   */
  WINDOW_LIMIT: recordFormat({ window: 'I1', requests: 'd', characters: 'd' }),
  /**
   * What a subject has used of its windows (domain/window-counts.ts): field `c` of a team for the team's own, `c:<key>` for a key's.
   * How many requests were ever counted, and the characters they have reserved; then how high both may become from `sinceMs` to
   * `untilMs` by the limits that follow in as many bytes as the next one says; finally the windows, each with both numbers as they
   * were when it began.
   */
  WINDOWS_USED: recordFormat({
    tickets: 'I6',
    characters: 'I7',
    sinceMs: 'I6',
    untilMs: 'I6',
    ticketsMost: 'I7',
    charactersMost: 'I7',
  }),
  WINDOW_COUNT: recordFormat({ window: 'I1', startMs: 'I6', endMs: 'I6', from: 'I6', before: 'I7', told: 'I1' }),
  /** How many slots of the key's window were taken at one time. */
  KEY_SLOT: recordFormat({ low: 'I2', count: 'I3' }),
  /**
   * A field of `:ids`, an open reservation: `untilMs` is the end of its lease; its key follows. If it was counted in windows, its state
   * is `IS_OPEN_COUNTED` (lua/layout.lua), and its tickets are before the key, 0 for none. If it has a tag, that follows the key, with
   * `TAGGED` behind it.
   */
  OPEN: recordFormat({ state: 'I1', ...OPEN_HELD, untilMs: 'd' }),
  OPEN_HELD: recordFormat(OPEN_HELD),
  TICKETS: recordFormat({ team: 'I6', key: 'I6' }),
  /** Its ticket, 0 if the tag had no settings; how many tags of the team are counted, and how long this one is. */
  TAGGED: recordFormat({ ticket: 'I6', distinctMax: 'I4', length: 'I1' }),
  /** A field of `:ids`, a resolved id: its state, and until when it is remembered. The row of an open one is longer. */
  DONE: recordFormat({ state: 'I1', untilMs: 'I6' }),
  /**
   * Field `h` of `:ids`. `number` is the period of `heldCharacters`; `newestMs` the time of the newest slot; `lateMs` when an id in
   * `:late` has to be checked, 0 to compare the head with the list before it is used; `expiresMs` when the keys expire; `current` and
   * `previous` the slots taken in the newest one's calendar second and in the one before; `length` the slots in the list, and `passed`
   * how many of them, from the oldest, have been checked; `oldestMs` the time of the first that has not; `shortestMs` the shortest lease
   * among those.
   */
  HEAD: recordFormat({
    ...HEAD_HELD,
    number: 'I4',
    newestMs: 'I6',
    lateMs: 'I6',
    expiresMs: 'I6',
    current: 'I4',
    previous: 'I4',
    length: 'I4',
    passed: 'I4',
    oldestMs: 'I6',
    shortestMs: 'I4',
  }),
  HEAD_HELD: recordFormat(HEAD_HELD),
  /** A slot of `:places`; its request id follows. */
  SLOT: recordFormat({ atMs: 'I6' }),
  /**
   * A field of `:days`: the period, characters and requests of the key's row that the days already include, the day before the first
   * one, the last day, and its position; the days follow (lua/days.lua).
   */
  DAYS: recordFormat({ number: 'I4', characters: 'I7', requests: 'I6', before: 'I3', last: 'I3', lastAt: 'I3' }),
  /** Field `credit` of a team: the period's number, the balance at its beginning, and what was added and deducted since. */
  CREDIT: recordFormat({ number: 'd', openingMicro: 'd', addedMicro: 'd', deductedMicro: 'd' }),
  /**
   * A field of `:periods`, a closed period, before its texts, each of them after a byte with its length: the plan's numbers, its name,
   * the currency, the period's length, and `CLOSED_MONEY`.
   */
  CLOSED: recordFormat({ startMs: 'I6', endMs: 'I6', characters: 'I7' }),
  CLOSED_MONEY: recordFormat({
    requests: 'd',
    openingMicro: 'd',
    addedMicro: 'd',
    deductedMicro: 'd',
    balanceMicro: 'd',
    allowanceUsed: 'd',
    testCharacters: 'd',
  }),
} as const satisfies Record<string, RecordFormat<never>>;

/** Constants for Lua files, as Lua expressions by name. */
export function luaFormats(): Readonly<Record<string, string | number>> {
  const named = Object.entries(ROWS).flatMap(([name, { lua, bytes }]): [string, string | number][] => [
    [name, `'${lua}'`],
    [`${name}_BYTES`, bytes],
  ]);
  return Object.fromEntries(named);
}
