// A gateway's attempts at simulated replicas, on a virtual clock; the rules are checked against what happened, not against the code's own state.
import { Rotation } from '../../../src/engines/rotation.ts';
import { ReplicaStanding } from '../../../src/engines/replica.ts';
import type { Attempt } from '../../../src/ports/engine.ts';

interface Phase {
  readonly kind: 'hang' | 'fail' | 'refuse' | 'overload' | 'slow';
  readonly fromMs: number;
  readonly toMs: number;
}

interface Scenario {
  readonly seed: number;
  /** Each replica's faults and their times; otherwise it is good. */
  readonly replicas: readonly (readonly Phase[])[];
  /** The mean time between two requests. */
  readonly gapMs: number | 'one after another';
  readonly timeoutMs: number;
  /** By default until everything has been good for long enough. */
  readonly requests?: number;
}

interface Beginning {
  readonly replica: number;
  readonly atMs: number;
  readonly trial: boolean;
  /** Whether every replica was set aside. */
  readonly noOther: boolean;
}

interface Report {
  readonly beginnings: readonly Beginning[];
  readonly setAside: number;
  readonly asideAtEnd: number;
  readonly violations: readonly string[];
}

interface Event {
  readonly atMs: number;
  readonly run: () => void;
}

/** The longest time for which a replica is set aside. */
const LONGEST_MS = 30_000;
const FIRST_MS = 1000;

class SimulatedReplica {
  readonly index: number;
  readonly standing = new ReplicaStanding();
  readonly phases: readonly Phase[];
  inRow = 0;
  /** The time of the failure that made it known to be bad; `undefined` while it is not. */
  badAtMs: number | undefined = undefined;
  /** The number of attempts that had begun by then: one in the same millisecond may have begun before. */
  badAfter = 0;
  /** The same for the usable answer to a later request that ended this. */
  backAfter = 0;
  trials = 0;
  triedAtMs = 0;
  /** First attempts, except trials, since the set of good replicas last changed. */
  turns = 0;

  constructor(index: number, phases: readonly Phase[]) {
    this.index = index;
    this.phases = phases;
  }

  kindAt(nowMs: number): Phase['kind'] | 'good' {
    return this.phases.find(({ fromMs, toMs }) => nowMs >= fromMs && nowMs < toMs)?.kind ?? 'good';
  }

  /** The time since which it has had no fault. */
  goodSinceMs(nowMs: number): number | undefined {
    if (this.kindAt(nowMs) !== 'good') return undefined;
    return Math.max(0, ...this.phases.filter(({ toMs }) => toMs <= nowMs).map(({ toMs }) => toMs));
  }
}

export function simulateReplicas(scenario: Scenario): Report {
  return new Simulation(scenario).run();
}

