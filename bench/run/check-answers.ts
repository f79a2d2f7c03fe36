// Checks before timing that a contestant's answers belong to their requests, and that it refuses what it should.
import { countCharacters } from '../../src/domain/characters.ts';
import type { Running } from '../contestants/contestant.ts';
import { bodyOf } from '../contestants/sample.ts';

/** Including awkward ones: letters of two, three and four bytes, characters that JSON escapes. */
const WORDS = ['Hallo', 'Ünïcödé', '日本語', '🙂 𝒳', 'a "quoted" \\ line\nbreak'];
const REQUESTS = 64;

/** Sends different texts concurrently and compares every answer. Returns the characters of those answered 200. */
export async function checkAnswers(running: Running): Promise<number> {
  const characters = await Promise.all(Array.from({ length: REQUESTS }, (_, index) => checkOne(running, index)));
  await running.checkRefusals?.();
  return characters.reduce((sum, count) => sum + count, 0);
}

async function checkOne({ port, path, authorizations, expect }: Running, index: number): Promise<number> {
  const texts = WORDS.slice(0, 1 + (index % WORDS.length)).map((word) => `${word} ${index}`);
  const authorization = authorizations[index % authorizations.length]!;
  const headers = { 'content-type': 'application/json', ...(authorization === '' ? {} : { authorization }) };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body: bodyOf(texts) });
  const body = await answer.text();
  const wanted = expect(texts);
  const statusIsRight = answer.status === wanted.status || answer.status === wanted.alsoStatus;
  if (!statusIsRight || (wanted.body !== undefined && body !== wanted.body)) {
    throw new Error(`${texts.join(' | ')} was answered ${answer.status} ${body.slice(0, 300)}`);
  }
  return answer.status === 200 ? texts.reduce((sum, text) => sum + countCharacters(text), 0) : 0;
}
