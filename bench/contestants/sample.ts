// The request that most of the bench sends, and checks of refusals with it.
import { NUMBER_PLACE } from '../load/text-variety.ts';
import { TRANSLATE_PATH } from './contestant.ts';

export const SAMPLE_TEXT = 'The house by the sea is for sale.';
export const SAMPLE_CHARACTERS = SAMPLE_TEXT.length;
/** The same length as the other. */
export const NUMBERED_TEXT = `The house by the sea is ${NUMBER_PLACE}.`;
/** The 65 bytes that most of the bench sends. */
export const SAMPLE_BODY = bodyOf([SAMPLE_TEXT]);

export function bodyOf(texts: readonly string[]): string {
  return JSON.stringify({ text: texts, target_lang: 'DE' });
}

async function statusOf(port: number, authorization: string): Promise<number> {
  const headers = { 'content-type': 'application/json', ...(authorization === '' ? {} : { authorization }) };
  const answer = await fetch(`http://127.0.0.1:${port}${TRANSLATE_PATH}`, { method: 'POST', headers, body: SAMPLE_BODY });
  await answer.arrayBuffer();
  return answer.status;
}

export async function expectStatus(port: number, authorization: string, wanted: number, what: string): Promise<void> {
  const status = await statusOf(port, authorization);
  if (status !== wanted) throw new Error(`${what} returned ${status} instead of ${wanted}`);
}

/** One of several concurrent requests over a limit must be refused. */
export async function expectLimit(port: number, authorization: string, requests: number): Promise<void> {
  const statuses = await Promise.all(Array.from({ length: requests }, () => statusOf(port, authorization)));
  if (!statuses.includes(429)) throw new Error(`${requests} concurrent requests over the limit were all admitted: ${statuses.join(' ')}`);
}
