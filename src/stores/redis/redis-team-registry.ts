// Teams and keys in Redis: first a function in the team's slot, then the indexes in other slots.
import type { KeyOwner } from '../../domain/api-key.ts';
import { hasLimits } from '../../domain/key-limits.ts';
import { CHANGE_REMEMBERED_MS } from '../../domain/reservation.ts';
import { allAnswered, isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Audited } from '../../domain/audit-entry.ts';
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
import { newKeyDifference, REVOCATION } from '../../domain/audit-entry.ts';
import { markKeyLimits } from './layout-version.ts';
import type { RedisAuditLog } from './redis-audit-log.ts';
import { packKeyLimits } from './key-layout.ts';
import { digestKey, ownerKey, teamKeys } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';
import { RedisTeamErasure } from './redis-team-erasure.ts';
import { serverTime } from './store-time.ts';
import type { Replication } from './replication.ts';
import type { FunctionCall, FunctionReply } from './function-caller.ts';
import {
  TEAM_FIELDS,
  changedKeyWords,
  changedTeamFields,
  keyJson,
  newTeamFields,
  readKey,
  readReport,
  readStanding,
  readTeam,
} from './team-codec.ts';
import type { Report } from './team-codec.ts';
import { LIST_PIECE, TeamIndex } from './team-index.ts';
import { creationOf, readTeamRecord, summaryOf } from './team-summary.ts';
import type { TeamRecord } from './team-summary.ts';

/** Teams whose keys are looked through at a time. */
const KEYS_PIECE = 250;

export class RedisTeamRegistry implements TeamRegistry {
  readonly #link: RedisLink;
  readonly #replication: Replication;
  readonly #audit: RedisAuditLog;
  readonly #clock: Clock | undefined;
  readonly index: TeamIndex;
  readonly erasure: RedisTeamErasure;

