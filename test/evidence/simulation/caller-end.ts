// The caller's side of one request: receives the answer, whole or streamed, and provides the body of a streaming route.
import { Readable } from 'node:stream';
import type { Exchange, Handed, Sink } from '../../../src/core/exchange.ts';
import type { Gateway } from '../../../src/core/gateway.ts';
import type { Refusal, Reply, StreamReply } from '../../../src/core/outcome.ts';
import { refuse } from '../../../src/core/problem.ts';
import { IncomingBody } from '../../../src/server/incoming-body.ts';
import { StreamedAnswer } from '../../../src/server/streamed-answer.ts';
import type { StreamEnd } from '../../../src/server/streamed-answer.ts';
import type { Answer, Intent } from './history.ts';
import { SimulatedWriter } from './simulated-writer.ts';
import type { Process } from './virtual-time.ts';
import type { World } from './world.ts';

const BROKEN_BODY = refuse('validation_error', 'body: it broke off.');

interface CallerEndTerms {
  readonly world: World;
  readonly process: Process;
  readonly gateway: Gateway;
  readonly intent: Intent;
  /** The answer cannot be written, which is a bug of a plugin. */
  readonly broken: boolean;
  /** Of a body that is read as it arrives; `undefined` if there is none. */
  readonly body: { readonly announcedBytes: number | undefined } | undefined;
}

/** What a listener does for a request, with the listeners' own classes for streamed bodies and answers. */
export class CallerEnd implements Sink {
  /** Nobody is too slow: callers who are silent are a case of their own. */
  readonly receivedBytes = Infinity;
  /** Called when a streamed answer begins. */
  onStream: (() => void) | undefined = undefined;
  readonly #terms: CallerEndTerms;
  readonly #incoming: IncomingBody | undefined;
  #bodyPending: boolean;
  #streamed: StreamedAnswer | undefined = undefined;
  #exchange: Exchange | undefined = undefined;

  constructor(terms: CallerEndTerms) {
    this.#terms = terms;
    this.#bodyPending = terms.body !== undefined;
    if (terms.body === undefined) return;
    this.#incoming = new IncomingBody(new Readable({ read: () => undefined }), {
      bytes: terms.body.announcedBytes,
      limitMs: terms.gateway.requestMs,
      onSilent: () => this.breakBody(),
    });
  }

  /** Called once: it may have been answered before. */
  begun(x: Exchange): Exchange {
    this.#exchange = x;
    return x;
  }

  send(x: Exchange, outcome: Reply | Refusal): Handed {
    if (this.#terms.broken && outcome.kind === 'reply') throw new Error('an answer that cannot be written');
    this.#incoming?.discard();
    this.#answered(x, answerOf(outcome, this.#terms.world.time.nowMs));
    return 'written';
  }

  stream(x: Exchange, outcome: StreamReply): void {
    const { broken, gateway, process, world } = this.#terms;
    if (this.#bodyPending) throw new Error('an answer was started before its request was complete');
    if (broken) throw new Error('an answer that cannot be written');
    const record = world.history.need(x.id);
    record.streamBegan = true;
    world.note(process, `${x.id} is being answered ${outcome.status}`);
    const end = (how: StreamEnd): void => {
      this.#streamed = undefined;
      if (how === 'delivered') this.#delivered(x, outcome, writer.bytes);
      if (how === 'broken') {
        record.brokenAtMs = world.time.nowMs;
        world.note(process, `the answer to ${x.id} breaks behind ${writer.bytes} bytes`);
      }
      gateway.streamed(x, outcome, how);
    };
    const writer = new SimulatedWriter(world, process);
    const { body, bytes } = outcome;
    this.#streamed = new StreamedAnswer({ body, bytes, to: writer, cut: () => writer.destroy(), onEnd: end });
    this.onStream?.();
  }

  remoteAddress(): string {
    return this.#terms.intent.address;
  }

  incoming(): IncomingBody | undefined {
    return this.#incoming;
  }

  /** A piece of the body. */
  feed(bytes: Uint8Array): void {
    if (this.#bodyPending) this.#incoming?.stream.push(bytes);
  }

  endBody(): void {
    if (!this.#bodyPending) return;
    this.#bodyPending = false;
    this.#incoming?.stream.push(null);
  }

  /** The body will never be complete. */
  breakBody(): void {
    if (!this.#bodyPending) return;
    this.#bodyPending = false;
    this.#incoming?.stop();
    if (this.#exchange !== undefined) this.#terms.gateway.callOff(this.#exchange, BROKEN_BODY);
  }

  /** The caller closes the connection. */
  leave(x: Exchange): void {
    if (this.#streamed !== undefined) return this.#streamed.gone();
    this.#bodyPending = false;
    this.#incoming?.stop();
    this.#terms.gateway.abort(x);
  }

  #delivered(x: Exchange, { status }: StreamReply, bytes: number): void {
    const { world } = this.#terms;
    const { wholeBytes } = world.history.need(x.id);
    if (bytes !== wholeBytes) world.violate('stream', `${x.id} was ended behind ${bytes} of ${wholeBytes} bytes`);
    this.#answered(x, { ...NOTHING_TOLD, atMs: world.time.nowMs, status, code: 'ok' });
  }

  #answered(x: Exchange, answer: Answer): void {
    const { process, world } = this.#terms;
    world.note(process, `${x.id} is answered ${answer.status} ${answer.code}`);
    world.history.need(x.id).answers.push(answer);
  }
}

const NOTHING_TOLD = { billedCharacters: undefined, translations: undefined };

function answerOf(outcome: Reply | Refusal, atMs: number): Answer {
  if (outcome.kind === 'problem') {
    const { code, kind } = outcome.problem;
    return { ...NOTHING_TOLD, atMs, status: kind.status, code };
  }
  const answer = { ...NOTHING_TOLD, atMs, status: outcome.status, code: 'ok' };
  if (outcome.body === '') return answer;
  const body = JSON.parse(String(outcome.body)) as Partial<Translated>;
  return { ...answer, billedCharacters: body.billed_characters, translations: body.translations?.map(({ text }) => text) };
}

interface Translated {
  readonly billed_characters: number;
  readonly translations: readonly { readonly text: string }[];
}
