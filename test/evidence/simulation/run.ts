// Runs one seed: draws a scenario, runs it, checks what must hold, and reports what it saw.
import { FinalChecks } from './final-checks.ts';
import { endedAtMs, endingOf } from './history.ts';
import type { History } from './history.ts';
import { BEFORE_CREATION_SHARE, KeyRing } from './keys.ts';
import { Mishaps } from './mishaps.ts';
import { Operators } from './operators.ts';
import { Random } from './random.ts';
import { RedisWiring } from './redis-wiring.ts';
import { drawScenario } from './scenario.ts';
import type { Draws, Scenario } from './scenario.ts';
import { VirtualTime } from './virtual-time.ts';
import { World } from './world.ts';
import type { Exchange } from '../../../src/core/exchange.ts';
import { refuse } from '../../../src/core/problem.ts';
import type { Begun, SimulatedGateway } from './gateway.ts';
import { drawAddress } from './key-limits.ts';
import { drawRequest } from './requests.ts';
import type { DrawnRequest, SentBody } from './requests.ts';
import { drawTag } from './tags.ts';
import type { Event } from './event-queue.ts';
import type { Process } from './virtual-time.ts';

/** How long every process has been up when a run begins: no real monotonic clock starts at 0. */
const STARTED_MS = 1000;

/**
 * The product takes no parameter for this: it calls what every Node program calls, and so do the libraries below it.
 * Everything that asks for time or randomness during a run gets it from the run.
 */
function borrowGlobals(time: VirtualTime, random: Random): () => void {
  const retained = Object.entries(replacements(time)).map(([name, value]) => replace(globalThis, name, value));
  retained.push(replace(Date, 'now', () => time.wallMs(time.current)));
  retained.push(replace(performance, 'now', () => STARTED_MS + time.nowMs));
  retained.push(replace(Math, 'random', () => random.next()));
  return () => {
    for (const putBack of retained.toReversed()) putBack();
  };
}

type Callback = (...args: readonly unknown[]) => void;

function replacements(time: VirtualTime): Record<string, unknown> {
  const clear = (timer: unknown): void => {
    if (timer instanceof VirtualTimer) timer.close();
  };
  return {
    setTimeout: (run: Callback, delayMs?: number, ...args: unknown[]) =>
      new VirtualTimer(time, () => run(...args), atLeastOne(delayMs), false),
    setInterval: (run: Callback, delayMs?: number, ...args: unknown[]) =>
      new VirtualTimer(time, () => run(...args), atLeastOne(delayMs), true),
    setImmediate: (run: Callback, ...args: unknown[]) => new VirtualTimer(time, () => run(...args), 0, false),
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
  };
}

/** As Node does. */
function atLeastOne(delayMs: number | undefined): number {
  return delayMs !== undefined && delayMs >= 1 ? delayMs : 1;
}

class VirtualTimer {
  readonly #time: VirtualTime;
  readonly #process: Process;
  readonly #run: () => void;
  readonly #delayMs: number;
  readonly #repeats: boolean;
  #event: Event;
  /** Counted among those that keep the process running. */
  #holds = true;

  constructor(time: VirtualTime, run: () => void, delayMs: number, repeats: boolean) {
    this.#time = time;
    this.#process = time.current;
    this.#run = run;
    this.#delayMs = delayMs;
    this.#repeats = repeats;
    this.#process.timers++;
    this.#event = this.#arm();
  }

  close(): this {
    this.#time.cancel(this.#event);
    return this.unref();
  }

  /** Restarts it, even if it has fired. */
  refresh(): this {
    this.#time.cancel(this.#event);
    if (!this.#holds) this.#process.timers++;
    this.#holds = true;
    this.#event = this.#arm();
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    if (this.#holds) this.#process.timers--;
    this.#holds = false;
    return this;
  }

  #arm(): Event {
    return this.#time.after(this.#process, this.#delayMs, () => {
      if (this.#repeats) this.#event = this.#arm();
      else this.unref();
      this.#run();
    });
  }
}

