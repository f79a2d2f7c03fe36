// What a team has used in a period, read from rows.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { TeamLimits } from '../../domain/plan.ts';
import type { Usage } from '../../ports/team-registry.ts';
import type { PeriodUse } from '../../ports/usage-history.ts';
import type { KeyRows } from './key-rows.ts';
import type { TeamRows } from './team-rows.ts';

export class PeriodUsage {
  readonly #teams: TeamRows;
  readonly #keys: KeyRows;
  readonly #period: StatementSync;
  readonly #closed: StatementSync;
  readonly #byKey: StatementSync;

  constructor(database: DatabaseSync, teams: TeamRows, keys: KeyRows) {
    this.#teams = teams;
    this.#keys = keys;
    this.#period = database.prepare('SELECT start_ms, end_ms FROM periods WHERE team = ? AND no = ?');
    this.#closed = database.prepare(
      'SELECT start_ms, coalesce(left_ms, end_ms) AS end_ms, plan, limits, closed_characters FROM periods WHERE team = ? AND no = ?',
    );
    this.#byKey = database.prepare('SELECT key, characters, requests FROM usage WHERE team = ? AND period_no = ?');
  }

  /** Of the period that counts for the team, which was brought up to this moment. */
  current(no: number): Usage {
    const { team, usedCharacters, periodNo } = this.#teams.get(no);
    const period = this.#period.get(no, periodNo);
    return {
      team,
      periodStartMs: Number(period?.['start_ms']),
      periodEndMs: Number(period?.['end_ms']),
      characters: usedCharacters,
      keys: this.#keys.usage(no),
    };
  }

  /** Of a period that is closed and had use. */
  closed(no: number, periodNo: number): { readonly period: PeriodUse; readonly usage: Usage } {
    const row = this.#closed.get(no, periodNo)!;
    const { team } = this.#teams.get(no);
    const [startMs, endMs, characters] = [Number(row['start_ms']), Number(row['end_ms']), Number(row['closed_characters'])];
    const plan = String(row['plan'] ?? team.plan);
    const limits = row['limits'] === null ? team.limits : (JSON.parse(String(row['limits'])) as TeamLimits);
    const used = new Map(this.#byKey.all(no, periodNo).map((counts) => [Number(counts['key']), counts]));
    const keys = this.#keys.numbered(no).map(([key, record]) => ({
      ...record,
      characters: Number(used.get(key)?.['characters'] ?? 0),
      requests: Number(used.get(key)?.['requests'] ?? 0),
    }));
    return {
      period: { number: periodNo, startMs, endMs, closed: true, plan, limits, characters },
      usage: { team: { ...team, plan, limits }, periodStartMs: startMs, periodEndMs: endMs, characters, keys },
    };
  }
}
