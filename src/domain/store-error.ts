// What opening a store throws, and how a program that ends with errors tells an operator that the store does not answer.

/** Its message is one line, names the store without credentials, and says what to do. Never shown to API callers. */
export class StoreError extends Error {
  override name = 'StoreError';
}

/** The store does not answer, and may yet: whoever can wait may try again. */
export class StoreAwayError extends StoreError {}

/** There is no store at the place that was named, and this program may not make one there. */
export class NoStoreError extends StoreError {
  /** The place, as a person would look for it; without credentials. */
  readonly place: string;

  constructor(place: string) {
    super(`there is no store at ${place} yet`);
    this.place = place;
  }
}
