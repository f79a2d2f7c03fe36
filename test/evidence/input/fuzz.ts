// A fuzz session: a gateway in its own process gets mutated requests for a while, and must neither crash nor fail nor hang.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from '../simulation/random.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { request } from '../../support/raw-http.ts';
import { startScriptedEngine } from '../../../src/testing.ts';
import { mutated } from './mutations.ts';
import { readResponse } from '../../support/raw-response.ts';
import type { HttpResponse } from '../../support/raw-response.ts';
import { faultsOf } from './clean-answer.ts';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ulid } from 'ulid';
import { digestOf, displayOf, limitsOf } from '../../support/door/terms.ts';
import { answered } from '../../../src/index.ts';
import { KEY } from '../http-table/notation.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import { openBeside } from '../../support/store-place.ts';

const LANGUAGES = fileURLToPath(new URL('../../../config/languages.yaml', import.meta.url));
const PLAN = { ...QUOTA_PLAN, requests_per_second: 100_000, characters: 1_000_000_000, max_glossaries: 10_000 };
const REQUEST_SECONDS = 11;

/** Its one team has the key of the HTTP table. */
async function startFuzzedGateway(listener: 'uws' | 'node', folder: string, engineUrl: string): Promise<GatewayProcess> {
  const store = `sqlite:${folder}/lingate.db`;
  const file = join(folder, 'lingate.yaml');
  const config = {
    listen: '127.0.0.1:0',
    ops: '127.0.0.1:0',
    listener,
    store,
    store_options: { command_timeout_ms: 5000 },
    languages: LANGUAGES,
    engine: { urls: [engineUrl], timeout_ms: 5000 },
    limits: { body_bytes: 65_536, request_seconds: REQUEST_SECONDS, shed_loop_delay_ms: 0, drain_seconds: 1 },
  };
  await writeFile(file, JSON.stringify(config));
  const gateway = await startGatewayProcess({ args: ['serve', '--config', file] });
  const opened = await openBeside(store);
  const teamId = ulid();
  answered(await opened.teams.createTeam({ teamId, name: 'Fuzz', plan: 'fuzz', limits: limitsOf(PLAN), balanceMicro: 0 }));
  answered(
    await opened.teams.createKey({ keyId: ulid(), teamId, digest: digestOf(KEY), display: displayOf(KEY), label: 'fuzz', mode: 'test' }),
  );
  await opened.close();
  return gateway;
}

class Wire {
  readonly #socket: Socket;
  readonly #over: Promise<boolean>;
  readonly #answered: Promise<void>;
  received = Buffer.alloc(0);

  static open(port: number, localAddress: string): Promise<Wire | undefined> {
    const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true, noDelay: true });
    return new Promise((resolve) => {
      socket.once('connect', () => resolve(new Wire(socket)));
      socket.once('error', () => resolve(undefined));
    });
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    const first = Promise.withResolvers<void>();
    const last = Promise.withResolvers<boolean>();
    this.#answered = first.promise;
    this.#over = last.promise;
    const end = (): void => {
      first.resolve();
      last.resolve(true);
    };
    socket.on('data', (chunk: Buffer) => {
      this.received = Buffer.concat([this.received, chunk]);
      first.resolve();
    });
    socket.on('end', end);
    socket.on('error', end);
    socket.on('close', end);
  }

  async send(pieces: readonly string[]): Promise<void> {
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) await nextTurn();
      this.#socket.write(piece, 'latin1');
    }
  }

  async answered(withinMs: number): Promise<void> {
    await Promise.race([this.#answered, delay(withinMs)]);
  }

  async over(withinMs: number): Promise<boolean> {
    const giveUp = new AbortController();
    const delayed = delay(withinMs, false, { signal: giveUp.signal }).catch(() => false);
    const over = await Promise.race([this.#over, delayed]);
    giveUp.abort();
    return over;
  }

  end(): void {
    this.#socket.end();
  }

  reset(): void {
    this.#socket.resetAndDestroy();
  }
}

interface FuzzOutcome {
  /** A status, `html:N` for an answer of the library itself, or `none`. */
  readonly answers: readonly string[];
  readonly faults: readonly string[];
}

/** The library's own answers that deviations 1, 3 to 5, 9 to 12 and 14 of the HTTP table describe. */
const LIBRARY_STATUS = [400, 431, 505];

/** Everything received before the connection ended; the last answer may be cut off by a caller who left. */
function outcomeOf(received: Buffer, listener: 'uws' | 'node'): FuzzOutcome {
  const answers: string[] = [];
  const faults: string[] = [];
  let rest = received;
  while (rest.length > 0) {
    const next = tolerantResponse(rest);
    if (typeof next === 'string') {
      faults.push(`what came is no answer: ${next}`);
      break;
    }
    if (next === undefined) break;
    const { response, length } = next;
    rest = rest.subarray(length);
    const [answer, ...wrong] = judge(response, listener);
    answers.push(answer);
    faults.push(...wrong);
  }
  return { answers: answers.length === 0 ? ['none'] : answers, faults };
}

function judge(response: HttpResponse, listener: 'uws' | 'node'): [answer: string, ...faults: string[]] {
  const { status, headers } = response;
  if (status === 100) return ['100'];
  if (headers['x-request-id'] !== undefined) return [String(status), ...faultsOf(response)];
  const known = listener === 'uws' && LIBRARY_STATUS.includes(status);
  return [`html:${status}`, ...(known ? [] : [`an answer without a request id: ${status}`])];
}

/** The answer to a HEAD looks like one with a missing body: what follows it tells. */
function tolerantResponse(bytes: Buffer): ReturnType<typeof readResponse> | string {
  try {
    const whole = readResponse(bytes, false, false);
    const headless = readResponse(bytes, true, false);
    if (headless === undefined) return undefined;
    if (headless.response.headers['content-length'] === undefined) return readResponse(bytes, false, true);
    const behind = bytes.subarray(headless.length);
    const next = behind.subarray(0, 9).toString('latin1');
    return behind.length === 0 || next.startsWith('HTTP/1.1 ') ? headless : whole;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

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
