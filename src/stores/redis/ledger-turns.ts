// Sends the ledger operations of one turn of the event loop as one function call, or one per team in a cluster, and answers each caller.
// A call is one JSON text and its answer another (lua/change.lua): answers have the form of the port's already.
import { addressBits } from '../../domain/key-limits.ts';
import { SETTLE_LINGER_MS } from '../../domain/admission.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { windowAt, WINDOWS } from '../../domain/window-limits.ts';
import type { Admission, AskedAdmission, AskedCheck, AskedResolution, CheckedCaller, Ledger, Resolution } from '../../ports/ledger.ts';
import { within } from './redis-connection.ts';
import { groupKey } from './redis-keys.ts';
import { unavailable, UnderWay } from './redis-link.ts';
import type { RedisLink } from './redis-link.ts';

interface AskedTurn {
  readonly teamId: string;
  /** As lua/admit.lua and lua/settle.lua read it. */
  readonly words: object;
  /** A commit or a release. */
  readonly settles: boolean;
  /** Its id, if it reserves. */
  readonly reserves?: string | undefined;
  answered(answer: Answer, nowMs?: number): void;
}

/** An answer of the port, but of a reservation Lua only says what is not as it was asked; or of an operation that had no effect. */
interface Answer {
  readonly kind: string;
  readonly untilMs?: number;
  readonly characters?: number;
  /** Of one that has failed. */
  readonly message?: string;
}

interface TurnAnswers {
  readonly answers: readonly (readonly (Answer | string)[])[];
}

/** Operations that are sent together; each group has those of one team. */
interface LedgerCall {
  readonly name: 'turn' | 'settle';
  readonly groups: readonly (readonly AskedTurn[])[];
  /** The callers' deadline on the local monotonic clock. */
  readonly untilMs: number;
  /** How often they were sent before. */
  readonly rounds: number;
}

/** Bounds how long one call blocks the server: a few milliseconds. */
const OPERATIONS_MAX = 128;
const ROUNDS_MAX = 8;
/** Beyond the deadline of an admission whose outcome is unknown. */
const RELEASED_AFTER_MS = 250;

/** Operations of a team keep their order. One that had no effect is sent again in a separate call; one whose outcome is unknown never is. */
export class LedgerTurns implements Ledger {
  readonly #link: RedisLink;
  readonly #catchUp: (teamId: string) => Promise<unknown>;
  #waiting: AskedTurn[] = [];
  /** The deadline of the first waiting operation. It applies to all of them, because they share a call, and saves reading the clock. */
  #untilMs = 0;
  #turn: NodeJS.Immediate | undefined = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;
  readonly #underWay = new UnderWay();
  #closed = false;
  #bounds = { untilMs: 0, text: '' };

