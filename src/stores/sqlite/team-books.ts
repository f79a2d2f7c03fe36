// A team in memory while operations use it: limits, counters, window and the keys used so far.
import type { SQLOutputValue } from 'node:sqlite';
import type { TeamLimits } from '../../domain/plan.ts';
import { HeldReservations } from './held-reservations.ts';
import type { KeyGuard } from './key-guard.ts';
import type { ThresholdMark } from './sqlite-events.ts';
import type { RateWindow } from './rate-window.ts';
import { membersOf } from './statements.ts';
import type { Numbers } from './statements.ts';

/** A team's row in `books`, except for the window. */
export const BOOKS = {
  balanceMicro: 'balance_micro',
  heldMicro: 'held_micro',
  /** The current period, by its number in `periods`. */
  periodNo: 'period_no',
  periodEndMs: 'period_end_ms',
  usedCharacters: 'used_characters',
  heldCharacters: 'held_characters',
  /** The UTC day that the keys' rows currently count; 0 for none. */
  day: 'day',
} as const;

/**
 * A key's row in `key_books`: its last use (0 for never), its counts in the period it was last charged in, and those of the
 * team's current day.
 */
export const KEY_BOOKS = {
  lastUsedAtMs: 'last_used_at_ms',
  periodNo: 'period_no',
  characters: 'characters',
  requests: 'requests',
  dayCharacters: 'day_characters',
  dayRequests: 'day_requests',
} as const;

/** The first columns of a team's row, before those of `teams` and `books`. */
export interface TeamHead {
  readonly no: number;
  /** The earliest expiry of an open lease; null if there is none. */
  readonly leaseDueMs: number | null;
}

export class TeamBooks {
  readonly teamId: string;
  readonly no: number;
  readonly limits: TeamLimits;
  readonly counts: Numbers<typeof BOOKS>;
  readonly window: RateWindow;
  /** No open lease expires before this time. */
  leaseDueMs: number;
  /** By key id and by number. */
  readonly keys = new Map<string | number, KeyBooks>();
  /** What open reservations made since the team was read hold; others are looked up in the file. */
  readonly held = new HeldReservations();
  /** `undefined` until it is computed. */
  thresholdMark: ThresholdMark | undefined = undefined;
  /** `undefined` until it is read. */
  planName: string | undefined = undefined;
  /** Whether `counts` or `window` differ from the file. */
  changed = false;

  constructor(teamId: string, head: TeamHead, limits: TeamLimits, counts: Numbers<typeof BOOKS>, window: RateWindow) {
    this.teamId = teamId;
    this.no = head.no;
    this.leaseDueMs = head.leaseDueMs ?? Infinity;
    this.limits = limits;
    this.counts = counts;
    this.window = window;
  }

  add(key: KeyBooks): KeyBooks {
    this.keys.set(key.keyId, key);
    this.keys.set(key.no, key);
    return key;
  }
}

export class KeyBooks {
  readonly team: TeamBooks;
  readonly no: number;
  readonly keyId: string;
  readonly isRevoked: boolean;
  /** Whether it has its own limits, or is disabled. */
  readonly isGuarded: boolean;
  readonly counts: Numbers<typeof KEY_BOOKS>;
  guard: KeyGuard | undefined = undefined;
  changed = false;

  /** From a row: number, id, time of revocation, whether it is guarded, and the columns of `KEY_BOOKS`. */
  constructor(team: TeamBooks, row: readonly SQLOutputValue[], first: number) {
    this.team = team;
    this.no = row[first] as number;
    this.keyId = row[first + 1] as string;
    this.isRevoked = row[first + 2] !== null;
    this.isGuarded = row[first + 3] === 1;
    this.counts = membersOf(KEY_BOOKS, row, first + 4) as Numbers<typeof KEY_BOOKS>;
  }
}
