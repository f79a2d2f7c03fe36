// A team's account: admissions and settlements, and what time alone does. Pure: the store's driver passes the time, reads what the
// account asks for and writes what it has changed, all in one transaction, or one compare-and-set (`AccountRows`).
import { dictionaryFor } from '../domain/glossary.ts';
import { costMicro, minorRoundedDown, minorRoundedUp } from '../domain/money.ts';
import { dayOf, periodBy, sameLength } from '../domain/period.ts';
import type { Audited } from '../domain/audit-entry.ts';
import type { RequestTag } from '../domain/request-tag.ts';
import { tagOfSubject, windowLimits } from '../domain/window-limits.ts';
import type { WindowSubject, WindowTickets } from '../domain/window-limits.ts';
import type {
  Admission,
  AdmissionRequest,
  CallerCheck,
  CallerRefusal,
  CheckedCaller,
  CreditExhausted,
  GlossaryReference,
  Placed,
  QuotaExceeded,
  RateLimited,
  Resolution,
  Verdict,
} from '../ports/ledger.ts';
import type { BalanceOutOfBounds, CreditNotFree, Standing, Team, TeamChange, Usage } from '../ports/team-registry.ts';
import type { AccountCounts, AccountRows } from './account-rows.ts';
import { WindowCounts } from './counter.ts';
import { KeyAccount } from './key-account.ts';
import { nearestRate, periodRefusal, rateRefusal, takePlace, tooSmallWindow, windowRefusal, windowStandings } from './limit.ts';
import type { LimitedSubject } from './limit.ts';
import { OpenReservations } from './open-reservations.ts';
import type { HeldReservation } from './open-reservations.ts';
import { countTag, TagAccount, TagUses } from './tag-account.ts';
import { changedTeam, withNextPlan } from './team-change.ts';

export class Account {
  /** Its balance is the one of `counts`. */
  team: Team;
  readonly counts: AccountCounts;
  readonly keys = new Map<string, KeyAccount>();
  readonly windowCounts = new Map<WindowSubject, WindowCounts>();
  readonly #rows: AccountRows;
  readonly #open: OpenReservations;
  #subject: LimitedSubject;
  /** Whether the counts (of which `period` is seldom written), and the team's record, differ from what is stored. */
  isChanged = false;
  isPeriodChanged = false;
  isTeamChanged = false;

  constructor(team: Team, counts: AccountCounts, reservations: Map<string, HeldReservation>, rows: AccountRows) {
    this.team = team;
    this.counts = counts;
    this.#rows = rows;
    this.#open = new OpenReservations(reservations, counts.period.number);
    this.#subject = this.#asSubject();
  }

  get reservations(): ReadonlyMap<string, HeldReservation> {
    return this.#open.all;
  }

  // What time alone does

  /** Ends leases, and the period with the plan that waits for its end. Called before anything else is done or shown. */
  catchUp(nowMs: number): void {
    for (const [id, held] of this.#open.due(nowMs)) this.#close(id, held, 0, nowMs);
    if (nowMs >= this.counts.period.endMs) this.#endPeriod(nowMs);
  }

  #endPeriod(nowMs: number): void {
    const before = this.shown();
    const { endMs, anchorMs } = this.counts.period;
    const { nextPlan, limits } = before;
    this.#archivePeriod(endMs);
    const isOtherLength = nextPlan !== undefined && !sameLength(nextPlan.limits.period, limits.period);
    if (nextPlan !== undefined) {
      this.#setTeam(withNextPlan(before));
      this.#rows.changed(before, this.shown(), nextPlan.by, nowMs);
    }
    this.#beginPeriod(isOtherLength ? endMs : anchorMs, nowMs, endMs);
  }

  /** Ends the period before its time: another one is begun, or the team is deleted. */
  endPeriodNow(nowMs: number): void {
    const { startMs, endMs } = this.counts.period;
    this.#archivePeriod(Math.max(startMs, Math.min(endMs, nowMs)));
  }

