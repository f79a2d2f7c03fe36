// The Chrome DevTools Protocol over a pipe: JSON messages that end in a zero byte.
import type { Readable, Writable } from 'node:stream';

export type Params = Readonly<Record<string, unknown>>;
export type OnEvent = (method: string, params: Params) => void;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Params;
  readonly sessionId?: string;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

export class DevTools {
  readonly #commands: Writable;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #listeners = new Map<string, OnEvent>();
  #nextId = 1;
  #rest = '';

  constructor(commands: Writable, answers: Readable) {
    this.#commands = commands;
    // The pipe breaks when the browser is killed; whoever still waits is told by `end`.
    commands.on('error', () => undefined);
    answers.setEncoding('utf8').on('data', (chunk: string) => this.#take(chunk));
  }

  async send<T>(method: string, params: Params = {}, sessionId?: string): Promise<T> {
    const id = this.#nextId++;
    const waiter = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiter);
    this.#commands.write(`${JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) })}\0`);
    return (await waiter.promise) as T;
  }

  onEvent(sessionId: string, listener: OnEvent): void {
    this.#listeners.set(sessionId, listener);
  }

  end(reason: string): void {
    for (const waiter of this.#waiting.values()) waiter.reject(new Error(reason));
    this.#waiting.clear();
  }

  #take(chunk: string): void {
    const messages = (this.#rest + chunk).split('\0');
    this.#rest = messages.pop()!;
    for (const text of messages) this.#handle(JSON.parse(text) as Message);
  }

  #handle({ id, method, params = {}, sessionId = '', result, error }: Message): void {
    if (id === undefined) return this.#listeners.get(sessionId)?.(method!, params);
    const waiter = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiter?.resolve(result);
    else waiter?.reject(new Error(error.message));
  }
}
