// Keys: a revoked one is never accepted again, and the last use only increases, to at least the start of every answered request.
import type { Finding, History, Seen } from '../../../support/history.ts';
import { livesOf } from './lives.ts';

/** How long a gateway repeats a 429 at most, and a clock's millisecond. */
const REPEATED_MS = 1001;

/** Returned before the key was checked, or while the store could not record its use. */
const NOT_STAMPED: ReadonlySet<string> = new Set([
  'unauthorized',
  'key_revoked',
  'not_found',
  'method_not_allowed',
  'service_unavailable',
  'internal_error',
]);

/** L7 and L8. */
export function keyFindings(history: History): Finding[] {
  return [...revocationFindings(history), ...stampFindings(history)];
}

function revocationFindings({ seen, operations }: History): Finding[] {
  const found: Finding[] = [];
  for (const { afterRevocation, result, keyId, via } of seen) {
    const refused =
      result.kind === 'unknown' || (result.kind === 'fail' && (result.code === 'key_revoked' || result.code === 'service_unavailable'));
    if (afterRevocation && !refused)
      found.push({ invariant: 'L7', what: `key ${keyId} was answered ${codeOf(result)} by ${via} after its revocation` });
  }
  for (const [id, { afterRevocation }] of livesOf(operations)) {
    if (afterRevocation) found.push({ invariant: 'L7', what: `${id} was reserved after the revocation of its key` });
  }
  const revoked = new Set<string>();
  for (const { lastUse, revokedKeyId } of operations) {
    if (lastUse !== undefined && revoked.has(lastUse.keyId))
      found.push({ invariant: 'L7', what: `key ${lastUse.keyId} was used after its revocation` });
    if (revokedKeyId !== undefined) revoked.add(revokedKeyId);
  }
  return found;
}

function stampFindings({ seen, operations, teams }: History): Finding[] {
  const found: Finding[] = [];
  const stamps = new Map<string, number>();
  for (const { lastUse } of operations) {
    if (lastUse === undefined) continue;
    const before = stamps.get(lastUse.keyId) ?? 0;
    if (lastUse.atMs < before)
      found.push({ invariant: 'L8', what: `the last use of ${lastUse.keyId} went from ${before} back to ${lastUse.atMs}` });
    stamps.set(lastUse.keyId, lastUse.atMs);
  }
  const stored = new Map(teams.flatMap(({ keys }) => keys.map(({ keyId, lastUsedAtMs }) => [keyId, lastUsedAtMs ?? 0] as const)));
  for (const { keyId, startedAtMs, result } of seen) {
    if (!wasStamped(result)) continue;
    const last = stored.get(keyId) ?? 0;
    // A gateway repeats a 429 for at most a second without the store, which has stamped the refusal that it repeats.
    const lagMs = codeOf(result) === 'rate_limited' ? REPEATED_MS : 0;
    if (last < startedAtMs - lagMs)
      found.push({ invariant: 'L8', what: `key ${keyId} was last used at ${last}, before a request that started at ${startedAtMs}` });
  }
  return found;
}

function wasStamped(result: Seen['result']): boolean {
  return result.kind === 'ok' || (result.kind === 'fail' && !NOT_STAMPED.has(result.code));
}

function codeOf(result: Seen['result']): string {
  return result.kind === 'fail' ? result.code : result.kind;
}
