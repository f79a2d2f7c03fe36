// Teams and keys in Redis, as operators manage them: how the registry (records/team-registry.ts) opens teams, and the indexes of keys.
import type { KeyOwner } from '../../domain/api-key.ts';
import { answering, answeringAll, isUnavailable } from '../../domain/store-unavailable.ts';
import type { RecordSpace } from '../../ports/record-space.ts';
import type { FoundKey, KeyRecord, Team, TeamPage, TeamRegistry } from '../../ports/team-registry.ts';
import { keysOf, teamRegistry } from '../records/team-registry.ts';
import type { TeamSpace } from '../records/team-registry.ts';
import { digestKey, groupKey, ownerKey } from './redis-keys.ts';
import { ownerOf } from './redis-link.ts';
import type { RedisTeamErasure } from './redis-team-erasure.ts';
import { isReplicated } from './server-health.ts';
import type { TeamAccounts } from './team-accounts.ts';
import { FIELD, readTeam } from './team-fields.ts';
import { isFound } from './team-index.ts';
import type { TeamIndex } from './team-index.ts';

export function redisTeamRegistry(accounts: TeamAccounts, index: TeamIndex, records: RecordSpace, erasure: RedisTeamErasure): TeamRegistry {
  const { link } = accounts.groups;
  const registry = teamRegistry(teamSpace(accounts, index), records, (teamId, choice, by) => erasure.delete(teamId, choice, by));
  return {
    ...registry,
    /** The indexes are written last, because they make the key work; by a repetition too. */
    async createKey(key, by) {
      const { keyId, teamId, digest, mode } = key;
      const made = await registry.createKey(key, by);
      if (made === undefined || isUnavailable(made)) return made;
      return answering(async () => {
        const isThere = await link.ask(async (redis) => {
          await redis.set(ownerKey(keyId), teamId);
          await redis.set(digestKey(digest), JSON.stringify({ keyId, teamId, mode } satisfies KeyOwner));
          // The team may have been deleted since. A deletion either finds the key's record, or is seen here.
          return redis.hexists(groupKey(teamId), FIELD.team);
        });
        if (isThere === 1) return made;
        await link.ask((redis) => Promise.all([redis.unlink(ownerKey(keyId)), redis.unlink(digestKey(digest))]));
        return undefined;
      });
    },
    replicated: (teamIds) => isReplicated(link, teamIds),
  };
}

function teamSpace(accounts: TeamAccounts, index: TeamIndex): TeamSpace {
  const { link } = accounts.groups;
  const found = async (teamId: string, page: TeamPage): Promise<Team | undefined> => {
    const [team, balance] = await link.ask((redis) => redis.hmget(groupKey(teamId), FIELD.team, FIELD.balance));
    const read = team ? readTeam(team, balance ?? undefined) : undefined;
    return read !== undefined && isFound(read, page) ? read : undefined;
  };
  const keysIn = async (teamId: string, matches: (key: KeyRecord) => boolean): Promise<readonly FoundKey[]> => {
    const keys = await accounts.view(teamId, (team) => {
      const { name: teamName } = team.account.team;
      return keysOf(team).flatMap((key) => (matches(key) ? { ...key, teamName } : []));
    });
    return keys ?? [];
  };
  return answeringAll<TeamSpace>({
    view: (teamId, show) => accounts.view(teamId, show),
    change: (teamId, decide) =>
      accounts.change(teamId, (team) => {
        team.draft.frees = false;
        return decide(team);
      }),
    async create(team, begin) {
      const made = await accounts.create(team, begin);
      await index.add(team.teamId);
      return made;
    },
    pageTeams: (page) => index.page(page, (teamId) => found(teamId, page)),
    page: (page, show) =>
      index.page(page, async (teamId) => {
        const isThere = page.search === undefined || (await found(teamId, page)) !== undefined;
        return isThere ? accounts.view(teamId, show) : undefined;
      }),
    async findKeys(search) {
      if ('digest' in search) {
        const owner = await ownerOf(link, search.digest);
        return owner === undefined ? [] : keysIn(owner.teamId, ({ keyId }) => keyId === owner.keyId);
      }
      const all: FoundKey[] = [];
      for await (const ids of index.pieces()) {
        const keys = await Promise.all(ids.map((teamId) => keysIn(teamId, ({ display }) => display === search.display)));
        all.push(...keys.flat());
      }
      return all;
    },
  });
}
