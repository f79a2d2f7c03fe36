// A team's account in the reference store: the admission, rule after rule as the ledger's port lists them, and the settlement.
import { BlockList, isIP } from 'node:net';
import type {
  Admission,
  AdmissionRequest,
  Audited,
  BalanceOutOfBounds,
  CallerCheck,
  CheckedCaller,
  CreditExhausted,
  CreditNotFree,
  DictionaryRecord,
  DayRange,
  GlossaryReference,
  GroupHead,
  KeyRecord,
  KeyUsage,
  Micro,
  OtherRequest,
  Period,
  PeriodUse,
  Placed,
  QuotaExceeded,
  RateStanding,
  RecordTable,
  RequestContents,
  RequestTag,
  Reservation,
  Resolution,
  Standing,
  StoreUnavailable,
  TagCount,
  TagSettings,
  Team,
  TeamChange,
  TeamDays,
  Usage,
  Verdict,
  WholeAccount,
  WindowSubject,
  WindowTickets,
  WindowUse,
} from 'lingate';
import { DAY_MS, dayOf, periodAt, sameLength } from './calendar.ts';
import { changeOfTeam, isRefusal } from './changes.ts';
import { Journal, sum } from './journal.ts';
import {
  copyOf,
  countRequest,
  giveBack,
  holdCharacters,
  readLimits,
  Seconds,
  standings,
  tooLong,
  windowRefusal,
  windowUses,
} from './limits.ts';
import type { Counter, Limited, Mutable } from './limits.ts';
import { RecordGroup } from './records.ts';

/** A request's tag that has settings. */
interface SetTag {
  readonly name: string;
  readonly settings: TagSettings;
  readonly uses: TagUses;
}

/** What is used of a tag's settings, since they were made. */
interface TagUses {
  readonly counter: Counter;
  readonly seconds: Seconds;
  /** Of the team's running period; requests with a ticket of at most `from` are not in it. */
  readonly number: number;
  readonly from: number;
  characters: number;
}

function tagOf(records: RecordGroup, tag: RequestTag | undefined, periodNumber: number, nowMs: number): SetTag | undefined {
  const settings = tag && records.get('tag_limits', tag.name);
  if (tag === undefined || settings === undefined) return undefined;
  return {
    name: tag.name,
    settings: JSON.parse(settings) as TagSettings,
    uses: usesOf(records.get('tag_uses', tag.name), periodNumber, nowMs),
  };
}

/** The record of what is used. */
interface StoredUses extends Counter {
  readonly inPeriod: { readonly period: number; readonly used: number; readonly from: number };
  readonly slots: readonly { readonly atMs: number; readonly count: number }[];
}

function usesOf(text: string | undefined, periodNumber: number, nowMs: number): TagUses {
  const stored = text === undefined ? undefined : (JSON.parse(text) as StoredUses);
  const { tickets, windows, slots } = stored ?? { tickets: nowMs, windows: [], slots: [] };
  const used = { counter: { tickets, windows }, seconds: Seconds.from([...slots]), number: periodNumber };
  if (stored?.inPeriod.period !== periodNumber) return { ...used, from: tickets, characters: 0 };
  return { ...used, from: stored.inPeriod.from, characters: stored.inPeriod.used };
}

function writtenUses({ counter, seconds, number, from, characters }: TagUses): string {
  const inPeriod = { period: number, used: characters, from };
  return JSON.stringify({ ...counter, inPeriod, slots: seconds.slots() } satisfies StoredUses);
}

/** Counts a charge under `*` if as many other tags are counted as may be. A day that is over moves to the tag's list. */
function countTag(records: RecordGroup, { name, distinctMax }: RequestTag, characters: number, day: number): void {
  const others = [...records.table('tag_counts').keys()].filter((one) => one !== '*');
  const tag = others.includes(name) || others.length < distinctMax ? name : '*';
  const first = { day, characters, requests: 1 };
  const counted = records.get('tag_counts', tag);
  const last = counted === undefined ? undefined : (JSON.parse(counted) as TagCount);
  if (last !== undefined && last.day !== day) {
    const earlier = JSON.parse(records.get('tag_days', tag) ?? '[]') as readonly TagCount[];
    records.put('tag_days', tag, JSON.stringify([...earlier, last]));
  }
  const more = last?.day === day && { ...last, characters: last.characters + characters, requests: last.requests + 1 };
  records.put('tag_counts', tag, JSON.stringify(more || first));
}

