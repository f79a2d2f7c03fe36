// A fuzz session: a gateway in its own process gets mutated requests for a while, and must neither crash nor fail nor hang.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from '../simulation/random.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { request } from '../../support/raw-http.ts';
import { startScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { startFuzzedGateway } from './fuzz-gateway.ts';
import { outcomeOf } from './fuzz-outcome.ts';
import { Wire } from './fuzz-wire.ts';
import { mutated } from './mutations.ts';

interface FuzzOptions {
  readonly listener: 'uws' | 'node';
  readonly seed: number;
  readonly seconds: number;
  /** Only this one: to reproduce a finding. */
  readonly onlyCase?: number;
}

export interface FuzzReport {
  readonly cases: number;
  /** The number of answers of each kind: a status, `html:N` of the library itself, or `none`. */
  readonly answers: Readonly<Record<string, number>>;
  /** Findings, each with its case, so that `--seed` and `--case` reproduce it. */
  readonly finds: readonly string[];
}

const AT_ONCE = 48;
/** Then the caller leaves. */
const ANSWER_WAIT_MS = 25;
/** A caller who has ended its side is dropped at once. */
const GOODBYE_WAIT_MS = 5_000;
/** In the first seconds, one in this many connections is not closed by the caller: the gateway's own deadlines must close it. */
const HELD_SHARE = 1 / 16;
const HELD_UNTIL_MS = 1_500;
/** The deadline, plus about as much for the library's own timer, and the interval of both. */
const HELD_WAIT_MS = 15_000;
const FINDS_MAX = 20;
/** This many addresses of this machine, because the ports of one would run out. */
const ADDRESSES = 250;

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const folder = await mkdtemp(join(tmpdir(), 'lingate-fuzz-'));
  const engine = await startScriptedEngine();
  const gateway = await startFuzzedGateway(options.listener, folder, engine.url);
  try {
    return await new Session(options, gateway).run();
  } finally {
    await gateway.end('SIGTERM');
    await engine.close();
    await rm(folder, { recursive: true, force: true });
  }
}

class Session {
  readonly #options: FuzzOptions;
  readonly #gateway: GatewayProcess;
  readonly #answers: Record<string, number> = {};
  readonly #finds: string[] = [];
  readonly #held: Promise<void>[] = [];
  readonly #startedAtMs = performance.now();
  #next = 0;

  constructor(options: FuzzOptions, gateway: GatewayProcess) {
    this.#options = options;
    this.#gateway = gateway;
  }

  async run(): Promise<FuzzReport> {
    const { onlyCase } = this.#options;
    if (onlyCase === undefined) await Promise.all(Array.from({ length: AT_ONCE }, () => this.#work()));
    else await this.#play(onlyCase);
    await Promise.all(this.#held);
    await this.#inspect();
    return { cases: this.#next, answers: this.#answers, finds: this.#finds };
  }

  async #work(): Promise<void> {
    const untilMs = this.#startedAtMs + this.#options.seconds * 1000;
    while (performance.now() < untilMs && this.#finds.length < FINDS_MAX && this.#lives()) await this.#play(this.#next++);
  }

  #lives(): boolean {
    return this.#gateway.process.exitCode === null && this.#gateway.process.signalCode === null;
  }

  async #play(index: number): Promise<void> {
    // A seed for each case, so that a case can be run alone.
    const random = new Random(this.#options.seed * 1_000_003 + index);
    const pieces = mutated(random);
    const held = random.chance(HELD_SHARE) && performance.now() - this.#startedAtMs < HELD_UNTIL_MS;
    const politely = random.chance(0.25);
    const wire = await Wire.open(this.#gateway.port, `127.0.0.${1 + (index % ADDRESSES)}`);
    if (wire === undefined) {
      if (this.#lives()) this.#find(index, pieces, 'the connection was refused');
      return;
    }
    await wire.send(pieces);
    await wire.answered(ANSWER_WAIT_MS);
    if (held) {
      this.#held.push(this.#conclude(index, pieces, wire, HELD_WAIT_MS));
      return;
    }
    if (politely) wire.end();
    else wire.reset();
    await this.#conclude(index, pieces, wire, GOODBYE_WAIT_MS);
  }

  async #conclude(index: number, pieces: readonly string[], wire: Wire, waitMs: number): Promise<void> {
    const over = await wire.over(waitMs);
    wire.reset();
    if (!over) this.#find(index, pieces, `it was still open after ${waitMs} ms`);
    const { answers, faults } = outcomeOf(wire.received, this.#options.listener);
    for (const answer of answers) this.#answers[answer] = (this.#answers[answer] ?? 0) + 1;
    for (const fault of faults) this.#find(index, pieces, fault);
  }

  #find(index: number, pieces: readonly string[], what: string): void {
    const { listener, seed } = this.#options;
    this.#finds.push(`--listener ${listener} --seed ${seed} --case ${index}: ${what}; sent ${JSON.stringify(pieces).slice(0, 2000)}`);
  }

  /** What only the whole session shows: the gateway lives, serves, has logged no bug, and holds nothing. */
  async #inspect(): Promise<void> {
    const output = this.#gateway.output();
    const bugs = output.split('\n').filter((line) => line.includes('"a bug"') || line.includes('"level":"error"'));
    this.#finds.push(...bugs.slice(0, FINDS_MAX));
    if (!this.#lives()) {
      this.#finds.push(`the process ended by itself; it printed ${output.slice(-1000)}`);
      return;
    }
    const health = await request({ port: this.#gateway.port, path: '/health' });
    if (health.status !== 200) this.#finds.push(`afterwards /health was ${health.status}`);
    const metrics = await (await fetch(`${this.#gateway.opsUrl}/metrics`)).text();
    for (const name of ['lingate_requests_in_flight', 'lingate_open_reservations', 'lingate_open_settlements']) {
      const value = new RegExp(`^${name} (\\d+)`, 'm').exec(metrics)?.[1];
      if (value !== '0') this.#finds.push(`afterwards ${name} was ${value}`);
    }
  }
}
