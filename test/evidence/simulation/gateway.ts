// One gateway process: the real chains, key cache and settlement queue, on a simulated store and engine.
import type { Exchange } from '../../../src/core/exchange.ts';
import { Gateway } from '../../../src/core/gateway.ts';
import { Router } from '../../../src/core/router.ts';
import type { AccessEntry } from '../../../src/ports/access-entry.ts';
import type { TranslateOptions } from '../../../src/steps/translate.ts';
import type { FullWindows } from '../../../src/ports/key-directory.ts';
import type { Ledger, Resolution } from '../../../src/ports/ledger.ts';
import { KnownFullWindows } from '../../../src/runtime/refusals.ts';
import { SettlementQueue } from '../../../src/runtime/settlement-queue.ts';
import { CallerEnd } from './caller-end.ts';
import { simulatedEngine } from './engine.ts';
import type { Intent } from './history.ts';
import { ulidOf } from './keys.ts';
import type { DrawnRequest } from './requests.ts';
import { simulatedRoutes } from './routes.ts';
import { SILENT } from '../../support/silent-log.ts';
import type { Process } from './virtual-time.ts';
import type { SimulatedStore, StoreClient, World } from './world.ts';

/** How long a clean stop waits for verdicts that the store has not acknowledged: as the application does. */
const SETTLE_WAIT_MS = 5000;

/** Fewer than there are keys in some runs. */
const FULL_WINDOWS_MAX = 3;

/** A request in flight, and its caller's side. */
export interface Begun {
  readonly x: Exchange;
  readonly end: CallerEnd;
}

export class SimulatedGateway {
  readonly process: Process;
  readonly gateway: Gateway;
  readonly client: StoreClient;
  serving = true;
  readonly #world: World;
  readonly #settlements: SettlementQueue;
  readonly #full = new KnownFullWindows({ keysMax: FULL_WINDOWS_MAX, now: () => performance.now() });
  readonly #engine: TranslateOptions['engine'];
  /** Of the request that is being started. */
  #intent: Intent | undefined;

  /** Run it as its own process: what it starts must die with it. */
  constructor(world: World, store: SimulatedStore, process: Process) {
    this.#world = world;
    this.process = process;
    this.client = store.connect(process);
    this.#settlements = new SettlementQueue({
      ledger: this.#watched(this.client.ledger),
      now: () => performance.now(),
      nowMs: () => Date.now(),
      log: SILENT,
      leaseMs: world.scenario.leaseMs,
      onSettled: () => undefined,
    });
    this.#engine = simulatedEngine(world);
    const { client } = this;
    const log = (entry: AccessEntry): void => this.#log(entry);
    const { routes, around } = simulatedRoutes({
      world,
      client,
      engine: this.#engine,
      settlements: this.#settlements,
      full: this.#watchedFull(store.process),
      log,
    });
    this.gateway = new Gateway({
      router: new Router(routes, around),
      around,
      newId: () => this.#newRequest(),
      now: () => performance.now(),
      requestMs: world.scenario.requestMs,
      reportBug: (x, where) => {
        world.note(this.process, `bug of ${x.id} in ${where}`);
        if (where !== 'send') world.history.bugs.push(where);
      },
    });
  }

  get busy(): number {
    return this.gateway.inFlight + this.#settlements.open;
  }

  begin({ head, intent }: DrawnRequest, broken: boolean): Begun {
    this.#intent = intent;
    const end = new CallerEnd({ world: this.#world, process: this.process, gateway: this.gateway, intent, broken });
    return { x: this.gateway.begin(head, end), end };
  }

  /** As at SIGTERM: requests in flight end, verdicts are delivered, everything is closed. */
  async stop(): Promise<void> {
    await this.gateway.idle();
    this.gateway.close();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, SETTLE_WAIT_MS);
    await Promise.race([this.#settlements.drained(), late]);
    clearTimeout(timer);
    this.#settlements.close();
    await this.client.close();
  }

  /** An operator has changed a team or a key by its admin API. */
  teamsChanged(): void {
    this.#full.drop();
    this.#world.journal.dropped(this.process, this.#world.time.nowMs);
  }

  crash(): void {
    this.serving = false;
    this.process.alive = false;
  }

  #watched(ledger: Ledger): Pick<Ledger, 'resolve'> {
    const { history, time } = this.#world;
    return {
      resolve: (asked) => {
        const { teamId, requestId, verdict, characters } = asked;
        const answered = (resolution: Resolution): void => {
          this.#world.note(this.process, `${verdict} of ${requestId}: ${resolution.kind}`);
          if (resolution.kind === 'committed') history.need(requestId).committedAtMs ??= time.nowMs;
          asked.answered(resolution);
        };
        ledger.resolve({ teamId, requestId, verdict, characters, answered, failed: (error) => asked.failed(error) });
      },
    };
  }

  /** What is answered without the store is checked against what the store has done. */
  #watchedFull(store: Process): FullWindows {
    const full = this.#full;
    const { journal, time } = this.#world;
    return {
      get isEmpty() {
        return full.isEmpty;
      },
      note: (caller, refused, askedAtMs) => full.note(caller, refused, askedAtMs),
      refusal: (caller) => {
        const refused = full.refusal(caller);
        if (refused === undefined) return undefined;
        this.#world.note(this.process, `refuses ${caller.keyId} by itself: ${JSON.stringify(refused)}`);
        journal.repeated({ ...caller, gateway: this.process, refused }, time.nowMs, time.wallMs(store));
        return refused;
      },
    };
  }

  #log({ requestId, code, characters }: AccessEntry): void {
    this.#world.history.need(requestId).logged.push({ code, characters });
  }

  /** A request is recorded from the moment it has an id: it may be answered before `begin` returns. */
  #newRequest(): string {
    const { history, random, time } = this.#world;
    const id = ulidOf(random);
    const intent = this.#intent;
    if (intent === undefined) throw new Error('a request that nobody sent');
    const unknown = { leftAtMs: undefined, committedAtMs: undefined, excuse: undefined };
    history.begin({ id, intent, gateway: this.process, sentAtMs: time.nowMs, answers: [], logged: [], ...unknown });
    this.#world.note(this.process, `${id} begins: ${JSON.stringify(intent)}`);
    return id;
  }
}
