// One run of a function, with a deadline by its server's clock, which is learnt again from the reply.
import type { Clock } from '../../ports/clock.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { RunFunction, FunctionArguments, FunctionName } from './functions.ts';
import type { StoreTime } from './store-time.ts';
import { within } from './within.ts';

export interface StoreRoundOptions {
  readonly run: RunFunction;
  readonly time: StoreTime;
  /** Names the server that holds a team. */
  readonly nodeOf: (teamId: string) => string;
  readonly timeoutMs: number;
  /** Replaces the servers' clocks. */
  readonly clock: Clock | undefined;
  readonly causeOf: (error: unknown) => string;
}

export interface StoreRound {
  readonly name: FunctionName;
  /** A team of the call; if it has several, they are on the same server. */
  readonly teamId: string;
  /** The caller's deadline, by the local monotonic clock. */
  readonly untilMs: number;
  /** Not a repetition: nothing of its time is used up. */
  readonly first: boolean;
  /** Keys and arguments, around the clock's reading (undefined for the server's own) and the deadline. */
  readonly call: (clockMs: number | undefined, deadlineMs: number) => FunctionArguments;
  /** The store's time in a reply. */
  readonly timeOf: (reply: unknown) => number;
}

/** Of a round that was run. */
export interface RoundReply {
  readonly kind: 'reply';
  readonly value: unknown;
}

/** The slot has got another master meanwhile. */
const MOVED: StoreUnavailable = { kind: 'unavailable', cause: 'moved' };

/** Never rejects. A failure leaves open whether the function has run. */
export function runRound(options: StoreRoundOptions, round: StoreRound): Promise<RoundReply | StoreUnavailable> {
  const { run, time, nodeOf, clock, timeoutMs, causeOf } = options;
  const { name, teamId, untilMs, first, call, timeOf } = round;
  const node = nodeOf(teamId);
  const sentAtMs = performance.now();
  // While the server's clock is not known the first round has deadline 0: it does nothing, and its reply brings the time.
  const deadlineMs = clock === undefined ? (time.at(node, untilMs) ?? 0) : clock.nowMs() + timeoutMs;
  const running = run(name, call(clock?.nowMs(), deadlineMs));
  // ioredis's own timeout bounds the first round; later ones have what is left of it.
  return (first ? running : within(running, untilMs - sentAtMs)).then(
    (reply) => {
      // A master that was suspended and has been replaced still answers for a moment when it goes on: its reply does not count.
      if (nodeOf(teamId) !== node) return MOVED;
      time.learn(node, sentAtMs, performance.now(), timeOf(reply));
      return { kind: 'reply', value: reply } as const;
    },
    (error: unknown) => ({ kind: 'unavailable', cause: causeOf(error) }) as const,
  );
}