/** Records a change of the team that was ordered by somebody, or long before. */
type Record = (before: Team, after: Team, nowMs: number, by: Audited | undefined) => void;

interface Open {
  readonly requestId: string;
  readonly reservation: Reservation;
  readonly keyId: string;
  readonly priceMicro: Micro;
  readonly ofAllowance: boolean;
  /** The number of the period in which it was made. */
  readonly period: number;
  readonly tickets: WindowTickets;
  readonly tag: RequestTag | undefined;
}

/** `status` says nothing of expiry. */
interface Key {
  record: Mutable<KeyRecord>;
  readonly seconds: Seconds;
}

const MICRO = 1_000_000;
const NO_COUNTER: Counter = { tickets: 0, windows: [] };

/** Every method takes `nowMs`: an operation reads the clock once. */
export class Account {
  team: Mutable<Team>;
  readonly records = new RecordGroup();
  readonly #keys: Key[] = [];
  /** Periods are counted from here: the creation, or when their length was changed last. */
  #anchorMs: number;
  #period: Period;
  #journal = new Journal();
  #seconds = new Seconds();
  readonly #counters = new Map<WindowSubject, Counter>();
  #open: Open[] = [];
  readonly #changes = new Map<string, { readonly request: string; readonly untilMs: number }>();
  readonly #record: Record;

  constructor(team: Team, record: Record) {
    this.#record = record;
    this.team = { ...team };
    this.#anchorMs = team.createdAtMs;
    this.#period = periodAt(team.limits.period, team.createdAtMs, team.createdAtMs);
    this.#journal.move(team.balanceMicro);
  }

  /** Takes over an account of another store. */
  static from(whole: WholeAccount, period: NonNullable<WholeAccount['period']>, record: Record): Account {
    const made = new Account(whole.team, record);
    const { teamId } = whole.team;
    made.#anchorMs = period.anchorMs;
    made.#period = { startMs: period.startMs, endMs: period.endMs };
    made.#journal = Journal.from(whole, period);
    made.#seconds = Seconds.from(whole.window);
    for (const { subject, counts } of whole.windowCounts) made.#counters.set(subject, copyOf(counts));
    for (const { keyId, display, label, mode, status, limits, createdAtMs, lastUsedAtMs, window } of whole.keys) {
      const key = { keyId, teamId, display, label, mode, status, limits, createdAtMs, lastUsedAtMs };
      made.#keys.push({ record: key, seconds: Seconds.from(window) });
    }
    for (const { requestId, untilMs, characters, keyId, periodNumber, tickets = {}, ...held } of whole.requests) {
      const reservation = { requestId, teamId, characters, leaseUntilMs: untilMs };
      const { priceMicro, ofAllowance, tag } = held;
      made.#open.push({ requestId, reservation, keyId, priceMicro, ofAllowance, period: periodNumber, tickets, tag });
    }
    for (const { id, ...change } of whole.changes) made.#changes.set(id, change);
    for (const { table, id, value } of whole.records) made.records.put(table, id, value);
    return made;
  }

  /** As it is: what time has done meanwhile is not done first. */
  whole(): WholeAccount {
    const { ended, openingMicro, running } = this.#journal.moved();
    return {
      team: { ...this.team },
      period: { number: this.#journal.number, ...this.#period, anchorMs: this.#anchorMs, ...running },
      ended,
      openingMicro,
      charges: this.#journal.rows(),
      standing: this.#standing(),
      window: this.#seconds.slots(),
      windowCounts: [...this.#counters].map(([subject, counter]) => ({ subject, counts: copyOf(counter) })),
      keys: this.#keys.map(({ record: { teamId: _teamId, ...key }, seconds }) => ({
        ...key,
        ...this.#usedBy(key.keyId),
        digest: undefined,
        heldCharacters: key.limits.characters === undefined ? undefined : this.#heldBy(key.keyId),
        window: seconds.slots(),
      })),
      requests: this.#open.map((open) => contentsOf(open)),
      changes: [...this.#changes].map(([id, change]) => ({ id, ...change })),
      records: [...this.records.tables].flatMap(([table, records]) =>
        [...records].map(([id, value]) => ({ table: table as RecordTable, id, value })),
      ),
    };
  }

