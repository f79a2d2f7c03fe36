// The ledger in SQLite: queues its operations for a group commit. An admission checks in the order given by the port, by the same
// plan rules as stores/redis/lua/admit.lua, and writes last; a settlement commits or releases a reservation once, and repetitions
// get the state of the id.
import { dictionaryFor } from '../../domain/dictionary-choice.ts';
import { costMicro, minorRoundedDown, minorRoundedUp } from '../../domain/money.ts';
import { REMEMBER_MS } from '../../domain/reservation.ts';
import { nextTickets, tooSmallWindow, windowRefusal, windowStandings } from '../../ledger/windowed-subjects.ts';
import type {
  Admission,
  AdmissionRequest,
  AskedAdmission,
  AskedCheck,
  AskedResolution,
  CallerCheck,
  CallerRefusal,
  CheckedCaller,
  GlossaryReference,
  Ledger,
  Placed,
  Resolution,
  Verdict,
} from '../../ports/ledger.ts';
import { readPairs } from '../records/glossary-record.ts';
import type { TagInStore } from '../records/windowed-tag.ts';
import type { KeyInFile, TeamAccount } from './accounts.ts';
import { fullForMs } from './key-guard.ts';
import type { KeyGuard } from './key-guard.ts';
import { ADDED } from './periods.ts';
import type { Held } from './request-ids.ts';
import { COMMITTED, EXPIRED, OPEN, RELEASED } from './sqlite-schema.ts';
import { SqliteTagCounts } from './sqlite-tag-counts.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import type { StoreParts } from './store-parts.ts';
import { WindowAccounts } from './window-accounts.ts';

const SQL = {
  pairs: tuples<[string]>("SELECT value FROM records WHERE team = ? AND kind = 'pairs' AND id = ?"),
  // The row of a period long past may have been deleted.
  addUsage: `INSERT INTO usage (team, period_no, key, characters, requests)
    SELECT team, no, ?, ?, ? FROM periods WHERE team = ? AND no = ? ON CONFLICT (team, period_no, key) ${ADDED}`,
};

type Parts = Pick<StoreParts, 'database' | 'group' | 'accounts' | 'periods' | 'ids' | 'events'>;

export class SqliteLedger implements Ledger {
  readonly #group: Parts['group'];
  readonly #accounts: Parts['accounts'];
  readonly #periods: Parts['periods'];
  readonly #ids: Parts['ids'];
  readonly #events: Parts['events'];
  readonly #windowed: WindowAccounts;
  readonly #tags: SqliteTagCounts;
  readonly #sql: Statements<typeof SQL>;

  constructor({ database, group, accounts, periods, ids, events }: Parts) {
    this.#group = group;
    this.#accounts = accounts;
    this.#periods = periods;
    this.#ids = ids;
    this.#events = events;
    this.#windowed = new WindowAccounts(accounts);
    this.#tags = new SqliteTagCounts(database);
    this.#sql = prepared(database, SQL);
  }

  admit(asked: AskedAdmission): void {
    this.#group.add(this.#admit, asked, true);
  }

  check(asked: AskedCheck): void {
    this.#group.add(this.#check, asked, true);
  }

  /** No caller waits for a settlement: it shares the transaction of an admission or of other settlements. */
  resolve(asked: AskedResolution): void {
    this.#group.add(this.#settle, asked, false);
  }

  /** Called within a transaction, like `#check` and `#settle`; `nowMs` is the operation's only reading of the clock. */
  readonly #admit = (request: AdmissionRequest, nowMs: number): Admission => {
    const team = this.#accounts.team(request.teamId, request.keyId);
    if (team === undefined) return { kind: 'key_unknown' };
    this.#periods.update(team, nowMs);
    const key = this.#accounts.key(team, request.keyId);
    const tag = this.#accounts.tags.of(team, request.tag, nowMs);
    if (
      key !== undefined &&
      tag === undefined &&
      !key.isRevoked &&
      key.guard === undefined &&
      team.window.hasRoom(team.limits.requestsPerSecond, nowMs) &&
      windowRefusal(this.#windowed.of(team, key, undefined), toReserve(request), nowMs) === undefined
    ) {
      // Only a known id can still prevent the admission: inserting its row detects that before anything else is written.
      const answer = this.#judge(request, key, undefined, nowMs);
      const placed = this.#place(request, key, undefined, answer, nowMs, false);
      if (placed !== undefined) return placed;
    }
    return this.#admitInOrder(request, team, key, tag, nowMs);
  };

