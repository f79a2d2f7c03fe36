// Requests that share their first attempt at the engine. Each may leave; if the attempt fails, each makes its own second one.
import type { Cancellation } from '../core/exchange.ts';
import { sameOptions } from '../domain/translation-options.ts';
import type { EngineGlossary } from '../domain/translation-options.ts';
import type { AskedWork, Attempt, EngineResult, EngineWork } from '../ports/engine.ts';
import { NO_FAILURES } from './balancer.ts';
import type { AttemptwiseEngine } from './balancer.ts';
import type { Replica } from './replica.ts';

/** What one call may hold. */
export interface BatchLimits {
  readonly textsMax: number;
  /** Code points of all texts together. */
  readonly charactersMax: number;
  /** How long the first request of a batch waits for others; 0 is to the end of this turn of the event loop. */
  readonly waitMs: number;
}

interface Member {
  readonly asked: AskedWork;
  readonly characters: number;
  readonly cancellation: Cancellation;
  /** Has a result already, because its caller left: it gets no other one and makes no second attempt. */
  hasLeft: boolean;
}

const NEVER_TRIED: EngineResult = { kind: 'unavailable', failures: NO_FAILURES };
const CALLED_OFF: EngineResult = { kind: 'unavailable', failures: ['cancelled'] };

/** The shared attempt's caller, which leaves when all its members have left. */
export class Batch implements Cancellation {
  readonly key: string;
  /** What all of it has in common with the work that it was begun for. */
  readonly #kind: Pick<EngineWork, 'options' | 'attemptMs'>;
  cancelled = false;
  /** Waits for more requests to join. */
  timer: NodeJS.Timeout | undefined = undefined;
  texts = 0;
  #characters = 0;
  #members: Member[] = [];
  /** Members that are still there once the attempt is under way. */
  #staying = 0;
  #listener: (() => void) | undefined = undefined;

  constructor(key: string, { options, attemptMs }: EngineWork) {
    this.key = key;
    this.#kind = { options, attemptMs };
  }

  /** Whether its key is this work's key, found without making one. `false` means only that it is not known. */
  isSurelyFor({ options, attemptMs }: EngineWork): boolean {
    return attemptMs === this.#kind.attemptMs && sameOptions(options, this.#kind.options);
  }

  /** Whether this work, whose key is the batch's, may go with the others. */
  takes(work: EngineWork, characters: number, limits: BatchLimits): boolean {
    if (this.texts + work.text.length > limits.textsMax || this.#characters + characters > limits.charactersMax) return false;
    const first = this.#members[0]?.asked;
    // The key holds a glossary's id only: that its entries are the same object is checked here.
    return first === undefined || isSame(first.options.glossary, work.options.glossary);
  }

  join(asked: AskedWork, characters: number, cancellation: Cancellation): void {
    const member: Member = { asked, characters, cancellation, hasLeft: false };
    this.#members.push(member);
    this.texts += asked.text.length;
    this.#characters += characters;
    cancellation.onCancel(() => this.#leave(member));
  }

  /** Sends the batch; to be called once. A single request goes as it would without batches. */
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
    member.asked.answered(CALLED_OFF);
    if (--this.#staying > 0) return;
    this.cancelled = true;
    this.#listener?.();
  }
}

/**
 * The call as one piece of work. It carries the id and trace of the first request only, by whose log line it can be found. A
 * call that several teams share is none's, and so has a turn of its own: it must not wait behind what one of them has sent.
 */
function joined(members: readonly Member[]): EngineWork {
  const text: string[] = [];
  for (const { asked } of members) for (const entry of asked.text) text.push(entry);
  const [first] = members;
  const { teamId } = first!.asked;
  return { ...first!.asked, teamId: members.every(({ asked }) => asked.teamId === teamId) ? teamId : undefined, text };
}

/** Gives each member its part of the shared attempt's result; if that failed, each goes on with its own second attempt. */
function conclude(members: readonly Member[], attempt: Attempt, replica: Replica, balancer: AttemptwiseEngine): void {
  let offset = 0;
  for (const member of members) {
    const from = offset;
    const { asked, cancellation, hasLeft } = member;
    offset += asked.text.length;
    if (hasLeft) continue;
    if (attempt.kind === 'unusable') balancer.second(asked, cancellation, attempt.failure, replica);
    else
      end(member, { kind: 'usable', translations: attempt.translations.slice(from, offset), failures: NO_FAILURES, engine: balancer.name });
  }
}

function end({ asked, cancellation }: Member, result: EngineResult): void {
  cancellation.onCancel(undefined);
  asked.answered(result);
}

/** A large one is not asked for its entries, which it would have to make. */
function isSame(one: EngineGlossary | undefined, other: EngineGlossary | undefined): boolean {
  if (one === other) return true;
  return one?.pieces === undefined && other?.pieces === undefined && one?.entries === other?.entries;
}
