// The fixture of the protocol contract: scripted engines, the gateway's engine client, and callers.
import { isSecret } from '../domain/option-schema.ts';
import { NOTHING_CHOSEN } from '../domain/translation-options.ts';
import type { TranslationOptions } from '../domain/translation-options.ts';
import { Canceller } from '../core/exchange.ts';
import { Balancer } from '../engines/balancer.ts';
import type { EngineProtocol, EngineResult, EngineWork } from '../ports/engine.ts';
import { startScriptedEngine } from './scripted-engine.ts';
import type { RightAnswer, ScriptedEngine } from './scripted-engine.ts';

/** An engine protocol, and the answers of an engine that speaks it. */
export interface ProtocolSubject {
  readonly protocol: EngineProtocol;
  /** Valid options, with secrets as plain strings and every required option set. */
  readonly options?: unknown;
  /** The correct body for a request: texts are translated by `scriptedTranslation` for the target `DE`. */
  readonly right: RightAnswer;
  /** Bodies with status 200 that must be rejected as an answer to two English texts, keyed by what is wrong with them. */
  readonly wrong: Readonly<Record<string, RightAnswer>>;
}

/** Long enough for a well-behaved engine on a busy machine. */
const TIMEOUT_MS = 5000;
const RESPONSE_BYTES_MAX = 1 << 20;
export const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

export class Bench {
  readonly subject: ProtocolSubject;
  readonly #open: { close(): Promise<void> }[] = [];
  #replicas: readonly ScriptedEngine[] | undefined = undefined;

  constructor(subject: ProtocolSubject) {
    this.subject = subject;
  }

  /** Two scripted engines, reset to their initial state. */
  async replicas(): Promise<readonly [ScriptedEngine, ScriptedEngine]> {
    this.#replicas ??= [await this.#start(), await this.#start()];
    for (const replica of this.#replicas) replica.forget();
    return this.#replicas as [ScriptedEngine, ScriptedEngine];
  }

  /** Translates over separate connections, closes them, and returns the result. */
  async translate(
    replicas: readonly ScriptedEngine[],
    work: EngineWork,
    timeoutMs = TIMEOUT_MS,
    caller = new Canceller(),
  ): Promise<EngineResult> {
    const engine = this.engine(replicas, timeoutMs);
    try {
      return await new Promise((answered) => engine.translate({ ...work, answered }, caller));
    } finally {
      await engine.close();
    }
  }

  engine(replicas: readonly ScriptedEngine[], timeoutMs = TIMEOUT_MS): Balancer {
    return new Balancer({
      protocol: this.subject.protocol,
      options: this.subject.options,
      urls: replicas.map(({ url }) => url),
      timeout_ms: timeoutMs,
      response_bytes_max: RESPONSE_BYTES_MAX,
      connections_max: 8,
      queue_max: 100,
    });
  }

  /** The values of secret options. */
  secrets(): string[] {
    const { protocol, options } = this.subject;
    const { properties = {} }: { readonly properties?: Readonly<Record<string, unknown>> } = protocol.options ?? {};
    const values = Object.entries((options ?? {}) as Readonly<Record<string, unknown>>);
    return values.filter(([name]) => isSecret(properties[name])).map(([, value]) => value as string);
  }

  async close(): Promise<void> {
    for (const item of this.#open.splice(0)) await item.close();
  }

  async #start(): Promise<ScriptedEngine> {
    const engine = await startScriptedEngine({ right: this.subject.right });
    this.#open.push(engine);
    return engine;
  }
}

/** From English into German by default. */
export function workOf(text: readonly string[], options: Partial<TranslationOptions> = {}): EngineWork {
  return {
    requestId: '01JZZZZZZZZZZZZZZZZZZZZZZZ',
    text,
    options: { ...NOTHING_CHOSEN, sourceLang: 'EN', targetLang: 'DE', ...options },
    traceparent: TRACEPARENT,
  };
}
