// The Redis store's own driver, on simulated connections to one simulated server.
import type { RedisConnection } from '../../../src/stores/redis/redis-connection.ts';
import { LedgerTurns } from '../../../src/stores/redis/ledger-turns.ts';
import { ServerClocks } from '../../../src/stores/redis/server-clocks.ts';
import { keyDirectory, RedisLink } from '../../../src/stores/redis/redis-link.ts';
import type { Account } from '../../support/reference/account.ts';
import type { NoiseFault } from './faults.ts';
import { LEDGER_FUNCTIONS, ModelServer } from './model-server.ts';
import { COMMAND_TIMEOUT_MS } from './scenario.ts';
import { SILENT } from '../../support/silent-log.ts';
import type { Process } from './virtual-time.ts';
import type { Change, StoreClient, World } from './world.ts';
import { EventEmitter } from 'node:events';
import { readLedgerCall } from './ledger-protocol.ts';
import type { Message } from './model-server.ts';

interface Waiting {
  readonly message: Message;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

type Reply = { readonly value: unknown } | { readonly refusal: string };

const RECONNECT_MS = 50;
const DELAY_MS_MAX = 3000;
const QUIET: NoiseFault = { kind: 'noise', forMs: 0, lost: 0, twice: 0, delayed: 0, refused: 0 };
const REFUSALS = [
  'LOADING Redis is loading the dataset in memory',
  'READONLY You can not write against a read only replica.',
  'OOM command not allowed',
];

/** Settles each command once, as the library does with its queues and resending off: reply, refusal, timeout or lost connection. */
class Connection extends EventEmitter {
  noise: NoiseFault | undefined;
  readonly #world: World;
  readonly #server: ModelServer;
  readonly #gateway: Process;
  readonly #waiting = new Map<number, Waiting>();
  /** Whether the command's outcome is unknown: it must not be sent again. */
  readonly #unknown = new Set<string>();
  #sent = 0;
  #generation: number;
  #connected = true;
  #blockedUntilMs = 0;
  #ended = false;
  #reconnecting: NodeJS.Timeout | undefined;

  constructor(world: World, server: ModelServer, gateway: Process) {
    super();
    this.#world = world;
    this.#server = server;
    this.#gateway = gateway;
    this.#generation = server.generation;
    if (!server.up) {
      this.#connected = false;
      this.#reconnectSoon();
    }
  }

  /** Only functions are called this way. */
  call(_command: 'FCALL', called: string, count: number, ...words: (string | Buffer)[]): Promise<unknown> {
    const name = called.replace(/^lingate_[0-9a-f]+_/, '');
    return this.#send({ kind: 'function', name, keys: words.slice(0, count).map(String), args: words.slice(count) });
  }

  get(key: string): Promise<unknown> {
    return this.#send({ kind: 'get', key });
  }

  quit(): Promise<string> {
    return this.#connected ? Promise.resolve('OK') : Promise.reject(new Error('Connection is closed.'));
  }

  disconnect(): void {
    this.#ended = true;
    clearTimeout(this.#reconnecting);
    for (const number of this.#waiting.keys()) this.#fail(number, 'Connection is closed.');
  }

  /** Breaks now. What is in transit to the server may still arrive there. */
  cut(downMs: number): void {
    this.#blockedUntilMs = Math.max(this.#blockedUntilMs, this.#world.time.nowMs + downMs);
    this.#world.time.after(this.#gateway, 0, () => this.#closed());
  }

  #send(message: Message): Promise<unknown> {
    if (!this.#connected || this.#ended) {
      return Promise.reject(new Error("Stream isn't writeable and enableOfflineQueue options is false"));
    }
    const number = this.#sent++;
    this.#mustNotRepeat(message);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#fail(number, 'Command timed out'), COMMAND_TIMEOUT_MS);
      this.#waiting.set(number, { message, resolve, reject, timer });
      const { random, time } = this.#world;
      const givenUpAtMs = time.nowMs + COMMAND_TIMEOUT_MS;
      const noise = this.#noise();
      if (random.chance(noise.lost)) return;
      const generation = this.#generation;
      // An admission is sent once, on one connection; a settlement may come again.
      const isTwice = random.chance(noise.twice) && admissionsOf(message).length === 0;
      for (let copy = isTwice ? 2 : 1; copy > 0; copy--) {
        time.after(this.#server.process, this.#transitMs(noise), () => this.#arrive(number, message, generation, givenUpAtMs));
      }
    });
  }

