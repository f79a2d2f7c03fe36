// The auditor of one team: told what was done and answered in the order of the store, it says which answers no ledger may give.
import { isDeepStrictEqual } from 'node:util';
import type { KeyMode } from '../../../src/domain/api-key.ts';
import type { KeyLimits } from '../../../src/domain/key-limits.ts';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import type { RequestTag, TagSettings } from '../../../src/domain/request-tag.ts';
import type { WindowName } from '../../../src/domain/window-limits.ts';
import type { RefusedCaller } from '../../../src/ports/key-directory.ts';
import type { Admission, AdmissionRequest, RateLimited } from '../../../src/ports/ledger.ts';
import type { KeyChange } from '../../../src/ports/team-registry.ts';
import { dayOf } from '../reference/calendar.ts';
import type { Action, Moment, Violate } from './deeds.ts';
import { isForNothing, overdrawn, priceOf } from './totals.ts';
import type { Charge } from './totals.ts';
import { leftFault, rateFault, standing, tooLongFault, windowFault, Windows } from './windows.ts';
import type { Reserved, Windowed } from './windows.ts';

/** What is known of a reservation. */
export interface Held extends Reserved {
  state: Reserved['state'];
  /** As reserved; once it is committed, as charged. */
  characters: number;
  priceMicro: number;
  /** Of the plan's allowance for test keys. */
  readonly ofAllowance: boolean;
  readonly keyId: string;
  readonly tag: RequestTag | undefined;
  readonly reservedAtStoreMs: number;
  /** The day of the store's clock on which it was committed. */
  committedOn?: number;
  /** The tag under which it was counted then; `undefined` for none. */
  countedAs?: string;
}

/** What only a run can know. */
interface Setting {
  /** When the store's clock last jumped, in true time: earlier slots prove nothing any more. */
  clockChangedAtMs(): number;
  isAddressIn(ranges: readonly string[], address: string): boolean;
}

/** A key as it was set. */
class Key {
  limits: KeyLimits = {};
  mode: KeyMode = 'live';
  isDisabled = false;
  isRevoked = false;
  /** In true time. */
  changedAtMs = -Infinity;
  lastUseMs: number | undefined;
  readonly windows = new Windows();
  /** Slots taken while it had a rate. */
  slots: Moment[] = [];
}

/** A tag with settings. Windows that are going count on while it has no limits by minute to month. */
class Tag {
  settings: TagSettings;
  readonly windows = new Windows('always');
  readonly slots: Moment[] = [];
  readonly reserved: Held[] = [];
  readonly #chargedBefore: number;

  /** `chargedBefore`: in the running period, to requests with the tag. */
  constructor(settings: TagSettings, chargedBefore: number) {
    this.settings = settings;
    this.#chargedBefore = chargedBefore;
  }

  /** Characters of the period, if none has ended since it got settings. */
  used(storeMs: number): number {
    return this.#chargedBefore + standing(this.reserved, storeMs);
  }
}

/** A rate of a team, a key or a tag, and the slots taken. */
interface Rated {
  readonly of: RateLimited['of'];
  readonly slots: readonly Moment[];
  readonly rate: number | undefined;
}

type Done<Kind extends Action['kind']> = Extract<Action, { readonly kind: Kind }>;
type Question = Pick<AdmissionRequest, 'keyId' | 'address' | 'scope'> & { readonly tag?: Pick<RequestTag, 'name'> | undefined };

const FURTHER_TAGS = '*';
/** Answers to who may not even ask: nothing is counted. */
const BARRED = /^(?:key_revoked|address_\w+|scope_\w+|tag_disabled)$/;
/** By then everything that was held before a clock changed is settled or has expired. */
const CERTAIN_AFTER_MS = 60_000;
/** How far behind its lease a settlement may come right after a clock changed. */
const LEASE_AFTER_MS = 5000;

