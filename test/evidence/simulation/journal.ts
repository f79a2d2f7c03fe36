// The store's entries and the checks on them: what was done, and what a failover has undone.
import { RATE_WINDOW_MS } from '../../../src/domain/admission.ts';
import type { Admission, AdmissionRequest, RateLimited } from '../../../src/ports/ledger.ts';
import type { Account } from '../../support/reference/account.ts';
import type { Action, Moment, Violate } from './deeds.ts';
import { SCOPE_OF } from './key-limits.ts';
import { delivered, endingOf } from './history.ts';
import type { History } from './history.ts';
import type { Process } from './virtual-time.ts';
import type { RefusedCaller } from '../../../src/ports/key-directory.ts';

interface Entry extends Moment {
  readonly teamId: string;
  readonly action: Action;
}

/** A refusal that a gateway repeated without asking the store. */
interface Repeated extends RefusedCaller {
  readonly gateway: Process;
  readonly refused: RateLimited;
}

/** A reservation, as the server has answered. */
export interface Held {
  state: 'open' | 'committed' | 'released' | 'expired';
  /** As reserved; once it is committed, as charged. */
  characters: number;
}

export class Journal {
  readonly #history: History;
  readonly #violate: Violate;
  readonly #tagsMax: number | undefined;
  #entries: Entry[] = [];
  /** By request. */
  #ids = new Map<string, Held>();
  /** When a team, a key or a tag (`TEAM TAG`) was changed last. */
  readonly #changedAtMs = new Map<string, number>();
  clockChangedAtMs = -Infinity;
  #lostAtMs = -Infinity;
  /** Of the last second: by how much the store's clock, as operations were run by it, was before or after true time. */
  #offsets: { readonly atMs: number; readonly byMs: number }[] = [];
  /** When gateways last forgot what they knew of full windows. */
  readonly #droppedAtMs = new Map<Process, number>();
  /** How often gateways refused a request without asking the store. */
  repetitions = 0;
  readonly lost: Entry[] = [];
  /** Ids that were refused because of their address. */
  readonly addressRefused = new Set<string>();
  /** How often each limit of keys refused something. */
  readonly ofKeys = new Map<string, number>();
  /** How often each setting of tags did. */
  readonly ofTags = new Map<string, number>();
  /** How often each limit by minute to month did, by its name. */
  readonly ofWindows = new Map<string, number>();

  /** `tagsMax`: how many tags of a team are counted, if requests have any. */
  constructor(history: History, violate: Violate, tagsMax: number | undefined) {
    this.#history = history;
    this.#tagsMax = tagsMax;
    this.#violate = violate;
  }

  add(atMs: number, storeMs: number, teamId: string, action: Action): void {
    const entry = { atMs, storeMs, teamId, action };
    this.#entries.push(entry);
    this.#offsets = [...this.#recentOffsets(atMs), { atMs, byMs: storeMs - atMs }];
    this.#checkCharge(entry);
    if (action.kind === 'admit') this.#noteKeys(action.request, action.answer);
    this.#noteChange(entry);
    this.#keep(action);
  }

