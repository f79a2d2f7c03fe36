// The change of plan that waits for the end of a team's period, as it takes effect: within the transaction that begins the next one.
import type { DatabaseSync } from 'node:sqlite';
import { teamDifference } from '../../domain/audit-entry.ts';
import type { NextPlan } from '../../ports/team-registry.ts';
import { withNextPlan } from '../../ledger/team-change.ts';
import type { Accounts, TeamAccount } from './accounts.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import type { StoreParts } from './store-parts.ts';

const SQL = {
  waiting: tuples<[number]>('SELECT 1 FROM teams WHERE no = ? AND next_plan IS NOT NULL'),
};

interface Parts extends Pick<StoreParts, 'teams' | 'audit' | 'events'> {
  readonly database: DatabaseSync;
  readonly accounts: Accounts;
}

export class NextPlans {
  readonly #parts: Parts;
  readonly #sql: Statements<typeof SQL>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sql = prepared(parts.database, SQL);
  }

  /** `undefined` if none waits. */
  of({ no }: TeamAccount): NextPlan | undefined {
    return this.#sql.waiting.get(no) === undefined ? undefined : this.#parts.teams.get(no).team.nextPlan;
  }

  /** Gives the team the plan. The period that it ends must have been left. */
  take(account: TeamAccount, { by }: NextPlan, nowMs: number): void {
    const { teams, audit, events, accounts } = this.#parts;
    accounts.flush();
    const before = teams.get(account.no).team;
    const after = withNextPlan(before);
    teams.put(account.no, after);
    account.setPlan(after.plan, after.limits);
    events?.teamChanged('team_updated', after, nowMs);
    const difference = teamDifference(before, after);
    if (by !== undefined && difference !== undefined) audit.add(by, { teamId: account.teamId, ...difference }, nowMs);
  }
}