export class AuditedTeam {
  readonly ids = new Map<string, Held>();
  readonly tags = new Map<string, Tag>();
  readonly windows = new Windows();
  readonly #keys = new Map<string, Key>();
  readonly #slots: Moment[] = [];
  readonly #tagsChangedAtMs = new Map<string, number>();
  /** Those that are counted by themselves. */
  readonly #countedTags = new Set<string>();
  readonly #setting: Setting;
  #limits: TeamLimits | undefined;
  #createdOn = Infinity;
  #raisedAtMs = -Infinity;
  #creditMicro = 0;

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  take(action: Action, at: Moment, violate: Violate): void {
    switch (action.kind) {
      case 'team':
        return this.#changed(action, at);
      case 'create_key':
        this.key(action.keyId).mode = action.mode;
        return this.#changeKey(action.keyId, { limits: action.limits }, at);
      case 'update_key':
        return this.#changeKey(action.keyId, action.change, at);
      case 'revoke_key':
        Object.assign(this.key(action.keyId), { isRevoked: true, changedAtMs: at.atMs });
        return;
      case 'set_tag':
        return this.#setTag(action, at);
      case 'resolve':
        return this.#resolved(action, at, violate);
      case 'admit':
        return this.#admitted(action.request, action.answer, at, violate);
    }
  }

