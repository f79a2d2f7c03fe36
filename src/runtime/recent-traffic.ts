// The requests of the last 15 minutes in this process, for the console: rates and durations, the
// busiest teams, and the latest that were refused or met a failure.
import type { AccessEntry, AccessLog, Busiest, TeamTraffic, RecentRequest } from '../ports/access-entry.ts';

export const LIVE_STEP_MS = 5000;
/** 15 minutes. */
export const LIVE_STEPS = 180;

/** Of duration buckets in ms, each a quarter larger: from 0.1 ms to over a minute. */
const BOUNDS = Array.from({ length: 62 }, (_, index) => 0.1 * 1.25 ** index);

/** One step, structured-cloneable so that several processes can be summed. */
export interface LiveStep {
  /** Wall clock, a multiple of `LIVE_STEP_MS`. */
  readonly atMs: number;
  /** By problem code, `ok`, `client_closed`. */
  readonly requests: Readonly<Record<string, number>>;
  /** The number of requests in each duration bucket, by index of its bound. */
  readonly durations: readonly number[];
  readonly characters: number;
  readonly engineFailures: number;
  readonly inFlight: number;
}

type MutableLiveStep = { -readonly [Name in Exclude<keyof LiveStep, 'requests' | 'durations'>]: number } & {
  readonly requests: Record<string, number>;
  readonly durations: number[];
};

/** The last spans of time; each begins with the first thing that happens in it. */
class LastSpans<T> {
  readonly #spanMs: number;
  readonly #begin: (atMs: number) => T;
  /** By their numbers modulo how many there are. */
  readonly #spans: ({ readonly number: number; readonly value: T } | undefined)[];

  constructor(spanMs: number, count: number, begin: (atMs: number) => T) {
    this.#spanMs = spanMs;
    this.#begin = begin;
    this.#spans = Array.from({ length: count }, () => undefined);
  }

