// The one error by which stores tell operators that they cannot serve.

/** Its message is one line, names the store without credentials, and says what to do. Never shown to API callers. */
export class StoreError extends Error {
  override name = 'StoreError';
}
