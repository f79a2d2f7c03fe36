// Runs an operation's script: adds time and deadline, answers its questions about periods, turns failures into values.
import type { Clock } from '../../ports/clock.ts';
import type { StoreUnavailable } from '../../ports/key-directory.ts';
import { NO_OFFER, boundsFor } from './period-offer.ts';
import type { Offer } from './period-offer.ts';
import type { RunScript, ScriptName } from './scripts.ts';
import type { StoreTime } from './store-time.ts';
import { within } from './within.ts';

export interface ScriptCall {
  readonly script: ScriptName;
  readonly teamId: string;
  readonly keys: readonly string[];
  /** What follows the head. */
  readonly args: readonly string[];
}

/** `values` begins with the store's time and the answer's word. */
export type ScriptReply = { readonly kind: 'reply'; readonly word: string; readonly values: readonly unknown[] } | StoreUnavailable;

export interface ScriptCallerOptions {
  readonly run: RunScript;
  readonly time: StoreTime;
  /** Names the server that holds a team. */
  readonly nodeOf: (teamId: string) => string;
  readonly timeoutMs: number;
  /** Replaces the servers' clocks. */
  readonly clock: Clock | undefined;
  readonly causeOf: (error: unknown) => string;
}

const ROUNDS_MAX = 6;
const LATE: StoreUnavailable = { kind: 'unavailable', cause: 'late' };
/** The slot has another master by now. */
export const MOVED: StoreUnavailable = { kind: 'unavailable', cause: 'moved' };

export class ScriptCaller {
  readonly #options: ScriptCallerOptions;

  constructor(options: ScriptCallerOptions) {
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
    return { kind: 'unavailable', cause: 'unsettled' };
  }

  async #once(call: ScriptCall, offer: Offer, untilMs: number, first: boolean): Promise<ScriptReply> {
    const { run, time, nodeOf, clock, timeoutMs, causeOf } = this.#options;
    const node = nodeOf(call.teamId);
    const sentAtMs = performance.now();
    // Without knowledge of the store's clock the first round is sent to be late: it does nothing and brings the time.
    const deadlineMs = clock === undefined ? (time.at(node, untilMs) ?? 0) : clock.nowMs() + timeoutMs;
    const head = [clock === undefined ? '' : String(clock.nowMs()), String(deadlineMs), ...offer];
    try {
      const running = run(call.script, [...call.keys, ...head, ...call.args]);
      // The library's own timeout bounds the first round; further ones share what is left of it.
      const reply = (await (first ? running : within(running, untilMs - sentAtMs))) as readonly unknown[];
      // A master that froze, lost its place and thawed says so only later: its word counts no more.
      if (nodeOf(call.teamId) !== node) return MOVED;
      const [nowMs, word] = reply as [number, string];
      time.learn(node, sentAtMs, performance.now(), nowMs);
      return { kind: 'reply', word, values: reply };
    } catch (error) {
      return { kind: 'unavailable', cause: causeOf(error) };
    }
  }
}
