// Teams and keys for operators: every method, including reads, is a group-commit operation.
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { teamDifference } from '../../domain/audit-entry.ts';
import type { AuditDifference, Audited } from '../../domain/audit-entry.ts';
import type { RecordSpace } from '../../ports/record-space.ts';
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
import { keyRegistry } from '../records/key-registry.ts';
import type { KeyRegistry } from '../records/key-registry.ts';
import { assertPeriod, decideTeamChange } from '../../ledger/team-change.ts';
import { TeamPages } from './registry-work.ts';
import type { StoreParts } from './store-parts.ts';

type Parts = Pick<StoreParts, 'work' | 'teams' | 'keys' | 'usage' | 'audit' | 'events' | 'erasure'>;

export class SqliteTeamRegistry implements TeamRegistry {
  readonly #parts: Parts;
  readonly #pages: TeamPages;
  readonly #keys: KeyRegistry;

  constructor(parts: Parts, records: RecordSpace) {
    this.#parts = parts;
    this.#keys = keyRegistry(records);
    this.#pages = new TeamPages(parts.work, parts.teams);
  }

  createTeam(team: NewTeam, by?: Audited): Promise<Team | StoreUnavailable> {
    return this.#parts.work.change(`team ${team.teamId}`, (nowMs) => {
      const known = this.#parts.teams.number(team.teamId);
      if (known !== undefined) return this.#parts.teams.get(known).team;
      assertPeriod(team.limits);
      const no = this.#parts.teams.insert(team, nowMs);
      this.#parts.work.current(team.teamId, nowMs);
      const made = this.#parts.teams.get(no).team;
      this.#parts.events?.teamChanged('team_created', made, nowMs);
      this.#audit(team.teamId, teamDifference(undefined, made), by, nowMs);
      return made;
    });
  }

  listTeams(): Promise<readonly Team[] | StoreUnavailable> {
    return this.#parts.work.run('the list of teams', () => this.#parts.teams.all());
  }

  async pageTeams(page: TeamPage): Promise<readonly Team[] | StoreUnavailable> {
    return this.#pages.read(page, (no) => this.#parts.teams.find(no)?.team);
  }

  async pageSummaries(page: TeamPage): Promise<readonly TeamSummary[] | StoreUnavailable> {
    return this.#pages.read(page, (no, nowMs) => {
      const row = this.#parts.teams.find(no);
      if (row === undefined) return undefined;
      const { team, usedCharacters, allowanceUsed, periodEndMs } = row;
      // The next admission begins the current period, in which nothing is settled yet.
      const isRunning = nowMs < periodEndMs;
      const counts = { characters: isRunning ? usedCharacters : 0, allowanceUsed: isRunning ? allowanceUsed : 0 };
      return { team, ...counts, ...this.#parts.keys.summary(no) };
    });
  }

  findTeam(teamId: string): Promise<Team | undefined | StoreUnavailable> {
    return this.#read(teamId, (no) => this.#parts.teams.get(no).team);
  }

  updateTeam(teamId: string, change: TeamChange, by?: Audited): ReturnType<TeamRegistry['updateTeam']> {
    const { work, teams, events } = this.#parts;
    return work.change(`team ${teamId}`, (nowMs) => {
      const no = work.current(teamId, nowMs);
      if (no === undefined) return undefined;
      const { team: before, heldMicro } = teams.get(no);
      const known = change.once && teams.changed(no, change.once.id, nowMs);
      const { answer, write } = decideTeamChange({ team: before, heldMicro, known }, change, by);
      if (write === undefined) return answer;
      const { team, beginsPeriod, difference } = write;
      if (beginsPeriod) work.startPeriod(teamId, nowMs, () => teams.put(no, team));
      else teams.put(no, team);
      if (change.addMicro !== undefined) teams.setBalance(no, team.balanceMicro, change.addMicro);
      if (change.once !== undefined) teams.rememberChange(no, change.once, nowMs);
      events?.teamChanged('team_updated', team, nowMs);
      if (team.limits.billing === 'credit') events?.balance(teamId, team.limits.currency, before.balanceMicro, team.balanceMicro, nowMs);
      this.#audit(teamId, difference, by, nowMs);
      return team;
    });
  }

  deleteTeam(teamId: string, deletion: TeamDeletion, by?: Audited): Promise<boolean | StoreUnavailable> {
    return this.#parts.erasure.delete(teamId, deletion, by);
  }

  createKey(key: NewKey, by?: Audited): Promise<KeyRecord | undefined | StoreUnavailable> {
    return this.#keys.createKey(key, by);
  }

  listKeys(teamId: string): Promise<readonly KeyRecord[] | undefined | StoreUnavailable> {
    return this.#read(teamId, (no) => this.#parts.keys.ofTeam(no));
  }

  updateKey(keyId: string, change: KeyChange, by?: Audited): Promise<KeyRecord | undefined | StoreUnavailable> {
    return this.#keys.updateKey(keyId, change, by);
  }

  revokeKey(keyId: string, by?: Audited): Promise<KeyRecord | undefined | StoreUnavailable> {
    return this.#keys.revokeKey(keyId, by);
  }

  async replicated(): Promise<undefined> {
    return undefined;
  }

  async findKeys(search: KeySearch): Promise<readonly FoundKey[] | StoreUnavailable> {
    const { work, keys } = this.#parts;
    if ('digest' in search) return work.run('a key', () => keys.byDigest(search.digest));
    const last = (): number => keys.last();
    return work.search('the keys', 0, last, (after, to) => keys.byDisplay(search.display, after, to));
  }

  usage(teamId: string): Promise<Usage | undefined | StoreUnavailable> {
    return this.#read(teamId, (no, nowMs) => this.#parts.usage.current(no, nowMs), true);
  }

  standing(teamId: string): Promise<Standing | undefined | StoreUnavailable> {
    return this.#read(teamId, (no) => this.#parts.teams.standing(no), true);
  }

  /** Reads from a team's rows, after bringing it up to date if its counts matter; `undefined` if there is no such team. */
  #read<T>(teamId: string, read: (no: number, nowMs: number) => T, isCurrent = false): Promise<T | undefined | StoreUnavailable> {
    const { work, teams } = this.#parts;
    return work.run(`team ${teamId}`, (nowMs) => {
      const no = isCurrent ? work.current(teamId, nowMs) : teams.number(teamId);
      return no === undefined ? undefined : read(no, nowMs);
    });
  }

  #audit(teamId: string, difference: AuditDifference | undefined, by: Audited | undefined, nowMs: number): void {
    if (by !== undefined && difference !== undefined) this.#parts.audit.add(by, { teamId, ...difference }, nowMs);
  }
}