  /** `catchUp` does what is due of a team: its leases, its period. */
  constructor(link: RedisLink, catchUp: (teamId: string) => Promise<unknown>) {
    [this.#link, this.#catchUp] = [link, catchUp];
  }

  /** A caller waits for an admission, so it is sent at the end of the turn, after all of the turn's input was read. */
  admit(asked: AskedAdmission): void {
    const { teamId, requestId, reserve } = asked;
    const answered: AskedTurn['answered'] = (answer, nowMs) => asked.answered(admissionOf(asked, answer, nowMs));
    this.#ask({ teamId, words: admissionWords(asked), settles: false, reserves: reserve ? requestId : undefined, answered });
  }

  check(asked: AskedCheck): void {
    const words = { id: asked.requestId, key: asked.keyId, check: true, ...callerWords(asked) };
    this.#ask({ teamId: asked.teamId, words, settles: false, answered: (answer) => asked.answered(checked(answer)) });
  }

  /** No caller waits for a resolution: it is sent with the next admission, or after `SETTLE_LINGER_MS`. */
  resolve(asked: AskedResolution): void {
    const words = asked.verdict === 'commit' ? { commit: asked.requestId, characters: asked.characters } : { release: asked.requestId };
    const turn: AskedTurn = { teamId: asked.teamId, words, settles: true, answered: (answer) => asked.answered(answer as Resolution) };
    if (this.#add(turn) && this.#turn === undefined) this.#timer ??= setTimeout(this.flush, SETTLE_LINGER_MS);
  }

  #ask(asked: AskedTurn): void {
    if (this.#add(asked)) this.#turn ??= setImmediate(this.flush);
  }

  /** Whether the operation will be sent. */
  #add(asked: AskedTurn): boolean {
    if (this.#closed) {
      // Not before the caller has returned.
      queueMicrotask(() => asked.answered(unavailable('closed')));
      return false;
    }
    if (this.#waiting.length === 0) this.#untilMs = performance.now() + this.#link.timeoutMs;
    this.#waiting.push(asked);
    return true;
  }

  /** Sends all waiting operations. */
  readonly flush = (): void => {
    clearImmediate(this.#turn);
    clearTimeout(this.#timer);
    this.#turn = this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    const calls = callsOf(waiting, 'slots' in this.#link.redis);
    for (const groups of calls) void this.#underWay.track(this.#send({ name: 'turn', groups, untilMs: this.#untilMs, rounds: 0 }));
  };

  /** Sends what is waiting, and waits for calls in flight; takes no further operations. */
  async close(): Promise<void> {
    this.#closed = true;
    this.flush();
    await this.#underWay.ended();
  }

  async #send(call: LedgerCall): Promise<void> {
    const { name, groups, untilMs } = call;
    const group = groups[0]![0]!.teamId;
    const asked = { teams: groups.map((operations) => operations.map(({ words }) => words)) };
    const keys = groups.map(([first]) => groupKey(first!.teamId));
    const args = [this.#boundsAt(this.#link.nowMs(group))];
    const reply = await this.#link.call<TurnAnswers>({ name, group, keys, asked, args, untilMs });
    if (isUnavailable(reply)) this.#fail(call, reply);
    else for (const [i, operations] of groups.entries()) this.#conclude(call, operations, reply.answers[i]!, reply.now);
  }

  /** The windows that contain a moment. */
  #boundsAt(nowMs: number): string {
    const minute = windowAt('minute', nowMs);
    if (this.#bounds.untilMs !== minute.endMs) {
      const bounds = Object.fromEntries(WINDOWS.map((per) => [per, windowAt(per, nowMs)]));
      this.#bounds = { untilMs: minute.endMs, text: JSON.stringify({ order: WINDOWS, ...bounds }) };
    }
    return this.#bounds.text;
  }

  #fail(call: LedgerCall, fault: StoreUnavailable): void {
    if (fault.cause === 'oom' && call.name === 'turn') return this.#settleOnly(call, fault);
    for (const asked of call.groups.flat()) {
      // What was overdue had no effect.
      if (asked.reserves !== undefined && fault.cause !== 'overdue') this.#releaseLater(asked.teamId, asked.reserves, call.untilMs);
      asked.answered(fault);
    }
  }

  #conclude(call: LedgerCall, operations: readonly AskedTurn[], answers: readonly (Answer | string)[], nowMs: number): void {
    for (const [i, found] of answers.entries()) {
      // So are all that follow.
      if (found === 'look')
        return void this.#underWay.track(this.#again({ ...call, groups: [operations.slice(i)], rounds: call.rounds + 1 }));
      // Most have nothing else to say.
      const answer = typeof found === 'string' ? { kind: found } : found;
      operations[i]!.answered(answer.kind === 'failed' ? this.#failure(answer.message!) : answer, nowMs);
    }
  }

  /** Sends operations of a team that had no effect again, in their order, after what prevented them has been done. */
  async #again(call: LedgerCall): Promise<void> {
    const { groups, untilMs, rounds } = call;
    const leftMs = untilMs - performance.now();
    let fault: unknown = unavailable(leftMs <= 0 ? 'overdue' : 'unsettled');
    if (leftMs > 0 && rounds < ROUNDS_MAX)
      fault = await within(this.#catchUp(groups[0]![0]!.teamId), leftMs).catch(() => unavailable('timeout'));
    if (!isUnavailable(fault)) return this.#send(call);
    for (const asked of groups.flat()) asked.answered(fault);
  }

  /** A full server refuses a call before it has any effect. Reservations must still be settled, which also frees memory. */
  #settleOnly(call: LedgerCall, full: StoreUnavailable): void {
    for (const asked of call.groups.flat()) if (!asked.settles) asked.answered(full);
    const groups = call.groups.map((group) => group.filter(({ settles }) => settles)).filter(({ length }) => length > 0);
    if (groups.length > 0) void this.#underWay.track(this.#send({ ...call, name: 'settle', groups }));
  }

  /** The caller releases an admission whose outcome is unknown at once. That may come first; after the deadline it cannot. */
  #releaseLater(teamId: string, requestId: string, untilMs: number): void {
    const release = { teamId, requestId, verdict: 'release', answered: () => undefined, failed: () => undefined } as const;
    setTimeout(() => this.resolve(release), Math.max(0, untilMs - performance.now()) + RELEASED_AFTER_MS).unref();
  }

