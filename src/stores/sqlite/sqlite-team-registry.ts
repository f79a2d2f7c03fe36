// Teams and keys in SQLite, as operators manage them: each operation is one of the group commit, on the team's account.
import type { Audited } from '../../domain/audit-entry.ts';
import { teamDifference } from '../../domain/audit-entry.ts';
import { CHANGE_REMEMBERED_MS } from '../../domain/reservation.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { teamSummary, withWindowUses } from '../../ledger/counter.ts';
import { assertPeriod, decideTeamChange } from '../../ledger/team-change.ts';
import type { RecordSpace } from '../../ports/record-space.ts';
import type {
  FoundKey,
  KeySearch,
  NewTeam,
  Standing,
  Team,
  TeamChange,
  TeamDeletion,
  TeamPage,
  TeamRegistry,
  TeamSummary,
  Usage,
} from '../../ports/team-registry.ts';
import { keyRegistry } from '../records/key-registry.ts';
import type { KeyRegistry } from '../records/key-registry.ts';
import { teamEvent } from '../records/event-record.ts';
import type { OpenAccount } from './sqlite-accounts.ts';
import { onAccount, onRows } from './sqlite-parts.ts';
import type { SqliteParts } from './sqlite-parts.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import type { TeamErasure } from './team-erasure.ts';
import type { TeamQueries } from './team-table.ts';

const SQL = {
  insert: tuples<[no: number]>('INSERT INTO teams (team_id, name, reference, record) VALUES (?, ?, ?, ?) RETURNING no'),
  insertAccount: `INSERT INTO accounts (team, balance_micro, period_no, period_start_ms, period_end_ms, anchor_ms, used_characters, allowance_used)
    VALUES (?, ?, 0, 0, ?, ?, 0, 0)`,
  moveCredit: `UPDATE periods SET added_micro = added_micro + max(0, $micro), deducted_micro = deducted_micro - min(0, $micro)
    WHERE team = $team AND no = $no`,
  change: tuples<[request: string]>('SELECT request FROM changes WHERE team = ? AND id = ? AND until_ms > ?'),
  forgetChanges: 'DELETE FROM changes WHERE until_ms <= ?',
  rememberChange: 'INSERT OR REPLACE INTO changes (team, id, request, until_ms) VALUES (?, ?, ?, ?)',
};

type Parts = Pick<SqliteParts, 'database' | 'group' | 'accounts' | 'writes'>;

export class SqliteTeamRegistry implements TeamRegistry {
  readonly #parts: Parts;
  readonly #teams: TeamQueries;
  readonly #erasure: TeamErasure;
  readonly #keys: KeyRegistry;
  readonly #sql: Statements<typeof SQL>;

  constructor(parts: Parts, teams: TeamQueries, erasure: TeamErasure, records: RecordSpace) {
    this.#parts = parts;
    this.#teams = teams;
    this.#erasure = erasure;
    this.#keys = keyRegistry(records);
    this.#sql = prepared(parts.database, SQL);
  }

  createTeam(team: NewTeam, by?: Audited): Promise<Team | StoreUnavailable> {
    assertPeriod(team.limits);
    return onRows(this.#parts, (nowMs) => this.#create(team, nowMs, by));
  }

  /** A team's first balance is credit that was added. */
  #create(team: NewTeam, nowMs: number, by: Audited | undefined): Team {
    const { accounts, writes } = this.#parts;
    const known = accounts.account(team.teamId, nowMs);
    if (known !== undefined) return known.account.shown();
    const { balanceMicro, ...record } = { ...team, createdAtMs: nowMs };
    const [no] = this.#sql.insert.get(team.teamId, team.name, team.reference ?? null, JSON.stringify(record))!;
    this.#sql.insertAccount.run(no, balanceMicro, Number.MAX_SAFE_INTEGER, nowMs);
    const { account } = accounts.account(team.teamId, nowMs)!;
    account.beginFirstPeriod(nowMs);
    this.#sql.moveCredit.run({ $micro: balanceMicro, $team: no, $no: 1 });
    const shown = account.shown();
    writes.event(team.teamId, teamEvent('team_created', shown), nowMs);
    const difference = teamDifference(undefined, team);
    if (by !== undefined && difference !== undefined) writes.audit(by, { teamId: team.teamId, ...difference }, nowMs);
    return shown;
  }

