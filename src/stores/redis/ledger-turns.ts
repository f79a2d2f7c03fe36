// Sends the ledger operations of one turn of the event loop as one function call, or one per team in a cluster, and answers
// each caller.
import { SETTLE_LINGER_MS } from '../../domain/reservation.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Admission, AskedAdmission, AskedResolution, Resolution } from '../../ports/ledger.ts';
import { within } from './failure-cause.ts';
import { encodeCall } from './ledger-codec.ts';
import type { Masters } from './masters.ts';
import { ReplyReader } from './ledger-reply.ts';
import type { Undone } from './ledger-reply.ts';
import { teamKey } from './redis-keys.ts';
import { boundsFor, Rounds } from './rounds.ts';
import type { Offer } from './rounds.ts';
import { runRound } from './store-round.ts';
import type { StoreRoundOptions } from './store-round.ts';

export interface LedgerTurnsOptions extends StoreRoundOptions {
  /** Whether teams are in different cluster slots, so that a call may only have one team. */
  readonly clustered: boolean;
  /** Knows which masters admissions may be sent to; without it, all of them. */
  readonly masters?: Masters | undefined;
  /** Called with every call; the connection must not be closed before it has ended. */
  readonly track: (running: Promise<unknown>) => void;
  /** Called with teams whose charges have stored events. */
  readonly onEvents?: (teamId: string) => void;
}

/** An operation, and how often it is sent. */
class LedgerOperation extends Rounds {
  readonly asked: AskedAdmission | AskedResolution;

  constructor(asked: AskedAdmission | AskedResolution, untilMs: number) {
    super(untilMs);
    this.asked = asked;
  }

  /** `answer` must be an `Admission` for an admission, a `Resolution` for a resolution. */
  answer(answer: Admission | Resolution): void {
    this.asked.answered(answer as Admission & Resolution);
  }
}

/** The operations of one team. */
type Group = readonly [LedgerOperation, ...LedgerOperation[]];

/** Bounds how long one call blocks the server: about a millisecond. */
const OPERATIONS_MAX = 128;
const TOO_SLOW: StoreUnavailable = { kind: 'unavailable', cause: 'timeout' };

