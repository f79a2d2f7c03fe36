// Teams and keys in Redis: a function changes the team in its cluster slot, then the indexes in other slots follow.
import type { KeyOwner } from '../../domain/api-key.ts';
import type { Audited } from '../../domain/audit-entry.ts';
import { CHANGE_REMEMBERED_MS } from '../../domain/reservation.ts';
import { answered, answering, isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Store } from '../../ports/store.ts';
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
import type { FunctionAnswer, FunctionCall } from './function-caller.ts';
import type { RedisAuditLog } from './redis-audit-log.ts';
import { digestKey, ownerKey, teamKeys } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';
import { RedisTeamErasure } from './redis-team-erasure.ts';
import type { Replication } from './replication.ts';
import { changedTeamFields, newTeamFields, readReport, readStanding, readTeam } from './team-codec.ts';
import type { Report } from './team-codec.ts';
import { DESCRIPTION, TEAM_FIELDS } from './team-layout.ts';
import { LIST_PIECE, lineOf, TeamIndex } from './team-index.ts';
import { creationOf, readTeamRecord, summaryOf } from './team-summary.ts';

/** Teams whose keys are searched at a time. */
const KEYS_PIECE = 250;

export class RedisTeamRegistry implements TeamRegistry {
  readonly #link: RedisLink;
  readonly #replication: Replication;
  readonly #audit: RedisAuditLog;
  readonly #keys: KeyRegistry;
  readonly index: TeamIndex;
  readonly erasure: RedisTeamErasure;