  async listTeams(): Promise<readonly Team[] | StoreUnavailable> {
    return this.pageTeams({ after: undefined, limit: Infinity, search: undefined });
  }

  pageTeams(page: TeamPage): Promise<readonly Team[] | StoreUnavailable> {
    return onRows(this.#parts, () => this.#teams.page(page).map(({ team }) => team));
  }

  pageSummaries(page: TeamPage): Promise<readonly TeamSummary[] | StoreUnavailable> {
    return onRows(this.#parts, (nowMs) =>
      this.#teams.page(page).map(({ team: { teamId } }) => teamSummary(this.#usage(this.#parts.accounts.account(teamId, nowMs)!, nowMs))),
    );
  }

  findTeam(teamId: string): Promise<Team | undefined | StoreUnavailable> {
    return onAccount(this.#parts, teamId, ({ account }) => account.shown());
  }

  updateTeam(teamId: string, change: TeamChange, by?: Audited): ReturnType<TeamRegistry['updateTeam']> {
    return onAccount(this.#parts, teamId, ({ no, account }, nowMs) => {
      const { addMicro = 0, once } = change;
      const known = once && this.#sql.change.get(no, once.id, nowMs)?.[0];
      const found = { team: account.shown(), heldMicro: account.standing().heldMicro, known };
      const { answer, write } = decideTeamChange(found, change, by);
      if (write === undefined) return answer;
      this.#sql.forgetChanges.run(nowMs);
      if (once !== undefined) this.#sql.rememberChange.run(no, once.id, once.request, nowMs + CHANGE_REMEMBERED_MS);
      if (write.beginsPeriod) account.endPeriodNow(nowMs);
      account.setTeam(write.team);
      if (write.beginsPeriod) account.beginPeriodNow(nowMs);
      if (addMicro !== 0) this.#sql.moveCredit.run({ $micro: addMicro, $team: no, $no: account.counts.period.number });
      if (write.difference !== undefined) {
        this.#parts.writes.event(teamId, teamEvent('team_updated', write.team), nowMs);
        if (by !== undefined) this.#parts.writes.audit(by, { teamId, ...write.difference }, nowMs);
      }
      return answer;
    });
  }

  deleteTeam(teamId: string, deletion: TeamDeletion, by?: Audited): Promise<boolean | StoreUnavailable> {
    return this.#erasure.delete(teamId, deletion, by);
  }

  createKey(...given: Parameters<KeyRegistry['createKey']>): ReturnType<KeyRegistry['createKey']> {
    return this.#keys.createKey(...given);
  }

  updateKey(...given: Parameters<KeyRegistry['updateKey']>): ReturnType<KeyRegistry['updateKey']> {
    return this.#keys.updateKey(...given);
  }

  revokeKey(...given: Parameters<KeyRegistry['revokeKey']>): ReturnType<KeyRegistry['revokeKey']> {
    return this.#keys.revokeKey(...given);
  }

  listKeys(teamId: string): ReturnType<TeamRegistry['listKeys']> {
    return onAccount(this.#parts, teamId, ({ no }, nowMs) => this.#teams.keys(no, nowMs));
  }

  replicated(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  findKeys(search: KeySearch): Promise<readonly FoundKey[] | StoreUnavailable> {
    return onRows(this.#parts, (nowMs) => this.#teams.findKeys(search, nowMs));
  }

  usage(teamId: string): Promise<Usage | undefined | StoreUnavailable> {
    return onAccount(this.#parts, teamId, (open, nowMs) => this.#usage(open, nowMs));
  }

  standing(teamId: string): Promise<Standing | undefined | StoreUnavailable> {
    return onAccount(this.#parts, teamId, ({ account }) => account.standing());
  }

  #usage({ no, account, rows }: OpenAccount, nowMs: number): Usage {
    const { period, used, allowanceUsed } = account.counts;
    const keys = this.#teams.keys(no, nowMs).map((key) => ({ ...key, ...account.key(key.keyId)!.used() }));
    const team = account.shown();
    const usage = { team, periodStartMs: period.startMs, periodEndMs: period.endMs, characters: used, allowanceUsed, keys };
    return withWindowUses(usage, (subject) => account.windowCounts.get(subject)?.stored() ?? rows.windowCounts(subject), nowMs);
  }
}
