// What opening a store throws, and how a program that ends with errors tells an operator that the store does not answer.

/** Its message is one line, names the store without credentials, and says what to do. Never shown to API callers. */
export class StoreError extends Error {
  override name = 'StoreError';
}
