// Checks Lingate's accounts after the load: its teams must have been charged exactly what was answered, to the character.
import { setTimeout as pause } from 'node:timers/promises';

const AT_ONCE = 32;
/** Commits follow their answers; the last may take a moment. */
const PATIENCE_MS = 5000;

/** Throws if the sum of all teams' characters is not `characters`. */
export async function auditCharacters(port: number, authorizations: readonly string[], characters: number): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const charged = await chargedCharacters(port, authorizations);
    if (charged === characters) return;
    if (performance.now() > until) throw new Error(`its teams were charged ${charged} characters, but ${characters} were delivered`);
    await pause(200);
  }
}

async function chargedCharacters(port: number, authorizations: readonly string[]): Promise<number> {
  let sum = 0;
  for (let done = 0; done < authorizations.length; done += AT_ONCE) {
    const counts = await Promise.all(authorizations.slice(done, done + AT_ONCE).map((key) => characterCount(port, key)));
    sum += counts.reduce((total, count) => total + count, 0);
  }
  return sum;
}

async function characterCount(port: number, authorization: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/usage`, { headers: { authorization } });
  const usage = (await answer.json()) as { character_count?: number };
  if (usage.character_count === undefined) throw new Error(`GET /v1/usage returned ${answer.status}`);
  return usage.character_count;
}
