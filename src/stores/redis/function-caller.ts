// Calls a single operation's function and supplies the period bounds that it asks for.
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { boundsFor, nextRound } from './rounds.ts';
import type { Offer, Rounds } from './rounds.ts';
import type { FunctionName } from './functions.ts';
import { runRound } from './store-round.ts';
import type { StoreRoundOptions } from './store-round.ts';

export interface FunctionCall {
  readonly name: Exclude<FunctionName, 'ledger'>;
  readonly teamId: string;
  readonly keys: readonly string[];
  /** The arguments after clock, deadline and offer. */
  readonly args: readonly (string | Buffer)[];
  /** Whether its team may have unlisted events afterwards, although that is not so of every call of the function. */
  readonly keepsEvent?: boolean;
}

/** `values` follow the store's time and the answer's word: texts are buffers and may be null. */
export interface FunctionAnswer {
  readonly kind: 'reply';
  readonly word: string;
  readonly values: readonly unknown[];
  readonly nowMs: number;
}

/** Repeats the call only if it had no effect. */
export async function callFunction(options: StoreRoundOptions, call: FunctionCall): Promise<FunctionAnswer | StoreUnavailable> {
  const { name, teamId, keys, args } = call;
  const { nodeOf, time, timeoutMs } = options;
  let rounds: Rounds = { untilMs: performance.now() + timeoutMs, count: 0, late: false };
  let offer: Offer | undefined;
  for (;;) {
    const { untilMs, count } = rounds;
    const node = nodeOf(teamId);
    const terms = [time.clockWordOf(node), String(time.at(node, untilMs)), ...offerWords(offer)];
    const round = await runRound(options, { name, teamId, node, untilMs, first: count === 0, keys, args: [...terms, ...args] });
    if (round.kind === 'unavailable') return round;
    const [nowMs, wordBytes, ...values] = round.value as readonly unknown[];
    const word = String(wordBytes);
    if (word !== 'late' && word !== 'period') return { kind: 'reply', word, values, nowMs: Number(nowMs) };
    if (word === 'period') offer = boundsFor(Number(nowMs), Number(String(values[0])), String(values[1]));
    const next = nextRound(rounds, word);
    if ('kind' in next) return next;
    rounds = next;
  }
}

/** In the order in which the functions read them; all empty if none were asked for. */
function offerWords(offer: Offer | undefined): readonly string[] {
  if (offer === undefined) return ['', '', '', ''];
  return [String(offer.startMs), String(offer.endMs), offer.length, String(offer.anchorMs)];
}