  #noteChange({ atMs, teamId, action }: Entry): void {
    if (action.kind === 'admit' || action.kind === 'resolve') return;
    const changed = 'keyId' in action ? action.keyId : action.kind === 'set_tag' ? `${teamId} ${action.tag}` : teamId;
    this.#changedAtMs.set(changed, atMs);
  }

  #keep(action: Action): void {
    if (action.kind === 'admit' && action.answer.kind === 'admitted' && action.answer.reservation !== undefined) {
      const { requestId, characters } = action.answer.reservation;
      if (this.#ids.get(requestId)?.state !== 'open') this.#ids.set(requestId, { state: 'open', characters });
    }
    if (action.kind !== 'resolve') return;
    const known = this.#ids.get(action.requestId);
    const { answer, characters } = action;
    if (known?.state !== 'open' || answer.kind === 'unavailable') return;
    known.state = answer.kind === 'absent' ? 'expired' : answer.kind;
    if (answer.kind === 'committed') known.characters = characters ?? known.characters;
  }

  #noteKeys({ requestId, address, scope, tag }: AdmissionRequest, answer: Admission): void {
    const { intent } = this.#history.need(requestId);
    if (tag?.name !== intent.tag || (tag !== undefined && tag.distinctMax !== this.#tagsMax))
      this.#violate('tag', `${requestId} with tag ${intent.tag} came to the store with ${JSON.stringify(tag)}`);
    if (address !== undefined && address.replace('::ffff:', '') !== intent.address.replace('::ffff:', ''))
      this.#violate('address', `${requestId} from ${intent.address} came to the store as from ${address}`);
    if (scope !== undefined && scope !== SCOPE_OF[intent.route])
      this.#violate('scope', `${requestId} for ${intent.route} came to the store as for ${scope}`);
    if (answer.kind === 'address_refused') this.addressRefused.add(requestId);
    if ('window' in answer && answer.window !== undefined) {
      const { per, counts } = answer.window;
      const name = `${answer.of ?? 'team'}:${per}:${counts}${answer.kind === 'quota_exceeded' ? ' at any time' : ''}`;
      this.ofWindows.set(name, (this.ofWindows.get(name) ?? 0) + 1);
      return;
    }
    if (answer.kind === 'tag_disabled' || ('of' in answer && answer.of === 'tag'))
      this.ofTags.set(answer.kind, (this.ofTags.get(answer.kind) ?? 0) + 1);
    if ('of' in answer && answer.of === 'test_keys') this.ofKeys.set('test_keys', (this.ofKeys.get('test_keys') ?? 0) + 1);
    const isOfKey =
      /^(?:address|scope)/.test(answer.kind) ||
      ('reason' in answer && answer.reason !== undefined) ||
      ('of' in answer && answer.of === 'key');
    if (!isOfKey) return;
    const name = ('reason' in answer ? answer.reason : undefined) ?? answer.kind;
    this.ofKeys.set(name, (this.ofKeys.get(name) ?? 0) + 1);
  }

  /** What a gateway has learned of full windows before now, it has forgotten. */
  dropped(gateway: Process, atMs: number): void {
    this.#droppedAtMs.set(gateway, atMs);
  }

  /**
   * The store would refuse it too, as it answers a copy of the account, unless the team or the key was changed elsewhere within the
   * last second. A clock that jumps, and a failover that loses slots, free them early.
   */
  repeated({ gateway, refused, ...caller }: Repeated, atMs: number, storeMs: number, account: Account | undefined): void {
    this.repetitions++;
    if (atMs - Math.max(this.clockChangedAtMs, this.#lostAtMs) <= RATE_WINDOW_MS) return;
    const { keyId, tag, ...from } = caller;
    if (account === undefined) return this.#violate('L6', `key ${keyId}, which is not known, was refused by ${gateway.name}`);
    const { teamId } = account.team;
    const sinceMs = Math.max(atMs - RATE_WINDOW_MS, this.#droppedAtMs.get(gateway) ?? -Infinity);
    const isChanged = (what: string): boolean => (this.#changedAtMs.get(what) ?? -Infinity) >= sinceMs;
    const isTagChanged = tag !== undefined && isChanged(`${teamId} ${tag.name}`);
    if (isChanged(teamId) || isChanged(keyId) || (refused.of === 'tag' && isTagChanged)) return;
    // A wrong clock is corrected by what a gateway measured, which is some milliseconds old.
    const correctedMs = Math.min(storeMs, ...this.#recentOffsets(atMs).map(({ byMs }) => Math.floor(atMs + byMs)));
    const named = tag === undefined || isTagChanged ? undefined : { name: tag.name, distinctMax: this.#tagsMax! };
    const answer = account.check({ requestId: '', teamId, keyId, ...from, tag: named }, correctedMs);
    if (answer.kind === 'rate_limited' && (answer.of !== refused.of || answer.limit <= refused.limit)) return;
    this.#violate('L6', `key ${keyId} was refused by ${gateway.name} without the store, which says: ${JSON.stringify(answer)}`);
  }

  #recentOffsets(nowMs: number) {
    return this.#offsets.filter(({ atMs }) => nowMs - atMs <= RATE_WINDOW_MS);
  }

  get ids(): ReadonlyMap<string, Held> {
    return this.#ids;
  }

  /** A failover to a replica that has nothing after `lastMs`. */
  loseAfter(lastMs: number, atMs: number): void {
    this.#lostAtMs = atMs;
    const retained = this.#entries.filter((entry) => entry.atMs <= lastMs);
    this.lost.push(...this.#entries.slice(retained.length));
    for (const { action } of this.#entries.slice(retained.length)) {
      const id = action.kind === 'admit' ? action.request.requestId : action.kind === 'resolve' ? action.requestId : undefined;
      const record = id === undefined ? undefined : this.#history.requests.get(id);
      if (record !== undefined) record.excuse ??= 'a write of it was lost in a failover';
    }
    this.#entries = retained;
    this.#ids = new Map();
    for (const { action } of retained) this.#keep(action);
  }

  /** L1, at the moment of the charge: it is for an answer that has been delivered. */
  #checkCharge({ action }: Entry): void {
    if (action.kind !== 'resolve' || action.answer.kind !== 'committed') return;
    const record = this.#history.need(action.requestId);
    if (delivered(record) !== undefined) return;
    this.#violate('L1', `${record.id} was charged, and so far it is: ${endingOf(record)}`);
  }
}
