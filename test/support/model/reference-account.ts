// One team's books in the reference model: every rule of the ledger said once, by plain arrays and linear scans.
import { allowsAddress, changedLimits } from '../../../src/domain/key-limits.ts';
import { sameLength } from '../../../src/domain/period-rule.ts';
import { parseDuration, periodAt } from '../../../src/domain/period.ts';
import type { Period } from '../../../src/domain/period.ts';
import { RATE_WINDOW_MS, REMEMBER_MS } from '../../../src/domain/reservation.ts';
import type {
  Admission,
  AdmissionRequest,
  CallerCheck,
  CheckedCaller,
  GlossaryReference,
  Placed,
  Reservation,
  Resolution,
  Verdict,
} from '../../../src/ports/ledger.ts';
import type { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import type {
  BalanceOutOfBounds,
  CreditNotFree,
  KeyChange,
  KeyRecord,
  KeyUsage,
  NewKey,
  NewTeam,
  OtherRequest,
  Standing,
  Team,
  TeamChange,
  Usage,
} from '../../../src/ports/team-registry.ts';
import type { DayRange, PeriodUse, TeamDays } from '../../../src/ports/usage-history.ts';
import { ReferenceHistory } from './reference-history.ts';
import { priceMicroOf, priceRefusal } from './reference-price.ts';
import type { ReferenceGlossary } from './reference-glossaries.ts';

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** All that is known of an id: a reservation that is open, or how the id stands and until when that is remembered. */
type Entry =
  | { kind: 'open'; requestId: string; reservation: Reservation; keyId: string; priceMicro: number; period: Period }
  | { kind: 'committed' | 'released' | 'expired'; requestId: string; forgetAtMs: number };

/** Its status is `active` until it is revoked; whether it is disabled or has expired is said where it is shown. */
type ModelKey = Mutable<KeyUsage> & { disabled: boolean; places: number[] };

type Open = Extract<Entry, { kind: 'open' }>;

/** A Monday, and the first day of a month and of a year: what is counted from it is counted by the calendar. */
const FIRST_OF_ALL = Date.UTC(1900, 0, 1);

/** Every method takes `nowMs`, the one reading of the clock that its operation has. */
export class ReferenceAccount {
  readonly team: Mutable<Team>;
  glossaries: readonly ReferenceGlossary[] = [];
  readonly #keys: ModelKey[] = [];
  /** Periods are counted from here: the creation, or the last change of their length. */
  #anchorMs: number;
  /** Compared by identity: a period of the same length that starts at the same moment is still another one. */
  #period: Period;
  readonly #history = new ReferenceHistory();
  /** By their ids. */
  readonly #changes = new Map<string, string>();
  #places: number[] = [];
  #entries: Entry[] = [];

  constructor(team: NewTeam, nowMs: number) {
    this.team = { ...team, createdAtMs: nowMs };
    this.#anchorMs = nowMs;
    this.#period = this.#periodAt(nowMs);
  }

  admit(request: AdmissionRequest, nowMs: number): Admission {
    this.#catchUp(nowMs);
    const entry = this.#entry(request.requestId);
    if (entry?.kind === 'open') {
      return { kind: 'admitted', reservation: entry.reservation, ...(request.reportPlan === true ? { plan: this.team.plan } : {}) };
    }
    if (entry !== undefined) return { kind: 'repeated' };
    const caller = this.#caller(request, nowMs);
    if (caller.kind !== 'admitted') return caller;
    const key = this.#keys.find((one) => one.keyId === request.keyId)!;
    const isLive = (place: number): boolean => nowMs - place < RATE_WINDOW_MS;
    this.#places = [...this.#places.filter(isLive), nowMs];
    if (key.limits.requestsPerSecond !== undefined) key.places = [...key.places.filter(isLive), nowMs];
    const answer = this.#judge(request, nowMs);
    if (answer.kind === 'admitted' && answer.reservation !== undefined) {
      const { requestId, keyId } = request;
      const priceMicro = priceMicroOf(this.team.limits, answer.reservation.characters);
      this.#entries.push({ kind: 'open', requestId, reservation: answer.reservation, keyId, priceMicro, period: this.#period });
    } else {
      this.#entries.push({ kind: 'released', requestId: request.requestId, forgetAtMs: nowMs + REMEMBER_MS });
    }
    const placed = request.reportPlan === true ? { ...answer, plan: this.team.plan } : answer;
    if (request.reportRate !== true) return placed;
    const [limit, own] = [this.team.limits.requestsPerSecond, key.limits.requestsPerSecond];
    const [left, leftOfKey] = [limit - this.#places.length, own === undefined ? Infinity : own - key.places.length];
    return { ...placed, rate: leftOfKey < left ? { limit: own!, remaining: leftOfKey } : { limit, remaining: left } };
  }

  check(check: CallerCheck, nowMs: number): CheckedCaller {
    this.#catchUp(nowMs);
    return this.#caller(check, nowMs);
  }

  #caller({ keyId, address }: Pick<CallerCheck, 'keyId' | 'address'>, nowMs: number): Exclude<CheckedCaller, StoreUnavailable> {
    const key = this.#keys.find((one) => one.keyId === keyId);
    if (key === undefined) return { kind: 'key_unknown' };
    if (key.status === 'revoked') return { kind: 'key_revoked' };
    const { expiresAtMs, requestsPerSecond, allowedAddresses } = key.limits;
    if (key.disabled) return { kind: 'key_revoked', reason: 'disabled' };
    if (expiresAtMs !== undefined && expiresAtMs <= nowMs) return { kind: 'key_revoked', reason: 'expired' };
    if (allowedAddresses !== undefined && address === undefined) return { kind: 'address_wanted' };
    if (allowedAddresses !== undefined && !allowsAddress(allowedAddresses, address!)) return { kind: 'address_refused' };
    key.lastUsedAtMs = Math.max(key.lastUsedAtMs ?? nowMs, nowMs);
    this.#places = movedBack(this.#places, nowMs);
    const tooFast = rateRefusal(this.#places, this.team.limits.requestsPerSecond, nowMs);
    if (tooFast !== undefined) return tooFast;
    if (requestsPerSecond === undefined) return { kind: 'admitted', reservation: undefined };
    key.places = movedBack(key.places, nowMs);
    return rateRefusal(key.places, requestsPerSecond, nowMs) ?? { kind: 'admitted', reservation: undefined };
  }

  resolve(requestId: string, verdict: Verdict, nowMs: number, characters?: number): Resolution {
    this.#catchUp(nowMs);
    const entry = this.#entry(requestId);
    if (entry !== undefined && entry.kind !== 'open') return { kind: entry.kind };
    if (entry === undefined && verdict === 'commit') return { kind: 'absent' };
    if (entry !== undefined && verdict === 'commit') this.#charge(entry, characters ?? entry.reservation.characters, nowMs);
    const kind = verdict === 'commit' ? 'committed' : 'released';
    this.#entries = this.#entries.filter((one) => one !== entry);
    this.#entries.push({ kind, requestId, forgetAtMs: nowMs + REMEMBER_MS });
    return { kind };
  }

  update(change: TeamChange, nowMs: number): Team | BalanceOutOfBounds | CreditNotFree | OtherRequest {
    this.#catchUp(nowMs);
    const known = change.once && this.#changes.get(change.once.id);
    if (known !== undefined) return known === change.once?.request ? { ...this.team } : { kind: 'other_request' };
    const balanceMicro = this.team.balanceMicro + (change.addMicro ?? 0);
    const { heldMicro } = this.#books();
    if (!Number.isSafeInteger(balanceMicro)) return { kind: 'balance_out_of_bounds' };
    if (balanceMicro < heldMicro) return { kind: 'credit_not_free', freeMicro: this.team.balanceMicro - heldMicro };
    this.team.name = change.name ?? this.team.name;
    const anotherLength = change.plan !== undefined && !sameLength(change.plan.limits.period, this.team.limits.period);
    if (anotherLength) this.#history.leave(this.#period, this.team, nowMs);
    if (change.plan !== undefined) {
      this.team.plan = change.plan.name;
      this.team.limits = change.plan.limits;
    }
    this.team.balanceMicro = balanceMicro;
    if (change.once !== undefined) this.#changes.set(change.once.id, change.once.request);
    if (anotherLength) {
      this.#anchorMs = nowMs;
      this.#startPeriod(nowMs, nowMs);
    }
    return { ...this.team };
  }

  addKey({ keyId, teamId, display, label, mode, limits = {} }: NewKey, nowMs: number): KeyRecord {
    const record = { keyId, teamId, display, label, mode, limits, status: 'active', createdAtMs: nowMs, lastUsedAtMs: undefined } as const;
    this.#keys.push({ ...record, characters: 0, requests: 0, disabled: false, places: [] });
    return record;
  }

  keys(nowMs: number): KeyRecord[] {
    return this.#shown(nowMs).map(({ characters: _characters, requests: _requests, ...record }) => record);
  }

  #shown(nowMs: number): KeyUsage[] {
    return this.#keys.map(({ disabled, places: _places, ...key }) => {
      const isOver = key.limits.expiresAtMs !== undefined && key.limits.expiresAtMs <= nowMs;
      return key.status === 'revoked' ? key : { ...key, status: disabled ? 'disabled' : isOver ? 'expired' : 'active' };
    });
  }

  change(keyId: string, { label, disabled, limits = {} }: KeyChange, nowMs: number): KeyRecord | undefined {
    this.#catchUp(nowMs);
    const key = this.#keys.find((one) => one.keyId === keyId);
    if (key === undefined) return undefined;
    key.label = label ?? key.label;
    key.disabled = disabled ?? key.disabled;
    key.limits = changedLimits(key.limits, limits);
    if (key.limits.requestsPerSecond === undefined) key.places = [];
    return this.keys(nowMs).find((one) => one.keyId === keyId);
  }

  revoke(keyId: string): void {
    for (const key of this.#keys) if (key.keyId === keyId) key.status = 'revoked';
  }

  usage(nowMs: number): Usage {
    this.#catchUp(nowMs);
    return {
      team: { ...this.team },
      periodStartMs: this.#period.startMs,
      periodEndMs: this.#period.endMs,
      characters: this.#books().usedCharacters,
      keys: this.#shown(nowMs),
    };
  }

  days(range: DayRange, nowMs: number): TeamDays {
    const days = this.#history.days(
      range,
      this.#keys.map(({ keyId }) => keyId),
    );
    return { team: { ...this.team }, keys: this.keys(nowMs).filter((key) => days.some(({ keyId }) => keyId === key.keyId)), days };
  }

  periods(nowMs: number): PeriodUse[] {
    this.#catchUp(nowMs);
    const open = this.#entries.filter((entry) => entry.kind === 'open');
    return this.#history.periods(this.#period, this.team, (period) => open.some((entry) => entry.period === period));
  }

  standing(nowMs: number): Standing {
    this.#catchUp(nowMs);
    return this.#books();
  }

  /** What time alone has done by now: leases ended, ids forgotten, a period ended. */
  #catchUp(nowMs: number): void {
    this.#entries = this.#entries
      .map((entry): Entry => {
        if (entry.kind !== 'open' || entry.reservation.leaseUntilMs > nowMs) return entry;
        return { kind: 'expired', requestId: entry.requestId, forgetAtMs: entry.reservation.leaseUntilMs + REMEMBER_MS };
      })
      .filter((entry) => entry.kind === 'open' || entry.forgetAtMs > nowMs);
    if (nowMs < this.#period.endMs) return;
    this.#history.leave(this.#period, this.team, nowMs);
    this.#startPeriod(nowMs, this.#period.endMs);
  }

  /** By the calendar a period may have begun before `fromMs`, where the one before it was counted otherwise. */
  #startPeriod(nowMs: number, fromMs: number): void {
    const { startMs, endMs } = this.#periodAt(nowMs);
    this.#period = { startMs: Math.max(startMs, fromMs), endMs };
    for (const key of this.#keys) Object.assign(key, { characters: 0, requests: 0 });
  }

  #periodAt(nowMs: number): Period {
    const [length = '', anchor] = this.team.limits.period.split('@');
    const duration = parseDuration(length);
    if (duration === undefined) throw new Error(`not a period: ${length}`);
    return periodAt(anchor === 'calendar' ? FIRST_OF_ALL : this.#anchorMs, duration, nowMs);
  }

  #judge({ requestId, teamId, keyId, characters, reserve, leaseMs, glossary }: AdmissionRequest, nowMs: number): Placed {
    const { limits } = this.team;
    if (characters !== undefined && characters > limits.maxCharactersPerRequest) {
      return { kind: 'text_too_long', maxCharacters: limits.maxCharactersPerRequest };
    }
    if (!reserve || characters === undefined) return { kind: 'admitted', reservation: undefined };
    const dictionary = glossary === undefined ? undefined : this.#dictionary(glossary);
    if (dictionary !== undefined && 'kind' in dictionary) return dictionary;
    const refusal = this.#keyRefusal(keyId, characters) ?? priceRefusal(limits, this.#books(), this.#period, characters);
    if (refusal !== undefined) return refusal;
    return { kind: 'admitted', reservation: { requestId, teamId, characters, leaseUntilMs: nowMs + leaseMs }, ...dictionary };
  }

  #keyRefusal(keyId: string, characters: number): Placed | undefined {
    const key = this.#keys.find((one) => one.keyId === keyId)!;
    const open = this.#entries.filter((entry) => entry.kind === 'open' && entry.keyId === keyId && entry.period === this.#period);
    const held = sum(open.map((entry) => (entry as Open).reservation.characters));
    const characterLimit = key.limits.characters ?? Infinity;
    if (key.characters + held + characters <= characterLimit) return undefined;
    return { kind: 'quota_exceeded', characterLimit, overageCapMinor: 0, periodEndMs: this.#period.endMs };
  }

  #dictionary({ glossaryId, sourceLang, targetLang, byBase }: GlossaryReference): { readonly dictionaryId: string } | Placed {
    const found = this.glossaries.find((one) => one.glossaryId === glossaryId);
    if (found === undefined) return { kind: 'glossary_missing' };
    const pair = `${sourceLang} ${targetLang}`;
    const named = found.dictionaries.map((one) => ({ dictionaryId: one.dictionaryId, pair: `${one.sourceLang} ${one.targetLang}` }));
    const serving =
      named.find((one) => one.pair === pair) ??
      (byBase === true ? named.find((one) => withoutRegions(one.pair) === withoutRegions(pair)) : undefined);
    return serving === undefined ? { kind: 'glossary_mismatch' } : { dictionaryId: serving.dictionaryId };
  }

  #charge(entry: Open, asked: number, nowMs: number): void {
    const reserved = entry.reservation.characters;
    const characters = Math.min(asked, reserved);
    this.team.balanceMicro -= reserved === 0 ? 0 : Number((BigInt(entry.priceMicro) * BigInt(characters)) / BigInt(reserved));
    this.#history.charge(entry.period, entry.keyId, characters, nowMs);
    const key = this.#keys.find((one) => one.keyId === entry.keyId);
    // A charge to an ended period is in the history alone.
    if (key === undefined || entry.period !== this.#period) return;
    key.characters += characters;
    key.requests += 1;
  }

  #entry(requestId: string): Entry | undefined {
    return this.#entries.find((entry) => entry.requestId === requestId);
  }

  #books(): Standing {
    const open = this.#entries.filter((entry) => entry.kind === 'open');
    return {
      usedCharacters: sum(this.#keys.map((key) => key.characters)),
      // What is held in an ended period does not count against this one.
      heldCharacters: sum(open.map((entry) => (entry.period === this.#period ? entry.reservation.characters : 0))),
      balanceMicro: this.team.balanceMicro,
      heldMicro: sum(open.map((entry) => entry.priceMicro)),
      openReservations: open.length,
    };
  }
}

/** A clock that has stepped back takes the places with it. */
function movedBack(places: readonly number[], nowMs: number): number[] {
  const backMs = Math.max(0, ...places.map((place) => place - nowMs));
  return places.map((place) => place - backMs);
}

/** Forgets no place: only one that is taken does. */
function rateRefusal(
  places: readonly number[],
  limit: number,
  nowMs: number,
): Extract<CheckedCaller, { kind: 'rate_limited' }> | undefined {
  const live = places.filter((place) => nowMs - place < RATE_WINDOW_MS);
  // The place that must be free before one more fits; the oldest, unless the limit was lowered meanwhile.
  const decisive = live[live.length - limit];
  return decisive === undefined ? undefined : { kind: 'rate_limited', limit, retryAfterMs: decisive + RATE_WINDOW_MS - nowMs };
}

function withoutRegions(pair: string): string {
  return pair.replaceAll(/-\w+/g, '');
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
