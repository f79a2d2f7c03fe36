// Sends the ledger operations of one turn of the event loop as one function call, or one per team in a cluster, and answers
// each caller.
import { SETTLE_LINGER_MS } from '../../domain/reservation.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Admission, AskedAdmission, AskedCheck, AskedResolution, CheckedCaller, Ledger, Resolution } from '../../ports/ledger.ts';
import { within } from './failure-cause.ts';
import { asAdmission, encodeCall } from './ledger-codec.ts';
import type { Masters } from './masters.ts';
import { ReplyReader } from './ledger-reply.ts';
import type { Undone } from './ledger-reply.ts';
import { teamKey } from './redis-keys.ts';
import { boundsFor, nextRound } from './rounds.ts';
import type { Offer, Rounds } from './rounds.ts';
import { runRound } from './store-round.ts';
import type { RoundReply, StoreRoundOptions } from './store-round.ts';

interface LedgerTurnsOptions extends StoreRoundOptions {
  /** Whether teams are in different cluster slots, so that a call may only have one team. */
  readonly clustered: boolean;
  /** Knows which masters admissions may be sent to; without it, all of them. */
  readonly masters?: Masters | undefined;
  /** Called with teams whose charges have stored events. */
  readonly onEvents?: (teamId: string) => void;
}

type LedgerOperation = AskedAdmission | AskedResolution;
/** The operations of one team. */
type Group = readonly [LedgerOperation, ...LedgerOperation[]];

/** Operations that are sent together. */
interface LedgerCall {
  readonly name: 'ledger' | 'settle';
  readonly groups: readonly Group[];
  /** For a single operation that asked for it. */
  readonly offer: Offer | undefined;
  readonly rounds: Rounds;
}

/** Bounds how long one call blocks the server: about a millisecond. */
const OPERATIONS_MAX = 128;
const TOO_SLOW: StoreUnavailable = { kind: 'unavailable', cause: 'timeout' };
const CLOSED: StoreUnavailable = { kind: 'unavailable', cause: 'closed' };

/** Operations of a team keep their order. One that had no effect is sent again in a separate call, as often as `nextRound` allows. */
export class LedgerTurns implements Ledger {
  readonly #options: LedgerTurnsOptions;
  #waiting: LedgerOperation[] = [];
  /** The deadline of the first waiting operation. It applies to all of them, because they share a call, and saves reading the clock. */
  #untilMs = 0;
  #turn: NodeJS.Immediate | undefined = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;
  /** Calls in flight. */
  #running = 0;
  #onEnd: (() => void) | undefined = undefined;
  #closed = false;

  constructor(options: LedgerTurnsOptions) {
    this.#options = options;
  }