  admit(request: AdmissionRequest, nowMs: number): Admission {
    this.#catchUp(nowMs);
    const { requestId, characters, reserve, charged = characters, tag: named, reportPlan, reportRate } = request;
    const plan = reportPlan === true ? { plan: this.team.plan } : {};
    const known = this.#find(requestId);
    if (known !== undefined) return { kind: 'admitted', reservation: known.reservation, ...plan };
    const caller = this.#judgeCaller(request, nowMs, reserve && characters !== undefined ? charged : undefined);
    if (caller.kind !== 'admitted') return caller;
    const { record: key, seconds } = this.#key(request.keyId)!;
    const tag = tagOf(this.records, named, this.#journal.number, nowMs);
    const rates = [{ limit: this.team.limits.requestsPerSecond, taken: this.#seconds.take(nowMs) }] as Taken[];
    if (key.limits.requestsPerSecond !== undefined)
      rates.push({ of: 'key', limit: key.limits.requestsPerSecond, taken: seconds.take(nowMs) });
    if (tag?.settings.requestsPerSecond !== undefined)
      rates.push({ of: 'tag', limit: tag.settings.requestsPerSecond, taken: tag.uses.seconds.take(nowMs) });
    const subjects = this.#subjects(key, tag);
    for (const one of subjects) countRequest(one, nowMs);
    for (const { subject, counter } of subjects) if (!subject.startsWith('tag:')) this.#counters.set(subject, counter);
    const answer = this.#judgeText(request, key, tag, subjects, nowMs);
    if (answer.kind === 'admitted' && answer.reservation !== undefined) this.#reserve(answer.reservation, key, named, tag, subjects);
    this.#keep(tag);
    if (reportRate !== true) return { ...answer, ...plan };
    const windows = standings(subjects, nowMs);
    return { ...answer, ...plan, rate: nearest(rates), ...(windows.length === 0 ? {} : { windows }) };
  }

  check(check: CallerCheck, nowMs: number): CheckedCaller {
    this.#catchUp(nowMs);
    return this.#judgeCaller(check, nowMs, undefined);
  }

  /** Rules 2 and 3. `reserved`: the characters that the request would reserve. */
  #judgeCaller(
    { keyId, address, scope, tag: named }: CallerCheck | AdmissionRequest,
    nowMs: number,
    reserved: number | undefined,
  ): Exclude<CheckedCaller, StoreUnavailable> {
    const found = this.#key(keyId);
    if (found === undefined) return { kind: 'key_unknown' };
    const { record: key, seconds } = found;
    const { expiresAtMs = Infinity, requestsPerSecond, allowedAddresses, scopes } = key.limits;
    if (key.status === 'revoked') return { kind: 'key_revoked' };
    if (key.status === 'disabled') return { kind: 'key_revoked', reason: 'disabled' };
    if (nowMs >= expiresAtMs) return { kind: 'key_revoked', reason: 'expired' };
    if (allowedAddresses !== undefined) {
      if (address === undefined) return { kind: 'address_required' };
      if (!isAllowed(allowedAddresses, address)) return { kind: 'address_refused' };
    }
    if (scopes !== undefined) {
      if (scope === undefined) return { kind: 'scope_required' };
      if (!scopes.includes(scope)) return { kind: 'scope_missing' };
    }
    const tag = tagOf(this.records, named, this.#journal.number, nowMs);
    if (tag?.settings.disabled === true) return { kind: 'tag_disabled' };
    key.lastUsedAtMs = Math.max(key.lastUsedAtMs ?? nowMs, nowMs);
    const changesAtMs = Math.min(expiresAtMs, this.#period.endMs);
    const ofTeam = this.#seconds.refusal(undefined, this.team.limits.requestsPerSecond, nowMs, changesAtMs);
    if (ofTeam !== undefined) return ofTeam;
    const ofKey = requestsPerSecond === undefined ? undefined : seconds.refusal('key', requestsPerSecond, nowMs, changesAtMs);
    if (ofKey !== undefined) return ofKey;
    const tagRate = tag?.settings.requestsPerSecond;
    const ofTag = tagRate === undefined ? undefined : tag!.uses.seconds.refusal('tag', tagRate, nowMs, changesAtMs);
    if (tagRate !== undefined) this.#keep(tag);
    if (ofTag !== undefined) return ofTag;
    return windowRefusal(this.#subjects(key, tag), reserved, nowMs, changesAtMs) ?? { kind: 'admitted', reservation: undefined };
  }

  /** Rules 4 to 8. */
  #judgeText(request: AdmissionRequest, key: KeyRecord, tag: SetTag | undefined, subjects: readonly Limited[], nowMs: number): Placed {
    const { requestId, teamId, characters: all, reserve, charged = all, glossary, leaseMs } = request;
    const { maxCharactersPerRequest: maxCharacters } = this.team.limits;
    if (all !== undefined && all > maxCharacters) return { kind: 'text_too_long', maxCharacters };
    if (!reserve || charged === undefined) return { kind: 'admitted', reservation: undefined };
    const dictionary = glossary === undefined ? undefined : this.#dictionary(glossary);
    if (dictionary !== undefined && 'kind' in dictionary) return dictionary;
    const refusal =
      tooLong(subjects, charged, nowMs) ??
      this.#quota('key', key.limits.characters, this.#usedBy(key.keyId).characters + this.#heldBy(key.keyId), charged) ??
      this.#quota('tag', tag?.settings.characters, tag?.uses.characters ?? 0, charged) ??
      this.#price(key, charged);
    if (refusal !== undefined) return refusal;
    const reservation = { requestId, teamId, characters: charged, leaseUntilMs: nowMs + leaseMs };
    return { kind: 'admitted', reservation, ...dictionary };
  }

  #quota(of: 'key' | 'tag' | 'test_keys', characterLimit = Infinity, spoken: number, characters: number): QuotaExceeded | undefined {
    if (spoken + characters <= characterLimit) return undefined;
    return { kind: 'quota_exceeded', characterLimit, overageCapMinor: 0, periodEndMs: this.#period.endMs, of };
  }

  /** What the team pays for: of the allowance, of its quota, or with its credit. */
  #price(key: KeyRecord, characters: number): QuotaExceeded | CreditExhausted | undefined {
    const { limits } = this.team;
    const { usedCharacters, heldCharacters, allowanceUsed, allowanceHeld, balanceMicro, heldMicro } = this.#standing();
    if (this.#isFree(key)) return this.#quota('test_keys', limits.testAllowance, allowanceUsed + allowanceHeld, characters);
    if (limits.billing === 'quota') {
      const { characterLimit, overageCharacters, overageCapMinor } = limits;
      const paid = usedCharacters - allowanceUsed + (heldCharacters - allowanceHeld);
      if (paid + characters <= characterLimit + overageCharacters) return undefined;
      return { kind: 'quota_exceeded', characterLimit, overageCapMinor, periodEndMs: this.#period.endMs };
    }
    const [freeMicro, neededMicro] = [balanceMicro - heldMicro, characters * limits.minorPerMillion];
    if (neededMicro <= freeMicro) return undefined;
    const { currency } = limits;
    return {
      kind: 'credit_exhausted',
      balanceMinor: Math.floor(freeMicro / MICRO),
      requiredMinor: Math.ceil(neededMicro / MICRO),
      currency,
    };
  }

  /** Whether what the key translates is of the plan's allowance for test keys. */
  #isFree({ mode }: KeyRecord): boolean {
    return mode === 'test' && this.team.limits.testAllowance > 0;
  }

  /** Of the very pair, or of one that is the same but for regions, if that will do. */
  #dictionary({ glossaryId, sourceLang, targetLang, byBase }: GlossaryReference): { readonly dictionaryId: string } | Placed {
    const pairs = this.records.get('pairs', glossaryId);
    if (pairs === undefined) return { kind: 'glossary_missing' };
    const all = JSON.parse(pairs) as readonly Pick<DictionaryRecord, 'sourceLang' | 'targetLang' | 'dictionaryId'>[];
    const base = (lang: string): string => lang.split('-')[0]!;
    const found =
      all.find((pair) => pair.sourceLang === sourceLang && pair.targetLang === targetLang) ??
      all.find((pair) => byBase === true && base(pair.sourceLang) === base(sourceLang) && base(pair.targetLang) === base(targetLang));
    return found === undefined ? { kind: 'glossary_mismatch' } : { dictionaryId: found.dictionaryId };
  }

  #reserve(
    reservation: Reservation,
    key: KeyRecord,
    tag: RequestTag | undefined,
    set: SetTag | undefined,
    subjects: readonly Limited[],
  ): void {
    for (const { counter } of subjects) holdCharacters(counter, reservation.characters);
    if (set !== undefined) set.uses.characters += reservation.characters;
    const { billing, minorPerMillion } = this.team.limits;
    const ofAllowance = this.#isFree(key);
    const priceMicro = billing === 'quota' || ofAllowance ? 0 : reservation.characters * minorPerMillion;
    const tickets = Object.fromEntries(subjects.map(({ subject, counter }) => [subject, counter.tickets]));
    const { requestId } = reservation;
    this.#open.push({
      requestId,
      reservation,
      keyId: key.keyId,
      priceMicro,
      ofAllowance,
      period: this.#journal.number,
      tickets,
      tag,
    });
  }

