// Checks what only Redis has: keys that belong to nothing or have an expiry, and the indexes from digests, key ids and names to
// teams.
import { setTimeout as delay } from 'node:timers/promises';
import type { ReportFinding, StoreFinding } from '../../ports/store-contents.ts';
import { RECORD_TABLES } from '../records/record-tables.ts';
import { isWrongType, listedTeams, readOwner, scanned } from './keyspace.ts';
import type { RedisConnection } from './redis-connection.ts';
import { AUDIT_KEY, DIGEST_PREFIX, ownerKey, OWNER_PREFIX, SEARCHED_KEY, SINGLE_KEYS, teamKey, teamKeys, TEAMS_KEY } from './redis-keys.ts';
import { readLine, searchedLines } from './team-index.ts';

const SCAN_PIECE = 500;
const TEAMS_PIECE = 200;

/** Keys of no team that are deleted together with their last entry. */
const PASSING: ReadonlySet<string> = new Set([AUDIT_KEY]);
/** Keys of running gateways, which expire after these stop. */
export const FLEETING = /^lingate:\{[^}]+\}:(?:probe:|janitor$|sender$)/;
/** The part of a key's name after a team's hash tag, up to a second colon. `lasting`: it must never expire. */
const TEAM_KINDS: Readonly<Record<string, 'lasting' | 'passing'>> = {
  team: 'lasting',
  keys: 'lasting',
  days: 'lasting',
  periods: 'lasting',
  ...Object.fromEntries(RECORD_TABLES.map((table) => [table, 'lasting' as const])),
  blobs: 'lasting',
  audit: 'passing',
  outbox: 'lasting',
  ids: 'passing',
  places: 'passing',
  late: 'passing',
  use: 'passing',
  once: 'passing',
  changes: 'passing',
  mark: 'passing',
  prepared: 'passing',
  blob: 'lasting',
};
const TAGGED = /^lingate:\{([^}]+)\}:([a-z_-]+)(?::|$)/;

/** `undefined` for a name that this version does not know. */
export function kindOfName(name: string): string | undefined {
  if (name.startsWith(DIGEST_PREFIX)) return 'digest';
  if (name.startsWith(OWNER_PREFIX)) return 'owner';
  if (SINGLE_KEYS.has(name) || PASSING.has(name)) return name;
  if (FLEETING.test(name)) return 'fleeting';
  const kind = TAGGED.exec(name)?.[2] ?? '';
  return TEAM_KINDS[kind] === undefined ? undefined : kind;
}

/** Checks again; `undefined` if there is nothing wrong any more. */
type Look = () => Promise<StoreFinding | undefined>;

export async function judgeKeyspace(redis: RedisConnection, report: ReportFinding, settleMs: number): Promise<void> {
  const looks: Look[] = [];
  const keys = await judgeTeams(redis, looks);
  await judgeNames(redis, keys, looks, report);
  if (looks.length + keys.size === 0) return;
  await delay(settleMs);
  for (const look of looks) {
    const finding = await unlessWrongType(look());
    if (finding !== undefined) report(finding);
  }
  await judgeUnknown(redis, keys, report);
}

/** Searches again for the digests of keys for which none was found. */
async function judgeUnknown(redis: RedisConnection, keys: Map<string, string>, report: ReportFinding): Promise<void> {
  if (keys.size === 0) return;
  for await (const names of scanned(redis, SCAN_PIECE)) {
    const digests = names.filter((name) => name.startsWith(DIGEST_PREFIX));
    const owners = await Promise.all(digests.map(async (name) => readOwner(await redis.get(name))));
    for (const owner of owners) keys.delete(owner?.keyId ?? '');
  }
  for (const [keyId, teamId] of keys) {
    if ((await redis.hexists(teamKeys(teamId).keys, keyId)) === 0 || (await isBeingDeleted(redis, teamId))) continue;
    report({ what: 'digest', teamId, keyId, detail: 'no digest leads to it: callers cannot use it' });
  }
}

/** A wrong type was already reported when the team was read. */
async function unlessWrongType<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isWrongType(error)) return undefined;
    throw error;
  }
}