  /** `clock` replaces the servers' own: for tests that move time. */
  constructor(link: RedisLink, replication: Replication, audit: RedisAuditLog, historyDays?: number, clock?: Clock) {
    this.#link = link;
    this.#replication = replication;
    this.#audit = audit;
    this.#clock = clock;
    this.index = new TeamIndex(link, (ids) => this.#findTeams(ids));
    this.erasure = new RedisTeamErasure(link, this.index, audit, historyDays, clock);
  }

  async createTeam(team: NewTeam, by?: Audited): Promise<Team | StoreUnavailable> {
    const audit = await this.#audit.begin(team.teamId, by);
    if (isUnavailable(audit)) return audit;
    const reply = await this.#run('create_team', team.teamId, [String(team.balanceMicro), ...counted(newTeamFields(team)), ...audit]);
    if (reply.kind === 'unavailable') return reply;
    if (reply.word === 'erasing') throw new RangeError(`team ${team.teamId} is being deleted; create it under an id of its own.`);
    return (await this.index.add(team.teamId, team.name)) ?? readTeam(team.teamId, reply.values[0]);
  }

  async listTeams(): Promise<readonly Team[] | StoreUnavailable> {
    const teams: Team[] = [];
    for (let first = 0; ; first += LIST_PIECE) {
      const ids = await this.index.ids(first, LIST_PIECE);
      if (isUnavailable(ids)) return ids;
      const found = await this.#findTeams(ids);
      if (isUnavailable(found)) return found;
      teams.push(...found);
      if (ids.length < LIST_PIECE) return teams;
    }
  }

  async pageTeams(page: TeamPage): Promise<readonly Team[] | StoreUnavailable> {
    return this.index.full(page, (ids) => this.#findTeams(ids));
  }

  async pageSummaries(page: TeamPage): Promise<readonly TeamSummary[] | StoreUnavailable> {
    const nowMs = await this.#now();
    if (isUnavailable(nowMs)) return nowMs;
    return this.index.full(page, async (ids) => {
      const summaries = allAnswered(await Promise.all(ids.map((teamId) => this.#summary(teamId))));
      if (isUnavailable(summaries)) return summaries;
      return summaries.filter((summary) => summary !== undefined).map(({ record, created }) => summaryOf(record, created, nowMs));
    });
  }

  async findTeam(teamId: string): Promise<Team | undefined | StoreUnavailable> {
    const values = await this.#link.ask(({ redis }) => redis.hmgetBuffer(teamKeys(teamId).team, ...TEAM_FIELDS));
    if (isUnavailable(values)) return values;
    return values.includes(null) ? undefined : readTeam(teamId, values);
  }

  async updateTeam(teamId: string, change: TeamChange, by?: Audited): ReturnType<TeamRegistry['updateTeam']> {
    // Ends the leases that are over: what they held may be taken.
    const standing = (change.addMicro ?? 0) < 0 ? await this.standing(teamId) : undefined;
    if (isUnavailable(standing)) return standing;
    const audit = await this.#audit.begin(teamId, by);
    if (isUnavailable(audit)) return audit;
    const once = [change.once?.id ?? '', change.once?.request ?? '', String(CHANGE_REMEMBERED_MS)];
    const args = [String(change.addMicro ?? 0), ...once, ...counted(changedTeamFields(change)), ...audit];
    const reply = await this.#run('update_team', teamId, args);
    if (reply.kind === 'unavailable') return reply;
    if (reply.word === 'balance') return { kind: 'balance_out_of_bounds' };
    if (reply.word === 'held') return { kind: 'credit_not_free', freeMicro: Number(String(reply.values[0])) };
    if (reply.word === 'other') return { kind: 'other_request' };
    if (reply.word === 'none') return undefined;
    const unnamed = change.name === undefined ? undefined : await this.index.add(teamId, change.name);
    const uncalled = change.plan === undefined ? undefined : await this.index.callJanitor(teamId);
    return unnamed ?? uncalled ?? readTeam(teamId, reply.values[0]);
  }

  async deleteTeam(teamId: string, choice: TeamDeletion, by?: Audited): Promise<boolean | StoreUnavailable> {
    const deleted = await this.erasure.delete(teamId, choice, by);
    if (deleted === true) this.#link.masters?.revocations.note({ teamId, keyId: undefined, ...choice });
    return deleted;
  }

  async createKey(key: NewKey, by?: Audited): Promise<KeyRecord | undefined | StoreUnavailable> {
    const { keyId, teamId, digest, mode } = key;
    const { limits = {} } = key;
    const unmarked = hasLimits(limits) ? await this.#markLimits() : undefined;
    if (unmarked !== undefined) return unmarked;
    const audit = await this.#audit.begin(teamId, by, newKeyDifference(key), keyId);
    if (isUnavailable(audit)) return audit;
    const reply = await this.#run('create_key', teamId, [
      keyId,
      keyJson(key),
      hasLimits(limits) ? packKeyLimits({ disabled: false, limits }) : '',
      ...audit,
    ]);
    if (reply.kind === 'unavailable') return reply;
    if (reply.word === 'none') return undefined;
    // The digest last: with it the key begins to work, and everything that its requests need has to be there.
    const owned = await this.#link.ask(({ redis }) => redis.set(ownerKey(keyId), teamId));
    if (isUnavailable(owned)) return owned;
    const found = await this.#link.ask(({ redis }) => redis.set(digestKey(digest), JSON.stringify({ keyId, teamId, mode })));
    if (isUnavailable(found)) return found;
    // The team may have been deleted since: whoever deletes it finds the key's record, or is found here.
    const isThere = await this.#link.ask(({ redis }) => redis.hexists(teamKeys(teamId).team, 'b'));
    if (isUnavailable(isThere)) return isThere;
    if (isThere === 1) return readKeyReply({ keyId, teamId }, reply);
    const gone = await this.#link.ask(({ redis }) => Promise.all([redis.unlink(ownerKey(keyId)), redis.unlink(digestKey(digest))]));
    return isUnavailable(gone) ? gone : undefined;
  }

  async listKeys(teamId: string): Promise<readonly KeyRecord[] | undefined | StoreUnavailable> {
    const report = await this.#report(teamId);
    return isUnavailable(report) ? report : report?.keys;
  }

  async updateKey(keyId: string, change: KeyChange, by?: Audited): Promise<KeyRecord | undefined | StoreUnavailable> {
    const teamId = await this.#link.ask(({ redis }) => redis.get(ownerKey(keyId)));
    if (isUnavailable(teamId)) return teamId;
    if (teamId === null) return undefined;
    const isDisabled = change.disabled === true;
    const unmarked = isDisabled || change.limits !== undefined ? await this.#markLimits() : undefined;
    if (unmarked !== undefined && !isDisabled) return unmarked;
    const begun = await this.#audit.begin(teamId, by, undefined, keyId);
    // A key must not stay in use because another server of a cluster is away.
    const audit = isUnavailable(begun) && isDisabled ? this.#audit.unlisted(by!, undefined, keyId) : begun;
    if (isUnavailable(audit)) return audit;
    const reply = await this.#run('update_key', teamId, [keyId, ...changedKeyWords(change), ...audit]);
    if (reply.kind === 'unavailable') return reply;
    return reply.word === 'none' ? undefined : readKeyReply({ keyId, teamId }, reply);
  }

  async revokeKey(keyId: string, by?: Audited): Promise<KeyRecord | undefined | StoreUnavailable> {
    const teamId = await this.#link.ask(({ redis }) => redis.get(ownerKey(keyId)));
    if (isUnavailable(teamId)) return teamId;
    if (teamId === null) return undefined;
    const begun = await this.#audit.begin(teamId, by, REVOCATION, keyId);
    // A key must not stay in use because another server of a cluster is away.
    const audit = isUnavailable(begun) ? this.#audit.unlisted(by!, REVOCATION, keyId) : begun;
    const reply = await this.#run('revoke_key', teamId, [keyId, ...audit]);
    if (reply.kind === 'unavailable') return reply;
    if (reply.word === 'none') return undefined;
    this.#link.masters?.revocations.note({ teamId, keyId });
    return readKeyReply({ keyId, teamId }, reply);
  }

  replicated(teamIds: readonly string[]): Promise<boolean | undefined> {
    return this.#replication.confirm(teamIds);
  }

  async findKeys(search: KeySearch): Promise<readonly FoundKey[] | StoreUnavailable> {
    if ('display' in search) return this.#shownKeys(search.display);
    const json = await this.#link.ask(({ redis }) => redis.get(digestKey(search.digest)));
    if (isUnavailable(json)) return json;
    if (json === null) return [];
    const { teamId, keyId } = JSON.parse(json) as KeyOwner;
    return this.#keysOf(teamId, (key) => key.keyId === keyId);
  }

  /**
   * Goes through the keys of all teams, some hundred at a time: an index would cost memory for every key, so that a search that
   * is hardly ever made takes a second less.
   */
  async #shownKeys(display: string): Promise<readonly FoundKey[] | StoreUnavailable> {
    const member = `"display":${JSON.stringify(display)}`;
    const found: FoundKey[] = [];
    for (let first = 0; ; first += KEYS_PIECE) {
      const ids = await this.index.ids(first, KEYS_PIECE);
      if (isUnavailable(ids)) return ids;
      const records = await this.#link.ask(({ redis }) => Promise.all(ids.map((teamId) => redis.hvals(teamKeys(teamId).keys))));
      if (isUnavailable(records)) return records;
      for (const [index, teamId] of ids.entries()) {
        if (!records[index]!.some((record) => record.includes(member))) continue;
        const keys = await this.#keysOf(teamId, (key) => key.display === display);
        if (isUnavailable(keys)) return keys;
        found.push(...keys);
      }
      if (ids.length < KEYS_PIECE) return found;
    }
  }

  async #keysOf(teamId: string, wanted: (key: KeyRecord) => boolean): Promise<readonly FoundKey[] | StoreUnavailable> {
    const report = await this.#report(teamId);
    if (isUnavailable(report)) return report;
    return report === undefined ? [] : report.keys.filter(wanted).map((key) => ({ ...key, teamName: report.usage.team.name }));
  }

  async usage(teamId: string): Promise<Usage | undefined | StoreUnavailable> {
    const report = await this.#report(teamId);
    return isUnavailable(report) ? report : report?.usage;
  }

  async standing(teamId: string): Promise<Standing | undefined | StoreUnavailable> {
    const reply = await this.#run('standing', teamId, []);
    if (reply.kind === 'unavailable') return reply;
    return reply.word === 'none' ? undefined : readStanding(reply.values);
  }

  /** Reads a team's record, and when its unused keys were made; everything else is in the record. */
  async #summary(
    teamId: string,
  ): Promise<{ readonly record: TeamRecord; readonly created: readonly number[] } | undefined | StoreUnavailable> {
    const fields = await this.#link.ask(({ redis }) => redis.hgetallBuffer(teamKeys(teamId).team));
    if (isUnavailable(fields)) return fields;
    const record = readTeamRecord(teamId, fields);
    if (record === undefined || record.unused.length === 0) return record && { record, created: [] };
    const keys = await this.#link.ask(({ redis }) => redis.hmget(teamKeys(teamId).keys, ...record.unused));
    return isUnavailable(keys) ? keys : { record, created: keys.map(creationOf) };
  }

