// One team's account as a checker tracks it, from the store's answers alone: reports answers that cannot be right.
import { isDeepStrictEqual } from 'node:util';
import type { KeyMode } from '../../../src/domain/api-key.ts';
import { dayOf } from '../../../src/domain/period.ts';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import { FURTHER_TAGS } from '../../../src/domain/request-tag.ts';
import type { RequestTag } from '../../../src/domain/request-tag.ts';
import type { TagSettings } from '../../../src/domain/tag-settings.ts';
import type { WindowName } from '../../../src/domain/window-limits.ts';
import type { RefusedCaller } from '../../../src/ports/full-windows.ts';
import type { Admission, AdmissionRequest, RateLimited } from '../../../src/ports/ledger.ts';
import { isForNothing, overdrawn, priceOf } from '../../support/model/account-invariants.ts';
import type { Charge } from '../../support/model/day-invariants.ts';
import { rateFault } from '../../support/model/rate-invariants.ts';
import { standingFault, WindowCheck, wholeFault, windowFault } from '../../support/model/window-check.ts';
import type { Windowed } from '../../support/model/window-check.ts';
import type { Action, Entry, Place, Violate } from './entries.ts';
import { KeyCheck } from './key-check.ts';
import { TagCheck } from './tag-check.ts';

export interface IdState {
  state: 'open' | 'committed' | 'released' | 'expired';
  /** As reserved; once it is committed, as charged. */
  characters: number;
  priceMicro: number;
  /** Of the plan's allowance for test keys. */
  readonly ofAllowance: boolean;
  readonly keyId: string;
  readonly tag: RequestTag | undefined;
  readonly reservedAtStoreMs: number;
  readonly leaseUntilMs: number;
  /** The day of the store's clock on which it was committed. */
  committedOn?: number;
  /** The tag under which it was counted then; `undefined` for none. */
  countedAs?: string | undefined;
}

/** A rate of a team, a key or a tag, and the slots taken. */
interface Rated {
  readonly of: RateLimited['of'];
  readonly places: readonly Place[];
  readonly rate: number | undefined;
}

type Resolved = Extract<Action, { readonly kind: 'resolve' }>;

/** Answers to a key that is barred. */
const BARRED: ReadonlySet<Admission['kind']> = new Set([
  'key_revoked',
  'address_wanted',
  'address_refused',
  'scope_wanted',
  'scope_missing',
  'tag_disabled',
]);

/** By then everything that was held before a clock changed is settled or has expired. */
const CERTAIN_AFTER_MS = 60_000;

export class TeamCheck {
  readonly ids = new Map<string, IdState>();
  readonly #keys = new Map<string, KeyCheck>();
  /** Those with settings. */
  readonly tags = new Map<string, TagCheck>();
  readonly #tagsChangedAtMs = new Map<string, number>();
  /** Those that are counted by themselves. */
  readonly #countedTags = new Set<string>();
  #createdOn = Infinity;
  readonly lastUseMs = new Map<string, number>();
  #limits: TeamLimits | undefined;
  #raisedAtMs = -Infinity;
  #creditMicro = 0;
  readonly #places: Place[] = [];
  readonly windows = new WindowCheck();
  /** When the store's clock last jumped, in true time: earlier slots prove nothing any more. */
  readonly #clockChangedAtMs: () => number;

  constructor(clockChangedAtMs: () => number) {
    this.#clockChangedAtMs = clockChangedAtMs;
  }

