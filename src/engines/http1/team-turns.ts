// Schedules calls that wait for a connection: teams take turns, within shares while several do.

/** How long after its last call a team counts as active, even if none of its calls is waiting. */
const THERE_MS = 10_000;
/** Above this many teams, inactive ones are forgotten. */
const TEAMS_MAX = 1000;

/** One team's calls to a replica. */
export class Lane<Call> {
  /** Connections held by its calls. */
  inFlight = 0;
  /** When it last made one. */
  calledMs = -Infinity;
  /** Oldest first. */
  readonly waiting = new Set<Call>();
}

/**
 * A team may hold every connection while it is alone. Once another is active, it gets none above
 * its share: slow calls would make the other wait as long.
 */
export class TeamTurns<Call> {
  /** The number of waiting calls. */
  size = 0;
  readonly #shareMax: number;
  readonly #nowMs: () => number;
  readonly #lanes = new Map<string, Lane<Call>>();
  /** Lanes with waiting calls, in turn order. */
  readonly #queue = new Set<Lane<Call>>();

  /** `share` of `connectionsMax`, rounded down, at least one. */
  constructor(connectionsMax: number, share: number, nowMs: () => number) {
    this.#shareMax = Math.max(1, Math.floor(connectionsMax * share));
    this.#nowMs = nowMs;
  }

  /** The lane of a calling team. Calls of no team (trials, pairs) do not make others share. */
  called(team: string): Lane<Call> {
    let lane = this.#lanes.get(team);
    if (lane === undefined) this.#lanes.set(team, (lane = this.#open()));
    if (team !== '') lane.calledMs = this.#nowMs();
    return lane;
  }

  /** Whether a call of this team may use a free connection. */
  admits(lane: Lane<Call>): boolean {
    return lane.inFlight < this.#shareMax || this.#isAlone(lane);
  }

  wait(lane: Lane<Call>, call: Call): void {
    lane.waiting.add(call);
    this.#queue.add(lane);
    this.size++;
  }

  leave(lane: Lane<Call>, call: Call): void {
    if (!lane.waiting.delete(call)) return;
    this.size--;
    if (lane.waiting.size === 0) this.#queue.delete(lane);
  }

  /** Removes and returns the next call; `undefined` if no waiting team may use a connection. */
  next(): Call | undefined {
    for (const lane of this.#queue) {
      if (!this.admits(lane)) continue;
      const [call] = lane.waiting;
      this.leave(lane, call!);
      // Move the team to the end of the queue.
      if (this.#queue.delete(lane)) this.#queue.add(lane);
      return call;
    }
    return undefined;
  }

  /** The latest call of the team with the most waiting, if more than this team will have. */
  latestOfMost(lane: Lane<Call>): Call | undefined {
    let longest = lane;
    for (const other of this.#queue) if (other.waiting.size > longest.waiting.size) longest = other;
    return longest.waiting.size > lane.waiting.size + 1 ? [...longest.waiting].at(-1) : undefined;
  }

  /** All waiting calls. */
  all(): Call[] {
    return [...this.#queue].flatMap(({ waiting }) => [...waiting]);
  }

  #isAlone(lane: Lane<Call>): boolean {
    if (this.#queue.size > (this.#queue.has(lane) ? 1 : 0)) return false;
    const sinceMs = this.#nowMs() - THERE_MS;
    for (const other of this.#lanes.values()) if (other !== lane && other.calledMs > sinceMs) return false;
    return true;
  }

  #open(): Lane<Call> {
    if (this.#lanes.size >= TEAMS_MAX) {
      const sinceMs = this.#nowMs() - THERE_MS;
      for (const [team, { inFlight, waiting, calledMs }] of this.#lanes) {
        if (inFlight === 0 && waiting.size === 0 && calledMs <= sinceMs) this.#lanes.delete(team);
      }
    }
    return new Lane();
  }
}
