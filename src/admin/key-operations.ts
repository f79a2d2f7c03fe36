// The operations on keys: create, change, revoke, find.
import { digestOf, displayOf, newKey } from '../domain/api-key.ts';
import type { KeyMode } from '../domain/api-key.ts';
import { changedWindows } from '../domain/given-windows.ts';
import type { WindowChange } from '../domain/given-windows.ts';
import type { KeyLimits } from '../domain/key-limits.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { NO_WINDOWS } from '../domain/window-limits.ts';
import type { FoundKey, KeyChange, KeyRecord } from '../ports/team-registry.ts';
import { done, ofTeam } from './admin-result.ts';
import type { AdminResult } from './admin-result.ts';
import type { OperationContext } from './operation-context.ts';
import { newKeyReport } from './reports.ts';
import type { NewKeyReport } from './reports.ts';

interface KeyDraft {
  /** The same; but nobody has seen the key created by the first attempt, so it is revoked and another one created. */
  readonly id?: string | undefined;
  readonly teamId: string;
  readonly mode: KeyMode;
  readonly label: string;
  readonly limits?: KeyLimits;
  /** Creates the key disabled, so that nobody can use it before it is enabled. */
  readonly disabled?: boolean;
}

/** Of `AdminOperations`, which has the same rules for ids. */
export class KeyOperations {
  readonly #context: OperationContext;

  constructor(context: OperationContext) {
    this.#context = context;
  }

  async list(teamId: string): Promise<AdminResult<readonly KeyRecord[]>> {
    return ofTeam(teamId, await this.#context.options.teams.listKeys(teamId));
  }

  async create({ id, teamId, mode, label, limits = {}, disabled = false }: KeyDraft): Promise<AdminResult<NewKeyReport>> {
    const { teams } = this.#context.options;
    const key = newKey(mode);
    const keyId = await this.#idOfKey(id, teamId);
    if (typeof keyId === 'object') return keyId;
    const record = { keyId, teamId, digest: digestOf(key), display: displayOf(key), label, mode, limits };
    const created = ofTeam(teamId, await teams.createKey(record, this.#context.by('createKey')));
    if (created.kind !== 'done') return created;
    if (!disabled) return done(newKeyReport(key, created.value));
    // The key is only returned now: nobody could have used it before.
    const result = await this.update(keyId, { disabled });
    return result.kind === 'done' ? done(newKeyReport(key, result.value), result.replicated) : result;
  }

  /** The id for a new key. If an earlier attempt created a key with this id, that key is revoked and a new id generated. */
  async #idOfKey(id: string | undefined, teamId: string): Promise<string | StoreUnavailable> {
    if (id === undefined) return this.#context.options.newId();
    const keys = await this.#context.options.teams.listKeys(teamId);
    if (isUnavailable(keys)) return keys;
    if (keys?.some(({ keyId }) => keyId === id) !== true) return id;
    const revoked = await this.#context.changing(this.#context.options.teams.revokeKey(id, this.#context.by('revokeKey')));
    return isUnavailable(revoked) ? revoked : this.#context.options.newId();
  }

  async update(keyId: string, change: KeyChange): Promise<AdminResult<KeyRecord>> {
    const { teams } = this.#context.options;
    const key = await this.#context.changing(teams.updateKey(keyId, change, this.#context.by('updateKey')));
    if (key === undefined) return { kind: 'no_such_key', keyId };
    if (isUnavailable(key)) return key;
    // What restricts a key must survive a failover; a changed label or an enabled key need not.
    const weighty = change.disabled === true || change.limits !== undefined;
    return done(key, weighty ? await this.#context.replicated([key.teamId]) : undefined);
  }

  /** Changes some of a key's limits by minute to month, and leaves the others. The change before last of two at once may be lost. */
  async updateWindows(keyId: string, change: KeyChange, windowChange: WindowChange): Promise<AdminResult<KeyRecord>> {
    const before = await this.update(keyId, {});
    if (before.kind !== 'done') return before;
    const windows = changedWindows(before.value.limits.windows ?? NO_WINDOWS, windowChange);
    return this.update(keyId, { ...change, limits: { ...change.limits, windows } });
  }

  async revoke(keyId: string): Promise<AdminResult<KeyRecord>> {
    const key = await this.#context.changing(this.#context.options.teams.revokeKey(keyId, this.#context.by('revokeKey')));
    if (key === undefined) return { kind: 'no_such_key', keyId };
    return isUnavailable(key) ? key : done(key, await this.#context.replicated([key.teamId]));
  }

  /** Revokes every key of a team that is not revoked yet, and returns those. After an interruption, a second run revokes the rest. */
  async revokeAll(teamId: string): Promise<AdminResult<readonly KeyRecord[]>> {
    const { teams } = this.#context.options;
    const listed = await this.list(teamId);
    if (listed.kind !== 'done') return listed;
    const revoked: KeyRecord[] = [];
    const revoke = async (): Promise<StoreUnavailable | undefined> => {
      for (const { keyId } of listed.value.filter(({ status }) => status !== 'revoked')) {
        const key = await teams.revokeKey(keyId, this.#context.by('revokeKey'));
        if (isUnavailable(key)) return key;
        if (key !== undefined) revoked.push(key);
      }
      return undefined;
    };
    const failed = await this.#context.changing(revoke());
    return failed ?? done(revoked, revoked.length === 0 ? undefined : await this.#context.replicated([teamId]));
  }

  /** Finds keys by a whole key, or by the first twelve characters. */
  async find(search: { readonly key: string } | { readonly display: string }): Promise<AdminResult<readonly FoundKey[]>> {
    const found = await this.#context.options.teams.findKeys('key' in search ? { digest: digestOf(search.key) } : search);
    return isUnavailable(found) ? found : done(found);
  }
}
