// Names a failed command by a short fixed word, for logs and metrics.

const REPLY = /(?:^|-)(READONLY|NOREPLICAS|CLUSTERDOWN|MASTERDOWN|LOADING|BUSY|OOM|MISCONF|NOAUTH|NOPERM|TRYAGAIN)\b/;

/** `refused` is any other error reply. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.message.includes('timed out')) return 'timeout';
  const reply = REPLY.exec(error.message);
  if (reply?.[1] !== undefined) return reply[1].toLowerCase();
  return error.name === 'ReplyError' ? 'refused' : 'closed';
}
