// Combines requests of the same kind that arrive at the same moment into one engine call. Each can
// be cancelled separately; if the shared attempt fails, each makes its own second one.
import { Canceller } from '../core/exchange.ts';
import type { Cancellation } from '../core/exchange.ts';
import { countCharacters } from '../domain/characters.ts';
import { sharedTrace } from '../domain/request-trace.ts';
import { keyOfOptions } from '../domain/translation-options.ts';
import type { EngineGlossary } from '../domain/translation-options.ts';
import type { AskedWork, Attempt, AttemptFailure, EngineResult, EngineWork, FailureDetail } from '../ports/engine.ts';
import type { Replica } from './replica.ts';

/** Limits of one call, with the names of the configuration. */
export interface BatchLimits {
  readonly texts_max: number;
  /** Code points of all texts together. */
  readonly characters_max: number;
  /** How long a batch's first request waits for others; 0 is until the end of this turn. */
  readonly wait_ms: number;
}

/** The two attempts separately, for requests that share the first one. */
export interface Attempts {
  /** Of the engine, in results. */
  readonly name: string;
  /** Both attempts, for one request. */
  alone(asked: AskedWork, cancellation: Cancellation): void;
  /** `done` is called once, asynchronously. `replica` is the one that was tried. `echoedIds`: its answers had the ids of their calls. */
  first(work: EngineWork, cancellation: Cancellation, done: (attempt: Attempt, replica: Replica, echoedIds: boolean) => void): void;
  /**
   * The second attempt, which decides: at the work's next engine, or on another replica than
   * `before`, which is absent if another engine made the first. None if the caller has left.
   */
  second(asked: AskedWork, cancellation: Cancellation, first: FailureDetail, before: Replica | undefined): void;
}

/** For a result without failed attempts. */
export const NO_FAILURES: readonly AttemptFailure[] = [];

const NEVER_TRIED: EngineResult = { kind: 'unavailable', failures: NO_FAILURES };
const CANCELLED: EngineResult = { kind: 'unavailable', failures: ['cancelled'] };

/** What an engine does with requests that may share calls. */
export class Batches {
  readonly #attempts: Attempts;
  readonly #limits: BatchLimits;
  readonly #onBatch: ((requests: number) => void) | undefined;
  /** Batches waiting for more requests, by key; never more than requests in flight. */
  readonly #open = new Map<string, Batch>();

  constructor(attempts: Attempts, limits: BatchLimits, onBatch?: (requests: number) => void) {
    this.#attempts = attempts;
    this.#limits = limits;
    this.#onBatch = onBatch;
  }

  translate(asked: AskedWork, cancellation: Cancellation): void {
    const characters = charactersOf(asked.text);
    const { texts_max: textsMax, characters_max: charactersMax } = this.#limits;
    // No other request could join it, or it is only a detection.
    if (asked.text.length >= textsMax || characters >= charactersMax || cancellation.cancelled || asked.detectionOnly === true) {
      this.#attempts.alone(asked, cancellation);
      return;
    }
    const key = keyOf(asked);
    let batch = this.#open.get(key);
    if (batch !== undefined && !batch.takes(asked, characters, this.#limits)) {
      this.#send(batch);
      batch = undefined;
    }
    batch ??= this.#begin(key);
    batch.join(asked, characters, cancellation);
    if (batch.texts === textsMax) this.#send(batch);
  }

  /** Ends the batches that wait. */
  close(): void {
    for (const batch of this.#open.values()) {
      clearTimeout(batch.timer);
      batch.dismiss();
    }
    this.#open.clear();
  }

  #begin(key: string): Batch {
    const batch = new Batch(key);
    this.#open.set(key, batch);
    if (this.#limits.wait_ms > 0) batch.timer = setTimeout(this.#sendOpen, this.#limits.wait_ms, batch);
    else setImmediate(this.#sendOpen, batch);
    return batch;
  }

  /** It may have been sent because it was full, and another one may wait under its key. */
  readonly #sendOpen = (batch: Batch): void => {
    if (this.#open.get(batch.key) === batch) this.#send(batch);
  };

  #send(batch: Batch): void {
    this.#open.delete(batch.key);
    clearTimeout(batch.timer);
    batch.start(this.#attempts, this.#onBatch);
  }
}

interface Member {
  readonly asked: AskedWork;
  readonly characters: number;
  readonly cancellation: Cancellation;
  /** Its caller has disconnected: it has a result, and makes no second attempt. */
  hasLeft: boolean;
}

/** Acts as the caller of the shared attempt, which is cancelled once all members have left. */
class Batch extends Canceller {
  readonly key: string;
  /** Set while it waits for more requests. */
  timer: NodeJS.Timeout | undefined = undefined;
  texts = 0;
  #characters = 0;
  #members: Member[] = [];
  /** Remaining members, once the attempt is in flight. */
  #staying = 0;

  constructor(key: string) {
    super();
    this.key = key;
  }

  /** Whether this work, which has the batch's key, can be added. */
  takes(work: EngineWork, characters: number, limits: BatchLimits): boolean {
    if (this.texts + work.text.length > limits.texts_max || this.#characters + characters > limits.characters_max) return false;
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
  start(attempts: Attempts, onBatch: ((requests: number) => void) | undefined): void {
    const members = this.#members;
    if (members.length > 1) {
      onBatch?.(members.length);
      this.#staying = members.length;
      attempts.first(joined(members), this, (attempt, replica) => conclude(members, attempt, replica, attempts));
    } else if (members.length === 1) {
      const { asked, cancellation } = members[0]!;
      attempts.alone(asked, cancellation);
    }
  }

  /** Ends a batch that was not sent. */
  dismiss(): void {
    for (const member of this.#members) end(member, NEVER_TRIED);
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
    if (--this.#staying === 0) this.cancel();
  }
}

/**
 * The shared call, with the id and trace of its first request. That of several teams belongs to
 * none, so it never waits behind one team's backlog.
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

/** Each member gets its part of the result, or makes its own second attempt. */
function conclude(members: readonly Member[], attempt: Attempt, replica: Replica, attempts: Attempts): void {
  let offset = 0;
  for (const member of members) {
    const from = offset;
    const { asked, cancellation, hasLeft } = member;
    offset += asked.text.length;
    if (hasLeft) continue;
    if (attempt.kind === 'unusable') attempts.second(asked, cancellation, attempt, replica);
    else
      end(member, { kind: 'usable', translations: attempt.translations.slice(from, offset), failures: NO_FAILURES, engine: attempts.name });
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

/** Options and timeout: only requests with the same of both share a call. */
function keyOf({ options, attemptMs }: EngineWork): string {
  return keyOfOptions(options) + (attemptMs ?? '');
}

function charactersOf(text: readonly string[]): number {
  let characters = 0;
  for (const entry of text) characters += countCharacters(entry);
  return characters;
}
