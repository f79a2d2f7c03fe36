// Reads rows of teams in the teams' order: of one team, of all of them in pages, or of all of them in parts and bounded memory.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { TeamPage } from '../ports/team-registry.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import { done, noSuch, refused } from './operation.ts';
import type { Result, RowPart } from './operation.ts';

/** The last row of the previous page: the rows after it are the same whatever teams are created meanwhile. */
export interface RowPlace<At> {
  readonly teamId: string;
  /** `undefined`: after all rows of the team. */
  readonly row: At | undefined;
}

interface RowPage<Row, At> {
  readonly rows: readonly Row[];
  readonly missing: readonly string[];
  /** Where the next page begins, if there is one. */
  readonly next: RowPlace<At> | undefined;
}

interface TeamsRead<Row> {
  readonly rows: readonly Row[];
  readonly teams: number;
  readonly lastTeamId: string;
  readonly missing: readonly MissingRows[];
}

interface MissingRows {
  readonly teamId: string;
  readonly name: string;
}

/** What is read of a team, and the rows that are made of it. */
interface RowSource<Found, Row, At> {
  /** How many teams are read together at most: what is read of them is in memory at once, and a database may be busy for as long. */
  readonly atOnceMax: number;
  readonly find: (teamId: string) => Promise<Found | undefined | StoreUnavailable>;
  /** The next teams in the order of their ids; fewer than asked for only at the end. */
  readonly page: (page: TeamPage) => Promise<readonly Found[] | StoreUnavailable>;
  readonly teamIdOf: (found: Found) => string;
  /** In the same order; may read more of the store. */
  readonly rowsOf: (found: readonly Found[]) => readonly Row[] | Promise<readonly Row[] | StoreUnavailable>;
  readonly placeOf: (row: Row) => RowPlace<At>;
  /** The name of a team whose rows are still to come. */
  readonly missingOf?: (found: Found) => string | undefined;
  /** Of a team's rows, those after this one, which may have been deleted meanwhile. */
  readonly rowsAfter: (rows: readonly Row[], at: At) => readonly Row[];
}

/**
 * After this much work an export rests, so that it uses at most a sixth of its process, and the store has time for callers too: they
 * wait for a piece of it now and then, not for one after the other.
 */
const PIECE_MS = 0.5;
const REST = 5;
/** A process that stood still has not worked. */
const REST_MS_MAX = 50;

/** A page ends after this many teams, however few rows they have: most of 100,000 teams may have none. */
const TEAMS_OF_PAGE_MAX = 5000;

export class RowsOfTeams<Found, Row, At> {
  readonly #source: RowSource<Found, Row, At>;
  readonly #teamId: string | undefined;

  /** Of one team, or of all. */
  constructor(source: RowSource<Found, Row, At>, teamId: string | undefined) {
    this.#source = source;
    this.#teamId = teamId;
  }

  /** At most `limit` rows; fewer if many teams without one lie between, which does not mean that this is the last page. */
  async page(after: RowPlace<At> | undefined, limit: number): Promise<Result<RowPage<Row, At>>> {
    // Callers can write a cursor themselves.
    if (after !== undefined && !isPlace(after)) return refused('cursor', 'must be the `next` of the previous page');
    const rows: Row[] = [];
    const missing: MissingRows[] = [];
    // Each team counts on one page, although the next one may read it again.
    const pageTo = (next: RowPlace<At> | undefined): Result<RowPage<Row, At>> => {
      const ofPage = missing.filter(({ teamId }) => teamId > (after?.teamId ?? '') && (next === undefined || teamId <= next.teamId));
      return done({ rows: rows.slice(0, limit), next, missing: ofPage.map(({ name }) => name) });
    };
    for await (const part of this.#parts(after, limit + 1)) {
      if (part.kind !== 'done') return part;
      rows.push(...part.value.rows);
      missing.push(...part.value.missing);
      if (rows.length > limit) return pageTo(this.#source.placeOf(rows[limit - 1]!));
      const { lastTeamId, teams } = part.value;
      if (teams >= TEAMS_OF_PAGE_MAX) return pageTo({ teamId: lastTeamId, row: undefined });
    }
    return pageTo(undefined);
  }

  /** All rows, in parts; ends after the first part that is a refusal. Rests in between, as long as the process has been busy. */
  async *walk(): AsyncGenerator<Result<RowPart<Row>>, void, void> {
    let before = performance.eventLoopUtilization();
    for await (const part of this.#parts()) {
      yield part.kind === 'done' ? done({ ...part.value, missing: part.value.missing.map(({ name }) => name) }) : part;
      const { active: workedMs } = performance.eventLoopUtilization(before);
      if (workedMs < PIECE_MS) continue;
      await sleep(Math.min(REST * workedMs, REST_MS_MAX));
      before = performance.eventLoopUtilization();
    }
  }

  /** `atOnceMax` limits the teams of a part further. */
  async *#parts(after?: RowPlace<At>, atOnceMax = Infinity): AsyncGenerator<Result<TeamsRead<Row>>, void, void> {
    const { find, page, teamIdOf, rowsOf } = this.#source;
    const teamId = this.#teamId;
    let [teams, last]: [number, string | undefined] = [0, after?.teamId];
    const first = teamId ?? (after?.row === undefined ? undefined : after.teamId);
    if (first !== undefined) {
      const found = await find(first);
      if (isUnavailable(found)) return yield found;
      if (found === undefined && teamId !== undefined)
        return yield { ...refused('team', 'there is no team with this id'), named: noSuch('team', teamId).named };
      // A team that was deleted since the previous page has no rows left.
      if (found !== undefined) {
        const rows = await rowsOf([found]);
        if (isUnavailable(rows)) return yield rows;
        yield done({ rows: this.#rest(rows, first, after), teams: ++teams, lastTeamId: first, missing: this.#missing([found]) });
      }
      if (teamId !== undefined) return;
    }
    const limit = Math.max(1, Math.min(atOnceMax, this.#source.atOnceMax));
    for (;;) {
      const found = await page({ after: last, limit, search: undefined });
      if (isUnavailable(found)) return yield found;
      if (found.length === 0) return;
      teams += found.length;
      last = teamIdOf(found.at(-1)!);
      const rows = await rowsOf(found);
      if (isUnavailable(rows)) return yield rows;
      yield done({ rows, teams, lastTeamId: last, missing: this.#missing(found) });
      if (found.length < limit) return;
      // A store that answers synchronously would keep everyone else waiting until the last team.
      await nextTurn();
    }
  }

  #missing(found: readonly Found[]): readonly MissingRows[] {
    const { missingOf, teamIdOf } = this.#source;
    return found.flatMap((one) => {
      const name = missingOf?.(one);
      return name === undefined ? [] : [{ teamId: teamIdOf(one), name }];
    });
  }

  #rest(rows: readonly Row[], teamId: string, after: RowPlace<At> | undefined): readonly Row[] {
    if (after?.teamId !== teamId) return rows;
    return after.row === undefined ? [] : this.#source.rowsAfter(rows, after.row);
  }
}

function isPlace(place: unknown): boolean {
  const { teamId, row = 0 } = (place ?? {}) as Readonly<Record<string, unknown>>;
  return typeof teamId === 'string' && canonicalUlid(teamId) === teamId && row !== null;
}