  #changed({ limits, addMicro }: Done<'team'>, { atMs, storeMs }: Moment): void {
    const before = this.#limits;
    const isRaised = before !== undefined && (limits.requestsPerSecond > before.requestsPerSecond || limits.windows !== before.windows);
    // What gateways were told of refusals before no longer holds.
    if (isRaised) this.#raisedAtMs = atMs;
    this.#limits = limits;
    this.#creditMicro += addMicro;
    this.#createdOn = Math.min(this.#createdOn, dayOf(storeMs));
  }

  #changeKey(keyId: string, { disabled, limits = {} }: KeyChange, { atMs }: Moment): void {
    const key = this.key(keyId);
    key.changedAtMs = atMs;
    key.isDisabled = disabled ?? key.isDisabled;
    const merged = Object.entries({ ...key.limits, ...limits }).filter(([, value]) => value !== null && value !== undefined);
    key.limits = Object.fromEntries(merged);
    if (key.limits.requestsPerSecond === undefined) key.slots = [];
  }

  /** Settings that are set again begin like new ones. A period lasts longer than a run, where what is charged in it is judged. */
  #setTag({ tag, settings }: Done<'set_tag'>, { atMs }: Moment): void {
    this.#tagsChangedAtMs.set(tag, atMs);
    const known = this.tags.get(tag);
    if (settings === null) return void this.tags.delete(tag);
    if (known !== undefined) return void (known.settings = settings);
    const counted = [...this.ids.values()].filter((id) => id.countedAs === tag && id.committedOn! >= this.#createdOn);
    this.tags.set(tag, new Tag(settings, sumOf(counted)));
  }

  hasKey(keyId: string): boolean {
    return this.#keys.has(keyId);
  }

  key(keyId: string): Key {
    const key = this.#keys.get(keyId) ?? new Key();
    this.#keys.set(keyId, key);
    return key;
  }

  #tag(name: string | undefined): Tag | undefined {
    return name === undefined ? undefined : this.tags.get(name);
  }

  get balanceMicro(): number {
    return this.#creditMicro - this.charged().micro;
  }

  /** What was charged to reservations made since a moment of the store's. */
  charged(sinceStoreMs = -Infinity): { characters: number; micro: number } {
    const ids = this.#committed().filter(({ reservedAtStoreMs }) => reservedAtStoreMs >= sinceStoreMs);
    return { characters: sumOf(ids), micro: ids.reduce((total, { priceMicro }) => total + priceMicro, 0) };
  }

  get charges(): Charge[] {
    return this.#committed().map(({ committedOn, keyId, countedAs, characters }) => ({ day: committedOn!, keyId, countedAs, characters }));
  }

  get countedAsFurther(): number {
    return this.#committed().filter(({ countedAs }) => countedAs === FURTHER_TAGS).length;
  }

  /** Of the team, its keys and its tags. */
  windowsEnded(): [WindowName, number][] {
    return [this, ...this.#keys.values(), ...this.tags.values()].flatMap(({ windows }) => [...windows.ended]);
  }

  #committed(): Held[] {
    return [...this.ids.values()].filter(({ state }) => state === 'committed');
  }

  /** L4: an id ends once, within its lease, and only if it was reserved. */
  #resolved({ requestId, answer, characters }: Done<'resolve'>, { atMs, storeMs }: Moment, violate: Violate): void {
    const known = this.ids.get(requestId);
    if (answer.kind === 'unavailable') return;
    if (known?.state !== 'open') {
      if (answer.kind !== 'absent') violate('L4', `${requestId}, which is ${known?.state ?? 'not reserved'}, is ${answer.kind} now`);
      return;
    }
    const sinceMs = atMs - this.#setting.clockChangedAtMs();
    if (answer.kind === 'absent') {
      if (storeMs < known.leaseUntilMs && sinceMs > CERTAIN_AFTER_MS) violate('L4', `${requestId} is open and was not found`);
      known.state = 'expired';
      return;
    }
    if (storeMs >= known.leaseUntilMs && sinceMs > LEASE_AFTER_MS)
      violate('L4', `${requestId} was ${answer.kind} ${storeMs - known.leaseUntilMs} ms after its lease`);
    known.state = answer.kind;
    if (answer.kind !== 'committed') return;
    known.committedOn = dayOf(storeMs);
    if (known.tag !== undefined) known.countedAs = this.#countedAs(known.tag);
    if (characters === undefined) return;
    known.priceMicro = known.characters === 0 ? 0 : (known.priceMicro / known.characters) * characters;
    known.characters = characters;
  }

  #countedAs({ name, distinctMax }: RequestTag): string {
    if (!this.#countedTags.has(name) && this.#countedTags.size >= distinctMax) return FURTHER_TAGS;
    this.#countedTags.add(name);
    return name;
  }

  #admitted(request: AdmissionRequest, answer: Admission, at: Moment, violate: Violate): void {
    const { requestId, keyId, tag } = request;
    if (this.ids.get(requestId)?.state === 'open' && answer.kind === 'admitted') return;
    if (this.#limits === undefined || answer.kind === 'unavailable' || answer.kind === 'key_unknown') return;
    const barred = this.#barred(request, at.storeMs);
    const told = BARRED.test(answer.kind) ? answer : undefined;
    if (!isDeepStrictEqual(told, barred)) violate('L7', `${requestId}, for which ${wordsOf(barred)} stands, was told ${wordsOf(answer)}`);
    // Nothing is consumed, no use is recorded.
    if (told !== undefined) return;
    const key = this.key(keyId);
    key.lastUseMs = Math.max(key.lastUseMs ?? 0, at.storeMs);
    this.#judgeRates(request, answer, at, violate);
    if (answer.kind === 'rate_limited' && answer.window === undefined) return;
    const subjects = this.windowed(keyId, tag?.name);
    const [{ storeMs }, isCertain] = [at, this.#isCertain(at)];
    const refusal = answer.kind === 'rate_limited' ? answer : undefined;
    const characters = request.reserve ? request.characters : undefined;
    const fault = windowFault(subjects, refusal, { characters, storeMs, isCertain });
    if (fault !== undefined) violate('L11', `${requestId} ${fault}`);
    if (refusal !== undefined) return;
    for (const { written, windows } of subjects) windows.count(written, storeMs);
    this.#takeSlots(request, at);
    if (request.reserve && /^(?:admitted|quota_exceeded|credit_exhausted)$/.test(answer.kind))
      this.#judgeReservation(request, answer, at, violate);
    this.#hold(request, answer, at);
    const left = 'windows' in answer && answer.windows !== undefined ? leftFault(subjects, answer.windows, storeMs, isCertain) : undefined;
    if (left !== undefined) violate('L11', `${requestId} ${left}`);
  }

  /** The answer required before anything is counted, if any. */
  #barred({ keyId, address, scope, tag }: Question, storeMs: number): Admission | undefined {
    const { limits, isRevoked, isDisabled } = this.key(keyId);
    if (isRevoked) return { kind: 'key_revoked' };
    if (isDisabled) return { kind: 'key_revoked', reason: 'disabled' };
    if (storeMs >= (limits.expiresAtMs ?? Infinity)) return { kind: 'key_revoked', reason: 'expired' };
    const { allowedAddresses, scopes } = limits;
    if (allowedAddresses !== undefined && address === undefined) return { kind: 'address_required' };
    if (allowedAddresses !== undefined && !this.#setting.isAddressIn(allowedAddresses, address!)) return { kind: 'address_refused' };
    if (scopes !== undefined && scope === undefined) return { kind: 'scope_required' };
    if (scopes !== undefined && !scopes.includes(scope!)) return { kind: 'scope_missing' };
    return this.#tag(tag?.name)?.settings.disabled === true ? { kind: 'tag_disabled' } : undefined;
  }

  /** L6. The team's first, then the key's, then the tag's: a request refused by one took a slot in none. */
  #judgeRates({ requestId, keyId, tag }: AdmissionRequest, answer: Admission, { storeMs }: Moment, violate: Violate): void {
    const refusal = answer.kind === 'rate_limited' && answer.window === undefined ? answer : undefined;
    for (const { of, slots, rate } of this.#rated(keyId, tag?.name)) {
      const isRefused = refusal !== undefined && refusal.of === of;
      if (isRefused && refusal.limit !== rate) violate('L6', `${requestId} was told a limit of ${refusal.limit} that is nobody's`);
      const fault = rate === undefined ? undefined : this.#rateFault(slots, rate, isRefused, storeMs);
      if (fault !== undefined) violate('L6', `${requestId} ${fault}`);
      if (isRefused) return;
    }
  }

  /** In the order in which they are judged. */
  #rated(keyId: string, tagName: string | undefined): readonly Rated[] {
    const [key, tag] = [this.key(keyId), this.#tag(tagName)];
    return [
      { of: undefined, slots: this.#slots, rate: this.#limits?.requestsPerSecond },
      { of: 'key', slots: key.slots, rate: key.limits.requestsPerSecond },
      { of: 'tag', slots: tag?.slots ?? [], rate: tag?.settings.requestsPerSecond },
    ];
  }

  #rateFault(slots: readonly Moment[], rate: number, isRefused: boolean, storeMs: number): string | undefined {
    if ((slots.at(-rate)?.atMs ?? Infinity) < this.#setting.clockChangedAtMs()) return undefined;
    return rateFault(slots, rate, isRefused, storeMs);
  }

  /** In the order in which they are judged. */
  windowed(keyId: string, tagName: string | undefined): Windowed[] {
    const [key, tag] = [this.key(keyId), this.#tag(tagName)];
    return [
      { written: this.#limits?.windows ?? '', windows: this.windows },
      { of: 'key', written: key.limits.windows ?? '', windows: key.windows },
      ...(tag === undefined ? [] : [{ of: 'tag' as const, written: tag.settings.windows ?? '', windows: tag.windows }]),
    ];
  }

  #takeSlots({ keyId, tag: named }: AdmissionRequest, at: Moment): void {
    const [key, tag] = [this.key(keyId), this.#tag(named?.name)];
    this.#slots.push(at);
    if (key.limits.requestsPerSecond !== undefined) key.slots.push(at);
    if (tag?.settings.requestsPerSecond !== undefined) tag.slots.push(at);
  }

  #hold({ requestId, keyId, tag: named }: AdmissionRequest, answer: Admission, at: Moment): void {
    if (answer.kind !== 'admitted' || answer.reservation === undefined) return;
    const [key, tag, limits] = [this.key(keyId), this.#tag(named?.name), this.#limits!];
    const { characters, leaseUntilMs } = answer.reservation;
    const [ofAllowance, priceMicro] = [isForNothing(limits, key.mode), priceOf(characters, limits, key.mode)];
    const times = { reservedAtStoreMs: at.storeMs, leaseUntilMs };
    const held: Held = { state: 'open', characters, priceMicro, ofAllowance, keyId, tag: named, ...times };
    this.ids.set(requestId, held);
    tag?.reserved.push(held);
    for (const { written, windows } of this.windowed(keyId, named?.name)) windows.hold(written, held);
  }

  /** L3: a reservation is made exactly when what is left covers it. Periods that roll over are tested by the store contract. */
  #judgeReservation(request: AdmissionRequest, answer: Admission, at: Moment, violate: Violate): void {
    const { requestId, keyId, characters = 0, tag: named } = request;
    const told = answer.kind === 'quota_exceeded' ? answer : undefined;
    const tooLong = tooLongFault(this.windowed(keyId, named?.name), told, characters, at.storeMs);
    if (tooLong !== undefined) violate('L11', `${requestId} ${tooLong}`);
    const limits = this.#limits!;
    if (told?.window !== undefined || !limits.period.endsWith('M') || !this.#isCertain(at)) return;
    const [key, tag] = [this.key(keyId), this.#tag(named?.name)];
    const counting = [...this.ids.values()].filter(({ state }) => state === 'committed' || state === 'open');
    const ofKey = counting.filter((one) => one.keyId === keyId);
    const own = [
      { of: 'key', most: key.limits.characters, used: standing(ofKey, at.storeMs) },
      { of: 'tag', most: tag?.settings.characters, used: tag?.used(at.storeMs) ?? 0 },
    ];
    for (const { of, most = Infinity, used } of own) {
      const isRefused = told?.of === of;
      if (used + characters > most !== isRefused)
        violate('L3', `${requestId} for ${characters} was told ${wordsOf(answer)}: its ${of} has used ${used} of ${most}`);
      if (isRefused) return;
    }
    const isReserved = answer.kind === 'admitted';
    if (!isReserved && isForNothing(limits, key.mode) !== (told?.of === 'test_keys'))
      violate('L3', `${requestId} was told ${wordsOf(answer)}`);
    if ((this.#overdrawnBy(characters, key.mode, at.storeMs) === undefined) !== isReserved)
      violate('L3', `${requestId} for ${characters} was ${isReserved ? 'reserved beyond' : 'refused within'} what is left`);
  }

  /** No clock has changed for so long that all that is held is certain. */
  #isCertain({ atMs }: Moment): boolean {
    return atMs - this.#setting.clockChangedAtMs() >= CERTAIN_AFTER_MS;
  }

  #overdrawnBy(characters: number, mode: KeyMode, storeMs: number): string | undefined {
    const limits = this.#limits!;
    const charged = this.#committed();
    const open = [...this.ids.values()].filter(({ state, leaseUntilMs }) => state === 'open' && storeMs < leaseUntilMs);
    const asked = { characters, priceMicro: priceOf(characters, limits, mode), ofAllowance: isForNothing(limits, mode) };
    const held = [...open, asked];
    const account = {
      usedCharacters: sumOf(charged),
      heldCharacters: sumOf(held),
      allowanceUsed: sumOf(charged.filter(({ ofAllowance }) => ofAllowance)),
      allowanceHeld: sumOf(held.filter(({ ofAllowance }) => ofAllowance)),
      balanceMicro: this.balanceMicro,
      heldMicro: held.reduce((total, { priceMicro }) => total + priceMicro, 0),
    };
    return overdrawn(account, limits, mode);
  }

  /** What is wrong with a refusal that a gateway repeated, if anything: it may miss what was changed after `sinceMs`, in true time. */
  repetitionFault({ keyId, tag, ...from }: RefusedCaller, refused: RateLimited, storeMs: number, sinceMs: number): string | undefined {
    const isTagChanged = (this.#tagsChangedAtMs.get(tag?.name ?? '') ?? -Infinity) >= sinceMs;
    if (Math.max(this.#raisedAtMs, this.key(keyId).changedAtMs) >= sinceMs || (refused.of === 'tag' && isTagChanged)) return undefined;
    const barred = this.#barred({ keyId, ...from, tag: isTagChanged ? undefined : tag }, storeMs);
    if (barred !== undefined) return `would be told ${wordsOf(barred)}`;
    if (refused.window !== undefined) return this.#repeatedWindowFault(keyId, tag?.name, refused, storeMs);
    const { slots, rate } = this.#rated(keyId, tag?.name).find(({ of }) => of === refused.of)!;
    if (rate === undefined || rate > refused.limit) return `has a limit of ${rate}, and was told ${refused.limit}`;
    return this.#rateFault(slots, rate, true, storeMs);
  }

  /** Characters are never repeated. */
  #repeatedWindowFault(keyId: string, tag: string | undefined, { of, window, limit }: RateLimited, storeMs: number): string | undefined {
    const subject = this.windowed(keyId, tag).find((one) => one.of === of);
    const exceeded = subject?.windows.exceeded(subject.written, undefined, storeMs) ?? [];
    const isSo = exceeded.some(({ per, unit, most }) => per === window?.per && unit === window.counts && most === limit);
    return isSo ? undefined : `does not exceed the ${limit} ${window?.counts} of the ${window?.per} that it was told`;
  }
}

function wordsOf(answer: Admission | undefined): string {
  return answer === undefined ? 'nothing' : JSON.stringify(answer);
}

function sumOf(held: readonly { readonly characters: number }[]): number {
  return held.reduce((total, { characters }) => total + characters, 0);
}
