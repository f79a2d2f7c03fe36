// For the ports whose failures are rejections: an answer of Redis, or a StoreError that says what an operator can do.
import { StoreError } from '../../domain/store-error.ts';
import type { RedisLink } from './redis-link.ts';
import type { ScriptCall } from './script-caller.ts';

/** Runs a script; answers its values, which begin with the store's time and a word. */
export async function valuesOrStoreError(link: RedisLink, call: ScriptCall): Promise<readonly unknown[]> {
  const reply = await link.call(call);
  if (reply.kind === 'unavailable') throw noAnswer(link, reply.cause);
  return reply.values;
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
