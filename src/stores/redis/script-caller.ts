// Runs a single operation's script, and answers its questions about periods.
import type { StoreUnavailable } from '../../ports/key-directory.ts';
import { NO_OFFER, boundsFor } from './period-offer.ts';
import type { Offer } from './period-offer.ts';
import type { ScriptName } from './scripts.ts';
import { LATE, ROUNDS_MAX, UNSETTLED, runRound } from './store-round.ts';
import type { StoreRoundOptions } from './store-round.ts';

export interface ScriptCall {
  readonly script: ScriptName;
  readonly teamId: string;
  readonly keys: readonly string[];
  /** What follows the head. */
  readonly args: readonly string[];
}

/** `values` begins with the store's time and the answer's word. */
export type ScriptReply = { readonly kind: 'reply'; readonly word: string; readonly values: readonly unknown[] } | StoreUnavailable;

export class ScriptCaller {
  readonly #options: StoreRoundOptions;

  constructor(options: StoreRoundOptions) {
    this.#options = options;
  }

  /**
   * More than one round only where the one before did nothing: it came too late by what was known of the store's clock,
   * or asked for a period's bounds. Never after a failure, which leaves open whether the script has run.
   */
  async call(call: ScriptCall): Promise<ScriptReply> {
    const untilMs = performance.now() + this.#options.timeoutMs;
    let offer = NO_OFFER;
    let late = false;
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const reply = await this.#once(call, offer, untilMs, round === 0);
      if (reply.kind === 'unavailable') return reply;
      if (reply.word === 'period') {
        offer = boundsFor(reply.values);
      } else if (reply.word !== 'late') {
        return reply;
      } else {
        if (late) return LATE;
        late = true;
      }
      if (performance.now() >= untilMs) return LATE;
    }
    return UNSETTLED;
  }

  async #once(call: ScriptCall, offer: Offer, untilMs: number, first: boolean): Promise<ScriptReply> {
    const reply = await runRound(this.#options, {
      script: call.script,
      teamId: call.teamId,
      untilMs,
      first,
      call: (clock, deadline) => [...call.keys, clock, deadline, ...offer, ...call.args],
    });
    return 'kind' in reply ? reply : { kind: 'reply', word: reply[1] as string, values: reply };
  }
}
