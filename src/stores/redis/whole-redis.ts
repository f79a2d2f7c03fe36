// Opens a Redis store to read or write all of it (whole-store.ts), and checks what only Redis has: the indexes beside the teams.
import type { KeyOwner } from '../../domain/api-key.ts';
import { withoutCredentials } from '../../domain/store-url.ts';
import type { ReportFinding, StoreFinding } from '../../ports/whole-accounts.ts';
import { scanned } from './redis-connection.ts';
import { digestKey, groupKey, ownerKey, TEAMS_KEY } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';
import { openRedisStore } from './redis-store.ts';
import type { RedisStore } from './redis-store.ts';
import { FIELD, idIn, readKey } from './team-fields.ts';

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };
/** Generous: nobody waits for a single answer. */
const TIMEOUT_MS = 10_000;
const SCAN_PIECE = 500;

/** Rejects with a `StoreError` if it cannot be reached. */
export async function openWholeRedis(url: string, mayCreate: boolean) {
  const store = await openRedisStore({ url, log: SILENT, commandTimeoutMs: TIMEOUT_MS, mayCreate, whole: true });
  const ownCheck = async (report: ReportFinding): Promise<void> => (await findingsOf(store)).forEach(report);
  return { store, shown: withoutCredentials(url), ownCheck };
}

async function findingsOf({ link, index }: RedisStore): Promise<StoreFinding[]> {
  const findings: StoreFinding[] = [];
  for await (const names of scanned(link.redis, SCAN_PIECE)) {
    for (const name of new Set(names)) {
      if (name.startsWith(digestKey(''))) findings.push(...(await ofDigest(link, name)));
      else if (name.startsWith(ownerKey(''))) findings.push(...(await ofOwner(link, name)));
      else findings.push(...(await ofTeam(link, name)));
    }
  }
  for await (const ids of index.pieces()) {
    const known = await Promise.all(ids.map((teamId) => link.ask((redis) => redis.exists(groupKey(teamId)))));
    for (const teamId of ids.filter((_, i) => known[i] === 0))
      findings.push({ what: 'index', teamId, detail: `the list of all teams has team ${teamId}, which is not there` });
  }
  return findings;
}

/** A digest leads to a key of its team that has it. */
async function ofDigest(link: RedisLink, name: string): Promise<StoreFinding[]> {
  const text = await link.ask((redis) => redis.get(name));
  if (text === null) return [];
  if (!isJson(text)) return [{ what: 'digest', detail: 'a digest leads to what cannot be read' }];
  const { keyId, teamId, mode } = JSON.parse(text) as KeyOwner;
  const key = await link.ask((redis) => redis.hget(groupKey(teamId), FIELD.key(keyId)));
  const known = key !== null && isJson(key) ? readKey(key) : undefined;
  if (digestKey(known?.digest ?? '') === name && known?.record.mode === mode) return [];
  return [{ what: 'digest', teamId, keyId, detail: `a digest leads to key ${keyId}, which is not there or has another one` }];
}

/** By a key's id its team is found. */
async function ofOwner(link: RedisLink, name: string): Promise<StoreFinding[]> {
  const [keyId, teamId] = [name.slice(ownerKey('').length), await link.ask((redis) => redis.get(name))];
  if (teamId === null || (await link.ask((redis) => redis.hexists(groupKey(teamId), FIELD.key(keyId)))) === 1) return [];
  return [{ what: 'owner', teamId, keyId, detail: `the id of key ${keyId} leads to a team that does not have it` }];
}

/** A team is in the list of all, each of its fields can be read, and each of its keys is found by its id. */
async function ofTeam(link: RedisLink, name: string): Promise<StoreFinding[]> {
  const teamId = /^lingate:\{([^}]+)\}$/.exec(name)?.[1];
  if (teamId === undefined) return [];
  const findings: StoreFinding[] = [];
  const fields = await link.ask((redis) => redis.hgetall(name));
  if (Object.hasOwn(fields, FIELD.team) && (await link.ask((redis) => redis.zrank(TEAMS_KEY, teamId))) === null)
    findings.push({ what: 'index', teamId, detail: `team ${teamId} is not in the list of all teams` });
  for (const [field, text] of Object.entries(fields)) {
    if (!isJson(text)) findings.push({ what: 'team', teamId, detail: `field "${field}" of team ${teamId} cannot be read` });
    const keyId = idIn(field, FIELD.key(''));
    if (keyId === undefined || Object.hasOwn(fields, FIELD.deleted)) continue;
    if ((await link.ask((redis) => redis.get(ownerKey(keyId)))) !== teamId)
      findings.push({ what: 'owner', teamId, keyId, detail: `the id of key ${keyId} does not lead to its team` });
  }
  return findings;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