  /** The data of its team cannot be read. */
  #failure(message: string): StoreUnavailable {
    return unavailable(this.#link.causeOf(Object.assign(new Error(message), { name: 'ReplyError' })));
  }
}

/** How many characters an admission reserves. */
function reservedBy({ reserve, charged, characters }: AskedAdmission): number | undefined {
  return reserve && characters !== undefined ? (charged ?? characters) : undefined;
}

function callerWords({ address, scope, tag }: Pick<AskedCheck, 'address' | 'scope' | 'tag'>) {
  return { address: address === undefined ? undefined : addressBits(address), scope, tag };
}

/** Members that are `undefined` are not written. */
function admissionWords(asked: AskedAdmission): object {
  const { requestId, keyId, characters, leaseMs, glossary, reportRate, reportPlan } = asked;
  const reserved = reservedBy(asked);
  return {
    id: requestId,
    key: keyId,
    characters: characters === reserved ? undefined : characters,
    reserve: reserved,
    lease: leaseMs,
    glossary: glossary && {
      id: glossary.glossaryId,
      source: glossary.sourceLang,
      target: glossary.targetLang,
      byBase: glossary.byBase === true ? true : undefined,
    },
    report: reportRate === true ? true : undefined,
    plan: reportPlan,
    ...callerWords(asked),
  };
}

function admissionOf(asked: AskedAdmission, answer: Answer, nowMs = 0): Admission {
  if (answer.kind !== 'admitted') return answer as Admission;
  const { requestId, teamId, leaseMs } = asked;
  const { untilMs = nowMs + leaseMs, characters = reservedBy(asked), ...rest } = answer;
  const reservation = characters === undefined ? undefined : { requestId, teamId, characters, leaseUntilMs: untilMs };
  return { ...rest, kind: 'admitted', reservation };
}

function checked(answer: Answer): CheckedCaller {
  return answer.kind === 'admitted' ? { kind: 'admitted', reservation: undefined } : (answer as CheckedCaller);
}

/** Divides operations into calls: of several teams each, in a cluster of one team each. A group has the operations of one team. */
function callsOf(waiting: readonly AskedTurn[], clustered: boolean): AskedTurn[][][] {
  const calls: AskedTurn[][][] = [];
  let room = 0;
  for (const team of Map.groupBy(waiting, ({ teamId }) => teamId).values()) {
    for (let first = 0; first < team.length; first += OPERATIONS_MAX) {
      const group = team.slice(first, first + OPERATIONS_MAX);
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
