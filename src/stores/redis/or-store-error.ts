// For the ports whose failures are rejections: an answer of Redis, or a StoreError that says what an operator can do.
import { StoreError } from '../../domain/store-error.ts';
import type { StoreUnavailable } from '../../ports/key-directory.ts';
import type { RedisLink } from './redis-link.ts';
import type { ScriptCall, ScriptReply } from './script-caller.ts';

export type ScriptValues = Exclude<ScriptReply, StoreUnavailable>;

/** Runs a script. */
export async function valuesOrStoreError(link: RedisLink, call: ScriptCall): Promise<ScriptValues> {
  const reply = await link.call(call);
  if (reply.kind === 'unavailable') throw noAnswer(link, reply.cause);
  return reply;
}

/** Runs plain commands. */
export async function answerOrStoreError<T>(link: RedisLink, command: (link: RedisLink) => Promise<T>): Promise<T> {
  const answer = await link.guard(() => command(link));
  if (answer.kind === 'unavailable') throw noAnswer(link, answer.cause);
  return answer.value;
}

function noAnswer({ shown }: RedisLink, cause: string): StoreError {
  return new StoreError(
    `the store ${shown} gave no answer (${cause}): see that it runs, and look whether a change was made before you repeat it`,
  );
}