  take(entry: Entry, violate: Violate): void {
    const { action } = entry;
    switch (action.kind) {
      case 'team':
        if (this.#limits !== undefined && isRaised(action.limits, this.#limits)) this.#raisedAtMs = entry.atMs;
        this.#limits = action.limits;
        this.#creditMicro += action.addMicro;
        this.#createdOn = Math.min(this.#createdOn, dayOf(entry.storeMs));
        return;
      case 'create_key':
        this.key(action.keyId).mode = action.mode;
        return this.key(action.keyId).change({ limits: action.limits }, entry.atMs);
      case 'update_key':
        return this.key(action.keyId).change(action.change, entry.atMs);
      case 'revoke_key':
        return this.key(action.keyId).revoke(entry.atMs);
      case 'set_tag':
        return this.#setTag(action.tag, action.settings, entry.atMs);
      case 'resolve':
        return this.#resolved(action, entry, violate);
      case 'admit':
        return this.#admitted(action.request, action.answer, entry, violate);
    }
  }

  hasKey(keyId: string): boolean {
    return this.#keys.has(keyId);
  }

  /** What is wrong with a refusal that a gateway repeated, if anything: it may miss what was changed after `sinceMs`, in true time. */
  repetitionFault({ keyId, tag, ...from }: RefusedCaller, refused: RateLimited, storeMs: number, sinceMs: number): string | undefined {
    const key = this.key(keyId);
    const tagChanged = (this.#tagsChangedAtMs.get(tag?.name ?? '') ?? -Infinity) >= sinceMs;
    if (Math.max(this.#raisedAtMs, key.changedAtMs) >= sinceMs || (refused.of === 'tag' && tagChanged)) return undefined;
    const barred = key.barred(from, storeMs) ?? (tagChanged ? undefined : this.#tagBar(tag?.name));
    if (barred !== undefined) return `would be told ${wordsOf(barred)}`;
    if (refused.window !== undefined) return this.#repeatedWindowFault(keyId, tag?.name, refused, storeMs);
    const { places, rate } = this.#rated(keyId, tag?.name).find(({ of }) => of === refused.of)!;
    if (rate === undefined || rate > refused.limit) return `has a limit of ${rate}, and was told ${refused.limit}`;
    return this.#rateFault(places, rate, true, storeMs);
  }

  key(keyId: string): KeyCheck {
    let key = this.#keys.get(keyId);
    if (key === undefined) this.#keys.set(keyId, (key = new KeyCheck()));
    return key;
  }

  /** What was charged to reservations made since a moment of the store's. */
  charged(sinceStoreMs = -Infinity): { characters: number; micro: number } {
    const ids = [...this.ids.values()].filter((id) => id.state === 'committed' && id.reservedAtStoreMs >= sinceStoreMs);
    return { characters: sum(ids.map((id) => id.characters)), micro: sum(ids.map((id) => id.priceMicro)) };
  }

  get charges(): Charge[] {
    return [...this.ids.values()].flatMap(({ committedOn: day, keyId, countedAs, characters }) =>
      day === undefined ? [] : [{ day, keyId, countedAs, characters }],
    );
  }

  get countedAsFurther(): number {
    return [...this.ids.values()].filter(({ countedAs }) => countedAs === FURTHER_TAGS).length;
  }

  /** Settings that are set again begin like new ones. A period lasts longer than a run, where what is charged in it is checked. */
  #setTag(tag: string, settings: TagSettings | null, atMs: number): void {
    this.#tagsChangedAtMs.set(tag, atMs);
    const known = this.tags.get(tag);
    if (settings === null) return void this.tags.delete(tag);
    if (known !== undefined) return void (known.settings = settings);
    const counted = [...this.ids.values()].filter((id) => id.countedAs === tag && id.committedOn! >= this.#createdOn);
    this.tags.set(tag, new TagCheck(settings, sum(counted.map(({ characters }) => characters))));
  }

  #countedAs({ name, distinctMax }: RequestTag): string {
    if (!this.#countedTags.has(name) && this.#countedTags.size >= distinctMax) return FURTHER_TAGS;
    this.#countedTags.add(name);
    return name;
  }

  #tag(name: string | undefined): TagCheck | undefined {
    return name === undefined ? undefined : this.tags.get(name);
  }

  #tagBar(name: string | undefined): Admission | undefined {
    return this.#tag(name)?.settings.disabled === true ? { kind: 'tag_disabled' } : undefined;
  }

  /** In the order in which they are judged. */
  #rated(keyId: string, tagName: string | undefined): readonly Rated[] {
    const [key, tag] = [this.key(keyId), this.#tag(tagName)];
    return [
      { of: undefined, places: this.#places, rate: this.#limits?.requestsPerSecond },
      { of: 'key', places: key.places, rate: key.limits.requestsPerSecond },
      { of: 'tag', places: tag?.places ?? [], rate: tag?.settings.requestsPerSecond },
    ];
  }

  /** Slots before a jump of the clock prove nothing. */
  #rateFault(places: readonly Place[], rate: number, isRefused: boolean, storeMs: number): string | undefined {
    if ((places.at(-rate)?.atMs ?? Infinity) < this.#clockChangedAtMs()) return undefined;
    return rateFault(places, rate, isRefused, storeMs);
  }

  get balanceMicro(): number {
    return this.#creditMicro - this.charged().micro;
  }

  #resolved({ requestId, answer, characters }: Resolved, entry: Entry, violate: Violate): void {
    const known = this.ids.get(requestId);
    if (answer.kind === 'unavailable') return;
    if (known === undefined) {
      if (answer.kind === 'committed' || answer.kind === 'expired')
        violate('L4', `${requestId}, which reserved nothing, is ${answer.kind}`);
      return;
    }
    if (known.state !== 'open') {
      if (answer.kind !== 'absent' && answer.kind !== known.state)
        violate('L4', `${requestId} was ${known.state} and is ${answer.kind} now`);
      return;
    }
    if (answer.kind === 'absent') return violate('L4', `${requestId} is open and was not found`);
    if (answer.kind !== 'expired' && entry.storeMs >= known.leaseUntilMs && entry.atMs - this.#clockChangedAtMs() > 5000) {
      violate('L4', `${requestId} was ${answer.kind} ${entry.storeMs - known.leaseUntilMs} ms after its lease`);
    }
    known.state = answer.kind;
    if (answer.kind !== 'committed') return;
    known.committedOn = dayOf(entry.storeMs);
    if (known.tag !== undefined) known.countedAs = this.#countedAs(known.tag);
    if (characters === undefined) return;
    known.priceMicro = known.characters === 0 ? 0 : (known.priceMicro / known.characters) * characters;
    known.characters = characters;
  }

  #admitted(request: AdmissionRequest, answer: Admission, entry: Entry, violate: Violate): void {
    const { requestId, keyId } = request;
    if (this.ids.get(requestId)?.state === 'open' && answer.kind === 'admitted') return;
    const limits = this.#limits;
    if (limits === undefined || answer.kind === 'unavailable' || answer.kind === 'repeated' || answer.kind === 'key_unknown') return;
    const key = this.key(keyId);
    const barred = key.barred(request, entry.storeMs) ?? this.#tagBar(request.tag?.name);
    const told = BARRED.has(answer.kind) ? answer : undefined;
    if (!isDeepStrictEqual(told, barred)) violate('L7', `${requestId}, for which ${wordsOf(barred)} stands, was told ${wordsOf(answer)}`);
    // Nothing is consumed, no use is recorded.
    if (told !== undefined) return;
    this.lastUseMs.set(keyId, Math.max(this.lastUseMs.get(keyId) ?? 0, entry.storeMs));
    this.#checkRates(request, answer, entry, violate);
    if (answer.kind === 'rate_limited' && answer.window === undefined) return;
    const subjects = this.windowed(keyId, request.tag?.name);
    const { storeMs } = entry;
    const isCertain = entry.atMs - this.#clockChangedAtMs() >= CERTAIN_AFTER_MS;
    const characters = request.reserve ? request.characters : undefined;
    const refusal = answer.kind === 'rate_limited' ? answer : undefined;
    const fault = windowFault(subjects, refusal, { characters, storeMs, isCertain });
    if (fault !== undefined) violate('L11', `${requestId} ${fault}`);
    if (refusal !== undefined) return;
    for (const { written, check } of subjects) check.count(written, storeMs);
    this.#placed(request, answer, entry, violate);
    if (!('windows' in answer) || answer.windows === undefined) return;
    const wrong = standingFault(subjects, answer.windows, { storeMs, isCertain });
    if (wrong !== undefined) violate('L11', `${requestId} ${wrong}`);
  }

  /** In the order in which they are judged. */
  windowed(keyId: string, tagName: string | undefined): Windowed[] {
    const [key, tag] = [this.key(keyId), this.#tag(tagName)];
    return [
      { written: this.#limits?.windows ?? '', check: this.windows },
      { of: 'key', written: key.limits.windows ?? '', check: key.windows },
      ...(tag === undefined ? [] : [{ of: 'tag' as const, written: tag.settings.windows ?? '', check: tag.windows }]),
    ];
  }

  /** Of the team, its keys and its tags. */
  windowsEnded(): [WindowName, number][] {
    return [this, ...this.#keys.values(), ...this.tags.values()].flatMap(({ windows }) => [...windows.ended]);
  }

  /** Characters are never repeated. */
  #repeatedWindowFault(keyId: string, tag: string | undefined, { of, window, limit }: RateLimited, storeMs: number): string | undefined {
    const subject = this.windowed(keyId, tag).find((one) => one.of === of);
    const exceeded = subject?.check.exceeded(subject.written, undefined, storeMs) ?? [];
    const isSo = exceeded.some(({ per, counts, limit: most }) => per === window?.per && counts === window.counts && most === limit);
    return isSo ? undefined : `does not exceed the ${limit} ${window?.counts} of the ${window?.per} that it was told`;
  }

  /** A request that took its place. */
  #placed(request: AdmissionRequest, answer: Admission, entry: Entry, violate: Violate): void {
    const { requestId, keyId } = request;
    const key = this.key(keyId);
    const limits = this.#limits!;
    const place = { atMs: entry.atMs, storeMs: entry.storeMs };
    this.#places.push(place);
    key.taken(place);
    const tag = this.#tag(request.tag?.name);
    tag?.taken(place);
    if (answer.kind !== 'admitted' && answer.kind !== 'quota_exceeded' && answer.kind !== 'credit_exhausted') return;
    if (!request.reserve) return;
    this.#checkBooks(request, answer, limits, entry, violate);
    if (answer.kind !== 'admitted' || answer.reservation === undefined) return;
    const { characters, leaseUntilMs } = answer.reservation;
    const ofAllowance = isForNothing(limits, key.mode);
    const priceMicro = priceOf(characters, limits, key.mode);
    const times = { reservedAtStoreMs: entry.storeMs, leaseUntilMs };
    const state: IdState = { state: 'open', characters, priceMicro, ofAllowance, keyId, tag: request.tag, ...times };
    this.ids.set(requestId, state);
    tag?.hold(state);
    for (const { written, check } of this.windowed(keyId, request.tag?.name)) check.hold(written, state);
  }

  /** The team's first, then the key's, then the tag's: a request refused by one took a slot in none. */
  #checkRates({ requestId, keyId, tag }: AdmissionRequest, answer: Admission, entry: Entry, violate: Violate): void {
    const refusal = answer.kind === 'rate_limited' && answer.window === undefined ? answer : undefined;
    for (const { of, places, rate } of this.#rated(keyId, tag?.name)) {
      const isRefused = refusal !== undefined && refusal.of === of;
      if (isRefused && refusal.limit !== rate) violate('L6', `${requestId} was told a limit of ${refusal.limit} that is nobody's`);
      const fault = rate === undefined ? undefined : this.#rateFault(places, rate, isRefused, entry.storeMs);
      if (fault !== undefined) violate('L6', `${requestId} ${fault}`);
      if (isRefused) return;
    }
  }

  /** A reservation is made exactly when what is left covers it. Periods that roll over are tested by the store contract. */
  #checkBooks(request: AdmissionRequest, answer: Admission, limits: TeamLimits, entry: Entry, violate: Violate): void {
    const characters = request.characters ?? 0;
    const told = answer.kind === 'quota_exceeded' ? answer : undefined;
    const tooLong = wholeFault(this.windowed(request.keyId, request.tag?.name), told, characters, entry.storeMs);
    if (tooLong !== undefined) violate('L11', `${request.requestId} ${tooLong}`);
    if (told?.window !== undefined) return;
    if (!limits.period.endsWith('M') || entry.atMs - this.#clockChangedAtMs() < CERTAIN_AFTER_MS) return;
    const held = [...this.ids.values()].filter((id) => id.state === 'open' && id.leaseUntilMs > entry.storeMs);
    const byKey = told?.of === 'key';
    const ofKey = this.key(request.keyId).limits.characters;
    const charged = [...this.ids.values()].filter((id) => id.state === 'committed');
    const usedByKey = sum([...charged, ...held].filter(({ keyId }) => keyId === request.keyId).map((id) => id.characters));
    if (usedByKey + characters <= (ofKey ?? Infinity) === byKey) {
      violate('L3', `${request.requestId} for ${characters} was told ${wordsOf(answer)}: its key has used ${usedByKey} of ${ofKey}`);
    }
    if (byKey) return;
    const byTag = told?.of === 'tag';
    const tag = this.#tag(request.tag?.name);
    const usedByTag = tag?.used(entry.storeMs) ?? 0;
    if (usedByTag + characters <= (tag?.settings.characters ?? Infinity) === byTag) {
      violate('L3', `${request.requestId} for ${characters} was told ${wordsOf(answer)}: its tag has used ${usedByTag}`);
    }
    if (byTag) return;
    const reserved = answer.kind === 'admitted';
    const { mode } = this.key(request.keyId);
    if (isForNothing(limits, mode) !== (told?.of === 'test_keys') && !reserved)
      violate('L3', `${request.requestId} was told ${wordsOf(answer)}`);
    if ((this.#overdrawnBy(characters, limits, mode, held) === undefined) !== reserved)
      violate('L3', `${request.requestId} for ${characters} was ${reserved ? 'reserved beyond' : 'refused within'} what is left`);
  }

  #overdrawnBy(characters: number, limits: TeamLimits, mode: KeyMode, held: readonly IdState[]): string | undefined {
    const charged = [...this.ids.values()].filter((id) => id.state === 'committed');
    const asked = { characters, priceMicro: priceOf(characters, limits, mode), ofAllowance: isForNothing(limits, mode) };
    const charactersOf = (ids: readonly Pick<IdState, 'characters'>[]) => sum(ids.map((id) => id.characters));
    const [open, isFree] = [[...held, asked], ({ ofAllowance }: Pick<IdState, 'ofAllowance'>) => ofAllowance];
    const account = {
      usedCharacters: charactersOf(charged),
      heldCharacters: charactersOf(open),
      allowanceUsed: charactersOf(charged.filter(isFree)),
      allowanceHeld: charactersOf(open.filter(isFree)),
      balanceMicro: this.balanceMicro,
      heldMicro: sum(open.map(({ priceMicro }) => priceMicro)),
    };
    return overdrawn(account, limits, mode);
  }
}

/** What gateways were told of refusals before no longer holds. */
function isRaised(limits: TeamLimits, before: TeamLimits): boolean {
  return limits.requestsPerSecond > before.requestsPerSecond || limits.windows !== before.windows;
}

function wordsOf(answer: Admission | undefined): string {
  return answer === undefined ? 'nothing' : JSON.stringify(answer);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