  /** With the plan that it has had at last. Idle teams with short periods would fill the store: one without use goes. */
  #archivePeriod(endMs: number): void {
    const { anchorMs: _anchor, ...period } = this.counts.period;
    const { number, addedMicro, deductedMicro } = period;
    const { plan, limits } = this.team;
    // Whether it was charged is asked last: in Redis the answer depends on a counter that every admission changes.
    if (this.counts.used + addedMicro + deductedMicro > 0 || this.#open.isHeldIn(number) || this.#rows.isCharged(number))
      this.#rows.endPeriod({ ...period, endMs, plan, limits });
  }

  /** The one that contains `nowMs`; by the calendar that may have begun before `fromMs`, when the last one ended. */
  #beginPeriod(anchorMs: number, nowMs: number, fromMs: number): void {
    const { startMs, endMs } = periodBy(this.team.limits.period, anchorMs, nowMs);
    const number = this.counts.period.number + 1;
    this.counts.period = { number, startMs: Math.max(startMs, fromMs), endMs, anchorMs, addedMicro: 0, deductedMicro: 0 };
    this.counts.used = this.counts.allowanceUsed = 0;
    this.#open.beginPeriod(number);
    this.isChanged = this.isPeriodChanged = true;
  }

  // Admissions

  /**
   * By the rules of `Admission` (ports/ledger.ts), in their order. A refusal by the first two writes nothing but what was due; from the
   * end of the third on, the request has taken its place, whatever follows.
   */
  admit(request: AdmissionRequest, nowMs: number): Admission {
    this.catchUp(nowMs);
    // Rule 1
    const open = this.#open.all.get(request.requestId);
    if (open !== undefined) return this.#repeated(request, open);
    const key = this.key(request.keyId);
    const tag = this.#tag(request.tag, nowMs);
    const reserves = request.reserve && request.characters !== undefined ? (request.charged ?? request.characters) : undefined;
    if (key === undefined) return { kind: 'key_unknown' };
    const refusal = this.#callerRefusal(request, key, tag, nowMs) ?? this.#rateRefusal(key, tag, reserves, nowMs);
    if (refusal !== undefined) return refusal;
    const subjects = this.#subjects(key, tag);
    const placed = this.#judge(request, key, subjects, reserves, nowMs);
    const reserved = placed.kind === 'admitted' ? placed.reservation?.characters : undefined;
    const tickets = takePlace(subjects, reserved ?? 0, nowMs);
    if (tag !== undefined) {
      tag.inPeriod.used += reserved ?? 0;
      this.#keepTag(tag);
    }
    if (reserved !== undefined) this.#reserve(request, key, reserved, tickets, nowMs);
    return this.#reported(request, placed, subjects, nowMs);
  }

  /** Whether a request would be admitted by rules 2 and 3; takes no slot, and notes that the key was used. */
  check(check: CallerCheck, nowMs: number): CheckedCaller {
    this.catchUp(nowMs);
    const [key, tag] = [this.key(check.keyId), this.#tag(check.tag, nowMs)];
    if (key === undefined) return { kind: 'key_unknown' };
    const refusal = this.#callerRefusal(check, key, tag, nowMs) ?? this.#rateRefusal(key, tag, undefined, nowMs);
    return refusal ?? { kind: 'admitted', reservation: undefined };
  }

  #repeated({ requestId, teamId, reportPlan }: AdmissionRequest, open: HeldReservation): Admission {
    const reservation = { requestId, teamId, characters: open.characters, leaseUntilMs: open.untilMs };
    return { kind: 'admitted', reservation, ...(reportPlan === true ? { plan: this.team.plan } : {}) };
  }

  /** Rule 2 */
  #callerRefusal(
    caller: CallerCheck | AdmissionRequest,
    key: KeyAccount,
    tag: TagAccount | undefined,
    nowMs: number,
  ): CallerRefusal | undefined {
    return key.refusal(caller, nowMs) ?? (tag?.settings.disabled === true ? { kind: 'tag_disabled' } : undefined);
  }

  /** Rule 3, which stamps the key. */
  #rateRefusal(key: KeyAccount, tag: TagAccount | undefined, reserves: number | undefined, nowMs: number): RateLimited | undefined {
    key.stamp(nowMs);
    // A plan that waits may come with the next period.
    const changesAtMs = Math.min(key.record.limits.expiresAtMs ?? Infinity, this.counts.period.endMs);
    const subjects = this.#subjects(key, tag);
    // Slots that have moved back with the clock stay so, whatever the answer.
    this.isChanged = true;
    if (key.rate !== undefined) key.isChanged = true;
    const tooFast = rateRefusal(subjects, nowMs, changesAtMs);
    if (tag?.rate !== undefined) this.#keepTag(tag);
    return tooFast ?? windowRefusal(subjects, reserves, nowMs, changesAtMs);
  }

  /** Rules 4 to 8 */
  #judge(
    request: AdmissionRequest,
    key: KeyAccount,
    subjects: readonly LimitedSubject[],
    reserves: number | undefined,
    nowMs: number,
  ): Placed {
    const { maxCharactersPerRequest: maxCharacters } = this.team.limits;
    const { characters, requestId, teamId, glossary, leaseMs } = request;
    if (characters !== undefined && characters > maxCharacters) return { kind: 'text_too_long', maxCharacters };
    if (reserves === undefined) return { kind: 'admitted', reservation: undefined };
    const dictionary = glossary && this.#dictionary(glossary);
    if (typeof dictionary === 'object') return dictionary;
    const refusal =
      tooSmallWindow(subjects, reserves, nowMs) ??
      periodRefusal(subjects, reserves, this.counts.period.endMs) ??
      (this.#usesAllowance(key) ? this.#allowanceRefusal(reserves) : this.#planRefusal(reserves));
    if (refusal !== undefined) return refusal;
    const reservation = { requestId, teamId, characters: reserves, leaseUntilMs: nowMs + leaseMs };
    return dictionary === undefined ? { kind: 'admitted', reservation } : { kind: 'admitted', reservation, dictionaryId: dictionary };
  }

  /** The id of the dictionary that a reference leads to, or the refusal. */
  #dictionary(glossary: GlossaryReference): string | Placed {
    const pairs = this.#rows.pairs(glossary.glossaryId);
    if (pairs === undefined) return { kind: 'glossary_missing' };
    return dictionaryFor(pairs, glossary)?.dictionaryId ?? { kind: 'glossary_mismatch' };
  }

  /** Whether what the key uses is of the plan's allowance for test keys: it costs nothing, and is not of the quota. */
  #usesAllowance(key: KeyAccount): boolean {
    return key.record.mode === 'test' && this.team.limits.testAllowance > 0;
  }

  #allowanceRefusal(characters: number): QuotaExceeded | undefined {
    const { testAllowance: characterLimit } = this.team.limits;
    if (this.counts.allowanceUsed + this.#open.held.ofAllowance + characters <= characterLimit) return undefined;
    return { kind: 'quota_exceeded', characterLimit, overageCapMinor: 0, periodEndMs: this.counts.period.endMs, of: 'test_keys' };
  }

  #planRefusal(characters: number): QuotaExceeded | CreditExhausted | undefined {
    const { billing, characterLimit, overageCharacters, overageCapMinor, minorPerMillion, currency } = this.team.limits;
    const { used, allowanceUsed, balanceMicro, period } = this.counts;
    if (billing === 'quota') {
      const counted = used - allowanceUsed + this.#open.held.characters - this.#open.held.ofAllowance;
      if (counted + characters <= characterLimit + overageCharacters) return undefined;
      return { kind: 'quota_exceeded', characterLimit, overageCapMinor, periodEndMs: period.endMs };
    }
    const [freeMicro, priceMicro] = [balanceMicro - this.#open.held.micro, costMicro(characters, minorPerMillion)];
    if (priceMicro <= freeMicro) return undefined;
    return { kind: 'credit_exhausted', balanceMinor: minorRoundedDown(freeMicro), requiredMinor: minorRoundedUp(priceMicro), currency };
  }

  #reserve(request: AdmissionRequest, key: KeyAccount, characters: number, tickets: WindowTickets | undefined, nowMs: number): void {
    const { billing, minorPerMillion } = this.team.limits;
    const ofAllowance = this.#usesAllowance(key);
    const priceMicro = billing === 'credit' && !ofAllowance ? costMicro(characters, minorPerMillion) : 0;
    const untilMs = nowMs + request.leaseMs;
    const period = this.counts.period.number;
    const held: HeldReservation = { untilMs, keyId: request.keyId, characters, priceMicro, period, ofAllowance, tickets, tag: request.tag };
    this.#open.open(request.requestId, held);
    this.#rows.open(request.requestId, held);
  }

  #reported(request: AdmissionRequest, placed: Placed, subjects: readonly LimitedSubject[], nowMs: number): Placed {
    const answer = request.reportPlan === true ? { ...placed, plan: this.team.plan } : placed;
    if (request.reportRate !== true) return answer;
    const windows = windowStandings(subjects, nowMs);
    return { ...answer, rate: nearestRate(subjects), ...(windows === undefined ? {} : { windows }) };
  }

  // Settlements

  /** Charges an open reservation, all of it or `asked` characters, or gives it back. */
  resolve(requestId: string, verdict: Verdict, nowMs: number, asked = Infinity): Resolution {
    this.catchUp(nowMs);
    const held = this.#open.all.get(requestId);
    if (held === undefined) return { kind: 'absent' };
    const charged = verdict === 'commit' ? Math.max(0, Math.min(asked, held.characters)) : 0;
    this.#close(requestId, held, charged, nowMs);
    if (verdict === 'release') return { kind: 'released' };
    this.#charge(held, charged, nowMs);
    return { kind: 'committed' };
  }

  #close(id: string, held: HeldReservation, charged: number, nowMs: number): void {
    this.#open.close(id, held);
    this.#giveBack(held, held.characters - charged, nowMs);
    this.#rows.close(id);
    this.isChanged = true;
  }

  #charge({ keyId, period, characters: reserved, priceMicro, ofAllowance, tag }: HeldReservation, characters: number, nowMs: number): void {
    // The price of a character is a whole number.
    const micro = reserved === 0 ? 0 : (priceMicro / reserved) * characters;
    const day = dayOf(nowMs);
    this.counts.balanceMicro -= micro;
    this.#rows.charge({ keyId, day, period, characters, micro, ofAllowance });
    if (tag !== undefined) countTag(this.#rows.tags, tag, characters, day);
    if (period !== this.counts.period.number) return;
    this.counts.used += characters;
    if (ofAllowance) this.counts.allowanceUsed += characters;
    this.key(keyId)?.count(period, characters);
  }

  /** What is not charged comes back to the windows in which it was counted, and to its tag. */
  #giveBack({ tickets, period }: HeldReservation, characters: number, nowMs: number): void {
    if (tickets === undefined || characters === 0) return;
    for (const [subject, ticket] of Object.entries(tickets) as [WindowSubject, number][]) {
      const tag = tagOfSubject(subject);
      if (tag !== undefined) {
        const text = this.#rows.tags.get('tag_uses', tag);
        if (text === undefined) continue;
        const uses = new TagUses(text, this.counts.period.number, nowMs);
        uses.giveBack(ticket, period, characters);
        this.#rows.tags.put('tag_uses', tag, uses.written());
        continue;
      }
      const counts = this.#countsOf(subject);
      counts.giveBack(ticket, characters);
      counts.changed = true;
    }
  }

  // Who has limits

  key(keyId: string): KeyAccount | undefined {
    const known = this.keys.get(keyId);
    if (known !== undefined) return known;
    const stored = this.#rows.key(keyId);
    if (stored === undefined) return undefined;
    const key = new KeyAccount(this, stored.record, stored.use);
    this.keys.set(keyId, key);
    return key;
  }

  heldBy(keyId: string): number {
    return this.#open.heldBy(keyId);
  }

  /** What is used of a subject's windows, for what changes it. */
  countsIfLimited(subject: WindowSubject, windows: string | undefined): WindowCounts | undefined {
    return windows === undefined || windows === '' ? undefined : this.#countsOf(subject);
  }

  #countsOf(subject: WindowSubject): WindowCounts {
    let counts = this.windowCounts.get(subject);
    if (counts === undefined) this.windowCounts.set(subject, (counts = new WindowCounts(this.#rows.windowCounts(subject))));
    return counts;
  }

  #asSubject(): LimitedSubject {
    const { requestsPerSecond, windows } = this.team.limits;
    return {
      of: undefined,
      name: 'team',
      rate: requestsPerSecond,
      slots: this.counts.slots,
      windows: windowLimits(windows),
      counts: this.countsIfLimited('team', windows),
      characters: undefined,
      usedInPeriod: () => this.counts.used,
    };
  }

  #subjects(key: KeyAccount, tag: TagAccount | undefined): readonly LimitedSubject[] {
    const subjects = key.isLimited ? [this.#subject, key] : [this.#subject];
    return tag === undefined ? subjects : [...subjects, tag];
  }

  /** The request's tag, if that has settings. */
  #tag(tag: RequestTag | undefined, nowMs: number): TagAccount | undefined {
    const settings = tag && this.#rows.tags.get('tag_limits', tag.name);
    if (tag === undefined || settings === undefined) return undefined;
    return new TagAccount(tag.name, settings, this.#rows.tags.get('tag_uses', tag.name), this.counts.period.number, nowMs);
  }

  #keepTag(tag: TagAccount): void {
    this.#rows.tags.put('tag_uses', tag.tag, tag.written());
  }

  // What operators change and see

  /** A new team begins (`firstCounts`): by the calendar its first period may have begun before; its balance is credit that was added. */
  begin(by: Audited | undefined, nowMs: number): void {
    this.#beginPeriod(nowMs, nowMs, -Infinity);
    this.#moveCredit(this.counts.balanceMicro);
    this.isTeamChanged = true;
    this.#rows.changed(undefined, this.shown(), by, nowMs);
  }

  /**
   * Takes effect with the next admission. Another length of the period ends the one that runs: what is added to the balance belongs to
   * the next one. Throws a `RangeError` for a plan whose period is none.
   */
  change(change: TeamChange, by: Audited | undefined, nowMs: number): Team | BalanceOutOfBounds | CreditNotFree {
    const { addMicro = 0, plan } = change;
    const before = this.shown();
    const balanceMicro = before.balanceMicro + addMicro;
    if (!Number.isSafeInteger(balanceMicro)) return { kind: 'balance_out_of_bounds' };
    const freeMicro = before.balanceMicro - this.#open.held.micro;
    if (addMicro < 0 && freeMicro + addMicro < 0) return { kind: 'credit_not_free', freeMicro };
    const after = { ...changedTeam(before, change, by), balanceMicro };
    const beginsPeriod = plan !== undefined && !sameLength(plan.limits.period, before.limits.period);
    // The clock may have stepped back since the period began.
    const atMs = Math.max(nowMs, this.counts.period.startMs);
    if (beginsPeriod) this.endPeriodNow(atMs);
    this.#setTeam(after);
    if (beginsPeriod) this.#beginPeriod(atMs, atMs, atMs);
    if (addMicro !== 0) this.#moveCredit(addMicro);
    this.#rows.changed(before, after, by, nowMs);
    return after;
  }

  #moveCredit(micro: number): void {
    const { addedMicro, deductedMicro, ...period } = this.counts.period;
    this.counts.period = { ...period, addedMicro: addedMicro + Math.max(0, micro), deductedMicro: deductedMicro - Math.min(0, micro) };
    this.isPeriodChanged = true;
  }

  #setTeam(team: Team): void {
    this.team = team;
    this.counts.balanceMicro = team.balanceMicro;
    this.#subject = this.#asSubject();
    this.isChanged = this.isTeamChanged = true;
  }

  shown(): Team {
    return { ...this.team, balanceMicro: this.counts.balanceMicro };
  }

  /** `keyIds`: of all its keys, in order of creation. */
  usage(keyIds: readonly string[], nowMs: number): Usage {
    const { period, used, allowanceUsed } = this.counts;
    const uses = ({ counts, windows }: LimitedSubject) => (counts === undefined ? {} : { windows: counts.uses(windows, nowMs) });
    const keys = keyIds.map((keyId) => {
      const key = this.key(keyId)!;
      return { ...key.shown(nowMs), ...key.used(), ...uses(key) };
    });
    const { startMs: periodStartMs, endMs: periodEndMs } = period;
    return { team: this.shown(), periodStartMs, periodEndMs, characters: used, allowanceUsed, ...uses(this.#subject), keys };
  }

  standing(): Standing {
    const { used: usedCharacters, allowanceUsed, balanceMicro } = this.counts;
    const { characters: heldCharacters, ofAllowance: allowanceHeld, micro: heldMicro } = this.#open.held;
    const openReservations = this.reservations.size;
    return { usedCharacters, heldCharacters, allowanceUsed, allowanceHeld, balanceMicro, heldMicro, openReservations };
  }
}
