// The upstream of forward routes: answers completely, returns an error status, fails before its answer, or dies in it.
import type { Cancellation } from '../../../src/core/exchange.ts';
import type { Upstream, UpstreamAnswer, UpstreamFailure, UpstreamRequest, UpstreamResult } from '../../../src/forward/upstream.ts';
import { UpstreamBody } from './upstream-body.ts';
import type { Process } from './virtual-time.ts';
import type { World } from './world.ts';

/** A status that the routes map to `validation_error`, and one that they do not know. */
export const MAPPED_STATUS = 422;
const UNKNOWN_STATUS = 500;

type Fate = 'whole' | 'empty' | 'dies' | 'fails' | 'silent' | 'mapped' | 'status';
const FATES: readonly Fate[] = [
  ...Array<Fate>(9).fill('whole'),
  ...Array<Fate>(4).fill('dies'),
  'empty',
  'fails',
  'silent',
  'mapped',
  'status',
];
const BEFORE_ITS_ANSWER = ['connect', 'reset', 'no_length'] as const;
const EARLY_SHARE = 0.05;

/** Keeps to the deadlines of a request, as the port requires. */
export function simulatedUpstream(world: World): Upstream {
  return { call: (request, cancellation) => new Promise((resolve) => new Call(world, request, cancellation, resolve).start()) };
}

class Call {
  readonly #world: World;
  readonly #process: Process;
  readonly #request: UpstreamRequest;
  readonly #cancellation: Cancellation;
  readonly #resolve: (result: UpstreamResult) => void;
  #sentBytes = 0;
  #over = false;
  #body: UpstreamBody | undefined = undefined;

  constructor(world: World, request: UpstreamRequest, cancellation: Cancellation, resolve: (result: UpstreamResult) => void) {
    this.#world = world;
    this.#process = world.time.current;
    this.#request = request;
    this.#cancellation = cancellation;
    this.#resolve = resolve;
  }

  start(): void {
    const { body, bodyBytesMax, totalMs } = this.#request;
    this.#cancellation.onCancel(() => this.#fail('cancelled'));
    if (totalMs !== undefined) this.#after(totalMs, () => this.#expire());
    if (body === undefined) return this.#sent();
    if (this.#world.random.chance(EARLY_SHARE)) return this.#early();
    body.stream.on('data', (bytes: Uint8Array) => {
      this.#sentBytes += bytes.byteLength;
      if (this.#sentBytes > bodyBytesMax) this.#end('too_large');
    });
    body.stream.once('end', () => this.#sent());
    body.stream.resume();
  }

  /** Refuses before it has read anything. */
  #early(): void {
    this.#after(this.#latencyMs(), () => this.#answer(MAPPED_STATUS, 0, false));
  }

  #sent(): void {
    if (this.#over) return;
    const { random } = this.#world;
    const fate = random.pick(FATES);
    if (fate === 'silent') return this.#after(this.#request.silenceMs, () => this.#fail('timeout'));
    this.#after(Math.min(this.#latencyMs(), this.#request.silenceMs), () => {
      if (fate === 'fails') this.#fail(random.pick(BEFORE_ITS_ANSWER));
      else if (fate === 'mapped') this.#answer(MAPPED_STATUS, 1, false);
      else if (fate === 'status') this.#answer(UNKNOWN_STATUS, 1, false);
      else this.#answer(200, fate === 'empty' ? 0 : random.int(1, 4), fate === 'dies');
    });
  }

  #answer(status: number, pieces: number, dies: boolean): void {
    if (this.#over) return;
    const sizes = Array.from({ length: pieces }, () => this.#world.random.int(1, 100));
    const body = new UpstreamBody(this.#world, this.#process, { sizes, dies, silenceMs: this.#request.silenceMs });
    this.#body = body;
    this.#world.history.need(this.#request.headers['x-request-id'] ?? '').wholeBytes = body.wholeBytes;
    const answer: UpstreamAnswer = {
      status,
      headers: { 'content-type': 'application/octet-stream' },
      bytes: body.bytes,
      body,
    };
    this.#end(answer);
  }

  #fail(failure: UpstreamFailure): void {
    this.#end(failure);
  }

  #expire(): void {
    this.#fail('timeout');
    this.#body?.fail();
  }

  #end(result: UpstreamResult): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancellation.onCancel(undefined);
    this.#resolve(result);
  }

  #latencyMs(): number {
    const { random, scenario } = this.#world;
    return random.latencyMs(scenario.engineLatencyMs);
  }

  #after(delayMs: number, run: () => void): void {
    this.#world.time.after(this.#process, delayMs, run);
  }
}
