// Stops waiting for a promise after a while.

/** Rejects when `promise` takes longer; what it waits for is not stopped by that. */
export function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('Command timed out')), Math.max(1, timeoutMs));
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
