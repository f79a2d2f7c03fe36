// What an account needs of its store, and what that stores of a team's use.
import type { Audited } from '../domain/audit-entry.ts';
import type { LanguagePair } from '../domain/glossary.ts';
import type { Micro } from '../domain/money.ts';
import type { StoredCounts, WindowSubject } from '../domain/window-limits.ts';
import type { KeyRecord, Team } from '../ports/team-registry.ts';
import type { EndedPeriod, RunningPeriod } from '../ports/usage-history.ts';
import type { KeyUsed } from './key-account.ts';
import type { HeldReservation } from './open-reservations.ts';
import { Slots } from './rate.ts';
import type { TagRecords } from './tag-account.ts';

/** What is charged to a key, on a day, in a period: all that is shown or invoiced is a sum of these. */
export interface KeyCharge {
  readonly keyId: string;
  readonly day: number;
  readonly period: number;
  readonly characters: number;
  readonly micro: Micro;
  readonly ofAllowance: boolean;
}

/** What a store keeps of a team besides its record, keys, counters and reservations. Written whenever an account `isChanged`. */
export interface AccountCounts {
  balanceMicro: Micro;
  period: RunningPeriod;
  /** Charged in the period; of these, what is of the allowance. */
  used: number;
  allowanceUsed: number;
  readonly slots: Slots;
}

/** Of a new team, whose account `begin` begins. */
export function firstCounts(balanceMicro: Micro, nowMs: number): AccountCounts {
  const period = { number: 0, startMs: nowMs, endMs: Number.MAX_SAFE_INTEGER, anchorMs: nowMs, addedMicro: 0, deductedMicro: 0 };
  return { balanceMicro, period, used: 0, allowanceUsed: 0, slots: new Slots() };
}

/** What an account needs of its store. Nothing waits: what is read is at hand, and what is written is so at the end at the latest. */
export interface AccountRows {
  /** Its record as it is stored (`status` ignores expiry), and what is used of it. */
  key(keyId: string): { readonly record: KeyRecord; readonly use: KeyUsed } | undefined;
  /** What a subject has used of its windows, if they were ever limited. */
  windowCounts(subject: WindowSubject): StoredCounts | undefined;
  open(requestId: string, held: HeldReservation): void;
  close(requestId: string): void;
  charge(charge: KeyCharge): void;
  /** The pairs of a glossary and their dictionaries. */
  pairs(glossaryId: string): readonly (LanguagePair & { readonly dictionaryId: string })[] | undefined;
  readonly tags: TagRecords;
  /** Whether anything was charged in this period, even without characters. */
  isCharged(period: number): boolean;
  endPeriod(ended: EndedPeriod): void;
  /** The audit entry and the event of a change of the team, or of its creation; neither if nothing differs. */
  changed(before: Team | undefined, after: Team, by: Audited | undefined, nowMs: number): void;
}