  /** Older gateways that open this dataset from now on refuse it. */
  #markLimits(): Promise<StoreUnavailable | undefined> {
    return this.#link.ask(({ redis }) => markKeyLimits(redis));
  }

  async #now(): Promise<number | StoreUnavailable> {
    if (this.#clock !== undefined) return this.#clock.nowMs();
    return this.#link.ask(({ redis }) => serverTime(redis));
  }

  async #findTeams(ids: readonly string[]): Promise<readonly Team[] | StoreUnavailable> {
    const teams = allAnswered(await Promise.all(ids.map((teamId) => this.findTeam(teamId))));
    return isUnavailable(teams) ? teams : teams.filter((team) => team !== undefined);
  }

  async #report(teamId: string): Promise<Report | undefined | StoreUnavailable> {
    const reply = await this.#run('usage', teamId, []);
    if (reply.kind === 'unavailable') return reply;
    return reply.word === 'none' ? undefined : readReport(teamId, reply.values, reply.nowMs);
  }

  #run(name: FunctionCall['name'], teamId: string, args: readonly (string | Buffer)[]): Promise<FunctionReply> {
    const { team, keys } = teamKeys(teamId);
    const alone = name === 'create_team' || name === 'update_team' || name === 'standing';
    return this.#link.call({ name, teamId, keys: alone ? [team] : [team, keys], args });
  }
}

/** Of a function that answers with a key's record and its use. */
function readKeyReply(
  key: Pick<KeyRecord, 'keyId' | 'teamId'>,
  { values, nowMs }: Extract<FunctionReply, { readonly kind: 'reply' }>,
): KeyRecord {
  const [record, state, packedLimits] = values as readonly Buffer[];
  return readKey(key, String(record), { state, packedLimits }, nowMs);
}

/** Names and values, preceded by their number. */
function counted(fields: readonly (string | Buffer)[]): (string | Buffer)[] {
  return [String(fields.length), ...fields];
}
