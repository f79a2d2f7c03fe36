// Everything that the actors of one run share.
import type { TagSettings } from '../../../src/domain/request-tag.ts';
import type { KeyDirectory } from '../../../src/ports/key-directory.ts';
import type { Ledger } from '../../../src/ports/ledger.ts';
import type { Store } from '../../../src/ports/store.ts';
import type { KeyChange, NewKey, TeamChange } from '../../../src/ports/team-registry.ts';
import { History } from './history.ts';
import { Journal } from './journal.ts';
import type { Random } from './random.ts';
import type { Draws, Scenario } from './scenario.ts';
import type { Process, VirtualTime } from './virtual-time.ts';
import { createHash } from 'node:crypto';

class Trace {
  readonly #hash = createHash('sha256');
  readonly #lines: string[] | undefined;

  /** Without `keeps` only the fingerprint is computed. */
  constructor(keeps: boolean) {
    this.#lines = keeps ? [] : undefined;
  }

  add(atMs: number, who: string, what: string): void {
    const line = `${atMs.toFixed(3).padStart(12)} ${who}: ${what}\n`;
    this.#hash.update(line);
    this.#lines?.push(line);
  }

  get text(): string {
    return this.#lines?.join('') ?? '';
  }

  /** Call once, at the end. */
  fingerprint(): string {
    return this.#hash.digest('hex');
  }
}

export class World implements Draws {
  readonly scenario: Scenario;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly keyRandom: Random;
  readonly windowRandom: Random;
  readonly tagRandom: Random;
  readonly changeRandom: Random;
  readonly trace: Trace;
  readonly history = new History();
  readonly violations: string[] = [];
  /** How often each fault had an effect. */
  readonly struck = new Map<string, number>();
  /** Calls of the engine that several requests shared. */
  batches = 0;
  readonly journal: Journal;

  constructor(scenario: Scenario, time: VirtualTime, draws: Draws, keepsTrace: boolean) {
    this.scenario = scenario;
    this.time = time;
    this.random = draws.random;
    this.keyRandom = draws.keyRandom;
    this.windowRandom = draws.windowRandom;
    this.tagRandom = draws.tagRandom;
    this.changeRandom = draws.changeRandom;
    this.trace = new Trace(keepsTrace);
    this.journal = new Journal(this.history, this.violate, scenario.tags?.distinctMax);
  }

  note(who: Process | string, what: string): void {
    this.trace.add(this.time.nowMs, typeof who === 'string' ? who : who.name, what);
  }

  readonly violate = (rule: string, seen: string): void => {
    this.violations.push(`${rule}: ${seen} (at ${this.time.nowMs.toFixed(3)} ms)`);
    this.note('checker', `VIOLATION ${rule}: ${seen}`);
  };
}

/** A gateway process's own connection to the store. */
export interface StoreClient {
  readonly keys: KeyDirectory;
  readonly ledger: Ledger;
  close(): Promise<void>;
  /** Its connection breaks, and cannot be restored for a while. */
  cut(downMs: number): void;
}

/** What operators do; each is run by the store at once, or not at all. */
export type Change =
  | { readonly kind: 'create_team'; readonly team: Parameters<Store['teams']['createTeam']>[0] }
  | { readonly kind: 'update_team'; readonly teamId: string; readonly change: TeamChange }
  | { readonly kind: 'create_key'; readonly key: NewKey }
  | { readonly kind: 'update_key'; readonly keyId: string; readonly teamId: string; readonly change: KeyChange }
  | { readonly kind: 'revoke_key'; readonly keyId: string; readonly teamId: string }
  /** `null` removes the settings. */
  | { readonly kind: 'set_tag'; readonly teamId: string; readonly tag: string; readonly settings: TagSettings | null };
