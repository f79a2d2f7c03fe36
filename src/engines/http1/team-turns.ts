// Who of those that wait for a connection is next: teams in turn, and none above its share while others are there.

/** So long after its latest call a team counts as there, though none of its calls waits at this moment. */
const THERE_MS = 10_000;
/** Above so many teams, those without calls are forgotten. */
const TEAMS_MAX = 1000;

/** One team's calls to a replica. */
export class Lane<Call> {
  /** Connections that its calls hold. */
  underWay = 0;
  /** Oldest first. */
  readonly waiting = new Set<Call>();
}

/**
 * A team alone may hold every connection. As soon as another is there, it gets no more above its share: connections that it
 * held for a slow call would keep the other waiting as long as that takes, so the rest stays free for them.
 */
export class TeamTurns<Call> {
  readonly #shareMax: number;
  readonly #nowMs: () => number;
  readonly #lanes = new Map<string, Lane<Call>>();
  /** Those with calls that wait; the next in turn first. */
  readonly #queue = new Set<Lane<Call>>();
  #size = 0;
  /** Who called last, and when; and when the latest call of any other was. */
  #latest: Lane<Call> | undefined = undefined;
  #latestMs = -Infinity;
  #otherMs = -Infinity;

  /** `share` of `connectionsMax`, rounded down, at least one. */
  constructor(connectionsMax: number, share: number, nowMs: () => number) {
    this.#shareMax = Math.max(1, Math.floor(connectionsMax * share));
    this.#nowMs = nowMs;
  }

  /** Calls that wait. */
  get size(): number {
    return this.#size;
  }

  /** The lane of a team that makes a call now. */
  called(team: string): Lane<Call> {
    let lane = this.#lanes.get(team);
    if (lane === undefined) this.#lanes.set(team, (lane = this.#open()));
    if (lane !== this.#latest) {
      this.#latest = lane;
      this.#otherMs = this.#latestMs;
    }
    this.#latestMs = this.#nowMs();
    return lane;
  }

  /** Whether a call of this team may have a connection that is free. */
  admits(lane: Lane<Call>): boolean {
    return lane.underWay < this.#shareMax || this.#isAlone(lane);
  }

  wait(lane: Lane<Call>, call: Call): void {
    lane.waiting.add(call);
    this.#queue.add(lane);
    this.#size++;
  }

  leave(lane: Lane<Call>, call: Call): void {
    if (!lane.waiting.delete(call)) return;
    this.#size--;
    if (lane.waiting.size === 0) this.#queue.delete(lane);
  }

  /** Takes the call out whose turn it is; `undefined` when no team that waits may have a connection. */
  next(): Call | undefined {
    for (const lane of this.#queue) {
      if (!this.admits(lane)) continue;
      const [call] = lane.waiting;
      this.leave(lane, call!);
      // Behind the others.
      if (this.#queue.delete(lane)) this.#queue.add(lane);
      return call;
    }
    return undefined;
  }

  /** The latest call of the team that has most waiting, if that is more than this one will have. */
  latestOfMost(lane: Lane<Call>): Call | undefined {
    let longest = lane;
    for (const other of this.#queue) if (other.waiting.size > longest.waiting.size) longest = other;
    return longest.waiting.size > lane.waiting.size + 1 ? [...longest.waiting].at(-1) : undefined;
  }

  /** All that wait. */
  all(): Call[] {
    return [...this.#queue].flatMap(({ waiting }) => [...waiting]);
  }

  #isAlone(lane: Lane<Call>): boolean {
    if (this.#queue.size > (this.#queue.has(lane) ? 1 : 0)) return false;
    const otherMs = lane === this.#latest ? this.#otherMs : this.#latestMs;
    return this.#nowMs() - otherMs >= THERE_MS;
  }

  #open(): Lane<Call> {
    if (this.#lanes.size >= TEAMS_MAX) {
      for (const [team, { underWay, waiting }] of this.#lanes) if (underWay === 0 && waiting.size === 0) this.#lanes.delete(team);
    }
    return new Lane();
  }
}
