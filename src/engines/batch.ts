// Requests that share their first attempt. Each can be cancelled separately; if the attempt fails, each makes its own second
// one.
import type { Cancellation } from '../core/exchange.ts';
import { sharedTrace } from '../domain/request-trace.ts';
import { sameOptions } from '../domain/translation-options.ts';
import type { EngineGlossary } from '../domain/translation-options.ts';
import type { AskedWork, Attempt, EngineResult, EngineWork } from '../ports/engine.ts';
import { NO_FAILURES } from './balancer.ts';
import type { AttemptwiseEngine } from './balancer.ts';
import type { Replica } from './replica.ts';

/** Limits of one call. */
export interface BatchLimits {
  readonly textsMax: number;
  /** Code points of all texts together. */
  readonly charactersMax: number;
  /** How long the first request of a batch waits for others; 0 means until the end of this turn of the event loop. */
  readonly waitMs: number;
}

interface Member {
  readonly asked: AskedWork;
  readonly characters: number;
  readonly cancellation: Cancellation;
  /** Its caller has disconnected, so it already has a result: no other result and no second attempt. */
  hasLeft: boolean;
}

const NEVER_TRIED: EngineResult = { kind: 'unavailable', failures: NO_FAILURES };
const CANCELLED: EngineResult = { kind: 'unavailable', failures: ['cancelled'] };

/** Acts as the caller of the shared attempt, which is cancelled once all members have left. */
export class Batch implements Cancellation {
  readonly key: string;
  /** What all members have in common. */
  readonly #kind: Pick<EngineWork, 'options' | 'attemptMs'>;
  cancelled = false;
  /** Set while it waits for more requests. */
  timer: NodeJS.Timeout | undefined = undefined;
  texts = 0;
  #characters = 0;
  #members: Member[] = [];
  /** Remaining members, once the attempt is in flight. */
  #staying = 0;
  #listener: (() => void) | undefined = undefined;

  constructor(key: string, { options, attemptMs }: EngineWork) {
    this.key = key;
    this.#kind = { options, attemptMs };
  }

  /** Whether the work is known to have this batch's key, without computing it. `false` means unknown. */
  isSurelyFor({ options, attemptMs }: EngineWork): boolean {
    return attemptMs === this.#kind.attemptMs && sameOptions(options, this.#kind.options);
  }

  /** Whether this work, which has the batch's key, can be added. */
  takes(work: EngineWork, characters: number, limits: BatchLimits): boolean {
    if (this.texts + work.text.length > limits.textsMax || this.#characters + characters > limits.charactersMax) return false;
    const first = this.#members[0]?.asked;
    // The key only contains a glossary's id; here its entries are compared as well.
    return first === undefined || isSame(first.options.glossary, work.options.glossary);
  }

  join(asked: AskedWork, characters: number, cancellation: Cancellation): void {
    const member: Member = { asked, characters, cancellation, hasLeft: false };
    this.#members.push(member);
    this.texts += asked.text.length;
    this.#characters += characters;
    cancellation.onCancel(() => this.#leave(member));
  }

  /** Sends the batch. Call it once. A single request is sent as it would be without batching. */
  start(balancer: AttemptwiseEngine, onBatch: ((requests: number) => void) | undefined): void {
    const members = this.#members;
    if (members.length > 1) {
      onBatch?.(members.length);
      this.#staying = members.length;
      balancer.first(joined(members), this, (attempt, replica) => conclude(members, attempt, replica, balancer));
    } else if (members.length === 1) {
      const { asked, cancellation } = members[0]!;
      balancer.translate(asked, cancellation);
    }
  }

  /** Ends a batch that was not sent. */
  dismiss(): void {
    for (const member of this.#members) end(member, NEVER_TRIED);
  }

  onCancel(listener: (() => void) | undefined): void {
    this.#listener = listener;
  }

  #leave(member: Member): void {
    member.hasLeft = true;
    if (this.#staying === 0) {
      this.#members = this.#members.filter((other) => other !== member);
      this.texts -= member.asked.text.length;
      this.#characters -= member.characters;
      member.asked.answered(NEVER_TRIED);
      return;
    }
    member.asked.answered(CANCELLED);
    if (--this.#staying > 0) return;
    this.cancelled = true;
    this.#listener?.();
  }
}

/**
 * The shared call as one piece of work. It carries the id and trace of the first request, whose log line identifies it. A call
 * shared by several teams belongs to none, so it is scheduled separately and never waits behind one team's backlog.
 */
function joined(members: readonly Member[]): EngineWork {
  const text: string[] = [];
  for (const { asked } of members) for (const entry of asked.text) text.push(entry);
  const [first] = members;
  const { teamId } = first!.asked;
  return {
    ...first!.asked,
    teamId: members.every(({ asked }) => asked.teamId === teamId) ? teamId : undefined,
    text,
    trace: sharedTrace(members.map(({ asked }) => asked.trace)),
  };
}

/** Gives each member its part of the shared result; if the attempt failed, each member makes its own second attempt. */
function conclude(members: readonly Member[], attempt: Attempt, replica: Replica, balancer: AttemptwiseEngine): void {
  let offset = 0;
  for (const member of members) {
    const from = offset;
    const { asked, cancellation, hasLeft } = member;
    offset += asked.text.length;
    if (hasLeft) continue;
    if (attempt.kind === 'unusable') balancer.second(asked, cancellation, attempt, replica);
    else
      end(member, { kind: 'usable', translations: attempt.translations.slice(from, offset), failures: NO_FAILURES, engine: balancer.name });
  }
}

function end({ asked, cancellation }: Member, result: EngineResult): void {
  cancellation.onCancel(undefined);
  asked.answered(result);
}

/** Never reads `entries` of a large glossary, which would have to be built. */
function isSame(one: EngineGlossary | undefined, other: EngineGlossary | undefined): boolean {
  if (one === other) return true;
  return one?.pieces === undefined && other?.pieces === undefined && one?.entries === other?.entries;
}
