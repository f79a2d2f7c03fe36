// Teams and keys for operators: every method, including reads, is a group-commit operation.
import { isPeriodRule, sameLength } from '../../domain/period-rule.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { teamDifference } from '../../domain/audit-entry.ts';
import type { Audited } from '../../domain/audit-entry.ts';
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
      return this.#audited(undefined, made, by, nowMs);
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
    return this.#parts.work.change(`team ${teamId}`, (nowMs) => {
      const no = this.#parts.work.current(teamId, nowMs);
      if (no === undefined) return undefined;
      const { team, heldMicro } = this.#parts.teams.get(no);
      const known = change.once && this.#parts.teams.changed(no, change.once.id, nowMs);
      if (known !== undefined) return known === change.once?.request ? team : { kind: 'other_request' };
      const balanceMicro = team.balanceMicro + (change.addMicro ?? 0);
      if (!Number.isSafeInteger(balanceMicro)) return { kind: 'balance_out_of_bounds' };
      if (change.addMicro !== undefined && balanceMicro < heldMicro)
        return { kind: 'credit_not_free', freeMicro: team.balanceMicro - heldMicro };
      if (change.name !== undefined) this.#parts.teams.setName(no, change.name);
      if (change.reference !== undefined) this.#parts.teams.setReference(no, change.reference);
      if (change.plan !== undefined) {
        const { name, limits } = change.plan;
        assertPeriod(limits);
        const setPlan = (): void => this.#parts.teams.setPlan(no, name, limits);
        if (sameLength(limits.period, team.limits.period)) setPlan();
        else this.#parts.work.startPeriod(teamId, nowMs, setPlan);
      }
      if (change.nextPlan !== undefined) {
        if (change.nextPlan !== null) assertPeriod(change.nextPlan.limits);
        this.#parts.teams.setNext(no, change.nextPlan && { ...change.nextPlan, ...(by === undefined ? {} : { by }) });
      }
      if (change.addMicro !== undefined) this.#parts.teams.setBalance(no, balanceMicro, change.addMicro);
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

  /** Returns the team after the change, and audits the difference. */
  #audited(before: Team | undefined, after: Team, by: Audited | undefined, nowMs: number): Team {
    const difference = by && teamDifference(before, after);
    if (difference !== undefined) this.#parts.audit.add(by!, { teamId: after.teamId, ...difference }, nowMs);
    return after;
  }
}

function assertPeriod({ period }: TeamLimits): void {
  if (isPeriodRule(period)) return;
  throw new RangeError(`"${period}" is not a period; write an ISO 8601 duration of whole units, such as P1M.`);
}
