// Runs one seed: draws a scenario, runs it, checks what must hold, and reports what it saw.
import { borrowGlobals } from './borrowed-globals.ts';
import { Callers } from './callers.ts';
import { EmbeddedWiring } from './embedded-wiring.ts';
import { FinalChecks } from './final-checks.ts';
import { endingOf } from './history.ts';
import type { History } from './history.ts';
import type { Journal } from './journal.ts';
import { KeyRing } from './keys.ts';
import { Mishaps } from './mishaps.ts';
import { Operators } from './operators.ts';
import { Random } from './random.ts';
import { RedisWiring } from './redis-wiring.ts';
import { drawScenario } from './scenario.ts';
import type { Draws, Scenario } from './scenario.ts';
import { VirtualTime } from './virtual-time.ts';
import { World } from './world.ts';

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
  /** How often each limit by minute to month refused one, by its name or `NAME at any time`, and how often each window ended in between. */
  readonly ofWindows: ReadonlyMap<string, number>;
  /** How often each setting of tags refused one, and how many charges were counted with those of further tags. */
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
  const { ofKeys, ofTags, repetitions } = world.journal;
  for (const team of world.journal.teams.values()) ofTags.set('further', (ofTags.get('further') ?? 0) + team.countedAsFurther);
  const ofWindows = ofWindowsIn(world.journal);
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

function ofWindowsIn({ ofWindows, teams }: Journal): Map<string, number> {
  const seen = new Map(ofWindows);
  for (const [per, times] of [...teams.values()].flatMap((team) => team.windowsEnded())) {
    seen.set(`${per} ended`, (seen.get(`${per} ended`) ?? 0) + times);
  }
  return seen;
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
  const store = scenario.wiring === 'redis' ? new RedisWiring(world) : new EmbeddedWiring(world);
  const keys = new KeyRing();
  const operators = new Operators(world, store, keys);
  await during(world, async () => {
    await store.open();
    await operators.found();
  });
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
  await during(world, () => checks.accounts(store));
  await during(world, () => store.close());
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
