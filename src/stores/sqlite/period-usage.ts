// A team's usage in a period, read from rows.
import type { DatabaseSync } from 'node:sqlite';
import type { TeamLimits } from '../../domain/plan.ts';
import type { Usage } from '../../ports/team-registry.ts';
import type { PeriodUse } from '../../ports/usage-history.ts';
import type { KeyRows } from './key-rows.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import type { TeamRows } from './team-rows.ts';

const SQL = {
  bounds: tuples<[startMs: number, endMs: number]>('SELECT start_ms, end_ms FROM periods WHERE team = ? AND no = ?'),
  closed: tuples<[startMs: number, endMs: number, plan: string | null, limits: string | null, characters: number]>(
    'SELECT start_ms, coalesce(left_ms, end_ms), plan, limits, closed_characters FROM periods WHERE team = ? AND no = ?',
  ),
  byKey: tuples<[key: number, characters: number, requests: number]>(
    'SELECT key, characters, requests FROM usage WHERE team = ? AND period_no = ?',
  ),
};

export class PeriodUsage {
  readonly #teams: TeamRows;
  readonly #keys: KeyRows;
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync, teams: TeamRows, keys: KeyRows) {
    this.#teams = teams;
    this.#keys = keys;
    this.#sql = prepared(database, SQL);
  }

  /** For the team's current period; the team must be up to date. */
  current(no: number): Usage {
    const { team, usedCharacters, periodNo } = this.#teams.get(no);
    const [periodStartMs, periodEndMs] = this.#sql.bounds.get(no, periodNo)!;
    return { team, periodStartMs, periodEndMs, characters: usedCharacters, keys: this.#keys.usage(no) };
  }

  /** For a closed period with usage. */
  closed(no: number, periodNo: number): { readonly period: PeriodUse; readonly usage: Usage } {
    const [startMs, endMs, heldPlan, heldLimits, characters] = this.#sql.closed.get(no, periodNo)!;
    const { team } = this.#teams.get(no);
    const plan = heldPlan ?? team.plan;
    const limits = heldLimits === null ? team.limits : (JSON.parse(heldLimits) as TeamLimits);
    const used = new Map(this.#sql.byKey.all(no, periodNo).map(([key, ...counts]) => [key, counts]));
    const keys = this.#keys.numbered(no).map(([key, record]) => {
      const [charged = 0, requests = 0] = used.get(key) ?? [];
      return { ...record, characters: charged, requests };
    });
    return {
      period: { number: periodNo, startMs, endMs, closed: true, plan, limits, characters },
      usage: { team: { ...team, plan, limits }, periodStartMs: startMs, periodEndMs: endMs, characters, keys },
    };
  }
}
