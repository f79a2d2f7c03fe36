// Sends what one turn of the event loop asks of the ledger as one script call per server slot, and answers each asker.
import { RIDE_MS } from '../../domain/reservation.ts';
import type { OperationReply } from './admission-codec.ts';
import { NO_OFFER, boundsFor } from './period-offer.ts';
import type { Offer } from './period-offer.ts';
import { teamKeys } from './redis-keys.ts';
import { LATE, ROUNDS_MAX, UNSETTLED, runRound } from './store-round.ts';
import type { StoreRoundOptions } from './store-round.ts';

export interface LedgerTurnsOptions extends StoreRoundOptions {
  /** Whether teams lie in slots of their own, so that no call may speak of two. */
  readonly clustered: boolean;
  /** Told of every call, until whose end the connection is needed. */
  readonly track: (running: Promise<unknown>) => void;
}

interface Operation {
  readonly teamId: string;
  /** As `lua/ledger.lua` reads it. */
  readonly text: string;
  readonly answer: (reply: OperationReply) => void;
  /** When whoever asked stops waiting, by the local monotonic clock. */
  readonly untilMs: number;
  /** Times it was sent and did nothing. */
  rounds: number;
  late: boolean;
}

/** Bounds how long one call keeps the server from others: about a millisecond. */
const OPERATIONS_MAX = 128;

/**
 * Operations keep the order in which they were asked for within a team. One that did nothing, because it came too late by
 * what was known of the store's clock or because a period's bounds were asked for, is repeated by itself; never one whose
 * call has failed, which leaves open whether it was run.
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

  /** What is `hurried` is sent at the end of the turn; the rest rides along with it, or goes when it has waited for `RIDE_MS`. */
  operate(teamId: string, text: string, hurried: boolean, answer: (reply: OperationReply) => void): void {
    this.#waiting.push({ teamId, text, answer, untilMs: performance.now() + this.#options.timeoutMs, rounds: 0, late: false });
    // What the turn has collected is sent behind all its input; a turn with one request waits for nothing.
    if (hurried) this.#turn ??= setImmediate(this.#flush);
    else if (this.#turn === undefined) this.#timer ??= setTimeout(this.#flush, RIDE_MS);
  }

  /** Sends what waits. */
  flush(): void {
    clearImmediate(this.#turn);
    clearTimeout(this.#timer);
    this.#turn = this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0) return;
    if (waiting.length === 1) return this.#send(waiting, [waiting], NO_OFFER);
    const teams = new Map<string, Operation[]>();
    for (const operation of waiting) {
      const of = teams.get(operation.teamId);
      if (of === undefined) teams.set(operation.teamId, [operation]);
      else of.push(operation);
    }
    let groups: Operation[][] = [];
    let count = 0;
    for (const team of teams.values()) {
      for (let first = 0; first < team.length; first += OPERATIONS_MAX) {
        const group = team.length <= OPERATIONS_MAX ? team : team.slice(first, first + OPERATIONS_MAX);
        if (count > 0 && (this.#options.clustered || count + group.length > OPERATIONS_MAX)) {
          this.#send(groups.flat(), groups, NO_OFFER);
          groups = [];
          count = 0;
        }
        groups.push(group);
        count += group.length;
      }
    }
    this.#send(groups.flat(), groups, NO_OFFER);
  }

  /** `operations` are those of all groups in order; a group is of one team. */
  #send(operations: readonly Operation[], groups: readonly (readonly Operation[])[], offer: Offer): void {
    const { teamId, rounds } = operations[0]!;
    const round = runRound(this.#options, {
      script: 'ledger',
      teamId,
      untilMs: earliest(operations),
      first: rounds === 0,
      call: (clock, deadline) => callOf(groups, clock, deadline, offer),
    });
    this.#options.track(
      round.then((reply) => {
        if ('kind' in reply) {
          for (const { answer } of operations) answer(reply);
          return;
        }
        const [nowMs, ...answers] = reply;
        for (let i = 0; i < operations.length; i++) this.#conclude(operations[i]!, answers[i] as string, nowMs);
      }),
    );
  }

  #conclude(operation: Operation, text: string, nowMs: number): void {
    if (text === 'late') return this.#tooLate(operation);
    if (text.startsWith('period ')) return this.#offer(operation, text, nowMs);
    if (text.startsWith('failed ')) return this.#fail(operation, text.slice('failed '.length));
    operation.answer({ kind: 'reply', text });
  }

  #tooLate(operation: Operation): void {
    if (operation.late) return operation.answer(LATE);
    operation.late = true;
    this.#repeat(operation, NO_OFFER);
  }

  #offer(operation: Operation, text: string, nowMs: number): void {
    const [, createdMs, period] = text.split(' ');
    let offer: Offer;
    try {
      offer = boundsFor([nowMs, 'period', createdMs, period]);
    } catch (error) {
      // The dataset's fault: no other operation may go without its answer for it.
      return this.#fail(operation, error instanceof Error ? error.message : 'a period cannot be read');
    }
    this.#repeat(operation, offer);
  }

  #repeat(operation: Operation, offer: Offer): void {
    operation.rounds++;
    if (performance.now() >= operation.untilMs) operation.answer(LATE);
    else if (operation.rounds >= ROUNDS_MAX) operation.answer(UNSETTLED);
    else this.#send([operation], [[operation]], offer);
  }

  /** Of all that its call asked for, this alone could not be done. */
  #fail(operation: Operation, message: string): void {
    operation.answer({ kind: 'unavailable', cause: this.#options.causeOf(replyError(message)) });
  }
}

/** A call that is in time for all is in time for each. */
function earliest(operations: readonly Operation[]): number {
  let untilMs = Infinity;
  for (const operation of operations) untilMs = Math.min(untilMs, operation.untilMs);
  return untilMs;
}

function callOf(groups: readonly (readonly Operation[])[], clock: string, deadline: string, offer: Offer): string[] {
  const call: string[] = [''];
  for (const [{ teamId }] of groups as readonly (readonly [Operation, ...Operation[]])[]) {
    const { team, open, due, seen, window, pairs } = teamKeys(teamId);
    call.push(team, open, due, seen, window, pairs);
  }
  call[0] = String(call.length - 1);
  call.push(clock, deadline);
  for (const group of groups) {
    call.push(offer === NO_OFFER ? '' : offer.join(' '), String(group.length));
    for (const { text } of group) call.push(text);
  }
  return call;
}

/** As the library would have made it of a call by itself: its name tells a refusal from a lost connection. */
function replyError(message: string): Error {
  const error = new Error(message);
  error.name = 'ReplyError';
  return error;
}
