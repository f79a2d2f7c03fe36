// Names what went wrong with Redis by a short fixed word, for logs, metrics and operators; never by the error's own text.

/** Redis's words that an operator can do something about; `refused` stands for all others. */
const REPLY = /(?:^|-)(READONLY|NOREPLICAS|CLUSTERDOWN|MASTERDOWN|LOADING|BUSY|OOM|MISCONF|NOAUTH|WRONGPASS|NOPERM|TRYAGAIN)\b/;
/** The library's errors of these two kinds have neither class nor code. */
const COMMAND_TIMEOUT = 'Command timed out';
const NO_MASTER = 'All sentinels are unreachable';

/** A deadline of our own has passed. */
export class TimedOut extends Error {}

/** `timeout`, a system code (`ECONNREFUSED`), a word of Redis's in lower case, `refused`, `closed`, or that no master is known. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error instanceof TimedOut || error.message === COMMAND_TIMEOUT) return 'timeout';
  if (isNoMaster(error)) return 'no sentinel answers with a master';
  if ('code' in error && typeof error.code === 'string') return error.code === 'ETIMEDOUT' ? 'timeout' : error.code;
  const word = REPLY.exec(error.message)?.[1];
  if (word !== undefined) return word.toLowerCase();
  if (error.name === 'ReplyError') return 'refused';
  // A cluster wraps what its last node said.
  return 'lastNodeError' in error && error.lastNodeError !== error ? causeOf(error.lastNodeError) : 'closed';
}

/** Whether all sentinels have been asked and none has named a master that is up. */
export function isNoMaster(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith(NO_MASTER);
}

/** Stops waiting for a promise after a while: rejects with `TimedOut` when `promise` takes longer; its work goes on all the same. */
export function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimedOut()), Math.max(1, timeoutMs));
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
