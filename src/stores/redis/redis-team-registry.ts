// Teams and keys in Redis: scripts in the team's slot first, the indexes outside of it last.
import { StoreError } from '../../domain/store-error.ts';
import type { Clock } from '../../ports/clock.ts';
import type {
  KeyRecord,
  NewKey,
  NewTeam,
  Standing,
  Team,
  TeamChange,
  TeamPage,
  TeamRegistry,
  TeamSummary,
  Usage,
} from '../../ports/team-registry.ts';
import { answerOrStoreError, valuesOrStoreError } from './or-store-error.ts';
import type { ScriptValues } from './or-store-error.ts';
import { SEARCHED_KEY, TEAMS_KEY, digestKey, ownerKey, teamKeys } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';
import type { ScriptCall } from './script-caller.ts';
import { TEAM_FIELDS, changedTeamFields, keyJson, newTeamFields, readKey, readReport, readStanding, readTeam } from './team-codec.ts';
import type { Report } from './team-codec.ts';
import { creationOf, readRecord, summaryOf } from './team-summary.ts';
import type { TeamRecord } from './team-summary.ts';

/** How many teams are read at a time when all are listed. */
const LIST_PIECE = 100;
/** How many are searched in one call: half a millisecond of the server's time. */
const SEARCH_PIECE = 10_000;

export class RedisTeamRegistry implements TeamRegistry {
  readonly #link: RedisLink;
  readonly #clock: Clock | undefined;

  /** `clock` replaces the servers' own: for tests that move time. */
  constructor(link: RedisLink, clock?: Clock) {
    this.#link = link;
    this.#clock = clock;
  }

  async createTeam(team: NewTeam): Promise<Team> {
    const { values } = await this.#script('create_team', team.teamId, [String(team.balanceMicro), ...counted(newTeamFields(team))]);
    await this.#index(team.teamId, team.name);
    return readTeam(team.teamId, values[0]);
  }

  async listTeams(): Promise<readonly Team[]> {
    const teams: Team[] = [];
    for (let first = 0; ; first += LIST_PIECE) {
      const ids = await this.#ask(({ redis }) => redis.zrange(TEAMS_KEY, String(first), String(first + LIST_PIECE - 1)));
      const found = await Promise.all(ids.map((teamId) => this.findTeam(teamId)));
      teams.push(...found.filter((team) => team !== undefined));
      if (ids.length < LIST_PIECE) return teams;
    }
  }

  async pageTeams({ after, limit, search }: TeamPage): Promise<readonly Team[]> {
    const ids = await this.#page({ after, limit, search });
    const found = await Promise.all(ids.map((teamId) => this.findTeam(teamId)));
    return found.filter((team) => team !== undefined);
  }