  #admitInOrder(
    request: AdmissionRequest,
    team: TeamAccount,
    key: KeyInFile | undefined,
    tag: TagInStore | undefined,
    nowMs: number,
  ): Admission {
    const { requestId, teamId } = request;
    const known = this.#ids.find(team.no, requestId, nowMs);
    if (known !== undefined) {
      if (known.state !== OPEN) return { kind: 'repeated' };
      const reservation = { requestId, teamId, characters: known.characters, leaseUntilMs: known.untilMs };
      return { kind: 'admitted', reservation, ...(request.reportPlan === true ? { plan: this.#accounts.planOf(team) } : {}) };
    }
    if (key === undefined) return { kind: 'key_unknown' };
    const refusal = this.#callerRefusal(request, key, tag, nowMs, true);
    if (refusal !== undefined) return refusal;
    const answer = this.#judge(request, key, tag, nowMs);
    return this.#place(request, key, tag, answer, nowMs, true)!;
  }

  readonly #check = (check: CallerCheck, nowMs: number): CheckedCaller => {
    const team = this.#accounts.team(check.teamId, check.keyId);
    const key = team && this.#accounts.key(team, check.keyId);
    if (team === undefined || key === undefined) return { kind: 'key_unknown' };
    const tag = this.#accounts.tags.of(team, check.tag, nowMs);
    return this.#callerRefusal(check, key, tag, nowMs, false) ?? { kind: 'admitted', reservation: undefined };
  };

  /** Checks key, rate and windows, for a request that takes a slot or only asks. */
  #callerRefusal(
    asked: CallerCheck | AdmissionRequest,
    key: KeyInFile,
    tag: TagInStore | undefined,
    nowMs: number,
    takesPlace: boolean,
  ): CallerRefusal | undefined {
    if (key.isRevoked) return { kind: 'key_revoked' };
    const { team, guard } = key;
    const barred = guard?.refusal(asked, nowMs);
    if (barred !== undefined) return barred;
    if (tag?.settings.disabled === true) return { kind: 'tag_disabled' };
    this.#stamp(key, nowMs);
    // Saved even on a refusal: slots that were freed or moved must stay so, whatever the clock does next.
    this.#accounts.touch(team);
    const limit = team.limits.requestsPerSecond;
    const windowed = this.#windowed.of(team, key, tag);
    // If anything else may refuse it, it is not certain yet that a slot will be taken.
    const isLast = guard === undefined && windowed.length === 0;
    const retryAfterMs = takesPlace && isLast ? team.window.waitMs(limit, nowMs) : team.window.waitMsKept(limit, nowMs);
    if (retryAfterMs > 0) return { kind: 'rate_limited', limit, retryAfterMs, fullForMs: fullForMs(retryAfterMs, guard, nowMs) };
    if (isLast) return undefined;
    if (guard !== undefined) this.#accounts.touchGuard(key);
    const characters = 'reserve' in asked ? toReserve(asked) : undefined;
    const expiresAtMs = guard?.limits.expiresAtMs;
    const refusal: CallerRefusal | undefined =
      guard?.rateRefusal(nowMs) ?? this.#tagTooFast(key, tag, nowMs) ?? windowRefusal(windowed, characters, nowMs, expiresAtMs);
    if (refusal?.kind === 'rate_limited' && refusal.window !== undefined)
      this.#events?.refusedByWindow(key, tag, refusal, this.#windowed, characters, nowMs);
    return refusal;
  }

  #tagTooFast({ team, guard }: KeyInFile, tag: TagInStore | undefined, nowMs: number): CallerRefusal | undefined {
    if (tag?.settings.requestsPerSecond === undefined) return undefined;
    const refusal = tag.rateRefusal(nowMs, guard?.limits.expiresAtMs);
    this.#accounts.tags.keep(team, tag);
    return refusal;
  }

  /** The result for a request that has a slot. Changes nothing. */
  #judge(request: AdmissionRequest, key: KeyInFile, tag: TagInStore | undefined, nowMs: number): Placed {
    const { team } = key;
    const { no, limits, counts } = team;
    const { requestId, teamId, reserve, leaseMs, glossary } = request;
    const maxCharacters = limits.maxCharactersPerRequest;
    if (request.characters !== undefined && request.characters > maxCharacters) return { kind: 'text_too_long', maxCharacters };
    if (!reserve || request.characters === undefined) return { kind: 'admitted', reservation: undefined };
    const characters = request.charged ?? request.characters;
    const dictionary = glossary === undefined ? undefined : this.#dictionary(no, glossary);
    if (typeof dictionary === 'object') return dictionary;
    const refusal =
      tooSmallWindow(this.#windowed.of(team, key, tag), characters, nowMs) ??
      (key.guard && keyRefusal(key, key.guard, counts, characters)) ??
      tag?.refusal(counts.periodEndMs, characters) ??
      accountRefusal(key, characters);
    if (refusal !== undefined) return refusal;
    const reservation = { requestId, teamId, characters, leaseUntilMs: nowMs + leaseMs };
    return dictionary === undefined ? { kind: 'admitted', reservation } : { kind: 'admitted', reservation, dictionaryId: dictionary };
  }

  /**
   * Writes the row of the id, takes the slot in the window, and adds the reservation to what is held. Without `over`, only if
   * there is no row yet; otherwise nothing is written, and there is no answer.
   */
  #place(
    request: AdmissionRequest,
    key: KeyInFile,
    tag: TagInStore | undefined,
    answer: Placed,
    nowMs: number,
    over: boolean,
  ): Placed | undefined {
    const { team } = key;
    const reservation = answer.kind === 'admitted' ? answer.reservation : undefined;
    const { limits, counts } = team;
    const ofAllowance = usesAllowance(key);
    const windowed = this.#windowed.of(team, key, tag);
    const held = reservation && {
      key: key.no,
      characters: reservation.characters,
      priceMicro: limits.billing === 'credit' && !ofAllowance ? costMicro(reservation.characters, limits.minorPerMillion) : 0,
      periodNo: counts.periodNo,
      ofAllowance,
      tickets: nextTickets(windowed),
      tag: request.tag,
    };
    if (!this.#ids.add(team, request.requestId, held, reservation?.leaseUntilMs ?? nowMs + REMEMBER_MS, nowMs, over)) return undefined;
    this.#stamp(key, nowMs);
    this.#windowed.count(windowed, team, held?.characters ?? 0, nowMs);
    team.window.take(nowMs);
    const { guard } = key;
    if (guard !== undefined) {
      guard.takeSlot(nowMs);
      this.#accounts.touchGuard(key);
    }
    if (tag !== undefined) {
      tag.takePlace(held?.characters ?? 0, nowMs);
      this.#accounts.tags.keep(team, tag);
    }
    this.#accounts.touch(team);
    if (reservation !== undefined && held !== undefined) {
      counts.heldCharacters += held.characters;
      counts.heldMicro += held.priceMicro;
      if (ofAllowance) this.#accounts.moveAllowance(team, 0, held.characters);
      if (guard !== undefined) this.#accounts.hold(key, held.characters, held.periodNo);
      team.leaseDueMs = Math.min(team.leaseDueMs, reservation.leaseUntilMs);
    }
    if (answer.kind === 'quota_exceeded' || answer.kind === 'credit_exhausted') {
      const characters = request.charged ?? request.characters!;
      if (answer.kind === 'quota_exceeded' && answer.window !== undefined)
        this.#events?.refusedByWindow(key, tag, answer, this.#windowed, characters, nowMs);
      else this.#events?.refused(key, tag, answer, characters, nowMs);
    }
    const placed = request.reportPlan === true ? { ...answer, plan: this.#accounts.planOf(team) } : answer;
    if (request.reportRate !== true) return placed;
    const limit = limits.requestsPerSecond;
    const rate = { limit, remaining: limit - team.window.total };
    const standings = windowed.length === 0 ? [] : windowStandings(windowed, nowMs);
    const nearer = guard === undefined ? rate : guard.nearer(rate);
    const windows = standings.length === 0 ? {} : { windows: standings };
    return { ...placed, rate: tag === undefined ? nearer : tag.nearer(nearer), ...windows };
  }

  #stamp(key: KeyInFile, nowMs: number): void {
    if (key.counts.lastUsedAtMs >= nowMs) return;
    key.counts.lastUsedAtMs = nowMs;
    this.#accounts.touchKey(key);
  }

  /** The id of the dictionary to use, or the refusal. */
  #dictionary(team: number, glossary: GlossaryReference): string | Placed {
    const [pairs] = this.#sql.pairs.get(team, glossary.glossaryId) ?? [];
    if (pairs === undefined) return { kind: 'glossary_missing' };
    return dictionaryFor(readPairs(pairs), glossary)?.dictionaryId ?? { kind: 'glossary_mismatch' };
  }

  readonly #settle = ({ teamId, requestId, verdict, characters }: AskedResolution, nowMs: number): Resolution => {
    const team = this.#accounts.team(teamId);
    if (team === undefined) return { kind: 'absent' };
    this.#periods.update(team, nowMs);
    const isCommit = verdict === 'commit';
    const held = this.#ids.resolve(team, requestId, isCommit ? COMMITTED : RELEASED, nowMs);
    if (held === undefined) return this.#settleClosed(team, requestId, verdict, nowMs);
    const { counts } = team;
    counts.heldMicro -= held.priceMicro;
    // The counts of a past period are final; its holds are no longer in the team's counters.
    const isCurrent = held.periodNo === counts.periodNo;
    if (isCurrent) counts.heldCharacters -= held.characters;
    if (isCurrent && held.ofAllowance) this.#accounts.moveAllowance(team, 0, -held.characters);
    // The key of a reservation always exists.
    const key = this.#accounts.key(team, held.key)!;
    if (key.guard !== undefined) this.#accounts.hold(key, -held.characters, held.periodNo);
    const charged = characters === undefined ? held : partOf(held, characters);
    if (isCommit) this.#charge(key, charged, isCurrent, nowMs);
    this.#accounts.giveBack(team, held.tickets, held.periodNo, held.characters - (isCommit ? charged.characters : 0));
    this.#accounts.touch(team);
    return { kind: isCommit ? 'committed' : 'released' };
  };

  #charge(key: KeyInFile, { characters, priceMicro, periodNo, ofAllowance, tag }: Held, isCurrent: boolean, nowMs: number): void {
    const { team, counts } = key;
    team.counts.balanceMicro -= priceMicro;
    if (isCurrent) team.counts.usedCharacters += characters;
    else this.#periods.spendLate(team, periodNo, priceMicro);
    if (ofAllowance && isCurrent) this.#accounts.moveAllowance(team, characters, 0);
    else if (ofAllowance) this.#periods.useAllowanceLate(team, periodNo, characters);
    // A key's row counts a single period: counts of an earlier one are first moved to `usage`.
    if (periodNo > counts.periodNo) {
      if (counts.requests > 0) this.#sql.addUsage.run(key.no, counts.characters, counts.requests, team.no, counts.periodNo);
      Object.assign(counts, { periodNo, characters: 0, requests: 0 });
    }
    if (periodNo < counts.periodNo) this.#sql.addUsage.run(key.no, characters, 1, team.no, periodNo);
    else {
      counts.characters += characters;
      counts.requests++;
    }
    this.#periods.countDay(key, characters, nowMs);
    if (tag !== undefined) this.#tags.add(team.no, tag, characters, nowMs);
    this.#accounts.touchKey(key);
    this.#events?.charged(team, priceMicro, nowMs);
  }

  #settleClosed(team: TeamAccount, requestId: string, verdict: Verdict, nowMs: number): Resolution {
    const known = this.#ids.find(team.no, requestId, nowMs);
    if (known !== undefined) return { kind: wordOf(known.state) };
    if (verdict === 'commit') return { kind: 'absent' };
    this.#ids.add(team, requestId, undefined, nowMs + REMEMBER_MS, nowMs, true);
    return { kind: 'released' };
  }
}

