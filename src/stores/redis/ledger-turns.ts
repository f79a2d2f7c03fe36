// Sends what one turn of the event loop asks of the ledger as one script call per server slot, and answers each asker.
import { SETTLE_LINGER_MS } from '../../domain/reservation.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Admission, AdmissionRequest, Resolution, Verdict } from '../../ports/ledger.ts';
import { ReplyReader, encodeCall } from './ledger-codec.ts';
import type { Undone } from './ledger-codec.ts';
import { boundsFor } from './period-offer.ts';
import type { Offer } from './period-offer.ts';
import { teamKey } from './redis-keys.ts';
import { Rounds } from './rounds.ts';
import { runRound } from './store-round.ts';
import type { StoreRoundOptions } from './store-round.ts';

export interface LedgerTurnsOptions extends StoreRoundOptions {
  /** Whether teams lie in slots of their own, so that no call may speak of two. */
  readonly clustered: boolean;
  /** Told of every call, until whose end the connection is needed. */
  readonly track: (running: Promise<unknown>) => void;
}

interface Asked {
  readonly teamId: string;
  readonly rounds: Rounds;
}

type Operation = Asked &
  (
    | { readonly kind: 'admit'; readonly asks: AdmissionRequest; readonly answer: (answer: Admission) => void }
    | {
        readonly kind: 'resolve';
        readonly asks: { readonly requestId: string; readonly verdict: Verdict };
        readonly answer: (answer: Resolution) => void;
      }
  );

/** Of one team. */
type Group = readonly [Operation, ...Operation[]];

/** Bounds how long one call keeps the server from others: about a millisecond. */
const OPERATIONS_MAX = 128;

/**
 * Operations keep the order in which they were asked for within a team. One that did nothing is repeated by itself, within
 * its `Rounds`.
 */
export class LedgerTurns {
  readonly #options: LedgerTurnsOptions;
  readonly #flush = (): void => this.flush();
  #waiting: Operation[] = [];
  #turn: NodeJS.Immediate | undefined = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(options: LedgerTurnsOptions) {
    this.#options = options;
  }

  /** Somebody waits for an admission: it is sent at the end of the turn. */
  admit(request: AdmissionRequest, answer: (answer: Admission) => void): void {
    this.#waiting.push({ kind: 'admit', teamId: request.teamId, asks: request, answer, rounds: this.#rounds() });
    // What the turn has collected is sent behind all its input; a turn with one request waits for nothing.
    this.#turn ??= setImmediate(this.#flush);
  }

  /** Nobody waits for a resolution: it rides along with an admission, or goes when it has waited for `SETTLE_LINGER_MS`. */
  resolve(teamId: string, requestId: string, verdict: Verdict, answer: (answer: Resolution) => void): void {
    this.#waiting.push({ kind: 'resolve', teamId, asks: { requestId, verdict }, answer, rounds: this.#rounds() });
    if (this.#turn === undefined) this.#timer ??= setTimeout(this.#flush, SETTLE_LINGER_MS);
  }

  /** Sends what waits. */
  flush(): void {
    clearImmediate(this.#turn);
    clearTimeout(this.#timer);
    this.#turn = this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const groups of callsOf(waiting, this.#options.clustered)) this.#send(groups, undefined);
  }

  #rounds(): Rounds {
    return new Rounds(this.#options.timeoutMs);
  }

  #send(groups: readonly Group[], offer: Offer | undefined): void {
    const [{ teamId, rounds }] = groups[0]!;
    const round = runRound(this.#options, {
      script: 'ledger',
      teamId,
      untilMs: earliest(groups),
      first: rounds.first,
      call: (clockMs, deadlineMs) => ({
        keys: groups.map(([first]) => teamKey(first.teamId)),
        args: [
          encodeCall(
            groups.map((group) => ({ offer, operations: group.map(({ asks }) => asks) })),
            clockMs,
            deadlineMs,
          ),
        ],
      }),
      timeOf: (reply) => new ReplyReader(reply as Buffer).nowMs,
    });
    this.#options.track(
      round.then((reply) => {
        if (reply.kind === 'reply') this.#conclude(groups, reply.value as Buffer);
        else for (const group of groups) for (const { answer } of group) answer(reply);
      }),
    );
  }

  /** All answers are read before any is given: when one cannot be read, none is to be believed. */
  #conclude(groups: readonly Group[], bytes: Buffer): void {
    const operations = groups.flat();
    let answers: (Admission | Resolution | Undone)[];
    const reply = new ReplyReader(bytes);
    try {
      answers = operations.map((operation) => (operation.kind === 'admit' ? reply.admission(operation.asks) : reply.resolution()));
    } catch (error) {
      const message = error instanceof Error ? error.message : 'a reply cannot be read';
      for (const operation of operations) this.#fail(operation, message);
      return;
    }
    for (const [i, operation] of operations.entries()) {
      const answer = answers[i]!;
      if (answer.kind === 'late' || answer.kind === 'period' || answer.kind === 'failed') this.#undone(operation, answer, reply.nowMs);
      // It was read for the operation's own kind.
      else operation.answer(answer as Admission & Resolution);
    }
  }

  #undone(operation: Operation, answer: Undone, nowMs: number): void {
    if (answer.kind === 'failed') return this.#fail(operation, answer.message);
    let offer: Offer | undefined;
    if (answer.kind === 'period') {
      try {
        offer = boundsFor(nowMs, answer.createdMs, answer.length);
      } catch (error) {
        // The dataset's fault: no other operation may go without its answer for it.
        return this.#fail(operation, error instanceof Error ? error.message : 'a period cannot be read');
      }
    }
    const end: StoreUnavailable | undefined = operation.rounds.another(answer.kind);
    if (end !== undefined) operation.answer(end);
    else this.#send([[operation]], offer);
  }

  /** Of all that its call asked for, this alone could not be done. */
  #fail(operation: Operation, message: string): void {
    operation.answer({ kind: 'unavailable', cause: this.#options.causeOf(replyError(message)) });
  }
}

/** What may share a call: of any teams, or of one where teams lie in slots of their own; a group is of one team. */
function callsOf(waiting: readonly Operation[], clustered: boolean): Group[][] {
  const teams = new Map<string, Operation[]>();
  for (const operation of waiting) {
    const of = teams.get(operation.teamId);
    if (of === undefined) teams.set(operation.teamId, [operation]);
    else of.push(operation);
  }
  const calls: Group[][] = [];
  let room = 0;
  for (const team of teams.values()) {
    for (let first = 0; first < team.length; first += OPERATIONS_MAX) {
      const group = (team.length <= OPERATIONS_MAX ? team : team.slice(first, first + OPERATIONS_MAX)) as unknown as Group;
      if (clustered || room < group.length) {
        calls.push([]);
        room = OPERATIONS_MAX;
      }
      calls.at(-1)!.push(group);
      room -= group.length;
    }
  }
  return calls;
}

/** A call that is in time for all is in time for each. */
function earliest(groups: readonly Group[]): number {
  let untilMs = Infinity;
  for (const group of groups) for (const { rounds } of group) untilMs = Math.min(untilMs, rounds.untilMs);
  return untilMs;
}

/** As the library would have made it of a call by itself: its name tells a refusal from a lost connection. */
function replyError(message: string): Error {
  const error = new Error(message);
  error.name = 'ReplyError';
  return error;
}
