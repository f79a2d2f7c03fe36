// Work and callers for engine tests.
import { nativeProtocol } from '../../../src/engines/protocols/native-protocol.ts';
import { Balancer } from '../../../src/engines/balancer.ts';
import type { EngineOptions } from '../../../src/engines/balancer.ts';
import type { Cancellation } from '../../../src/core/exchange.ts';
import { NOTHING_CHOSEN } from '../../../src/domain/translation-options.ts';
import type { TranslationOptions } from '../../../src/domain/translation-options.ts';
import type { Engine, EngineResult, EngineWork } from '../../../src/ports/engine.ts';
import { startScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';

/** The parts of work that a test sets; options are beside the others. */
export type WorkParts = Partial<Omit<EngineWork, 'options'> & TranslationOptions>;

export function work(parts: WorkParts = {}): EngineWork {
  const { requestId = '01JZZZZZZZZZZZZZZZZZZZZZZZ', text = ['Hello', 'Good night'], traceparent, ...options } = parts;
  return { requestId, text, traceparent, options: { ...NOTHING_CHOSEN, targetLang: 'DE', ...options } };
}

/** A caller that can leave, and shows whether it is still being watched. */
export class Caller implements Cancellation {
  cancelled = false;
  listener: (() => void) | undefined = undefined;

  onCancel(listener: (() => void) | undefined): void {
    this.listener = listener;
  }

  leave(): void {
    this.cancelled = true;
    this.listener?.();
  }
}

/** What a test file opens, closed in reverse order: an engine before what it is connected to, or closing would look like a fault. */
export class Opened {
  readonly #open: { close(): Promise<void> }[] = [];

  add<T extends { close(): Promise<void> }>(item: T): T {
    this.#open.push(item);
    return item;
  }

  async scripted(options: { readonly port?: number } = {}): Promise<ScriptedEngine> {
    return this.add(await startScriptedEngine(options));
  }

  /** An engine with enough room and time for a healthy test; a test of limits sets its own. */
  engine(urls: readonly string[], options: Partial<EngineOptions> = {}): Balancer {
    const limits = { timeout_ms: 5000, response_bytes_max: 1 << 20, connections_max: 8, queue_max: 8 };
    return this.add(new Balancer({ protocol: nativeProtocol, urls, ...limits, ...options }));
  }

  async close(): Promise<void> {
    for (const item of this.#open.splice(0).toReversed()) await item.close();
  }
}

/** The engine's result. Rejects if it comes before the engine has returned, or twice. */
export function asked(
  engine: Pick<Engine, 'translate'>,
  what: EngineWork = work(),
  caller: Cancellation = new Caller(),
): Promise<EngineResult> {
  return new Promise((resolve, reject) => {
    let returned = false;
    let count = 0;
    const answered = (result: EngineResult): void => {
      count++;
      if (!returned || count > 1) reject(new Error(returned ? 'answered twice' : 'answered before the engine had returned'));
      else setImmediate(() => resolve(result));
    };
    engine.translate({ ...what, answered }, caller);
    returned = true;
  });
}