class Simulation {
  readonly #scenario: Scenario;
  readonly #replicas: readonly SimulatedReplica[];
  readonly #rotation: Rotation<SimulatedReplica>;
  /** Latest first. */
  readonly #events: Event[] = [];
  readonly #beginnings: Beginning[] = [];
  readonly #violations: string[] = [];
  readonly #endMs: number;
  /** Attempts so far. */
  #began = 0;
  #setAside = 0;
  #nowMs = 0;
  #random: number;
  #requests = 0;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#random = scenario.seed | 0;
    this.#replicas = scenario.replicas.map((phases, index) => new SimulatedReplica(index, phases));
    this.#rotation = new Rotation(() => this.#nowMs);
    this.#rotation.replace(this.#replicas);
    const lastMs = Math.max(0, ...scenario.replicas.flat().map(({ toMs }) => toMs));
    this.#endMs = scenario.requests === undefined ? lastMs + LONGEST_MS + 3 * scenario.timeoutMs + 5000 : Infinity;
  }

  run(): Report {
    this.#request();
    for (;;) {
      const next = this.#events.pop();
      if (next === undefined) break;
      this.#nowMs = next.atMs;
      next.run();
    }
    return {
      beginnings: this.#beginnings,
      setAside: this.#setAside,
      asideAtEnd: this.#replicas.filter(({ standing }) => standing.aside).length,
      violations: this.#violations,
    };
  }

  #request(): void {
    const { gapMs, requests = Infinity } = this.#scenario;
    if (++this.#requests > requests || this.#nowMs > this.#endMs) return;
    if (gapMs !== 'one after another') this.#after(2 * gapMs * this.#chance(), () => this.#request());
    const done = (): void => {
      if (gapMs === 'one after another') this.#request();
    };
    const first = this.#rotation.first();
    this.#attempt(first, false, (usable) => {
      if (usable) return done();
      this.#attempt(this.#rotation.second(first), true, done, first);
    });
  }

  #attempt(replica: SimulatedReplica, second: boolean, done: (usable: boolean) => void, previous?: SimulatedReplica): void {
    const { standing } = replica;
    const trial = standing.isDue(this.#nowMs);
    this.#judgeBeginning(replica, trial, second, previous);
    const ticket = standing.begin(() => this.#nowMs);
    if (trial) {
      replica.trials++;
      replica.triedAtMs = this.#nowMs;
    }
    const { attempt, tookMs } = this.#outcomeOf(replica);
    const began = ++this.#began;
    this.#after(tookMs, () => {
      if (trial && began > replica.backAfter) replica.trials--;
      this.#note(replica, attempt, began, trial);
      const terms = { nowMs: this.#nowMs, wallMs: this.#nowMs, deadlineShare: 1, lone: false };
      const change = attempt.kind === 'usable' ? standing.usable(ticket) : standing.failed(ticket, attempt, terms);
      if (change !== undefined) {
        this.#rotation.recount();
        for (const other of this.#replicas) other.turns = 0;
        if (change === 'set aside') this.#setAside++;
      }
      done(attempt.kind === 'usable');
    });
  }

  #judgeBeginning(replica: SimulatedReplica, trial: boolean, second: boolean, previous: SimulatedReplica | undefined): void {
    const good = this.#replicas.filter(({ standing }) => !standing.aside);
    const wrong = (what: string): void => void this.#violations.push(`${Math.round(this.#nowMs)} ms, replica ${replica.index}: ${what}`);
    this.#beginnings.push({ replica: replica.index, atMs: this.#nowMs, trial, noOther: good.length === 0 });
    if (good.length > 0) {
      if (replica.standing.aside && !trial) wrong('a request waits for one that is known to be bad while a good one idles');
      if (replica.standing.aside && second) wrong('a second attempt is used for a trial while a good one idles');
      if (trial && replica.trials > 0) wrong('a second trial while one is under way');
      // Three failures in a row, or one that suffices, were seen a moment ago.
      if (replica.badAtMs !== undefined && this.#nowMs < replica.badAtMs + FIRST_MS)
        wrong('asked again within a second of being known to be bad');
      if (second && replica === previous && good.length > 1) wrong('a second attempt stays where the first failed');
    }
    if (!second && !trial && good.length > 0) {
      replica.turns++;
      const turns = good.map((other) => other.turns);
      if (Math.max(...turns) - Math.min(...turns) > 1) wrong(`the rotation is not fair: ${turns.join(' ')}`);
    }
    for (const other of this.#replicas) this.#judgeStarving(other, wrong);
  }

  /** Checks replicas that have been good for longer than they could be set aside, plus the time of one trial. */
  #judgeStarving(replica: SimulatedReplica, wrong: (what: string) => void): void {
    const sinceMs = replica.goodSinceMs(this.#nowMs);
    if (sinceMs === undefined || !replica.standing.aside) return;
    const { gapMs, timeoutMs } = this.#scenario;
    const slackMs = timeoutMs + (typeof gapMs === 'number' ? 4 * gapMs : 2 * timeoutMs);
    if (this.#nowMs > sinceMs + LONGEST_MS + timeoutMs + slackMs) wrong(`good replica ${replica.index} is starved`);
  }

  #note(replica: SimulatedReplica, attempt: Attempt, began: number, trial: boolean): void {
    const { badAtMs } = replica;
    if (attempt.kind === 'unusable') {
      // What began before it was back proves nothing, not even a trial that another request's usable answer has overtaken.
      if (began <= replica.backAfter) return;
      // A failed trial shows again that it is bad, so attempts that began before no longer count.
      if (badAtMs !== undefined && !trial) return;
      const atOnce = attempt.failure === 'connect' || attempt.status === 429;
      if (++replica.inRow !== 3 && !atOnce && badAtMs === undefined) return;
      replica.badAtMs = this.#nowMs;
      replica.badAfter = this.#began;
    } else if (badAtMs === undefined || began > replica.badAfter) {
      replica.inRow = 0;
      replica.badAtMs = undefined;
      if (badAtMs === undefined) return;
      replica.backAfter = this.#began;
      // A trial that is still running was overtaken by this answer, and is one no longer.
      replica.trials = 0;
    }
  }

  #outcomeOf(replica: SimulatedReplica): { readonly attempt: Attempt; readonly tookMs: number } {
    const { timeoutMs } = this.#scenario;
    const usableIn = (tookMs: number): { readonly attempt: Attempt; readonly tookMs: number } =>
      tookMs < timeoutMs
        ? { attempt: { kind: 'usable', translations: [] }, tookMs }
        : { attempt: { kind: 'unusable', failure: 'timeout' }, tookMs: timeoutMs };
    switch (replica.kindAt(this.#nowMs)) {
      case 'good':
        return usableIn(1 + 0.5 * timeoutMs * this.#chance() ** 3);
      case 'slow':
        return usableIn(2 * timeoutMs * this.#chance());
      case 'hang':
        return usableIn(Infinity);
      case 'fail':
        return { attempt: { kind: 'unusable', failure: 'status', status: 500 }, tookMs: 5 };
      case 'refuse':
        return { attempt: { kind: 'unusable', failure: 'connect', cause: 'refused' }, tookMs: 1 };
      case 'overload':
        return { attempt: { kind: 'unusable', failure: 'status', status: 429, retryAfter: this.#pick(['2', '60', undefined]) }, tookMs: 2 };
    }
  }

  #after(ms: number, run: () => void): void {
    const atMs = this.#nowMs + ms;
    let at = this.#events.length;
    while (at > 0 && this.#events[at - 1]!.atMs <= atMs) at--;
    this.#events.splice(at, 0, { atMs, run });
  }

  #pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.#chance() * values.length)]!;
  }

  /** Between 0 and 1 (mulberry32). */
  #chance(): number {
    this.#random = (this.#random + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#random ^ (this.#random >>> 15), 1 | this.#random);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }
}
