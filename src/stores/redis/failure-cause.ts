// Classifies Redis failures by a short fixed word for logs, metrics and operators; never by the error's own text.

/** Redis's error codes that operators can act on; all others become `refused`. */
const REPLY = /(?:^|-)(READONLY|NOREPLICAS|CLUSTERDOWN|MASTERDOWN|LOADING|BUSY|OOM|MISCONF|NOAUTH|WRONGPASS|NOPERM|TRYAGAIN)\b/;
/** The driver's errors of these two kinds have neither a class nor a code. */
const COMMAND_TIMEOUT = 'Command timed out';
const NO_MASTER = 'All sentinels are unreachable';

/** One of Lingate's own deadlines has passed. */
class TimedOut extends Error {}

/** `timeout`, a system code (`ECONNREFUSED`), a Redis error code in lower case, `refused`, `closed`, or that no master is known. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error instanceof TimedOut || error.message === COMMAND_TIMEOUT) return 'timeout';
  if (isNoMaster(error)) return 'no sentinel answers with a master';
  if ('code' in error && typeof error.code === 'string') return error.code === 'ETIMEDOUT' ? 'timeout' : error.code;
  const word = REPLY.exec(error.message)?.[1];
  if (word !== undefined) return word.toLowerCase();
  if (error.name === 'ReplyError') return 'refused';
  // A cluster wraps the last node's error.
  return 'lastNodeError' in error && error.lastNodeError !== error ? causeOf(error.lastNodeError) : 'closed';
}

/** Whether all sentinels were asked and none named a working master. */
export function isNoMaster(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith(NO_MASTER);
}

/** Rejects with `TimedOut` if `promise` takes longer; does not cancel its work. */
export function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimedOut()), Math.max(1, timeoutMs));
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
