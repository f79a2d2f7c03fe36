// Calls a single operation's function and supplies the period bounds that it asks for.
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { boundsFor, Rounds } from './rounds.ts';
import type { Offer } from './rounds.ts';
import type { FunctionName } from './functions.ts';
import { runRound } from './store-round.ts';
import type { StoreRoundOptions } from './store-round.ts';

export interface FunctionCall {
  readonly name: Exclude<FunctionName, 'ledger'>;
  readonly teamId: string;
  readonly keys: readonly string[];
  /** The arguments after clock, deadline and offer. */
  readonly args: readonly (string | Buffer)[];
}

/** `values` follow the store's time and the answer's word: texts are buffers and may be null. */
export interface FunctionAnswer {
  readonly kind: 'reply';
  readonly word: string;
  readonly values: readonly unknown[];
  readonly nowMs: number;
}

export class FunctionCaller {
  readonly #options: StoreRoundOptions;

  constructor(options: StoreRoundOptions) {
    this.#options = options;
  }

  /** Repeats the call only if it had no effect. */
  async call(call: FunctionCall): Promise<FunctionAnswer | StoreUnavailable> {
    const rounds = new Rounds(performance.now() + this.#options.timeoutMs);
    let offer: Offer | undefined;
    for (;;) {
      const round = await this.#once(call, offer, rounds);
      if (round.kind === 'unavailable') return round;
      const [nowMs, wordBytes, ...values] = round.value as readonly unknown[];
      const word = String(wordBytes);
      if (word !== 'late' && word !== 'period') return { kind: 'reply', word, values, nowMs: Number(nowMs) };
      if (word === 'period') offer = boundsFor(Number(nowMs), Number(String(values[0])), String(values[1]));
      const end = rounds.another(word);
      if (end !== undefined) return end;
    }
  }

  #once({ name, teamId, keys, args }: FunctionCall, offer: Offer | undefined, { untilMs, first }: Rounds) {
    return runRound(this.#options, {
      name,
      teamId,
      untilMs,
      first,
      call: (clockMs, deadlineMs) => ({ keys, args: [String(clockMs ?? ''), String(deadlineMs), ...offerWords(offer), ...args] }),
      timeOf: (reply) => Number((reply as readonly unknown[])[0]),
    });
  }
}

/** In the order in which the functions read them; all empty if none were asked for. */
function offerWords(offer: Offer | undefined): readonly string[] {
  if (offer === undefined) return ['', '', '', ''];
  return [String(offer.startMs), String(offer.endMs), offer.length, String(offer.anchorMs)];
}