  at(nowMs: number): T {
    const number = Math.floor(nowMs / this.#spanMs);
    const index = number % this.#spans.length;
    let span = this.#spans[index];
    if (span?.number !== number) this.#spans[index] = span = { number, value: this.#begin(number * this.#spanMs) };
    return span.value;
  }

  /** Oldest first. Not one in the future either, where a clock once was. */
  all(nowMs: number): T[] {
    const now = Math.floor(nowMs / this.#spanMs);
    const recent = this.#spans.filter((span) => span !== undefined && span.number <= now && span.number > now - this.#spans.length);
    return recent.toSorted((a, b) => a!.number - b!.number).map((span) => span!.value);
  }
}

const MINUTE_MS = 60_000;
const MINUTES = 15;
/** In a minute. Further teams are counted together, so that memory is bounded: some 10 MB. */
const TEAMS_MAX = 5000;
/** Enough that the busiest of several processes are among those of each. */
const BUSIEST = 200;
/** Of refusals, and of failures: a flood of one kind must not push out the other. */
const RECENT_MAX = 1000;

/** Survives structured cloning. */
export interface BusyTeamsSnapshot {
  /** The busiest by requests and the busiest by characters, in no order. */
  readonly teams: readonly TeamTraffic[];
  /** Requests of teams that were not counted each. */
  readonly uncounted: number;
}

type Sums = { -readonly [Name in Exclude<keyof TeamTraffic, 'teamId'>]: number };

export class RecentTraffic implements AccessLog {
  readonly #nowMs: () => number;
  readonly #steps = new LastSpans(LIVE_STEP_MS, LIVE_STEPS, emptyStep);
  readonly #minutes = new LastSpans(MINUTE_MS, MINUTES, () => ({ teams: new Map<string, Sums>(), uncounted: 0 }));
  readonly #refused: RecentRequest[] = [];
  readonly #failed: RecentRequest[] = [];
  #inFlight: { readonly size: number } = { size: 0 };
  #quietRoutes: ReadonlySet<string> = new Set();

  /** `nowMs` is the wall clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Where requests in flight are read, and routes that must not look like traffic. */
  watch(inFlight: { readonly size: number }, quietRoutes: ReadonlySet<string>): void {
    this.#inFlight = inFlight;
    this.#quietRoutes = quietRoutes;
  }

  /** Records a finished request. */
  record(entry: AccessEntry): void {
    const nowMs = this.#nowMs();
    if (!this.#quietRoutes.has(entry.route)) countInto(this.#step(nowMs), entry);
    this.#countTeam(entry, nowMs);
    this.#remember(entry, nowMs);
  }

  engineFailures(count: number): void {
    this.#step(this.#nowMs()).engineFailures += count;
  }

  /** Oldest first; only steps with activity, and the current one. */
  steps(): readonly LiveStep[] {
    const nowMs = this.#nowMs();
    this.#step(nowMs);
    return structuredClone(this.#steps.all(nowMs));
  }

  busy(): BusyTeamsSnapshot {
    const sums = new Map<string, Sums>();
    let uncounted = 0;
    for (const minute of this.#minutes.all(this.#nowMs())) {
      for (const [teamId, more] of minute.teams) addTo(sums, teamId, more);
      uncounted += minute.uncounted;
    }
    const busiest = [...busiestBy(sums, 'requests', BUSIEST), ...busiestBy(sums, 'characters', BUSIEST)];
    return { teams: [...new Map(busiest.map((one) => [one.teamId, one])).values()], uncounted };
  }

  /** Newest first. */
  requests(): readonly RecentRequest[] {
    return newestFirst([...this.#refused.slice(-RECENT_MAX), ...this.#failed.slice(-RECENT_MAX)]);
  }

  #step(nowMs: number): MutableLiveStep {
    const step = this.#steps.at(nowMs);
    // Peaks occur just before a request ends.
    step.inFlight = Math.max(step.inFlight, this.#inFlight.size);
    return step;
  }

  #countTeam({ teamId, code, characters }: AccessEntry, nowMs: number): void {
    if (teamId === undefined) return;
    const minute = this.#minutes.at(nowMs);
    if (minute.teams.size >= TEAMS_MAX && !minute.teams.has(teamId)) minute.uncounted++;
    else addTo(minute.teams, teamId, { requests: 1, unanswered: code === 'ok' || code === 'client_closed' ? 0 : 1, characters });
  }

  /** Refused, failed, or with a failed attempt. Who disconnected is in the log alone. */
  #remember(entry: AccessEntry, atMs: number): void {
    const { status, code, failures } = entry;
    if (status === undefined || (code === 'ok' && failures === undefined)) return;
    const { requestId, route, teamId, keyId, engine, parameter, limitOf } = entry;
    const list = status >= 500 || failures !== undefined ? this.#failed : this.#refused;
    list.push({ requestId, atMs, route, status, code, teamId, keyId, engine, failures, parameter, limitOf });
    if (list.length >= 2 * RECENT_MAX) list.splice(0, RECENT_MAX);
  }
}

function countInto(step: MutableLiveStep, { code, durationMs, characters }: AccessEntry): void {
  step.requests[code] = (step.requests[code] ?? 0) + 1;
  let low = 0;
  for (let high = BOUNDS.length - 1; low < high;) {
    const middle = (low + high) >> 1;
    if (durationMs <= BOUNDS[middle]!) high = middle;
    else low = middle + 1;
  }
  step.durations[low]!++;
  step.characters += characters;
}

/** Of the window, with empty ones, summed over processes; `nowMs` is the wall clock. */
export function addUp(windows: readonly (readonly LiveStep[])[], nowMs: number): readonly LiveStep[] {
  const newestMs = Math.floor(nowMs / LIVE_STEP_MS) * LIVE_STEP_MS;
  const sums = new Map<number, MutableLiveStep>();
  for (let back = LIVE_STEPS - 1; back >= 0; back--) {
    const atMs = newestMs - back * LIVE_STEP_MS;
    sums.set(atMs, emptyStep(atMs));
  }
  for (const step of windows.flat()) {
    const sum = sums.get(step.atMs);
    if (sum === undefined) continue;
    add(sum, step);
    sum.inFlight += step.inFlight;
  }
  return [...sums.values()];
}

/** Into spans of the wall clock, each with its start and its highest `inFlight`. */
export function grouped(steps: readonly LiveStep[], spanMs: number): readonly LiveStep[] {
  const spans = Map.groupBy(steps, ({ atMs }) => Math.floor(atMs / spanMs) * spanMs);
  return [...spans].map(([atMs, members]) => ({ ...sumOf(members), atMs }));
}

/** Sums one or more steps, with the highest `inFlight` among them. */
export function sumOf(steps: readonly LiveStep[]): LiveStep {
  const sum = emptyStep(steps[0]!.atMs);
  for (const step of steps) {
    add(sum, step);
    sum.inFlight = Math.max(sum.inFlight, step.inFlight);
  }
  return sum;
}

/** What a share of the requests did not exceed, up to a quarter too high; `null` for none. */
export function quantileMs({ durations }: LiveStep, share: number): number | null {
  const all = durations.reduce((sum, count) => sum + count, 0);
  if (all === 0) return null;
  let seen = 0;
  for (const [index, count] of durations.entries()) {
    seen += count;
    if (seen >= all * share) return Math.round(BOUNDS[index]! * 100) / 100;
  }
  return BOUNDS.at(-1)!;
}

const NO_DURATIONS: readonly number[] = BOUNDS.map(() => 0);

function emptyStep(atMs: number): MutableLiveStep {
  return { atMs, requests: {}, durations: [...NO_DURATIONS], characters: 0, engineFailures: 0, inFlight: 0 };
}

/** Adds everything but `inFlight`, which may be summed over processes but not over time. */
function add(sum: MutableLiveStep, step: LiveStep): void {
  for (const [code, count] of Object.entries(step.requests)) sum.requests[code] = (sum.requests[code] ?? 0) + count;
  for (const [index, count] of step.durations.entries()) sum.durations[index]! += count;
  sum.characters += step.characters;
  sum.engineFailures += step.engineFailures;
}

function addTo(teams: Map<string, Sums>, teamId: string, { requests, unanswered, characters }: Readonly<Sums>): void {
  const sums = teams.get(teamId);
  if (sums === undefined) {
    teams.set(teamId, { requests, unanswered, characters });
    return;
  }
  sums.requests += requests;
  sums.unanswered += unanswered;
  sums.characters += characters;
}

/** Busiest first, without those that have nothing of it. */
function busiestBy(sums: ReadonlyMap<string, Sums>, figure: 'requests' | 'characters', most: number): readonly TeamTraffic[] {
  const some = [...sums].filter(([, one]) => one[figure] > 0).map(([teamId, one]) => ({ teamId, ...one }));
  return worstOf(some, most, (one) => one[figure]);
}

/** Of several processes, busiest first, so many by requests and by characters. */
export function busiestOf(snapshots: readonly BusyTeamsSnapshot[], most: number): Busiest {
  const sums = new Map<string, Sums>();
  for (const { teamId, ...more } of snapshots.flatMap(({ teams }) => teams)) addTo(sums, teamId, more);
  const uncounted = snapshots.reduce((sum, one) => sum + one.uncounted, 0);
  return { byRequests: busiestBy(sums, 'requests', most), byCharacters: busiestBy(sums, 'characters', most), uncounted };
}

/** By request id, which begins with the time. */
export function newestFirst(requests: readonly RecentRequest[]): readonly RecentRequest[] {
  return requests.toSorted((a, b) => (a.requestId < b.requestId ? 1 : -1));
}

/** So many at most, worst first: a higher `badness` is worse. */
export function worstOf<T>(all: readonly T[], most: number, badness: (one: T) => number): readonly T[] {
  return all.toSorted((one, other) => badness(other) - badness(one)).slice(0, most);
}