/** How many characters a request would reserve; `undefined` if none. */
function toReserve({ reserve, characters, charged }: AdmissionRequest): number | undefined {
  return reserve && characters !== undefined ? (charged ?? characters) : undefined;
}

/** Checked after the glossary and before the team's quota: the key's own characters in the team's period. */
function keyRefusal({ counts }: KeyInFile, guard: KeyGuard, team: TeamAccount['counts'], characters: number): Placed | undefined {
  const characterLimit = guard.limits.characters;
  if (characterLimit === undefined) return undefined;
  const used = counts.periodNo === team.periodNo ? counts.characters : 0;
  if (used + guard.held(team) + characters <= characterLimit) return undefined;
  return { kind: 'quota_exceeded', characterLimit, overageCapMinor: 0, periodEndMs: team.periodEndMs, of: 'key' };
}

/** Whether what this key uses is of the plan's allowance for test keys. */
function usesAllowance({ isTest, team: { limits } }: KeyInFile): boolean {
  return isTest && limits.testAllowance > 0;
}

/**
 * Checked after the glossary: whether used, held and requested characters fit the allowance for test keys or the quota, or the price
 * fits the credit.
 */
function accountRefusal(key: KeyInFile, characters: number): Placed | undefined {
  const { limits, counts } = key.team;
  const ofAllowance = counts.allowanceUsed + counts.allowanceHeld;
  if (usesAllowance(key)) {
    const { testAllowance: characterLimit } = limits;
    if (ofAllowance + characters <= characterLimit) return undefined;
    return { kind: 'quota_exceeded', characterLimit, overageCapMinor: 0, periodEndMs: counts.periodEndMs, of: 'test_keys' };
  }
  if (limits.billing === 'quota') {
    const total = counts.usedCharacters + counts.heldCharacters + characters - ofAllowance;
    const { characterLimit, overageCharacters, overageCapMinor } = limits;
    if (total <= characterLimit + overageCharacters) return undefined;
    return { kind: 'quota_exceeded', characterLimit, overageCapMinor, periodEndMs: counts.periodEndMs };
  }
  const freeMicro = counts.balanceMicro - counts.heldMicro;
  const priceMicro = costMicro(characters, limits.minorPerMillion);
  if (freeMicro >= priceMicro) return undefined;
  const { currency } = limits;
  return { kind: 'credit_exhausted', balanceMinor: minorRoundedDown(freeMicro), requiredMinor: minorRoundedUp(priceMicro), currency };
}

/** A part of a reservation, with its share of the price, which is a whole number per character. */
function partOf(held: Held, wanted: number): Held {
  const characters = Math.max(0, Math.min(wanted, held.characters));
  return { ...held, characters, priceMicro: characters === 0 ? 0 : (held.priceMicro / held.characters) * characters };
}

function wordOf(state: number): 'committed' | 'released' | 'expired' {
  if (state === COMMITTED) return 'committed';
  return state === EXPIRED ? 'expired' : 'released';
}