  resolve(requestId: string, verdict: Verdict, nowMs: number, characters = Infinity): Resolution {
    this.#catchUp(nowMs);
    const open = this.#find(requestId);
    if (open === undefined) return { kind: 'absent' };
    const charged = verdict === 'commit' ? Math.min(characters, open.reservation.characters) : 0;
    if (verdict === 'commit') this.#charge(open, charged, nowMs);
    this.#giveBack(open, open.reservation.characters - charged, nowMs);
    this.#open = this.#open.filter((one) => one !== open);
    return { kind: verdict === 'commit' ? 'committed' : 'released' };
  }

  #charge({ reservation, keyId, priceMicro, ofAllowance, period, tag }: Open, characters: number, nowMs: number): void {
    const micro = reservation.characters === 0 ? 0 : Number((BigInt(priceMicro) * BigInt(characters)) / BigInt(reservation.characters));
    this.team.balanceMicro -= micro;
    const isTest = this.#key(keyId)?.record.mode === 'test';
    const free = ofAllowance ? characters : 0;
    this.#journal.charge({ keyId, isTest, day: dayOf(nowMs), period, characters, requests: 1, micro, ofAllowance: free });
    if (tag !== undefined) countTag(this.records, tag, characters, dayOf(nowMs));
  }

  /** What was reserved and is not charged comes back to every counter in which it still stands. */
  #giveBack({ tickets, tag, period }: Open, characters: number, nowMs: number): void {
    for (const [subject, ticket] of Object.entries(tickets)) {
      const counter = this.#counters.get(subject as WindowSubject);
      if (counter !== undefined && ticket !== undefined) giveBack(counter, ticket, characters);
    }
    const ticket = tag && tickets[`tag:${tag.name}`];
    const known = tag && this.records.get('tag_uses', tag.name);
    if (tag === undefined || ticket === undefined || known === undefined || characters === 0) return;
    const uses = usesOf(known, this.#journal.number, nowMs);
    giveBack(uses.counter, ticket, characters);
    if (period === uses.number && ticket > uses.from) uses.characters = Math.max(0, uses.characters - characters);
    this.records.put('tag_uses', tag.name, writtenUses(uses));
  }

  #keep(tag: SetTag | undefined): void {
    if (tag !== undefined) this.records.put('tag_uses', tag.name, writtenUses(tag.uses));
  }

  update(change: TeamChange, nowMs: number, by: Audited | undefined): Team | BalanceOutOfBounds | CreditNotFree | OtherRequest {
    this.#catchUp(nowMs);
    const { once, plan, addMicro = 0 } = change;
    const known = once && this.#changes.get(once.id);
    if (known !== undefined) return known.request === once?.request ? { ...this.team } : { kind: 'other_request' };
    const before = { ...this.team };
    const changed = changeOfTeam(before, this.#standing().heldMicro, change, by);
    if (isRefusal(changed)) return changed;
    if (once !== undefined) this.#changes.set(once.id, { request: once.request, untilMs: nowMs + DAY_MS });
    const isOther = plan !== undefined && !sameLength(plan.limits.period, before.limits.period);
    this.team = { ...changed };
    if (isOther) {
      const atMs = Math.max(nowMs, this.#period.startMs);
      this.#journal.end(this.#period, before, atMs);
      this.#anchorMs = atMs;
      this.#begin(atMs, atMs);
    }
    this.#journal.move(addMicro);
    this.#record(before, this.team, nowMs, by);
    return { ...this.team };
  }

  putKey(record: KeyRecord): void {
    const known = this.#key(record.keyId);
    // Whether it has expired is found when it is looked at.
    const key = { ...record, status: record.status === 'expired' ? ('active' as const) : record.status };
    if (known === undefined) this.#keys.push({ record: key, seconds: new Seconds() });
    else known.record = key;
    if (known !== undefined && key.limits.requestsPerSecond === undefined) known.seconds.times = [];
  }

  keys(nowMs: number): KeyRecord[] {
    return this.#keys.map(({ record }) => {
      const isExpired = record.status === 'active' && nowMs >= (record.limits.expiresAtMs ?? Infinity);
      return { ...record, status: isExpired ? 'expired' : record.status };
    });
  }

  usage(nowMs: number): Usage {
    this.#catchUp(nowMs);
    const { usedCharacters: characters, allowanceUsed } = this.#standing();
    const windowsOf = (subject: WindowSubject, written = ''): { readonly windows?: readonly WindowUse[] } =>
      written === '' ? {} : { windows: windowUses(written, this.#counters.get(subject) ?? NO_COUNTER, nowMs) };
    return {
      team: { ...this.team },
      periodStartMs: this.#period.startMs,
      periodEndMs: this.#period.endMs,
      characters,
      allowanceUsed,
      ...windowsOf('team', this.team.limits.windows),
      keys: this.keys(nowMs).map((key): KeyUsage => ({
        ...key,
        ...this.#usedBy(key.keyId),
        ...windowsOf(`key:${key.keyId}`, key.limits.windows),
      })),
    };
  }

  days(range: DayRange, nowMs: number): TeamDays {
    const ids = this.#keys.map(({ record }) => record.keyId);
    const days = this.#journal.days(range, ids);
    return { team: { ...this.team }, keys: this.keys(nowMs).filter(({ keyId }) => days.some((day) => day.keyId === keyId)), days };
  }

  periods(nowMs: number): PeriodUse[] {
    this.#catchUp(nowMs);
    return this.#periods();
  }

  head(nowMs: number, keyId: string | undefined): GroupHead {
    this.#catchUp(nowMs);
    const key = this.keys(nowMs).find((one) => one.keyId === keyId);
    return { nowMs, limits: this.team.limits, period: { number: this.#journal.number, ...this.#period }, key };
  }

  standing(nowMs: number): Standing {
    this.#catchUp(nowMs);
    return this.#standing();
  }

  /** What time has done since: leases and periods ended. */
  #catchUp(nowMs: number): void {
    for (const open of this.#open.filter(({ reservation }) => reservation.leaseUntilMs <= nowMs)) {
      this.#giveBack(open, open.reservation.characters, nowMs);
      this.#open = this.#open.filter((one) => one !== open);
    }
    if (nowMs < this.#period.endMs) return;
    const [{ endMs }, { nextPlan, ...before }] = [this.#period, this.team];
    this.#journal.end(this.#period, this.team, nowMs);
    if (nextPlan !== undefined) {
      if (!sameLength(nextPlan.limits.period, before.limits.period)) this.#anchorMs = endMs;
      this.team = { ...before, plan: nextPlan.name, limits: nextPlan.limits };
      this.#record({ ...before, nextPlan }, this.team, nowMs, nextPlan.by);
    }
    this.#begin(endMs, nowMs);
  }

  /** Not before the last one has ended, even if the calendar says so. */
  #begin(fromMs: number, nowMs: number): void {
    const { startMs, endMs } = periodAt(this.team.limits.period, this.#anchorMs, nowMs);
    this.#period = { startMs: Math.max(startMs, fromMs), endMs };
  }

  #periods(): PeriodUse[] {
    return this.#journal.periods(
      this.#period,
      this.team,
      this.#open.map(({ period }) => period),
    );
  }

  /** In the order in which they are judged. */
  #subjects({ keyId, limits }: KeyRecord, tag: SetTag | undefined): Limited[] {
    const counterOf = (subject: WindowSubject): Counter => this.#counters.get(subject) ?? { tickets: 0, windows: [] };
    const ofKey: WindowSubject = `key:${keyId}`;
    const subjects: Limited[] = [
      { of: undefined, subject: 'team', limits: readLimits(this.team.limits.windows), counter: counterOf('team') },
      { of: 'key', subject: ofKey, limits: readLimits(limits.windows), counter: counterOf(ofKey) },
    ];
    const limited = subjects.filter((one) => one.limits.length > 0);
    // A tag with any settings is counted, whether or not its windows are limited.
    if (tag === undefined) return limited;
    return [...limited, { of: 'tag', subject: `tag:${tag.name}`, limits: readLimits(tag.settings.windows), counter: tag.uses.counter }];
  }

  #key(keyId: string): Key | undefined {
    return this.#keys.find(({ record }) => record.keyId === keyId);
  }

  #find(requestId: string): Open | undefined {
    return this.#open.find((open) => open.requestId === requestId);
  }

  #usedBy(keyId: string): { readonly characters: number; readonly requests: number } {
    const { characters, requests } = this.#journal.used(keyId);
    return { characters, requests };
  }

  #heldBy(keyId: string): number {
    const own = this.#open.filter((one) => one.keyId === keyId && one.period === this.#journal.number);
    return sum(own.map(({ reservation }) => reservation.characters));
  }

  /** What ended periods hold counts only for the credit. */
  #standing(): Standing {
    const open = this.#open;
    const current = open.filter(({ period }) => period === this.#journal.number);
    const used = this.#journal.used();
    return {
      usedCharacters: used.characters,
      heldCharacters: sum(current.map(({ reservation }) => reservation.characters)),
      allowanceUsed: used.ofAllowance,
      allowanceHeld: sum(current.filter(({ ofAllowance }) => ofAllowance).map(({ reservation }) => reservation.characters)),
      balanceMicro: this.team.balanceMicro,
      heldMicro: sum(open.map(({ priceMicro }) => priceMicro)),
      openReservations: open.length,
    };
  }
}

