// The SQLite store itself, in memory: its group commit, its statements and its checks, without a network in between.
import { isDeepStrictEqual } from 'node:util';
import { ReferenceData, referenceStore } from '../../support/reference-store.ts';
import type { Admission, Resolution } from '../../../src/ports/ledger.ts';
import type { PluginStore } from '../../../src/ports/plugin.ts';
import type { Store } from '../../../src/ports/store.ts';
import { withCallbacks } from '../../../src/stores/records/plugin-store.ts';
import { openSqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { actionOf, perform } from './change.ts';
import type { Action } from '../../support/auditor/deeds.ts';
import { COMMAND_TIMEOUT_MS } from './scenario.ts';
import { promisedLedger } from '../../support/promised-store.ts';
import { SILENT } from '../../support/silent-log.ts';
import { newProcess } from './virtual-time.ts';
import type { Change, SimulatedStore, StoreClient, World } from './world.ts';
import type { Process } from './virtual-time.ts';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import { answered } from '../../../src/domain/store-unavailable.ts';

interface Place {
  readonly teamId: string;
  /** Does the same to another store. */
  readonly again: (store: PluginStore) => unknown;
  action: Action | undefined;
  /** The store's clock when it was done. */
  storeMs: number;
}

interface Done<T> {
  readonly answer: T;
  readonly action: Action;
}

/** Changes that first ask whose key it is, or what a tag has. */
const IN_STEPS: ReadonlySet<Change['kind']> = new Set(['set_tag', 'update_key', 'revoke_key']);

/** A gateway's operation is run by the store's process, so that the gateway may die while it is being written. */
export class EmbeddedWiring implements SimulatedStore {
  readonly process: Process = newProcess('store');
  readonly #world: World;
  readonly #limits = new Map<string, TeamLimits>();
  readonly #modelClock = { ms: 0, nowMs: () => this.#modelClock.ms };
  /** Gets the same operations in the same order, and must answer the same. */
  readonly #model = referenceStore(this.#modelClock, new ReferenceData());
  /** Operations that the store was asked to run and that are not recorded yet. */
  readonly #places: Place[] = [];
  #store: Store | undefined;
  #held: Promise<unknown> | undefined;
  #isEntering = false;

  constructor(world: World) {
    this.#world = world;
  }

  async open(): Promise<void> {
    const { time } = this.#world;
    this.#store = await this.#as(this.process, () =>
      openSqliteStore({
        path: ':memory:',
        log: SILENT,
        clock: { nowMs: () => time.wallMs(this.process) },
        durability: 'normal',
        commandTimeoutMs: COMMAND_TIMEOUT_MS,
      }),
    );
  }

  async close(): Promise<void> {
    await this.#need().close();
  }

  connect(gateway: Process): StoreClient {
    const store = this.#need();
    const ledger = promisedLedger(store.ledger);
    return {
      // Readers of a WAL never wait.
      keys: { find: (digest) => store.keys.find(digest) },
      // Through the boundary at which a plugin's promises become callbacks.
      ledger: withCallbacks({
        admit: (request) =>
          this.#ask<Admission>(
            gateway,
            request.teamId,
            async () => {
              const answer = await ledger.admit(request);
              return { answer, action: { kind: 'admit', request, answer } };
            },
            (model) => model.ledger.admit(request),
          ),
        // Never called: the simulated bodies are short.
        check: (check) => ledger.check(check),
        resolve: (teamId, requestId, verdict, characters) =>
          this.#ask<Resolution>(
            gateway,
            teamId,
            async () => {
              const answer = await ledger.resolve(teamId, requestId, verdict, characters);
              return { answer, action: { kind: 'resolve', requestId, verdict, characters, answer } };
            },
            (model) => model.ledger.resolve(teamId, requestId, verdict, characters),
          ),
      }),
      close: () => Promise.resolve(),
      cut: () => undefined,
    };
  }

  async change(change: Change): Promise<boolean> {
    const teamId = change.kind === 'create_team' ? change.team.teamId : change.kind === 'create_key' ? change.key.teamId : change.teamId;
    const [, action] = actionOf(change, this.#limits.get(teamId));
    if (action.kind === 'team') this.#limits.set(teamId, action.limits);
    await this.#as(this.process, () =>
      this.#whenFree(() => {
        const changed = this.#inOrder(
          teamId,
          async () => {
            await perform(this.#need(), change);
            return { answer: undefined, action };
          },
          (model) => perform(model, change),
        );
        if (IN_STEPS.has(change.kind)) this.#hold(changed);
        return changed;
      }),
    );
    return true;
  }

  async standing(teamId: string) {
    return answered(await this.#as(this.process, () => this.#need().teams.standing(teamId)));
  }

  async usage(teamId: string) {
    return answered(await this.#as(this.process, () => this.#need().teams.usage(teamId)));
  }

  get history(): SimulatedStore['history'] {
    const { history } = this.#need();
    return {
      days: (teamId, range) => this.#as(this.process, () => history.days(teamId, range)),
      periods: (teamId) => this.#as(this.process, () => history.periods(teamId)),
    };
  }

  get tags(): SimulatedStore['tags'] {
    return { days: (teamId, range) => this.#as(this.process, () => this.#need().tags.days(teamId, range)) };
  }

  get tagSettings(): SimulatedStore['tagSettings'] {
    return { list: (teamId) => this.#as(this.process, () => this.#need().tagSettings.list(teamId)) };
  }

  restart(): void {
    throw new Error('the embedded store dies with its gateways');
  }

  setClock(): void {
    throw new Error('the embedded store has the clock of its machine');
  }

  setWrong(): void {
    throw new Error('the embedded store has the clock of its machine');
  }

  noise(): void {
    throw new Error('the embedded store has no network');
  }

  #need(): Store {
    if (this.#store === undefined) throw new Error('the store is not open yet');
    return this.#store;
  }

  /** Such a change takes store and model several steps, between which others could come: they wait until it is done. */
  #hold(changed: Promise<unknown>): void {
    const held = changed.finally(() => {
      if (this.#held === held) this.#held = undefined;
    });
    this.#held = held;
  }

  async #whenFree<T>(run: () => Promise<T>): Promise<T> {
    while (this.#held !== undefined) await this.#held;
    return run();
  }

  /** The store runs operations in order of arrival; their answers take different numbers of turns. */
  async #inOrder<T>(teamId: string, run: () => Promise<Done<T>>, again: Place['again']): Promise<T> {
    const place: Place = { teamId, again, action: undefined, storeMs: 0 };
    this.#places.push(place);
    const { answer, action } = await run();
    place.action = action;
    place.storeMs = this.#world.time.wallMs(this.process);
    await this.#enterDone();
    return answer;
  }

  /** One after the other: the model needs several steps for some changes, too. */
  async #enterDone(): Promise<void> {
    if (this.#isEntering) return;
    this.#isEntering = true;
    while (this.#places[0]?.action !== undefined) await this.#enter(this.#places.shift()!);
    this.#isEntering = false;
  }

  async #enter({ teamId, again, action, storeMs }: Place): Promise<void> {
    const { journal, time } = this.#world;
    if (action === undefined || ('answer' in action && action.answer.kind === 'unavailable')) return;
    this.#modelClock.ms = storeMs;
    const expected = await again(this.#model);
    if ('answer' in action && !isDeepStrictEqual(action.answer, expected)) {
      this.#world.violate('model', `${JSON.stringify(action)} is answered ${JSON.stringify(expected)} by the model`);
    }
    journal.add(time.nowMs, storeMs, teamId, action);
    this.#world.note(this.process, JSON.stringify(action));
  }

  /** The answer reaches the gateway in a turn of its own. */
  #ask<T>(gateway: Process, teamId: string, run: () => Promise<Done<T>>, again: Place['again']): Promise<T> {
    const { random, scenario, time } = this.#world;
    return new Promise((resolve, reject) => {
      this.#as(this.process, () => this.#whenFree(() => this.#inOrder(teamId, run, again))).then(
        (answer) => void time.after(gateway, Math.min(100, random.latencyMs(scenario.storeLatencyMs)), () => resolve(answer)),
        (error: unknown) => void time.after(gateway, 0, () => reject(error instanceof Error ? error : new Error('not an error'))),
      );
    });
  }

  #as<T>(process: Process, run: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#world.time.after(process, 0, () => void run().then(resolve, reject));
    });
  }
}
