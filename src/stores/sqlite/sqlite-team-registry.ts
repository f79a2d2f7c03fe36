// Teams and keys for operators: every method, including reads, is a group-commit operation.
import { changedLimits } from '../../domain/key-limits.ts';
import { isPeriodRule, sameLength } from '../../domain/period-rule.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { keyDifference, newKeyDifference, REVOCATION, teamDifference } from '../../domain/audit-entry.ts';
import type { Audited, ChangeableKey } from '../../domain/audit-entry.ts';
import type {
  FoundKey,
  KeyChange,
  KeyRecord,
  KeySearch,
  NewKey,
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
import type { ChangeableRow, KeyRows } from './key-rows.ts';
import { RegistryWork, TeamPages } from './registry-work.ts';
import type { RegistryWorkParts } from './registry-work.ts';
import type { PeriodUsage } from './period-usage.ts';
import type { AuditRows } from './sqlite-audit-log.ts';
import type { SqliteEvents } from './sqlite-events.ts';
import type { TeamErasure } from './team-erasure.ts';
import type { TeamRows } from './team-rows.ts';

/** Keys searched per transaction, which takes a few milliseconds. */
const SEARCH_PIECE = 5000;

export interface RegistryParts extends RegistryWorkParts {
  readonly keys: KeyRows;
  readonly erasure: Pick<TeamErasure, 'delete'>;
  readonly teams: TeamRows;
  readonly usage: PeriodUsage;
  /** `undefined` if no events are sent. */
  readonly events: SqliteEvents | undefined;
  readonly audit: AuditRows;
}

export class SqliteTeamRegistry implements TeamRegistry {
  readonly #parts: RegistryParts;
  readonly #work: RegistryWork;
  readonly #pages: TeamPages;

  constructor(parts: RegistryParts) {
    this.#parts = parts;
    this.#work = new RegistryWork(parts);
    this.#pages = new TeamPages(this.#work, parts.teams);
  }

  createTeam(team: NewTeam, by?: Audited): Promise<Team | StoreUnavailable> {
    return this.#work.change(`team ${team.teamId}`, (nowMs) => {
      const known = this.#parts.teams.number(team.teamId);
      if (known !== undefined) return this.#parts.teams.get(known).team;
      assertPeriod(team.limits);
      const no = this.#parts.teams.insert(team, nowMs);
      this.#work.current(team.teamId, nowMs);
      const made = this.#parts.teams.get(no).team;
      this.#parts.events?.teamChanged('team_created', made, nowMs);
      return this.#audited(undefined, made, by, nowMs);
    });
  }

  listTeams(): Promise<readonly Team[] | StoreUnavailable> {
    return this.#work.run('the list of teams', () => this.#parts.teams.all());
  }

  async pageTeams(page: TeamPage): Promise<readonly Team[] | StoreUnavailable> {
    return this.#pages.read(page, (no) => this.#parts.teams.find(no)?.team);
  }

  async pageSummaries(page: TeamPage): Promise<readonly TeamSummary[] | StoreUnavailable> {
    return this.#pages.read(page, (no, nowMs) => {
      const row = this.#parts.teams.find(no);
      if (row === undefined) return undefined;
      const { team, usedCharacters, periodEndMs } = row;
      // The next admission begins the current period, in which nothing is settled yet.
      return { team, characters: nowMs < periodEndMs ? usedCharacters : 0, ...this.#parts.keys.summary(no) };
    });
  }

  findTeam(teamId: string): Promise<Team | undefined | StoreUnavailable> {
    return this.#work.run(`team ${teamId}`, () => {
      const no = this.#parts.teams.number(teamId);
      return no === undefined ? undefined : this.#parts.teams.get(no).team;
    });
  }

  updateTeam(teamId: string, change: TeamChange, by?: Audited): ReturnType<TeamRegistry['updateTeam']> {
    return this.#work.change(`team ${teamId}`, (nowMs) => {
      const no = this.#work.current(teamId, nowMs);
      if (no === undefined) return undefined;
      const { team, heldMicro } = this.#parts.teams.get(no);
      const known = change.once && this.#parts.teams.changed(no, change.once.id, nowMs);
      if (known !== undefined) return known === change.once?.request ? team : { kind: 'other_request' };
      const balanceMicro = team.balanceMicro + (change.addMicro ?? 0);
      if (!Number.isSafeInteger(balanceMicro)) return { kind: 'balance_out_of_bounds' };
      if (change.addMicro !== undefined && balanceMicro < heldMicro)
        return { kind: 'credit_not_free', freeMicro: team.balanceMicro - heldMicro };
      if (change.name !== undefined) this.#parts.teams.setName(no, change.name);
      if (change.plan !== undefined) {
        const { name, limits } = change.plan;
        assertPeriod(limits);
        const setPlan = (): void => this.#parts.teams.setPlan(no, name, limits);
        if (sameLength(limits.period, team.limits.period)) setPlan();
        else this.#work.startPeriod(teamId, nowMs, setPlan);
      }
      if (change.addMicro !== undefined) this.#parts.teams.setBalance(no, balanceMicro);
      if (change.once !== undefined) this.#parts.teams.rememberChange(no, change.once, nowMs);
      const changed = this.#parts.teams.get(no).team;
      this.#parts.events?.teamChanged('team_updated', changed, nowMs);
      if (changed.limits.billing === 'credit') {
        this.#parts.events?.balance(teamId, changed.limits.currency, team.balanceMicro, balanceMicro, nowMs);
      }
      return this.#audited(team, changed, by, nowMs);
    });
  }

  deleteTeam(teamId: string, deletion: TeamDeletion, by?: Audited): Promise<boolean | StoreUnavailable> {
    return this.#parts.erasure.delete(teamId, deletion, by);
  }

  createKey(key: NewKey, by?: Audited): Promise<KeyRecord | undefined | StoreUnavailable> {
    return this.#work.change(`key ${key.keyId}`, (nowMs) => {
      const no = this.#parts.teams.number(key.teamId);
      if (no === undefined) return undefined;
      this.#parts.keys.insert(no, key, nowMs);
      const made = this.#parts.keys.get(key.keyId);
      if (made !== undefined) this.#parts.events?.keyChanged('key_created', made, nowMs);
      if (by !== undefined) this.#parts.audit.add(by, { teamId: key.teamId, keyId: key.keyId, ...newKeyDifference(key) }, nowMs);
      return made;
    });
  }

  listKeys(teamId: string): Promise<readonly KeyRecord[] | undefined | StoreUnavailable> {
    return this.#work.run(`team ${teamId}`, () => {
      const no = this.#parts.teams.number(teamId);
      return no === undefined ? undefined : this.#parts.keys.ofTeam(no);
    });
  }

  updateKey(keyId: string, change: KeyChange, by?: Audited): Promise<KeyRecord | undefined | StoreUnavailable> {
    return this.#work.change(`key ${keyId}`, (nowMs) => {
      const [record, before] = [this.#parts.keys.get(keyId), this.#parts.keys.changeable(keyId)];
      if (record === undefined || before === undefined) return undefined;
      // Holds are recounted: leases that have not expired, in the current period.
      this.#work.current(record.teamId, nowMs);
      const { label = before.label, disabled = before.disabled } = change;
      const after = { label, disabled, limits: changedLimits(before.limits, change.limits ?? {}) };
      const difference = keyDifference(changeableKey(before, record), changeableKey(after, record));
      if (difference === undefined) return record;
      this.#parts.keys.change(keyId, after);
      const changed = this.#parts.keys.get(keyId)!;
      this.#parts.events?.keyChanged('key_updated', changed, nowMs);
      if (by !== undefined) this.#parts.audit.add(by, { teamId: changed.teamId, keyId, ...difference }, nowMs);
      return changed;
    });
  }

  revokeKey(keyId: string, by?: Audited): Promise<KeyRecord | undefined | StoreUnavailable> {
    return this.#work.change(`key ${keyId}`, (nowMs) => {
      const isNews = this.#parts.keys.revoke(keyId, nowMs);
      const key = this.#parts.keys.get(keyId);
      if (isNews && key !== undefined) this.#parts.events?.keyChanged('key_revoked', key, nowMs);
      if (isNews && by !== undefined) this.#parts.audit.add(by, { teamId: key!.teamId, keyId, ...REVOCATION }, nowMs);
      return key;
    });
  }

  /** A search by `display` uses several transactions, so that the ledger never waits long. */
  async findKeys(search: KeySearch): Promise<readonly FoundKey[] | StoreUnavailable> {
    if ('digest' in search) return this.#work.run('a key', () => this.#parts.keys.byDigest(search.digest));
    const last = await this.#work.run('the keys', () => this.#parts.keys.last());
    if (isUnavailable(last)) return last;
    const found: FoundKey[] = [];
    for (let from = 0; from < last; from += SEARCH_PIECE) {
      const more = await this.#work.run('the keys', () => this.#parts.keys.byDisplay(search.display, from, from + SEARCH_PIECE));
      if (isUnavailable(more)) return more;
      found.push(...more);
    }
    return found;
  }

  usage(teamId: string): Promise<Usage | undefined | StoreUnavailable> {
    return this.#work.run(`team ${teamId}`, (nowMs) => {
      const no = this.#work.current(teamId, nowMs);
      return no === undefined ? undefined : this.#parts.usage.current(no);
    });
  }

  standing(teamId: string): Promise<Standing | undefined | StoreUnavailable> {
    return this.#work.run(`team ${teamId}`, (nowMs) => {
      const no = this.#work.current(teamId, nowMs);
      return no === undefined ? undefined : this.#parts.teams.standing(no);
    });
  }

  /** Returns the team after the change, and audits the difference. */
  #audited(before: Team | undefined, after: Team, by: Audited | undefined, nowMs: number): Team {
    const difference = by && teamDifference(before, after);
    if (difference !== undefined) this.#parts.audit.add(by!, { teamId: after.teamId, ...difference }, nowMs);
    return after;
  }
}

function changeableKey({ label, disabled, limits }: ChangeableRow, { status }: KeyRecord): ChangeableKey {
  const isRevoked = status === 'revoked';
  return { label, status: isRevoked ? 'revoked' : disabled ? 'disabled' : 'active', ...limits };
}

function assertPeriod({ period }: TeamLimits): void {
  if (isPeriodRule(period)) return;
  throw new RangeError(`"${period}" is not a period; write an ISO 8601 duration of whole units, such as P1M.`);
}