  /** At the server. */
  #arrive(number: number, message: Message, generation: number, givenUpAtMs: number): void {
    const { random, time } = this.#world;
    if (!this.#server.up || generation !== this.#server.generation) return;
    const noise = this.#noise();
    const reply: Reply = random.chance(noise.refused)
      ? { refusal: random.pick(REFUSALS) }
      : { value: this.#server.answer(message, givenUpAtMs) };
    if (random.chance(noise.lost)) return;
    time.after(this.#gateway, this.#transitMs(noise), () => {
      if (generation === this.#generation) this.#replied(number, reply);
    });
  }

  #replied(number: number, reply: Reply): void {
    const waiting = this.#take(number);
    if (waiting === undefined) return;
    if ('value' in reply) return waiting.resolve(reply.value);
    const error = new Error(reply.refusal);
    error.name = 'ReplyError';
    waiting.reject(error);
  }

  #fail(number: number, message: string): void {
    const waiting = this.#take(number);
    if (waiting === undefined) return;
    for (const id of admissionsOf(waiting.message)) this.#unknown.add(id);
    waiting.reject(new Error(message));
  }

  #take(number: number): Waiting | undefined {
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    clearTimeout(waiting?.timer);
    return waiting;
  }

  #closed(): void {
    if (!this.#connected) return;
    this.#connected = false;
    this.#generation = -1;
    for (const number of this.#waiting.keys()) this.#fail(number, 'Connection is closed.');
    this.emit('close');
    this.#reconnectSoon();
  }

  #reconnectSoon(): void {
    if (this.#ended) return;
    this.#reconnecting = setTimeout(() => {
      if (!this.#server.up || this.#world.time.nowMs < this.#blockedUntilMs) return this.#reconnectSoon();
      this.#connected = true;
      this.#generation = this.#server.generation;
    }, RECONNECT_MS);
  }

  #mustNotRepeat(message: Message): void {
    for (const id of admissionsOf(message)) {
      if (this.#unknown.has(id)) this.#world.violate('resend', `${id} was sent again, although it was unknown whether it had been run`);
    }
  }

  #noise(): NoiseFault {
    return this.noise ?? QUIET;
  }

  #transitMs(noise: NoiseFault): number {
    const { random, scenario } = this.#world;
    const delayMs = random.chance(noise.delayed) ? random.between(100, DELAY_MS_MAX) : 0;
    return Math.min(100, random.latencyMs(scenario.storeLatencyMs / 2)) + delayMs;
  }
}

function admissionsOf(message: Message): string[] {
  if (message.kind !== 'function' || !LEDGER_FUNCTIONS.includes(message.name)) return [];
  const operations = readLedgerCall(message.keys, message.args[0] as string).groups.flatMap((group) => group.operations);
  return operations.filter(({ kind }) => kind === 'admit').map(({ requestId }) => requestId);
}

export class RedisWiring {
  readonly #world: World;
  readonly #server: ModelServer;
  readonly #connections = new Set<Connection>();
  #noise: NoiseFault | undefined;

  constructor(world: World) {
    this.#world = world;
    this.#server = new ModelServer(world);
  }

  get process(): Process {
    return this.#server.process;
  }

  connect(gateway: Process): StoreClient {
    const connection = new Connection(this.#world, this.#server, gateway);
    connection.noise = this.#noise;
    this.#connections.add(connection);
    const redis = connection as unknown as RedisConnection;
    const clocks = new ServerClocks();
    // Every gateway has met the server while its clock was right: one that is ahead at the start would be believed.
    clocks.learn('', performance.now(), performance.now(), this.#server.storeMs);
    clocks.forget('');
    const link = new RedisLink({ redis, shown: 'simulated', timeoutMs: COMMAND_TIMEOUT_MS, clocks, log: SILENT });
    // The server does what time alone does.
    const ledger = new LedgerTurns(link, () => Promise.resolve());
    return {
      keys: keyDirectory(link),
      ledger,
      close: async () => {
        await ledger.close();
        await link.close();
      },
      cut: (downMs) => connection.cut(downMs),
    };
  }

  /** False if the server was down: nothing has happened then. */
  async change(change: Change): Promise<boolean> {
    if (!this.#server.up) return false;
    this.#server.change(change);
    return true;
  }

  /** A copy of the account of a key's team, to ask without counting anything. */
  accountOf(keyId: string): Account | undefined {
    return this.#server.accountOf(keyId);
  }

  /** Down, and up again with everything but what it did in the last `lostMs`. */
  restart(downMs: number, lostMs: number, clockByMs: number): void {
    this.#server.stop(lostMs);
    for (const connection of this.#connections) connection.cut(downMs);
    this.#world.time.after(this.#world.time.world, downMs, () => this.#server.start(clockByMs));
  }

  setClock(byMs: number): void {
    this.#server.setClock(byMs);
  }

  /** Its clock, as callers' functions read it, is wrong by this much. */
  setWrong(byMs: number): void {
    this.#server.wrongByMs = byMs;
  }

  noise(noise: NoiseFault | undefined): void {
    this.#noise = noise;
    for (const connection of this.#connections) connection.noise = noise;
  }
}
