// Time-dependent changes to a team: leases expire, periods and days begin and end, and a period is closed once none of its
// reservations is open.
import type { DatabaseSync } from 'node:sqlite';
import type { Micro } from '../../domain/money.ts';
import { dayOf } from '../../domain/period.ts';
import { periodBy, sameLength } from '../../domain/period-rule.ts';
import { REMEMBER_MS } from '../../domain/reservation.ts';
import type { Accounts, KeyInFile, TeamAccount } from './accounts.ts';
import type { NextPlans } from './next-plans.ts';
import { readTickets } from './request-ids.ts';
import { EXPIRED, LIMITS, OPEN } from './sqlite-schema.ts';
import { columnOf, prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';

/** Callbacks within the ledger's transaction: rows that they write are committed or rolled back with it. */
export interface HistoryHooks {
  /** A charge was added to the team's counts of its current period. Called for every commit, so it should only compare numbers. */
  charged(team: TeamAccount, priceMicro: Micro, nowMs: number): void;
  /**
   * A day of the team has ended and been written to `usage_days`, with everything committed in it. If the clock has stepped
   * back since, more may be added, and the day is reported again when that ends.
   */
  dayFinished(team: TeamAccount, day: number, nowMs: number): void;
  /** The period is final, with all its data in its row in `periods`. Not called for a period without usage. */
  periodClosed(team: TeamAccount, periodNo: number, nowMs: number): void;
}

const ALL = -1;
/** No day is being counted. */
const NO_DAY = 0;

/** A team's limits as one JSON object. */
const LIMITS_JSON = `json_object(${LIMITS.map((name) => `'${name}', t.${columnOf(name)}`).join(', ')})`;
/** Adds to an existing row: for late charges to a period, and days that are counted again after the clock stepped back. */
export const ADDED = 'DO UPDATE SET characters = characters + excluded.characters, requests = requests + excluded.requests';

/** The characters of test keys among rows of `usage` with their keys. */
export const OF_TESTS = "coalesce(sum(iif(k.mode = 'test', characters, 0)), 0)";

/** Whether the period changed the team's credit (domain/period-credit.ts). */
const MOVED_CREDIT = 'added_micro > 0 OR deducted_micro > 0 OR opening_micro <> balance_micro';

const SQL = {
  expire: tuples<[periodNo: number, characters: number, priceMicro: number, key: number, ofAllowance: number, tickets: string | null]>(`
    UPDATE operations SET state = ${EXPIRED}, until_ms = until_ms + ${REMEMBER_MS} WHERE (request_id, team) IN
      (SELECT request_id, team FROM operations WHERE team = ? AND state = ${OPEN} AND until_ms <= ? ORDER BY until_ms LIMIT ?)
    RETURNING period_no, characters, price_micro, key, of_allowance, tickets`),
  nextEnd: tuples<[number | null]>(`SELECT min(until_ms) FROM operations WHERE team = ? AND state = ${OPEN}`),
  anchor: tuples<[number]>(`SELECT coalesce(p.anchor_ms, t.created_at_ms) FROM teams t
    LEFT JOIN periods p ON p.team = t.no AND p.no = ? WHERE t.no = ?`),
  leave: `UPDATE periods SET (left_ms, plan, limits, balance_micro, allowance_used) =
      (SELECT max(periods.start_ms, min(periods.end_ms, ?)), t.plan, ${LIMITS_JSON}, ?, ? FROM teams t WHERE t.no = periods.team)
    WHERE team = ? AND no = ? AND left_ms IS NULL`,
  add: `INSERT INTO periods (team, no, start_ms, end_ms, anchor_ms, opening_micro, added_micro) VALUES (?, ?, ?, ?, ?, ?, ?)`,
  // Periods are closed in order, so that none of these has been.
  spendLate: `UPDATE periods SET opening_micro = opening_micro - iif(no > $from, $micro, 0), balance_micro = balance_micro - $micro
    WHERE team = $team AND no >= $from`,
  useAllowanceLate: 'UPDATE periods SET allowance_used = allowance_used + ? WHERE team = ? AND no = ?',
  enter: 'UPDATE books SET period_no = ?, period_end_ms = ? WHERE team = ?',
  unclosed: tuples<[no: number]>('SELECT no FROM periods WHERE team = ? AND left_ms IS NOT NULL AND closed_characters IS NULL ORDER BY no'),
  earlier: 'SELECT 1 FROM periods WHERE team = ? AND no < ? AND left_ms IS NOT NULL AND closed_characters IS NULL LIMIT 1',
  open: `SELECT 1 FROM operations WHERE team = ? AND state = ${OPEN} AND period_no = ? LIMIT 1`,
  keep: `INSERT INTO usage (team, period_no, key, characters, requests)
    SELECT team, period_no, key, characters, requests FROM key_books WHERE team = ? AND period_no = ? AND requests > 0
    ON CONFLICT (team, period_no, key) ${ADDED}`,
  reset: 'UPDATE key_books SET characters = 0, requests = 0 WHERE team = ? AND period_no = ?',
  close: tuples<[characters: number | null]>(`UPDATE periods SET (closed_characters, closed_requests, closed_test_characters) =
      (SELECT iif(${MOVED_CREDIT}, coalesce(sum(characters), 0), nullif(sum(characters), 0)), coalesce(sum(requests), 0), ${OF_TESTS}
        FROM usage u LEFT JOIN keys k ON k.no = u.key WHERE u.team = periods.team AND u.period_no = periods.no)
    WHERE team = ? AND no = ? AND left_ms IS NOT NULL AND closed_characters IS NULL RETURNING closed_characters`),
  dropUsage: 'DELETE FROM usage WHERE team = ? AND period_no = ?',
  dropPeriod: 'DELETE FROM periods WHERE team = ? AND no = ?',
  keepDay: `INSERT INTO usage_days (team, day, key, characters, requests)
    SELECT team, ?, key, day_characters, day_requests FROM key_books WHERE team = ? AND day_requests > 0
    ON CONFLICT (team, day, key) ${ADDED}`,
  resetDay: 'UPDATE key_books SET day_characters = 0, day_requests = 0 WHERE team = ? AND day_requests > 0',
  enterDay: 'UPDATE books SET day = ? WHERE team = ?',
};

export class Periods {
  readonly #accounts: Accounts;
  readonly #hooks: HistoryHooks | undefined;
  readonly #nextPlans: NextPlans;
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync, accounts: Accounts, nextPlans: NextPlans, hooks?: HistoryHooks) {
    this.#accounts = accounts;
    this.#nextPlans = nextPlans;
    this.#hooks = hooks;
    this.#sql = prepared(database, SQL);
  }

  /** Brings a team up to date. Call it before its counts are read or changed. */
  update(team: TeamAccount, nowMs: number): void {
    if (nowMs >= team.leaseDueMs) this.endLeases(team, nowMs, ALL);
    if (nowMs >= team.counts.periodEndMs) this.start(team, nowMs);
  }

  /** Releases what expired leases hold: at most `rowsMax`, oldest first. */
  endLeases(team: TeamAccount, nowMs: number, rowsMax: number): void {
    const ended = this.#sql.expire.all(team.no, nowMs, rowsMax);
    const limitsKeys = ended.length > 0 && this.#accounts.limitsKeys(team);
    for (const [periodNo, characters, priceMicro, key, ofAllowance, tickets] of ended) {
      if (limitsKeys) this.#accounts.hold(this.#accounts.key(team, key)!, -characters, periodNo);
      this.#accounts.giveBack(team, readTickets(tickets), periodNo, characters);
      team.counts.heldMicro -= priceMicro;
      // Holds of a past period are no longer in the counters.
      const isCurrent = periodNo === team.counts.periodNo;
      if (isCurrent) team.counts.heldCharacters -= characters;
      if (isCurrent && ofAllowance === 1) this.#accounts.moveAllowance(team, 0, -characters);
      this.#accounts.touch(team);
    }
    // The cached reservations may have expired: look them up in the file from now on.
    team.held.clear();
    const [nextMs] = this.#sql.nextEnd.get(team.no)!;
    team.leaseDueMs = nextMs ?? Infinity;
  }

  /** Records when the team's period ended, under which plan and with which balance. Call it before these are changed. */
  leave({ no, counts }: TeamAccount, nowMs: number): void {
    this.#sql.leave.run(nowMs, counts.balanceMicro, counts.allowanceUsed, no, counts.periodNo);
  }

  /** A charge to a past period: it is as if the balance had been lower since then. */
  spendLate({ no }: TeamAccount, periodNo: number, micro: Micro): void {
    if (micro > 0) this.#sql.spendLate.run({ $team: no, $from: periodNo, $micro: micro });
  }

  /** A charge to a past period, of its allowance for test keys. */
  useAllowanceLate({ no }: TeamAccount, periodNo: number, characters: number): void {
    this.#sql.useAllowanceLate.run(characters, no, periodNo);
  }

  /**
   * Begins the current period with counts of zero. Open reservations stay in the period they were made in. Periods are counted
   * from `fromMs` if given, otherwise from the previous anchor, or by the calendar. A period that has ended is followed by one of the
   * plan that waits for that, which is counted from its end if its length differs.
   */
  start(team: TeamAccount, nowMs: number, fromMs?: number): void {
    const before = team.counts.periodNo;
    const next = fromMs === undefined ? this.#nextPlans.of(team) : undefined;
    const endedMs = team.counts.periodEndMs;
    const isOtherLength = next !== undefined && !sameLength(next.limits.period, team.limits.period);
    const [anchorMs] = fromMs === undefined && !isOtherLength ? this.#sql.anchor.get(before, team.no)! : [fromMs ?? endedMs];
    this.leave(team, nowMs);
    if (next !== undefined) this.#nextPlans.take(team, next, nowMs);
    const period = periodBy(team.limits.period, anchorMs, nowMs);
    const { endMs } = period;
    // A calendar period may have begun before the end of the team's last one, if that was counted differently.
    const startMs = Math.max(period.startMs, fromMs ?? endedMs);
    const periodNo = before + 1;
    // A team's first balance is credit that was added.
    const { balanceMicro } = team.counts;
    const [openingMicro, addedMicro] = before === 0 ? [0, balanceMicro] : [balanceMicro, 0];
    this.#sql.add.run(team.no, periodNo, startMs, endMs, anchorMs, openingMicro, addedMicro);
    this.#sql.enter.run(periodNo, endMs, team.no);
    const { allowanceUsed, allowanceHeld } = team.counts;
    Object.assign(team.counts, { periodNo, periodEndMs: endMs, usedCharacters: 0, heldCharacters: 0 });
    if (allowanceUsed + allowanceHeld > 0) this.#accounts.moveAllowance(team, -allowanceUsed, -allowanceHeld);
    this.#accounts.touch(team);
    if (before > 0) this.close(team, before, nowMs);
  }

  /** Closes the team's past periods that have no open reservations. */
  closeAll(team: TeamAccount, nowMs: number): void {
    for (const [periodNo] of this.#sql.unclosed.all(team.no)) this.close(team, periodNo, nowMs);
  }

  /** Whether any reservation made in it is open. */
  isOpen(team: number, periodNo: number): boolean {
    return this.#sql.open.get(team, periodNo) !== undefined;
  }

  /**
   * Records the totals of a past period, unless a reservation of it is open, or an earlier one is not closed yet: what is settled
   * late changes the balance of every period since. A period that has neither characters nor changed the credit is deleted,
   * because idle teams with short periods would otherwise fill the file.
   */
  close(team: TeamAccount, periodNo: number, nowMs: number): void {
    if (this.isOpen(team.no, periodNo)) return;
    if (this.#sql.earlier.get(team.no, periodNo) !== undefined) return;
    this.#accounts.flush();
    this.#sql.keep.run(team.no, periodNo);
    this.#sql.reset.run(team.no, periodNo);
    for (const { counts } of team.keys.values()) {
      if (counts.periodNo === periodNo) Object.assign(counts, { characters: 0, requests: 0 });
    }
    const closed = this.#sql.close.get(team.no, periodNo);
    // Another process was faster.
    if (closed === undefined) return;
    if (closed[0] !== null) {
      if (closed[0] > 0) this.#hooks?.periodClosed(team, periodNo, nowMs);
      return;
    }
    this.#sql.dropUsage.run(team.no, periodNo);
    this.#sql.dropPeriod.run(team.no, periodNo);
  }

  /**
   * Counts a charge in its UTC day. The current day is kept in the key's own row, which the caller must have written; past days
   * have their own rows.
   */
  countDay({ team, counts }: KeyInFile, characters: number, nowMs: number): void {
    const day = dayOf(nowMs);
    if (day !== team.counts.day) this.#turnDay(team, day, nowMs);
    counts.dayCharacters += characters;
    counts.dayRequests++;
  }

  /** Saves a team's day if it has ended. */
  finishDay(team: TeamAccount, nowMs: number): void {
    const { day } = team.counts;
    if (day !== NO_DAY && day < dayOf(nowMs)) this.#turnDay(team, NO_DAY, nowMs);
  }

  /** Saves a team's day even if it has not ended, because the team is deleted but its usage is kept. */
  leaveDay(team: TeamAccount, nowMs: number): void {
    if (team.counts.day !== NO_DAY) this.#turnDay(team, NO_DAY, nowMs);
  }

  /** Moves to the next day, or after a clock step to an earlier one, without losing any counts. */
  #turnDay(team: TeamAccount, day: number, nowMs: number): void {
    const before = team.counts.day;
    if (before !== NO_DAY) {
      this.#accounts.flush();
      this.#sql.keepDay.run(before, team.no);
      this.#sql.resetDay.run(team.no);
      for (const { counts } of team.keys.values()) Object.assign(counts, { dayCharacters: 0, dayRequests: 0 });
    }
    this.#sql.enterDay.run(day, team.no);
    team.counts.day = day;
    if (before !== NO_DAY && before < dayOf(nowMs)) this.#hooks?.dayFinished(team, before, nowMs);
  }
}