  /** A caller waits for an admission, so it is sent at the end of the turn. */
  admit(asked: AskedAdmission): void {
    // Operations collected during the turn are sent after all of its input was read; a turn with a single request does not
    // wait.
    if (this.#add(asked)) this.#turn ??= setImmediate(this.flush);
  }

  /** No caller waits for a resolution: it is sent with the next admission, or after `SETTLE_LINGER_MS`. */
  resolve(asked: AskedResolution): void {
    if (this.#add(asked) && this.#turn === undefined) this.#timer ??= setTimeout(this.flush, SETTLE_LINGER_MS);
  }

  /** An admission marked as a check is answered with the answers of a check. */
  check(asked: AskedCheck): void {
    const answered = (admission: unknown): void => asked.answered(admission as CheckedCaller);
    this.admit({ ...asAdmission(asked), answered, failed: (error) => asked.failed(error) });
  }

  /** Sends all waiting operations. */
  readonly flush = (): void => {
    clearImmediate(this.#turn);
    clearTimeout(this.#timer);
    this.#turn = this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    const rounds = { untilMs: this.#untilMs, count: 0, late: false };
    for (const groups of callsOf(waiting, this.#options.clustered)) this.#send({ name: 'ledger', groups, offer: undefined, rounds });
  };

  /** Sends what is waiting, and waits for calls in flight; takes no further operations. */
  async close(): Promise<void> {
    this.#closed = true;
    this.flush();
    if (this.#running > 0) await new Promise<void>((resolve) => (this.#onEnd = resolve));
  }

  /** Whether the operation will be sent. */
  #add(asked: LedgerOperation): boolean {
    if (this.#closed) {
      // Not before the caller has returned.
      queueMicrotask(() => asked.answered(CLOSED));
      return false;
    }
    if (this.#waiting.length === 0) this.#untilMs = performance.now() + this.#options.timeoutMs;
    this.#waiting.push(asked);
    return true;
  }

  /** `isChecked`: it has waited for the check of its master. */
  #send(call: LedgerCall, isChecked = false): void {
    const { masters, nodeOf, time } = this.#options;
    const { name, groups, offer, rounds } = call;
    const [{ teamId }] = groups[0]!;
    const { untilMs, count } = rounds;
    const node = nodeOf(teamId);
    this.#running++;
    if (!isChecked && masters !== undefined && !masters.settled.has(node)) {
      void this.#sendChecked(masters, node, call);
      return;
    }
    const keys: string[] = [];
    for (const [first] of groups) keys.push(teamKey(first.teamId));
    const args = [encodeCall(groups, offer, time.clockOf(node), time.at(node, untilMs))];
    const first = count === 0 && !isChecked;
    void runRound(this.#options, { name, teamId, node, untilMs, first, keys, args }).then((reply) => {
      try {
        this.#conclude(call, reply);
      } finally {
        this.#ended();
      }
    });
  }

  /** Sends to a master that has to be checked first, because it may have lost revocations. */
  async #sendChecked(masters: Masters, node: string, call: LedgerCall): Promise<void> {
    const leftMs = call.rounds.untilMs - performance.now();
    const fault = await within(masters.settle(node), leftMs).catch(() => TOO_SLOW);
    try {
      if (fault === undefined) this.#send(call, true);
      else answerAll(call, fault);
    } finally {
      this.#ended();
    }
  }

  #ended(): void {
    if (--this.#running === 0) this.#onEnd?.();
  }

  /** Reads all answers before giving any: if one cannot be read, none can be trusted. */
  #conclude(call: LedgerCall, round: RoundReply | StoreUnavailable): void {
    if (round.kind === 'unavailable') {
      if (round.cause === 'oom' && call.name === 'ledger') this.#settleOnly(call, round);
      else answerAll(call, round);
      return;
    }
    const reply = new ReplyReader(round.value as Buffer);
    const answers: (Admission | Resolution | Undone)[] = [];
    try {
      for (const group of call.groups) {
        let hasEvents = false;
        for (const asked of group) {
          answers.push('verdict' in asked ? reply.resolution() : reply.admission(asked));
          hasEvents ||= reply.hasEvents;
        }
        if (hasEvents) this.#options.onEvents?.(group[0].teamId);
      }
    } catch (error) {
      answerAll(call, this.#failure(error instanceof Error ? error.message : 'a reply cannot be read'));
      return;
    }
    let next = 0;
    for (const group of call.groups) {
      for (const asked of group) {
        const answer = answers[next++]!;
        if (answer.kind === 'late' || answer.kind === 'period' || answer.kind === 'failed') {
          this.#undone(asked, call.rounds, answer, reply.nowMs);
          continue;
        }
        // A disabled or expired key may work again later.
        if (answer.kind === 'key_revoked' && answer.reason === undefined) {
          this.#options.masters?.revocations.note(asked as AskedAdmission);
        }
        // An `Admission` for an admission, a `Resolution` for a resolution.
        asked.answered(answer as Admission & Resolution);
      }
    }
  }

  /** A full server refuses a call before it has any effect. Reservations must still be settled, which also frees memory. */
  #settleOnly(call: LedgerCall, full: StoreUnavailable): void {
    const groups: Group[] = [];
    for (const group of call.groups) {
      for (const asked of group) if (!('verdict' in asked)) asked.answered(full);
      const [first, ...others] = group.filter((asked) => 'verdict' in asked);
      if (first !== undefined) groups.push([first, ...others]);
    }
    if (groups.length > 0) this.#send({ ...call, name: 'settle', groups });
  }

  /** Sends an operation again, or fails it alone. */
  #undone(asked: LedgerOperation, rounds: Rounds, answer: Undone, nowMs: number): void {
    if (answer.kind === 'failed') return asked.answered(this.#failure(answer.message));
    let offer: Offer | undefined;
    if (answer.kind === 'period') {
      try {
        offer = boundsFor(nowMs, answer.anchorMs, answer.length);
      } catch (error) {
        // The data is corrupt: only this operation fails, the others get their answers.
        return asked.answered(this.#failure(error instanceof Error ? error.message : 'a period cannot be read'));
      }
    }
    const next = nextRound(rounds, answer.kind);
    if ('kind' in next) asked.answered(next);
    else this.#send({ name: 'ledger', groups: [[asked]], offer, rounds: next });
  }

  /** Shaped like an ioredis error for a single call: its name distinguishes a refusal from a lost connection. */
  #failure(message: string): StoreUnavailable {
    const error = new Error(message);
    error.name = 'ReplyError';
    return { kind: 'unavailable', cause: this.#options.causeOf(error) };
  }
}

function answerAll({ groups }: LedgerCall, answer: StoreUnavailable): void {
  for (const group of groups) for (const asked of group) asked.answered(answer);
}

/** Divides operations into calls: of several teams each, in a cluster of one team each. A group has the operations of one team. */
function callsOf(waiting: readonly LedgerOperation[], clustered: boolean): Group[][] {
  const teams = new Map<string, LedgerOperation[]>();
  for (const asked of waiting) {
    const of = teams.get(asked.teamId);
    if (of === undefined) teams.set(asked.teamId, [asked]);
    else of.push(asked);
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
