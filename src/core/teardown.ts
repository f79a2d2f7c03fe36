// Closes what was opened, in reverse order. If one part fails to close, the others are closed anyway.

type Close = () => void | Promise<void>;

export class Teardown {
  readonly #closers: { readonly name: string; readonly close: Close }[] = [];
  readonly #onFailure: (name: string, error: unknown) => void;
  #running: Promise<void> | undefined;
  /** The name of the part that is being closed. To be read only. */
  current: string | undefined;

  constructor(onFailure: (name: string, error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  add(name: string, close: Close): void {
    this.#closers.push({ name, close });
  }

  /** The part itself, which is closed in its turn. */
  closing<T extends { close(): void | Promise<void> }>(name: string, part: T): T {
    this.add(name, () => part.close());
    return part;
  }

  /** Runs once, however often it is called. */
  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  async #run(): Promise<void> {
    for (const { name, close } of this.#closers.toReversed()) {
      this.current = name;
      try {
        await close();
      } catch (error) {
        this.#onFailure(name, error);
      }
    }
    this.current = undefined;
  }
}