  async pageSummaries(page: TeamPage): Promise<readonly TeamSummary[]> {
    const ids = await this.#page(page);
    const [nowMs, ...found] = await Promise.all([this.#now(), ...ids.map((teamId) => this.#record(teamId))]);
    const records = found.filter((record) => record !== undefined);
    return Promise.all(records.map(async (record) => summaryOf(record, await this.#created(record), nowMs)));
  }

  async findTeam(teamId: string): Promise<Team | undefined> {
    const values = await this.#ask(({ redis }) => redis.hmgetBuffer(teamKeys(teamId).team, ...TEAM_FIELDS));
    return values.includes(null) ? undefined : readTeam(teamId, values);
  }

  async updateTeam(teamId: string, change: TeamChange): Promise<Team | undefined> {
    const { word, values } = await this.#script('update_team', teamId, [
      String(change.addMicro ?? 0),
      ...counted(changedTeamFields(change)),
    ]);
    if (word === 'balance') throw new StoreError(`the balance of team ${teamId} would leave what can be counted: add another amount`);
    if (word === 'none') return undefined;
    if (change.name !== undefined) await this.#index(teamId, change.name);
    return readTeam(teamId, values[0]);
  }

  async createKey(key: NewKey): Promise<KeyRecord | undefined> {
    const { keyId, teamId, digest, mode } = key;
    const { word, values } = await this.#script('create_key', teamId, [keyId, keyJson(key)]);
    if (word === 'none') return undefined;
    // The digest last: from then on the key works, and all that its requests need is there.
    await this.#ask(({ redis }) => redis.set(ownerKey(keyId), teamId));
    await this.#ask(({ redis }) => redis.set(digestKey(digest), JSON.stringify({ keyId, teamId, mode })));
    return readKey({ keyId, teamId }, String(values[0]), values[1] as Buffer);
  }

  async listKeys(teamId: string): Promise<readonly KeyRecord[] | undefined> {
    return (await this.#report(teamId))?.keys;
  }

  async revokeKey(keyId: string): Promise<KeyRecord | undefined> {
    const teamId = await this.#ask(({ redis }) => redis.get(ownerKey(keyId)));
    if (teamId === null) return undefined;
    const { word, values } = await this.#script('revoke_key', teamId, [keyId]);
    return word === 'none' ? undefined : readKey({ keyId, teamId }, String(values[0]), values[1] as Buffer);
  }

  async usage(teamId: string): Promise<Usage | undefined> {
    return (await this.#report(teamId))?.usage;
  }

  async standing(teamId: string): Promise<Standing | undefined> {
    const { word, values } = await this.#script('standing', teamId, []);
    return word === 'none' ? undefined : readStanding(values);
  }

  /** The ids of a page's teams. */
  async #page({ after, limit, search }: TeamPage): Promise<readonly string[]> {
    const rank = after === undefined ? null : await this.#ask(({ redis }) => redis.zrank(TEAMS_KEY, after));
    const first = rank === null ? 0 : rank + 1;
    if (search !== undefined) return this.#search(first, limit, search.toLowerCase());
    return this.#ask(({ redis }) => redis.zrange(TEAMS_KEY, String(first), String(first + limit - 1)));
  }

  async #record(teamId: string): Promise<TeamRecord | undefined> {
    return readRecord(teamId, await this.#ask(({ redis }) => redis.hgetallBuffer(teamKeys(teamId).team)));
  }

  /** When those of a team's keys were made that were never used: all else lies in its record. */
  async #created({ teamId, unused }: TeamRecord): Promise<readonly number[]> {
    if (unused.length === 0) return [];
    const records = await this.#ask(({ redis }) => redis.hmget(teamKeys(teamId).keys, ...unused));
    return records.map(creationOf);
  }

  async #now(): Promise<number> {
    if (this.#clock !== undefined) return this.#clock.nowMs();
    const [seconds, micros] = await this.#ask(({ redis }) => redis.time());
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  }

  async #index(teamId: string, name: string): Promise<void> {
    await this.#ask((link) => link.run('index_team', { keys: [TEAMS_KEY, SEARCHED_KEY], args: [teamId, name.toLowerCase()] }));
  }

  /** Stretch by stretch, so that no call holds the server up for long. */
  async #search(first: number, limit: number, text: string): Promise<readonly string[]> {
    const teams = await this.#nameAll();
    const ids: string[] = [];
    for (let from = first; from < teams && ids.length < limit;) {
      const args = [from, SEARCH_PIECE, text, limit - ids.length].map(String);
      const reply = await this.#ask((link) => link.run('find_teams', { keys: [SEARCHED_KEY], args }));
      const [, , next, found] = reply as readonly [number, Buffer, number, readonly Buffer[]];
      ids.push(...found.map(String));
      from = next;
    }
    return ids.slice(0, limit);
  }

  /** Teams that were made before names were searched, or by a process that ended in between, are named now. How many there are. */
  async #nameAll(): Promise<number> {
    const [teams, named] = await this.#ask(({ redis }) => Promise.all([redis.zcard(TEAMS_KEY), redis.hget(SEARCHED_KEY, 'teams')]));
    if (Number(named ?? 0) >= teams) return teams;
    for (let first = 0; first < teams; first += LIST_PIECE) {
      const ids = await this.#ask(({ redis }) => redis.zrange(TEAMS_KEY, String(first), String(first + LIST_PIECE - 1)));
      const found = await Promise.all(ids.map((teamId) => this.findTeam(teamId)));
      await Promise.all(found.filter((team) => team !== undefined).map(({ teamId, name }) => this.#index(teamId, name)));
    }
    return teams;
  }

  async #report(teamId: string): Promise<Report | undefined> {
    const { word, values } = await this.#script('usage', teamId, []);
    return word === 'none' ? undefined : readReport(teamId, values);
  }

  #script(script: ScriptCall['script'], teamId: string, args: readonly (string | Buffer)[]): Promise<ScriptValues> {
    const { team, keys } = teamKeys(teamId);
    const alone = script === 'create_team' || script === 'update_team' || script === 'standing';
    return valuesOrStoreError(this.#link, { script, teamId, keys: alone ? [team] : [team, keys], args });
  }

  #ask<T>(command: (link: RedisLink) => Promise<T>): Promise<T> {
    return answerOrStoreError(this.#link, command);
  }
}

/** Names and values, behind how many they are. */
function counted(fields: readonly (string | Buffer)[]): (string | Buffer)[] {
  return [String(fields.length), ...fields];
}
