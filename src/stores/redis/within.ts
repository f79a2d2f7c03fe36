// Stops waiting for a promise after a while.
import { TimedOut } from './failure-cause.ts';

/** Rejects with `TimedOut` when `promise` takes longer; its work goes on all the same. */
export function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimedOut()), Math.max(1, timeoutMs));
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