function replace(holder: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(holder, name);
  Object.defineProperty(holder, name, { value, configurable: true, writable: true, enumerable: before?.enumerable ?? false });
  return () => {
    if (before === undefined) Reflect.deleteProperty(holder, name);
    else Object.defineProperty(holder, name, before);
  };
}

const BROKEN_BODY = refuse('validation_error', 'body: it broke off.');

class Callers {
  readonly #world: World;
  readonly #gateways: readonly SimulatedGateway[];
  readonly #keys: KeyRing;

  constructor(world: World, gateways: readonly SimulatedGateway[], keys: KeyRing) {
    this.#world = world;
    this.#gateways = gateways;
    this.#keys = keys;
  }

  /** Plans all requests of the run. They come in bursts, or the rate would never be the limit. */
  start(): void {
    const { random, scenario, time } = this.#world;
    let atMs = 0;
    for (let i = 0; i < scenario.requests; i++) {
      if (random.chance(0.4)) atMs = random.between(0, scenario.loadMs);
      atMs += random.pick([0, 0.1, 3, 50]);
      time.after(time.world, atMs, () => this.#send());
    }
  }

  #send(): void {
    const { random, scenario, time } = this.#world;
    const serving = this.#gateways.filter((gateway) => gateway.serving);
    if (serving.length === 0) return;
    const gateway = random.pick(serving);
    const key = this.#keys.draw(random, BEFORE_CREATION_SHARE);
    const tag = scenario.tags === undefined ? undefined : drawTag(this.#world.tagRandom);
    const request = drawRequest(random, { key: key.value, keyId: key.keyId, address: drawAddress(this.#world.keyRandom), tag });
    const broken = scenario.brokenAnswers && random.chance(0.2);
    time.after(gateway.process, 0, () => {
      if (gateway.serving) this.#begin(gateway, request, broken);
    });
  }

  #begin(gateway: SimulatedGateway, request: DrawnRequest, broken: boolean): void {
    const { random } = this.#world;
    const begun = gateway.begin(request, broken);
    if (random.chance(0.12)) this.#leaveLater(gateway, begun);
    this.#sendBody(gateway, begun, request.body);
  }

  #sendBody(gateway: SimulatedGateway, { x }: Begun, body: SentBody): void {
    const { random, time } = this.#world;
    if (x.outcome !== undefined || !x.route.takesBody || body === 'never') return;
    const hand = (): void => {
      if (x.outcome !== undefined || this.#hasLeft(x)) return;
      if (body === 'broken') gateway.gateway.callOff(x, BROKEN_BODY);
      else gateway.gateway.body(x, body);
    };
    if (random.chance(0.5)) hand();
    else time.after(gateway.process, random.latencyMs(5), hand);
  }

  #leaveLater(gateway: SimulatedGateway, { x, end }: Begun): void {
    const { random, scenario } = this.#world;
    const { storeLatencyMs, engineLatencyMs } = scenario;
    const patienceMs = random.pick([0, random.latencyMs(storeLatencyMs), random.latencyMs(engineLatencyMs)]);
    const { history, time } = this.#world;
    time.after(gateway.process, patienceMs, () => {
      const record = history.need(x.id);
      // A caller who has the answer already is done: a listener no longer reports that they left.
      if (endedAtMs(record) !== undefined) return;
      record.leftAtMs = time.nowMs;
      this.#world.note('caller', `${x.id} leaves`);
      end.leave(x);
    });
  }

  #hasLeft(x: Exchange): boolean {
    return this.#world.history.need(x.id).leftAtMs !== undefined;
  }
}

export interface RunResult {
  readonly seed: number;
  readonly scenario: Scenario;
  readonly requests: number;
  /** How often requests ended in each way. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** How often each fault had an effect. */
  readonly struck: ReadonlyMap<string, number>;
  /** Calls of the engine that several requests shared. */
  readonly batches: number;
  /** How often each limit of keys refused one; and how often an address was needed. */
  readonly ofKeys: ReadonlyMap<string, number>;
  /** How often each limit by minute to month refused one, by its name or `NAME at any time`. */
  readonly ofWindows: ReadonlyMap<string, number>;
  /** How often each setting of tags refused one. */
  readonly ofTags: ReadonlyMap<string, number>;
  /** How often a gateway refused a request without asking the store. */
  readonly repetitions: number;
  /** Equal for two runs of one seed. */
  readonly fingerprint: string;
  readonly violations: readonly string[];
  /** Every line, if requested. */
  readonly trace: string;
}

interface RunOptions {
  readonly keepsTrace?: boolean;
}

/** Apart from all other draws. */
const CHANGE_SEED = 0x5bd1e995;
const WINDOW_SEED = 0x2c1b3c6d;
const TAG_SEED = 0x1f83d9ab;
const SETTLED_MS = 6000;
const ENOUGH_VIOLATIONS = 20;

export async function runSeed(seed: number, { keepsTrace = false }: RunOptions = {}): Promise<RunResult> {
  const random = new Random(seed);
  const draws: Draws = {
    random,
    keyRandom: new Random(~seed),
    windowRandom: new Random(seed ^ WINDOW_SEED),
    tagRandom: new Random(seed ^ TAG_SEED),
    changeRandom: new Random(seed ^ CHANGE_SEED),
  };
  const scenario = drawScenario(draws);
  const time = new VirtualTime(scenario.beginningMs);
  const world = new World(scenario, time, draws, keepsTrace);
  world.note('scenario', JSON.stringify(scenario));
  const giveBack = borrowGlobals(time, random);
  try {
    await play(world);
  } finally {
    giveBack();
  }
  const { history, struck, trace, violations } = world;
  const { ofKeys, ofTags, ofWindows, repetitions } = world.journal;
  const seen = {
    requests: history.requests.size,
    outcomes: outcomesOf(history),
    struck,
    batches: world.batches,
    ofKeys,
    ofTags,
    ofWindows,
    repetitions,
  };
  return { seed, scenario, ...seen, fingerprint: trace.fingerprint(), violations, trace: trace.text };
}

function outcomesOf(history: History): Map<string, number> {
  const outcomes = new Map<string, number>();
  for (const record of history.requests.values()) {
    const outcome = endingOf(record);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  return outcomes;
}

async function play(world: World): Promise<void> {
  const { history, scenario, time } = world;
  const store = new RedisWiring(world);
  const keys = new KeyRing();
  const operators = new Operators(world, store, keys);
  await during(world, () => operators.found());
  const mishaps = new Mishaps(world, store);
  mishaps.start();
  operators.start(mishaps.gateways);
  new Callers(world, mishaps.gateways, keys).start();

  const checks = new FinalChecks(world, keys);
  const until = (endMs: number) => time.runUntil(endMs, () => world.violations.length >= ENOUGH_VIOLATIONS);
  await until(scenario.loadMs + scenario.requests * 50);
  await until(Math.max(time.nowMs, history.lastDisturbedMs) + scenario.requestMs + SETTLED_MS);
  checks.whileLeasesRun();
  for (const gateway of mishaps.gateways) {
    if (gateway.busy > 0) world.violate('stuck', `${gateway.process.name} still has ${gateway.busy} requests or verdicts open`);
  }
  const clockMs = scenario.faults.reduce((total, fault) => total + clockBackMs(fault), 0);
  await until(time.nowMs + scenario.leaseMs + clockMs);
  checks.requests();
}

/** Lets time pass until something outside the run has finished. */
async function during(world: World, work: () => Promise<void>): Promise<void> {
  let done = false;
  let failure: unknown;
  world.time.after(world.time.world, 0, () => {
    work().then(
      () => (done = true),
      (error: unknown) => {
        failure = error;
        done = true;
      },
    );
  });
  await world.time.runUntil(Infinity, () => done);
  if (failure !== undefined) throw failure;
}

/** Leases end later by as much as the store's clock steps back. */
function clockBackMs(fault: Scenario['faults'][number]): number {
  if (fault.kind === 'store_clock') return Math.max(0, -fault.byMs);
  return fault.kind === 'store_failover' ? Math.max(0, -fault.clockByMs) : 0;
}
