// What the parts of the protocol contract work with: scripted engines, the gateway's own way to them, and callers.
import type { Cancellation } from '../../core/exchange.ts';
import { isSecret } from '../../domain/option-schema.ts';
import { NOTHING_CHOSEN } from '../../domain/translation-options.ts';
import type { TranslationOptions } from '../../domain/translation-options.ts';
import { openEngine } from '../../engines/open-engine.ts';
import type { Engine, EngineProtocol, EngineResult, EngineWork } from '../../ports/engine.ts';
import { startScriptedEngine } from '../scripted-engine.ts';
import type { RightAnswer, ScriptedEngine } from '../scripted-engine.ts';

/** An engine protocol, and how an engine answers that speaks it. */
export interface ProtocolSubject {
  readonly protocol: EngineProtocol;
  /** Valid options, secrets as strings and all that is needed named. */
  readonly options?: unknown;
  /** The right body for a request: a text is translated by `scriptedTranslation` for the target `DE`. */
  readonly right: RightAnswer;
  /** Bodies with status 200 that must not be taken for right when two texts in English were sent, by what is wrong with them. */
  readonly wrong: Readonly<Record<string, RightAnswer>>;
}

/** Time enough for a sound engine on a busy machine. */
const TIMEOUT_MS = 5000;
const RESPONSE_BYTES_MAX = 1 << 20;
export const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** A caller that can leave. */
export class Caller implements Cancellation {
  cancelled = false;
  #listener: (() => void) | undefined = undefined;

  onCancel(listener: (() => void) | undefined): void {
    this.#listener = listener;
  }

  leave(): void {
    this.cancelled = true;
    this.#listener?.();
  }
}

export class Bench {
  readonly subject: ProtocolSubject;
  readonly #open: { close(): Promise<void> }[] = [];
  #replicas: readonly ScriptedEngine[] | undefined = undefined;

  constructor(subject: ProtocolSubject) {
    this.subject = subject;
  }

  /** Two scripted engines, sound and without memory of what was before. */
  async replicas(): Promise<readonly [ScriptedEngine, ScriptedEngine]> {
    this.#replicas ??= [await this.#start(), await this.#start()];
    for (const replica of this.#replicas) replica.forget();
    return this.#replicas as [ScriptedEngine, ScriptedEngine];
  }

  /** Does some work over connections of its own, closes them, and gives the result. */
  async translate(
    replicas: readonly ScriptedEngine[],
    work: EngineWork,
    timeoutMs = TIMEOUT_MS,
    caller = new Caller(),
  ): Promise<EngineResult> {
    const engine = this.engine(replicas, timeoutMs);
    try {
      return await new Promise((answered) => engine.translate({ ...work, answered }, caller));
    } finally {
      await engine.close();
    }
  }

  engine(replicas: readonly ScriptedEngine[], timeoutMs = TIMEOUT_MS): Engine {
    return openEngine({
      protocol: this.subject.protocol,
      options: this.subject.options,
      urls: replicas.map(({ url }) => url),
      timeoutMs,
      responseBytesMax: RESPONSE_BYTES_MAX,
      connectionsMax: 8,
      queueMax: 100,
    });
  }

  /** The secrets among the options. */
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

/** English into German, if nothing else is said. */
export function workOf(text: readonly string[], options: Partial<TranslationOptions> = {}): EngineWork {
  return {
    requestId: '01JZZZZZZZZZZZZZZZZZZZZZZZ',
    text,
    options: { ...NOTHING_CHOSEN, sourceLang: 'EN', targetLang: 'DE', ...options },
    traceparent: TRACEPARENT,
  };
}