interface Taken {
  readonly of?: 'key' | 'tag';
  readonly limit: number;
  readonly taken: number;
}

/** Of several rates the one with the fewest slots left, the first of equal ones. */
function nearest(rates: readonly Taken[]): RateStanding {
  const left = rates.map(({ taken, ...rate }) => ({ ...rate, remaining: rate.limit - taken }));
  const fewest = Math.min(...left.map(({ remaining }) => remaining));
  return left.find(({ remaining }) => remaining === fewest)!;
}

function contentsOf({ requestId, reservation, keyId, priceMicro, ofAllowance, period: periodNumber, tag, tickets }: Open): RequestContents {
  const { characters, leaseUntilMs: untilMs } = reservation;
  const counted = Object.keys(tickets).length === 0 ? { tag } : { tag, tickets };
  return { requestId, untilMs, keyId, characters, priceMicro, periodNumber, ofAllowance, ...counted };
}

/** By Node's own list of ranges. An IPv4 address that is written as IPv6 is the IPv4 address, and no range of IPv6 has it. */
function isAllowed(ranges: readonly string[], text: string): boolean {
  const address = text.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
  if (isIP(address) === 0 || address.includes('%')) return false;
  const familyOf = (one: string): 'ipv4' | 'ipv6' => (isIP(one) === 4 ? 'ipv4' : 'ipv6');
  const list = new BlockList();
  for (const range of ranges) {
    const [start = '', bits = isIP(start) === 4 ? '32' : '128'] = range.split('/');
    if (familyOf(start) === familyOf(address)) list.addSubnet(start, Number(bits), familyOf(start));
  }
  return list.check(address, familyOf(address));
}