/** Operations of a team keep their order. One that had no effect is sent again in a separate call, as often as `Rounds` allows. */
export class LedgerTurns {
  readonly #options: LedgerTurnsOptions;
  readonly #flush = (): void => this.flush();
  #waiting: LedgerOperation[] = [];
  /** The deadline of the first waiting operation. It applies to all of them, because they share a call, and saves reading the clock. */
  #untilMs = 0;
  #turn: NodeJS.Immediate | undefined = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(options: LedgerTurnsOptions) {
    this.#options = options;
  }

  /** A caller waits for an admission, so it is sent at the end of the turn. */
  admit(asked: AskedAdmission): void {
    this.#add(asked);
    // Operations collected during the turn are sent after all of its input was read; a turn with a single request does not
    // wait.
    this.#turn ??= setImmediate(this.#flush);
  }

  /** No caller waits for a resolution: it is sent with the next admission, or after `SETTLE_LINGER_MS`. */
  resolve(asked: AskedResolution): void {
    this.#add(asked);
    if (this.#turn === undefined) this.#timer ??= setTimeout(this.#flush, SETTLE_LINGER_MS);
  }

  /** Sends all waiting operations. */
  flush(): void {
    clearImmediate(this.#turn);
    clearTimeout(this.#timer);
    this.#turn = this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const groups of callsOf(waiting, this.#options.clustered)) this.#send(groups, undefined);
  }

  #add(asked: AskedAdmission | AskedResolution): void {
    if (this.#waiting.length === 0) this.#untilMs = performance.now() + this.#options.timeoutMs;
    this.#waiting.push(new LedgerOperation(asked, this.#untilMs));
  }

  #send(groups: readonly Group[], offer: Offer | undefined, name: 'ledger' | 'settle' = 'ledger'): void {
    const { masters, nodeOf } = this.#options;
    const [{ asked, first }] = groups[0]!;
    const node = nodeOf(asked.teamId);
    if (masters === undefined || masters.isSettled(node)) this.#run(groups, offer, first, name);
    else this.#options.track(this.#sendSettled(masters, node, groups, offer, name));
  }

  /** Sends to a master that has to be checked first, because it may have lost revocations. */
  async #sendSettled(
    masters: Masters,
    node: string,
    groups: readonly Group[],
    offer: Offer | undefined,
    name: 'ledger' | 'settle',
  ): Promise<void> {
    const leftMs = groups[0]![0].untilMs - performance.now();
    const fault = await within(masters.settle(node), leftMs).catch(() => TOO_SLOW);
    if (fault === undefined) this.#run(groups, offer, false, name);
    else for (const group of groups) for (const operation of group) operation.answer(fault);
  }

  /** `first`: all of its time is left. */
  #run(groups: readonly Group[], offer: Offer | undefined, first: boolean, name: 'ledger' | 'settle'): void {
    const [{ asked, untilMs }] = groups[0]!;
    const round = runRound(this.#options, {
      name,
      teamId: asked.teamId,
      untilMs,
      first,
      call: (clockMs, deadlineMs) => ({
        keys: groups.map(([operation]) => teamKey(operation.asked.teamId)),
        args: [
          encodeCall(
            groups.map((group) => ({ offer, operations: group.map((operation) => operation.asked) })),
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
        else if (reply.cause === 'oom' && name === 'ledger') this.#settleOnly(groups, offer, reply);
        else for (const group of groups) for (const operation of group) operation.answer(reply);
      }),
    );
  }

  /** A full server refuses a call before it has any effect. Reservations must still be settled, which also frees memory. */
  #settleOnly(groups: readonly Group[], offer: Offer | undefined, full: StoreUnavailable): void {
    const settling: Group[] = [];
    for (const group of groups) {
      for (const operation of group) if (!('verdict' in operation.asked)) operation.answer(full);
      const [first, ...others] = group.filter(({ asked }) => 'verdict' in asked);
      if (first !== undefined) settling.push([first, ...others]);
    }
    if (settling.length > 0) this.#send(settling, offer, 'settle');
  }

  /** Reads all answers before giving any: if one cannot be read, none can be trusted. */
  #conclude(groups: readonly Group[], bytes: Buffer): void {
    const answers: (Admission | Resolution | Undone)[] = [];
    const reply = new ReplyReader(bytes);
    let teamWithEvents: string | undefined;
    try {
      for (const group of groups) {
        for (const { asked } of group) {
          answers.push('verdict' in asked ? reply.resolution() : reply.admission(asked));
          if (reply.hasEvents) teamWithEvents = asked.teamId;
        }
        if (teamWithEvents !== undefined) this.#options.onEvents?.(teamWithEvents);
        teamWithEvents = undefined;
      }
    } catch (error) {
      const message = error instanceof Error ? error.message : 'a reply cannot be read';
      for (const group of groups) for (const operation of group) this.#fail(operation, message);
      return;
    }
    let next = 0;
    for (const group of groups) {
      for (const operation of group) {
        const answer = answers[next++]!;
        if (answer.kind === 'late' || answer.kind === 'period' || answer.kind === 'failed') this.#undone(operation, answer, reply.nowMs);
        else {
          // A disabled or expired key may work again later.
          if (answer.kind === 'key_revoked' && answer.reason === undefined) {
            this.#options.masters?.revocations.note(operation.asked as AskedAdmission);
          }
          operation.answer(answer);
        }
      }
    }
  }

  #undone(operation: LedgerOperation, answer: Undone, nowMs: number): void {
    if (answer.kind === 'failed') return this.#fail(operation, answer.message);
    let offer: Offer | undefined;
    if (answer.kind === 'period') {
      try {
        offer = boundsFor(nowMs, answer.anchorMs, answer.length);
      } catch (error) {
        // The data is corrupt: only this operation fails, the others get their answers.
        return this.#fail(operation, error instanceof Error ? error.message : 'a period cannot be read');
      }
    }
    const end: StoreUnavailable | undefined = operation.another(answer.kind);
    if (end !== undefined) operation.answer(end);
    else this.#send([[operation]], offer);
  }

  /** Fails a single operation of a call. */
  #fail(operation: LedgerOperation, message: string): void {
    operation.answer({ kind: 'unavailable', cause: this.#options.causeOf(replyError(message)) });
  }
}

/** Divides operations into calls: of several teams each, in a cluster of one team each. A group has the operations of one team. */
function callsOf(waiting: readonly LedgerOperation[], clustered: boolean): Group[][] {
  const teams = new Map<string, LedgerOperation[]>();
  for (const operation of waiting) {
    const { teamId } = operation.asked;
    const of = teams.get(teamId);
    if (of === undefined) teams.set(teamId, [operation]);
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

/** Shaped like an ioredis error for a single call: its name distinguishes a refusal from a lost connection. */
function replyError(message: string): Error {
  const error = new Error(message);
  error.name = 'ReplyError';
  return error;
}
