// Teams and keys in Redis: scripts in the team's slot first, the indexes outside of it last.
import { StoreError } from '../../domain/store-error.ts';
import type { KeyRecord, NewKey, NewTeam, Standing, Team, TeamChange, TeamRegistry, Usage } from '../../ports/team-registry.ts';
import { answerOrStoreError, valuesOrStoreError } from './or-store-error.ts';
import { TEAMS_KEY, digestKey, ownerKey, teamKeys } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';
import type { ScriptName } from './scripts.ts';
import { changedTeamFields, keyJson, newTeamFields, readFields, readKey, readSurvey, readTeam } from './team-codec.ts';
import type { Survey } from './team-codec.ts';

/** How many teams are read at a time when all are listed. */
const LIST_PIECE = 100;

export class RedisTeamRegistry implements TeamRegistry {
  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  async createTeam(team: NewTeam): Promise<Team> {
    const fields = newTeamFields(team);
    const [, , flat] = await this.#script('create_team', team.teamId, [String(fields.length), ...fields]);
    await this.#ask((connection) => connection.run('index_team', [TEAMS_KEY, team.teamId]));
    return readTeam(team.teamId, readFields(flat));
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

  async findTeam(teamId: string): Promise<Team | undefined> {
    const hash = await this.#ask(({ redis }) => redis.hgetall(teamKeys(teamId).team));
    const fields = new Map(Object.entries(hash));
    return fields.has('created') ? readTeam(teamId, fields) : undefined;
  }

  async updateTeam(teamId: string, change: TeamChange): Promise<Team | undefined> {
    const fields = changedTeamFields(change);
    const args = [String(change.addMicro ?? 0), String(fields.length), ...fields];
    const [, word, flat] = await this.#script('update_team', teamId, args);
    if (word === 'balance') throw new StoreError(`the balance of team ${teamId} would leave what can be counted: add another amount`);
    return word === 'none' ? undefined : readTeam(teamId, readFields(flat));
  }

  async createKey(key: NewKey): Promise<KeyRecord | undefined> {
    const { keyId, teamId, digest, mode } = key;
    const [, word, record, status, lastUse] = await this.#script('create_key', teamId, [keyId, keyJson(key)]);
    if (word === 'none') return undefined;
    // The digest last: from then on the key works, and all that its requests need is there.
    await this.#ask(({ redis }) => redis.set(ownerKey(keyId), teamId));
    await this.#ask(({ redis }) => redis.set(digestKey(digest), JSON.stringify({ keyId, teamId, mode })));
    return readKey({ keyId, teamId }, String(record), String(status), String(lastUse));
  }

  async listKeys(teamId: string): Promise<readonly KeyRecord[] | undefined> {
    return (await this.#survey(teamId))?.keys;
  }

  async revokeKey(keyId: string): Promise<KeyRecord | undefined> {
    const teamId = await this.#ask(({ redis }) => redis.get(ownerKey(keyId)));
    if (teamId === null) return undefined;
    const [, word, record, status, lastUse] = await this.#script('revoke_key', teamId, [keyId]);
    return word === 'none' ? undefined : readKey({ keyId, teamId }, String(record), String(status), String(lastUse));
  }

  async usage(teamId: string): Promise<Usage | undefined> {
    return (await this.#survey(teamId))?.usage;
  }

  async standing(teamId: string): Promise<Standing | undefined> {
    return (await this.#survey(teamId))?.standing;
  }

  async #survey(teamId: string): Promise<Survey | undefined> {
    const values = await this.#script('survey', teamId, []);
    return values[1] === 'none' ? undefined : readSurvey(teamId, values);
  }

  #script(script: ScriptName, teamId: string, args: readonly string[]): Promise<readonly unknown[]> {
    const { team, open, due, seen, keys } = teamKeys(teamId);
    const forKeys = script === 'create_key' || script === 'revoke_key';
    return valuesOrStoreError(this.#link, { script, teamId, keys: forKeys ? [team, keys] : [team, open, due, seen, keys], args });
  }

  #ask<T>(command: (link: RedisLink) => Promise<T>): Promise<T> {
    return answerOrStoreError(this.#link, command);
  }
}