/** Checks the list of teams. Returns each key's team, from which keys are removed as their digests are found. */
async function judgeTeams(redis: RedisConnection, looks: Look[]): Promise<Map<string, string>> {
  const keys = new Map<string, string>();
  const names = await nameLines(redis);
  for await (const ids of listedTeams(redis, TEAMS_PIECE)) {
    await Promise.all(
      ids.map(async (teamId) => {
        const found = await unlessWrongType(Promise.all([readLine(redis, teamId), redis.hkeys(teamKeys(teamId).keys)]));
        if (found === undefined) return;
        const [line, keyIds] = found;
        if (line === null) return void looks.push(() => lookAtTeam(redis, teamId));
        // A line that is missing from the search index is added by the next search.
        const searched = names.get(teamId);
        if (searched !== undefined && searched !== line) looks.push(() => lookAtName(redis, teamId));
        for (const keyId of keyIds) keys.set(keyId, teamId);
        const owners = await Promise.all(keyIds.map((keyId) => redis.get(ownerKey(keyId))));
        for (const [i, owner] of owners.entries()) if (owner !== teamId) looks.push(() => lookAtOwner(redis, keyIds[i]!, teamId));
      }),
    );
  }
  return keys;
}

/** Checks all keys in Redis. Removes from `keys` those that a digest leads to. */
async function judgeNames(redis: RedisConnection, keys: Map<string, string>, looks: Look[], report: ReportFinding): Promise<void> {
  for await (const names of scanned(redis, SCAN_PIECE)) {
    await Promise.all(
      names.map(async (name) => {
        if (name.startsWith(DIGEST_PREFIX)) return judgeDigest(redis, name, keys, looks);
        if (name.startsWith(OWNER_PREFIX)) {
          await lasting(redis, name, {}, report);
          return looks.push(...(((await unlessWrongType(isOwned(redis, name))) ?? true) ? [] : [() => lookAtStray(redis, name)]));
        }
        if (PASSING.has(name)) return undefined;
        if (SINGLE_KEYS.has(name)) return lasting(redis, name, {}, report);
        if (FLEETING.test(name)) return undefined;
        const [, teamId = '', kind = ''] = TAGGED.exec(name) ?? [];
        const lasts = TEAM_KINDS[kind];
        if (lasts === undefined) return report({ what: 'stray', detail: `${shown(name)} is of an unknown kind` });
        if (lasts === 'lasting') await lasting(redis, name, { teamId }, report);
        // Checked once for each team: by its record, or by the keys that remain without one.
        if (kind === 'team' && (await redis.zscore(TEAMS_KEY, teamId)) === null) looks.push(() => lookAtListing(redis, teamId));
        // These outlive their team: its last event and its audit.
        if (kind !== 'team' && kind !== 'outbox' && kind !== 'audit' && (await redis.exists(teamKey(teamId))) === 0)
          looks.push(() => lookAtOrphan(redis, name, teamId));
        return undefined;
      }),
    );
  }
}

async function judgeDigest(redis: RedisConnection, name: string, keys: Map<string, string>, looks: Look[]): Promise<void> {
  const owner = readOwner(await redis.get(name));
  const isSound = async (): Promise<boolean> =>
    owner !== undefined && keys.get(owner.keyId) === owner.teamId && (await fits(redis, owner)) && (await redis.pttl(name)) === -1;
  if (owner !== undefined && ((await unlessWrongType(isSound())) ?? true)) {
    keys.delete(owner.keyId);
  } else {
    looks.push(() => lookAtDigestOf(redis, name));
  }
}

async function fits(redis: RedisConnection, { keyId, teamId, mode }: { keyId: string; teamId: string; mode: string }): Promise<boolean> {
  const record = await redis.hget(teamKeys(teamId).keys, keyId);
  return record?.includes(`"mode":"${mode}"`) ?? false;
}

async function lasting(redis: RedisConnection, name: string, whose: Partial<StoreFinding>, report: ReportFinding): Promise<void> {
  if ((await redis.pttl(name)) >= 0) report({ what: 'expiry', ...whose, detail: `${shown(name)} would expire` });
}

/** Its indexes are removed one after the other; if a deletion was interrupted, the janitor completes it. */
async function isBeingDeleted(redis: RedisConnection, teamId: string): Promise<boolean> {
  return (await redis.hexists(teamKey(teamId), 'erasure')) === 1;
}

