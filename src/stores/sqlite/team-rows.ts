// Teams as rows: inserting, reading and changing them.
import type { DatabaseSync } from 'node:sqlite';
import type { TeamLimits } from '../../domain/plan.ts';
import { CHANGE_REMEMBERED_MS } from '../../domain/reservation.ts';
import type { ChangeOnce, NewTeam, NextPlan, Standing, Team } from '../../ports/team-registry.ts';
import { ACCOUNT } from './accounts.ts';
import { ERASING, LIMITS, NOT_ERASED, OPEN } from './sqlite-schema.ts';
import { assigned, columnOf, prepared, selected, tuples } from './statements.ts';
import type { SqlRow, Statements } from './statements.ts';

export interface TeamRow {
  readonly team: Team;
  readonly heldMicro: number;
  readonly usedCharacters: number;
  readonly heldCharacters: number;
  readonly allowanceUsed: number;
  readonly allowanceHeld: number;
  readonly periodNo: number;
  readonly periodEndMs: number;
}

/** A team of which only the usage is left has no row in `books`. */
const SELECT = `SELECT t.*, ${selected(ACCOUNT, 'b')} FROM teams t LEFT JOIN books b ON b.team = t.no`;

/** Which teams are visible. */
type Among = 'teams' | 'teams and what deleted ones have left';

const COLUMNS = LIMITS.map(columnOf);

const sqlAmong = (rule: string) => ({
  insert: tuples<[no: number]>(`INSERT INTO teams (team_id, name, created_at_ms, plan, reference, ${COLUMNS.join(', ')})
    VALUES (?, ?, ?, ?, ?, ${COLUMNS.map(() => '?').join(', ')}) RETURNING no`),
  insertAccount: 'INSERT INTO books (team, balance_micro) VALUES (?, ?)',
  one: `${SELECT} WHERE t.no = ? AND t.${rule}`,
  all: `${SELECT} WHERE t.${rule} ORDER BY t.no`,
  behind: tuples<[no: number]>(`SELECT no FROM teams WHERE no > ? AND ${rule} ORDER BY no LIMIT ?`),
  matching: tuples<[no: number]>(`SELECT no FROM teams WHERE no > $after AND no <= $last AND ${rule}
    AND (instr(lower(name), lower($text)) > 0 OR instr(lower(reference), lower($text)) > 0 OR instr(lower(team_id), lower($text)) > 0)
    ORDER BY no LIMIT $limit`),
  alike: tuples<[no: number]>(`SELECT no FROM teams WHERE (lower(name) = lower($text) OR lower(reference) = lower($text))
    AND no > $after AND ${rule} ORDER BY no LIMIT $limit`),
  number: tuples<[no: number]>(`SELECT no FROM teams WHERE team_id = ? AND ${rule}`),
  behindId: tuples<[no: number | null]>(`SELECT min(no) FROM teams WHERE team_id > ? AND ${rule}`),
  last: tuples<[no: number]>('SELECT coalesce(max(no), 0) FROM teams'),
  put: `UPDATE teams SET name = ?, reference = ?, next_plan = ?, next_limits = ?, next_by = ?, plan = ?, ${assigned(LIMITS)} WHERE no = ?`,
  setBalance: 'UPDATE books SET balance_micro = ? WHERE team = ?',
  rearmCredit: "UPDATE told_refusals SET told = 0 WHERE team = ? AND code = 'credit_exhausted'",
  moveCredit: `UPDATE periods SET added_micro = added_micro + max(0, $add), deducted_micro = deducted_micro - min(0, $add)
    WHERE team = $team AND no = (SELECT period_no FROM books WHERE team = $team)`,
  changed: tuples<[request: string]>('SELECT request FROM changes WHERE team = ? AND id = ? AND until_ms > ?'),
  addChange: 'INSERT OR REPLACE INTO changes (team, id, request, until_ms) VALUES (?, ?, ?, ?)',
  forgetChanges: 'DELETE FROM changes WHERE until_ms <= ?',
  countOpen: tuples<[open: number]>(`SELECT count(*) FROM operations WHERE team = ? AND state = ${OPEN}`),
});

export class TeamRows {
  readonly #sql: Statements<ReturnType<typeof sqlAmong>>;

  constructor(database: DatabaseSync, among: Among = 'teams') {
    this.#sql = prepared(database, sqlAmong(among === 'teams' ? `erasure = ${NOT_ERASED}` : `erasure <> ${ERASING}`));
  }

  /** Returns the row number. The caller must then begin the team's first period. */
  insert({ teamId, name, reference, balanceMicro, plan, limits }: NewTeam, createdAtMs: number): number {
    const [no] = this.#sql.insert.get(teamId, name, createdAtMs, plan, reference ?? null, ...LIMITS.map((limit) => limits[limit]))!;
    this.#sql.insertAccount.run(no, balanceMicro);
    return no;
  }

  /** For a team that is known to exist. */
  get(no: number): TeamRow {
    const row = this.find(no);
    if (row === undefined) throw new Error(`there is no team ${no}`);
    return row;
  }

