// Requests and characters of each team in the last 15 minutes, in this process: for the list of the busiest.
import type { AccessEntry, AccessLog, Busiest, TeamTraffic } from '../ports/access-entry.ts';
import { Worst } from './worst.ts';

const MINUTE_MS = 60_000;
const MINUTES = 15;
/** In a minute. Further teams are only counted together, so that memory has a bound: about 10 MB. */
const TEAMS_MAX = 5000;
/** How many of each kind a snapshot has: enough that the busiest of several processes together are among those of each. */
const BUSIEST = 200;

/** Survives structured cloning. */
export interface BusyTeamsSnapshot {
  /** The busiest by requests and the busiest by characters, in no order. */
  readonly teams: readonly TeamTraffic[];
  /** Requests of teams that were not counted each. */
  readonly uncounted: number;
}

type Sums = { -readonly [Name in Exclude<keyof TeamTraffic, 'teamId'>]: number };

interface Minute {
  /** Since 1970. */
  readonly number: number;
  readonly teams: Map<string, Sums>;
  uncounted: number;
}

export class BusyTeams implements AccessLog {
  readonly #nowMs: () => number;
  /** By their numbers modulo `MINUTES`. */
  readonly #minutes: (Minute | undefined)[] = Array.from({ length: MINUTES }, () => undefined);
  /** The sums of all minutes. */
  readonly #teams = new Map<string, Sums>();

  /** `nowMs` is the wall clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  record({ teamId, code, characters }: AccessEntry): void {
    if (teamId === undefined) return;
    const minute = this.#minute(Math.floor(this.#nowMs() / MINUTE_MS));
    let sums = minute.teams.get(teamId);
    if (sums === undefined) {
      if (minute.teams.size === TEAMS_MAX) return void minute.uncounted++;
      minute.teams.set(teamId, (sums = { requests: 0, unanswered: 0, characters: 0 }));
    }
    let all = this.#teams.get(teamId);
    if (all === undefined) this.#teams.set(teamId, (all = { requests: 0, unanswered: 0, characters: 0 }));
    const unanswered = code === 'ok' || code === 'client_closed' ? 0 : 1;
    add(sums, unanswered, characters);
    add(all, unanswered, characters);
  }

  snapshot(): BusyTeamsSnapshot {
    const now = Math.floor(this.#nowMs() / MINUTE_MS);
    for (const minute of this.#minutes) if (minute !== undefined && !isRecent(minute, now)) this.#drop(minute);
    const byRequests = new Worst<TeamTraffic>(BUSIEST, ({ requests }) => requests);
    const byCharacters = new Worst<TeamTraffic>(BUSIEST, ({ characters }) => characters);
    for (const [teamId, sums] of this.#teams) {
      const traffic = { teamId, ...sums };
      byRequests.add(traffic);
      byCharacters.add(traffic);
    }
    const uncounted = this.#minutes.reduce((sum, minute) => sum + (minute?.uncounted ?? 0), 0);
    return { teams: [...new Set([...byRequests.kept, ...byCharacters.kept])], uncounted };
  }

  #minute(number: number): Minute {
    const place = number % MINUTES;
    const there = this.#minutes[place];
    if (there?.number === number) return there;
    if (there !== undefined) this.#drop(there);
    return (this.#minutes[place] = { number, teams: new Map(), uncounted: 0 });
  }

  /** Takes a minute out of the sums. */
  #drop(minute: Minute): void {
    this.#minutes[minute.number % MINUTES] = undefined;
    for (const [teamId, sums] of minute.teams) {
      const all = this.#teams.get(teamId)!;
      if (all.requests === sums.requests) this.#teams.delete(teamId);
      all.requests -= sums.requests;
      all.unanswered -= sums.unanswered;
      all.characters -= sums.characters;
    }
  }
}

function add(sums: Sums, unanswered: number, characters: number): void {
  sums.requests++;
  sums.unanswered += unanswered;
  sums.characters += characters;
}

/** False also for a minute in the future, where a clock once was. */
function isRecent({ number }: Minute, now: number): boolean {
  return number <= now && number > now - MINUTES;
}

/** The sums of several processes: so many of the busiest, by requests and by characters, busiest first. */
export function busiestOf(snapshots: readonly BusyTeamsSnapshot[], most: number): Busiest {
  const sums = new Map<string, TeamTraffic>();
  for (const one of snapshots.flatMap(({ teams }) => teams)) {
    const { requests = 0, unanswered = 0, characters = 0 } = sums.get(one.teamId) ?? {};
    sums.set(one.teamId, {
      teamId: one.teamId,
      requests: one.requests + requests,
      unanswered: one.unanswered + unanswered,
      characters: one.characters + characters,
    });
  }
  const first = (figure: 'requests' | 'characters'): readonly TeamTraffic[] =>
    [...sums.values()]
      .filter((one) => one[figure] > 0)
      .toSorted((a, b) => b[figure] - a[figure])
      .slice(0, most);
  const uncounted = snapshots.reduce((sum, one) => sum + one.uncounted, 0);
  return { byRequests: first('requests'), byCharacters: first('characters'), uncounted };
}