async function lookAtTeam(redis: RedisConnection, teamId: string): Promise<StoreFinding | undefined> {
  const [listed, there] = await Promise.all([redis.zscore(TEAMS_KEY, teamId), redis.hexists(teamKey(teamId), 'name')]);
  if (listed === null || there === 1 || (await isBeingDeleted(redis, teamId))) return undefined;
  return { what: 'index', teamId, detail: 'it is in the list of all teams but has no record' };
}

async function lookAtListing(redis: RedisConnection, teamId: string): Promise<StoreFinding | undefined> {
  const [listed, there] = await Promise.all([redis.zscore(TEAMS_KEY, teamId), redis.hexists(teamKey(teamId), 'b')]);
  return listed !== null || there === 0 ? undefined : { what: 'index', teamId, detail: 'it is not in the list of all teams' };
}

async function lookAtName(redis: RedisConnection, teamId: string): Promise<StoreFinding | undefined> {
  const [line, lines] = await Promise.all([readLine(redis, teamId), nameLines(redis)]);
  const searched = lines.get(teamId);
  if (line === null || searched === undefined || searched === line) return undefined;
  return { what: 'index', teamId, detail: 'the search index has a different name or reference for it' };
}

async function lookAtOwner(redis: RedisConnection, keyId: string, teamId: string): Promise<StoreFinding | undefined> {
  const [record, owner] = await Promise.all([redis.hexists(teamKeys(teamId).keys, keyId), redis.get(ownerKey(keyId))]);
  if (record === 0 || owner === teamId || (await isBeingDeleted(redis, teamId))) return undefined;
  return { what: 'owner', teamId, keyId, detail: owner === null ? 'its id leads to no team' : 'its id leads to another team' };
}

async function lookAtDigestOf(redis: RedisConnection, name: string): Promise<StoreFinding | undefined> {
  const json = await redis.get(name);
  if (json === null) return undefined;
  const owner = readOwner(json);
  if (owner === undefined) return { what: 'digest', detail: `${digestName(name)} cannot be read` };
  const { keyId, teamId } = owner;
  if ((await redis.hexists(teamKeys(teamId).keys, keyId)) === 0) {
    return { what: 'digest', teamId, keyId, detail: 'a digest leads to it, but the team has no such key' };
  }
  if (!(await fits(redis, owner))) return { what: 'digest', teamId, keyId, detail: 'its digest has a different mode' };
  if ((await redis.pttl(name)) >= 0) return { what: 'expiry', teamId, keyId, detail: 'its digest would expire' };
  return undefined;
}

async function isOwned(redis: RedisConnection, name: string): Promise<boolean> {
  const teamId = await redis.get(name);
  return teamId === null || (await redis.hexists(teamKeys(teamId).keys, name.slice(OWNER_PREFIX.length))) === 1;
}

async function lookAtStray(redis: RedisConnection, name: string): Promise<StoreFinding | undefined> {
  if (await isOwned(redis, name)) return undefined;
  return { what: 'owner', keyId: name.slice(OWNER_PREFIX.length), detail: 'its id leads to a team that has no such key' };
}

async function lookAtOrphan(redis: RedisConnection, name: string, teamId: string): Promise<StoreFinding | undefined> {
  const [there, team] = await Promise.all([redis.exists(name), redis.exists(teamKey(teamId))]);
  return there === 0 || team === 1 ? undefined : { what: 'stray', teamId, detail: `${shown(name)} belongs to an unknown team` };
}

/** Each team's name in the search index. */
async function nameLines(redis: RedisConnection): Promise<Map<string, string>> {
  const fields = Object.entries(await redis.hgetall(SEARCHED_KEY));
  return searchedLines(fields.filter(([stretch]) => /^\d+$/.test(stretch)).map(([, lines]) => lines));
}

/** Key names contain only ids, unless another program wrote them. */
function shown(name: string): string {
  return JSON.stringify(name.slice(0, 120));
}

function digestName(name: string): string {
  return `the digest ${name.slice(DIGEST_PREFIX.length, DIGEST_PREFIX.length + 8)}…`;
}
