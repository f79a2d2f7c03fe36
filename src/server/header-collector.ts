// Receives a request's fields one by one: passes them to the framing guard, and keeps those that some step reads.
import { REMOTE_ADDRESS } from '../core/exchange.ts';
import { FramingGuard } from './framing.ts';

export class HeaderCollector {
  readonly framing = new FramingGuard();
  /** The names to keep, grouped by length: most other fields already differ in length, so no name has to be hashed. */
  readonly #wanted: readonly (readonly string[] | undefined)[];
  #headers: Record<string, string> = {};
  /** Whether some step reads the address of the connection. */
  readonly wantsAddress: boolean;

  constructor(wanted: ReadonlySet<string>) {
    const byLength: string[][] = [];
    for (const name of wanted) (byLength[name.length] ??= []).push(name);
    this.#wanted = byLength;
    this.wantsAddress = wanted.has(REMOTE_ADDRESS);
  }

  start(): void {
    this.framing.reset();
    this.#headers = {};
  }

  /** A bound function, created once because the library receives it for every request. `name` is in lower case. */
  readonly field = (name: string, value: string): void => {
    this.framing.see(name, value);
    const wanted = this.#wanted[name.length];
    if (wanted !== undefined) for (const known of wanted) if (known === name) this.#keep(known, value);
  };

  /** `name` is our own, internalized string; the library's would first have to be looked up to serve as a property name. */
  #keep(name: string, value: string): void {
    const earlier = this.#headers[name];
    this.#headers[name] = earlier === undefined ? value : `${earlier}, ${value}`;
  }

  /** Only if `wantsAddress`. */
  remoteAddress(text: string): void {
    this.#headers[REMOTE_ADDRESS] = text;
  }

  /** The fields of this request. The object may be kept: the next `start` creates a new one. */
  get headers(): Readonly<Record<string, string>> {
    return this.#headers;
  }
}
