// What is under way: one after the other, or to be waited for.

/** Does what concerns a subject one after the other, so that changes by this process never outdate each other. */
export class InTurn {
  /** The last of each subject. */
  readonly #last = new Map<string, Promise<void>>();

  run<T>(subject: string, work: () => Promise<T>): Promise<T> {
    const done = (this.#last.get(subject) ?? Promise.resolve()).then(work);
    const end = (): void => {
      if (this.#last.get(subject) === ended) this.#last.delete(subject);
    };
    const ended = done.then(end, end);
    this.#last.set(subject, ended);
    return done;
  }
}

/** Counts what has begun, so that closing can wait for its end. */
export class UnderWay {
  #count = 0;
  #onEnd: (() => void) | undefined = undefined;

  async track<T>(running: Promise<T>): Promise<T> {
    this.#count++;
    try {
      return await running;
    } finally {
      if (--this.#count === 0) this.#onEnd?.();
    }
  }

  async ended(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => (this.#onEnd = resolve));
  }
}
