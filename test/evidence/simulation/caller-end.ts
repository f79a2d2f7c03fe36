// The caller's side of one request: receives the answer.
import type { Exchange, Handed, Sink } from '../../../src/core/exchange.ts';
import type { Gateway } from '../../../src/core/gateway.ts';
import type { Refusal, Reply } from '../../../src/core/outcome.ts';
import type { Answer, Intent } from './history.ts';
import type { Process } from './virtual-time.ts';
import type { World } from './world.ts';

interface CallerEndTerms {
  readonly world: World;
  readonly process: Process;
  readonly gateway: Gateway;
  readonly intent: Intent;
  /** The answer cannot be written, which is a bug of a plugin. */
  readonly broken: boolean;
}

/** What a listener does for a request. */
export class CallerEnd implements Sink {
  /** Nobody is too slow: callers who are silent are a case of their own. */
  readonly receivedBytes = Infinity;
  readonly #terms: CallerEndTerms;

  constructor(terms: CallerEndTerms) {
    this.#terms = terms;
  }

  send(x: Exchange, outcome: Reply | Refusal): Handed {
    const { broken, process, world } = this.#terms;
    if (broken && outcome.kind === 'reply') throw new Error('an answer that cannot be written');
    const answer = answerOf(outcome, world.time.nowMs);
    world.note(process, `${x.id} is answered ${answer.status} ${answer.code}`);
    world.history.need(x.id).answers.push(answer);
    return 'written';
  }

  /** No route here streams. */
  stream(): void {
    throw new Error('an answer in pieces');
  }

  remoteAddress(): string {
    return this.#terms.intent.address;
  }

  incoming(): undefined {
    return undefined;
  }

  /** The caller closes the connection. */
  leave(x: Exchange): void {
    this.#terms.gateway.abort(x);
  }
}

const NOTHING_TOLD = { billedCharacters: undefined, translations: undefined };

function answerOf(outcome: Reply | Refusal, atMs: number): Answer {
  if (outcome.kind === 'problem') {
    const { code, kind } = outcome.problem;
    return { ...NOTHING_TOLD, atMs, status: kind.status, code };
  }
  const answer = { ...NOTHING_TOLD, atMs, status: outcome.status, code: 'ok' };
  if (outcome.body === '') return answer;
  const body = JSON.parse(String(outcome.body)) as Partial<Translated>;
  return { ...answer, billedCharacters: body.billed_characters, translations: body.translations?.map(({ text }) => text) };
}

interface Translated {
  readonly billed_characters: number;
  readonly translations: readonly { readonly text: string }[];
}