  find(no: number): TeamRow | undefined {
    const columns = this.#sql.one.get(no);
    if (columns === undefined) return undefined;
    return {
      team: teamOf(columns),
      heldMicro: Number(columns['held_micro']),
      usedCharacters: Number(columns['used_characters']),
      heldCharacters: Number(columns['held_characters']),
      allowanceUsed: Number(columns['allowance_used']),
      allowanceHeld: Number(columns['allowance_held']),
      periodNo: Number(columns['period_no']),
      periodEndMs: Number(columns['period_end_ms']),
    };
  }

  all(): Team[] {
    return this.#sql.all.all().map(teamOf);
  }

  /** `undefined` if there is no team with this id. */
  number(teamId: string): number | undefined {
    return this.#sql.number.get(teamId)?.[0];
  }

  /** The highest number; 0 without teams. */
  last(): number {
    return this.#sql.last.get()![0];
  }

  /**
   * The row number after which the following teams begin. If this team was deleted meanwhile, it is the number before the first
   * team with a higher id, because ids increase with time. If clocks differ, a page may repeat teams but never omits any.
   */
  placeOf(teamId: string): number {
    const known = this.number(teamId);
    if (known !== undefined) return known;
    const [next] = this.#sql.behindId.get(teamId)!;
    return next === null ? this.last() : next - 1;
  }

  /** Row numbers of the next teams. */
  behind(after: number, limit: number): number[] {
    return this.#sql.behind.all(after, limit).map(([no]) => no);
  }

  /** Row numbers above `after`, up to `last`, of teams whose name, reference or id contains `text`. */
  matching(text: string, after: number, last: number, limit: number): number[] {
    return this.#sql.matching.all({ $after: after, $last: last, $text: text, $limit: limit }).map(([no]) => no);
  }

  /** Row numbers above `after` of teams whose name or reference is `text`. */
  alike(text: string, after: number, limit: number): number[] {
    return this.#sql.alike.all({ $after: after, $text: text, $limit: limit }).map(([no]) => no);
  }

  /** A team as it becomes, but for its balance. */
  put(no: number, { name, reference, plan, limits, nextPlan }: Team): void {
    const next = [
      nextPlan?.name ?? null,
      ...[nextPlan?.limits, nextPlan?.by].map((part) => (part === undefined ? null : JSON.stringify(part))),
    ];
    this.#sql.put.run(name, reference ?? null, ...next, plan, ...LIMITS.map((limit) => limits[limit]), no);
  }

  /** `addMicro` is how much more that is than before, and is counted in the team's period. */
  setBalance(no: number, balanceMicro: number, addMicro: number): void {
    this.#sql.setBalance.run(balanceMicro, no);
    this.#sql.moveCredit.run({ $team: no, $add: addMicro });
    if (addMicro > 0) this.#sql.rearmCredit.run(no);
  }

  /** The request of the change with this id; `undefined` if there was none within a day. */
  changed(no: number, id: string, nowMs: number): string | undefined {
    return this.#sql.changed.get(no, id, nowMs)?.[0];
  }

  rememberChange(no: number, { id, request }: ChangeOnce, nowMs: number): void {
    this.#sql.forgetChanges.run(nowMs);
    this.#sql.addChange.run(no, id, request, nowMs + CHANGE_REMEMBERED_MS);
  }

  /** From the counters of a team that is up to date, so that checking the result checks the counters. */
  standing(no: number): Standing {
    const { team, heldMicro, usedCharacters, heldCharacters, allowanceUsed, allowanceHeld } = this.get(no);
    const openReservations = this.#sql.countOpen.get(no)![0];
    const { balanceMicro } = team;
    return { usedCharacters, heldCharacters, allowanceUsed, allowanceHeld, balanceMicro, heldMicro, openReservations };
  }
}

/** From a row with the columns of `teams` and `books`. */
export function teamOf(row: SqlRow): Team {
  return {
    teamId: String(row['team_id']),
    name: String(row['name']),
    ...(row['reference'] === null ? {} : { reference: String(row['reference']) }),
    plan: String(row['plan']),
    limits: limitsOf(row),
    balanceMicro: Number(row['balance_micro']),
    createdAtMs: Number(row['created_at_ms']),
    ...(row['next_plan'] === null ? {} : { nextPlan: nextPlanOf(row) }),
  };
}

function nextPlanOf(row: SqlRow): NextPlan {
  const by = row['next_by'] === null ? {} : { by: JSON.parse(String(row['next_by'])) as NonNullable<NextPlan['by']> };
  return { name: String(row['next_plan']), limits: JSON.parse(String(row['next_limits'])) as TeamLimits, ...by };
}

/** The schema guarantees the types of the values: text and integers. */
function limitsOf(row: SqlRow): TeamLimits {
  return Object.fromEntries(LIMITS.map((name, i) => [name, row[COLUMNS[i]!]])) as unknown as TeamLimits;
}
