// An engine that does to each request what the request's own text says, attempt by attempt, so that several loads can run in parallel.
import { scriptedTranslation, slow, startScriptedEngine, status } from '../../../src/testing.ts';
import { act } from '../../support/door/contracts.ts';
import type { Act } from '../../../src/testing/scripted-behaviours.ts';
import type { Behaviour, NamedBehaviour, ScriptedEngine } from '../../../src/testing/scripted-engine.ts';

/** What the engine does: a named behaviour, an answer with a status, or a translation after this many milliseconds. */
export type Mark = NamedBehaviour | `status${number}` | number;

/** For the first attempt and the second, at the beginning of a text. */
export function marked(first: Mark, second: Mark): string {
  return `${first}/${second}|`;
}

/** It stores attempts, not requests: runs are long, and so are texts. */
export type MarkedEngine = Omit<ScriptedEngine, 'requests'>;

export async function startMarkedEngine(): Promise<MarkedEngine> {
  const attempts = new Map<string, number>();
  const engine = await startScriptedEngine({ remembers: false });
  const obey: Act = (request, response) => {
    const requestId = String(request.headers['x-request-id']);
    const attempt = attempts.get(requestId) ?? 0;
    attempts.set(requestId, attempt + 1);
    // A behaviour may need the socket itself, which the response knows.
    act(behaviourOf(request.body, attempt), request, response, response.socket!);
  };
  engine.always(obey);
  return engine;
}

function behaviourOf(body: string, attempt: number): Behaviour {
  const { text } = JSON.parse(body) as { readonly text: readonly string[] };
  const marks = text[0]!.slice(0, text[0]!.indexOf('|')).split('/');
  const mark = marks[attempt] ?? 'ok';
  if (mark.startsWith('status')) return status(Number(mark.slice('status'.length)));
  return /^\d+$/.test(mark) ? slow(Number(mark)) : (mark as NamedBehaviour);
}

/** What a right answer contains for this text. */
export function translationOf(text: string): string {
  return scriptedTranslation(text, 'DE');
}
