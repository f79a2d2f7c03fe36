// Takes a request's fields one by one: feeds the framing guard and keeps what some step asked for.
import { FramingGuard } from './framing.ts';

export class HeadReader {
  readonly framing = new FramingGuard();
  readonly #wanted: ReadonlySet<string>;
  #headers: Record<string, string> = {};

  constructor(wanted: ReadonlySet<string>) {
    this.#wanted = wanted;
  }

  start(): void {
    this.framing.reset();
    this.#headers = {};
  }

  /** A bound function, made once: it is handed to the library for every request. `name` in lower case. */
  readonly field = (name: string, value: string): void => {
    this.framing.see(name, value);
    if (!this.#wanted.has(name)) return;
    const earlier = this.#headers[name];
    this.#headers[name] = earlier === undefined ? value : `${earlier}, ${value}`;
  };

  /** The fields of this request. The object may be kept: the next `start` makes a new one. */
  get headers(): Readonly<Record<string, string>> {
    return this.#headers;
  }
}