  /** `clock` is used instead of the servers' clocks by tests that control time. */
  constructor(
    link: RedisLink,
    replication: Replication,
    audit: RedisAuditLog,
    { records, idempotency: requests }: Pick<Store, 'records' | 'idempotency'>,
    keptDays: number,
  ) {
    this.#link = link;
    this.#replication = replication;
    this.#audit = audit;
    this.#keys = keyRegistry(records);
    this.index = new TeamIndex(link, (ids) => this.#findTeams(ids));
    this.erasure = new RedisTeamErasure({ link, index: this.index, audit, requests, keptDays });
  }

  createTeam(team: NewTeam, by?: Audited): Promise<Team | StoreUnavailable> {
    return answering(async () => {
      const audit = await this.#audit.begin(team.teamId, by);
      const args = [String(team.balanceMicro), ...counted(newTeamFields(team)), ...audit];
      const { word, values } = await this.#run('create_team', team.teamId, args);
      if (word === 'erasing') throw new RangeError(`team ${team.teamId} is being deleted; use another id.`);
      const made = readTeam(team.teamId, values[0]);
      await this.index.add(team.teamId, lineOf(made));
      return made;
    });
  }

  listTeams(): Promise<readonly Team[] | StoreUnavailable> {
    return answering(async () => {
      const teams: Team[] = [];
      for await (const ids of this.index.pieces(LIST_PIECE)) teams.push(...(await this.#findTeams(ids)));
      return teams;
    });
  }

  pageTeams(page: TeamPage): Promise<readonly Team[] | StoreUnavailable> {
    return answering(() => this.index.full(page, (ids) => this.#findTeams(ids)));
  }

  pageSummaries(page: TeamPage): Promise<readonly TeamSummary[] | StoreUnavailable> {
    return answering(async () => {
      const nowMs = await this.#link.now();
      return this.index.full(page, async (ids) => {
        const summaries = await Promise.all(ids.map((teamId) => this.#summary(teamId, nowMs)));
        return summaries.filter((summary) => summary !== undefined);
      });
    });
  }

  findTeam(teamId: string): Promise<Team | undefined | StoreUnavailable> {
    return answering(() => this.#findTeam(teamId));
  }

  updateTeam(teamId: string, change: TeamChange, by?: Audited): ReturnType<TeamRegistry['updateTeam']> {
    return answering(async () => {
      // Expires leases first, so that the credit they held can be withdrawn.
      if ((change.addMicro ?? 0) < 0) answered(await this.standing(teamId));
      const audit = await this.#audit.begin(teamId, by);
      const fields = counted(changedTeamFields(change, by));
      const once = [change.once?.id ?? '', change.once?.request ?? '', String(CHANGE_REMEMBERED_MS)];
      const args = [String(change.addMicro ?? 0), ...once, ...fields, ...audit];
      let { word, values } = await this.#run('update_team', teamId, args);
      // The period has ended, and the plan that waits for that comes first.
      while (word === 'ended') {
        answered(await this.standing(teamId));
        ({ word, values } = await this.#run('update_team', teamId, args));
      }
      if (word === 'balance') return { kind: 'balance_out_of_bounds' };
      if (word === 'held') return { kind: 'credit_not_free', freeMicro: Number(String(values[0])) };
      if (word === 'other') return { kind: 'other_request' };
      if (word === 'none') return undefined;
      const changed = readTeam(teamId, values[0]);
      if (change.name !== undefined || change.reference !== undefined) await this.index.add(teamId, lineOf(changed));
      if (change.plan !== undefined) await this.index.callJanitor(teamId);
      return changed;
    });
  }

  async deleteTeam(teamId: string, choice: TeamDeletion, by?: Audited): Promise<boolean | StoreUnavailable> {
    const deleted = await this.erasure.delete(teamId, choice, by);
    if (deleted === true) this.#link.masters?.revocations.note({ teamId, keyId: undefined, ...choice });
    return deleted;
  }

  async createKey(key: NewKey, by?: Audited): Promise<KeyRecord | undefined | StoreUnavailable> {
    const { keyId, teamId, digest, mode } = key;
    const made = await this.#keys.createKey(key, by);
    if (made === undefined || isUnavailable(made)) return made;
    return answering(async () => {
      const isThere = await this.#link.ask(async ({ redis }) => {
        // The digest is written last: it makes the key work, and its requests need everything else.
        await redis.set(ownerKey(keyId), teamId);
        await redis.set(digestKey(digest), JSON.stringify({ keyId, teamId, mode }));
        // The team may have been deleted since. A deletion either finds the key's record, or is seen here.
        return redis.hexists(teamKeys(teamId).team, 'b');
      });
      if (isThere === 1) return made;
      await this.#link.ask(({ redis }) => Promise.all([redis.unlink(ownerKey(keyId)), redis.unlink(digestKey(digest))]));
      return undefined;
    });
  }

  listKeys(teamId: string): Promise<readonly KeyRecord[] | undefined | StoreUnavailable> {
    return answering(async () => (await this.#report(teamId))?.keys);
  }

  updateKey(keyId: string, change: KeyChange, by?: Audited): Promise<KeyRecord | undefined | StoreUnavailable> {
    return this.#keys.updateKey(keyId, change, by);
  }

  async revokeKey(keyId: string, by?: Audited): Promise<KeyRecord | undefined | StoreUnavailable> {
    const revoked = await this.#keys.revokeKey(keyId, by);
    if (revoked !== undefined && !isUnavailable(revoked)) this.#link.masters?.revocations.note({ teamId: revoked.teamId, keyId });
    return revoked;
  }

  replicated(teamIds: readonly string[]): Promise<boolean | undefined> {
    return this.#replication.confirm(teamIds);
  }

  findKeys(search: KeySearch): Promise<readonly FoundKey[] | StoreUnavailable> {
    return answering(async () => {
      if ('display' in search) return this.#shownKeys(search.display);
      const json = await this.#link.ask(({ redis }) => redis.get(digestKey(search.digest)));
      if (json === null) return [];
      const { teamId, keyId } = JSON.parse(json) as KeyOwner;
      return this.#keysOf(teamId, (key) => key.keyId === keyId);
    });
  }

  /**
   * Searches the keys of all teams, a few hundred at a time. Such searches are rare; an index would cost memory for every key
   * to save about a second.
   */
  async #shownKeys(display: string): Promise<readonly FoundKey[]> {
    const member = `"display":${JSON.stringify(display)}`;
    const found: FoundKey[] = [];
    for await (const ids of this.index.pieces(KEYS_PIECE)) {
      const records = await this.#link.ask(({ redis }) => Promise.all(ids.map((teamId) => redis.hvals(teamKeys(teamId).keys))));
      for (const teamId of ids.filter((_, i) => records[i]!.some((record) => record.includes(member)))) {
        found.push(...(await this.#keysOf(teamId, (key) => key.display === display)));
      }
    }
    return found;
  }

  async #keysOf(teamId: string, wanted: (key: KeyRecord) => boolean): Promise<readonly FoundKey[]> {
    const report = await this.#report(teamId);
    return report === undefined ? [] : report.keys.filter(wanted).map((key) => ({ ...key, teamName: report.usage.team.name }));
  }

  usage(teamId: string): Promise<Usage | undefined | StoreUnavailable> {
    return answering(async () => {
      const report = await this.#report(teamId);
      if (report === undefined || !hasWindows(report.usage)) return report?.usage;
      // What leases hold that have ended has to come back first.
      answered(await this.standing(teamId));
      return (await this.#report(teamId))?.usage;
    });
  }

  standing(teamId: string): Promise<Standing | undefined | StoreUnavailable> {
    return answering(async () => {
      const { word, values } = await this.#run('standing', teamId, []);
      return word === 'none' ? undefined : readStanding(values);
    });
  }

  /** Reads a team's record, and the creation times of its unused keys; the record has everything else. */
  async #summary(teamId: string, nowMs: number): Promise<TeamSummary | undefined> {
    const { team, keys } = teamKeys(teamId);
    const record = readTeamRecord(teamId, await this.#link.ask(({ redis }) => redis.hgetallBuffer(team)));
    if (record === undefined) return undefined;
    const created = record.unused.length === 0 ? [] : await this.#link.ask(({ redis }) => redis.hmget(keys, ...record.unused));
    return summaryOf(record, created.map(creationOf), nowMs);
  }

  async #findTeams(ids: readonly string[]): Promise<readonly Team[]> {
    const teams = await Promise.all(ids.map((teamId) => this.#findTeam(teamId)));
    return teams.filter((team) => team !== undefined);
  }

  async #findTeam(teamId: string): Promise<Team | undefined> {
    const values = await this.#link.ask(({ redis }) => redis.hmgetBuffer(teamKeys(teamId).team, ...DESCRIPTION));
    return values.slice(0, TEAM_FIELDS.length).includes(null) ? undefined : readTeam(teamId, values);
  }

  async #report(teamId: string): Promise<Report | undefined> {
    const { word, values, nowMs } = await this.#run('usage', teamId, []);
    return word === 'none' ? undefined : readReport(teamId, values, nowMs);
  }

  #run(name: FunctionCall['name'], teamId: string, args: readonly (string | Buffer)[]): Promise<FunctionAnswer> {
    const { team, keys } = teamKeys(teamId);
    const alone = name === 'create_team' || name === 'update_team' || name === 'standing';
    return this.#link.call({ name, teamId, keys: alone ? [team] : [team, keys], args });
  }
}

function hasWindows({ windows, keys }: Usage): boolean {
  return windows !== undefined || keys.some((key) => key.windows !== undefined);
}

/** Names and values, preceded by their number. */
function counted(fields: readonly (string | Buffer)[]): (string | Buffer)[] {
  return [String(fields.length), ...fields];
}
