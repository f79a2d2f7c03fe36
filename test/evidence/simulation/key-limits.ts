// Limits of keys in a run: what operators set and change, and the callers' addresses.
import type { KeyLimitChange, KeyLimits } from '../../../src/domain/key-limits.ts';
import type { KeyChange } from '../../../src/ports/team-registry.ts';
import type { Intent } from './history.ts';
import type { Random } from './random.ts';

/** The callers' addresses. One listener has none. */
const ADDRESSES = ['10.1.2.3', '10.1.2.3', '::ffff:10.1.2.3', '192.0.2.7', '192.0.2.8', '2001:db8::1', '2001:db8:8000::1', ''];
/** What opens each route. */
export const SCOPE_OF: Readonly<Record<Intent['route'], string>> = {
  translate: 'translate:text',
  languages: 'languages:read',
};
const SCOPES = [['translate:text'], ['languages:read', 'translate:text'], ['translate:document', 'usage:read']];
const ALLOWED = [['10.0.0.0/8'], ['192.0.2.7/32', '2001:db8::/33'], ['10.0.0.0/8', '::/0']];

export function drawAddress(random: Random): string {
  return random.pick(ADDRESSES);
}

/** `nowMs` is the store's clock. */
export function drawKeyLimits(random: Random, nowMs: number): KeyLimits {
  return {
    ...(random.chance(0.2) ? { expiresAtMs: nowMs + random.int(200, 9000) } : {}),
    ...(random.chance(0.6) ? { requestsPerSecond: random.pick([1, 1, 2, 5]) } : {}),
    ...(random.chance(0.5) ? { characters: random.pick([5, 40, 300]) } : {}),
    ...(random.chance(0.3) ? { allowedAddresses: random.pick(ALLOWED) } : {}),
    ...(random.chance(0.2) ? { scopes: random.pick(SCOPES) } : {}),
  };
}

/** Mostly one that keeps the key useful: enabled, and with more time if any. */
export function drawKeyChange(random: Random, nowMs: number, windows: Pick<KeyLimitChange, 'windows'>): KeyChange {
  const given = drawKeyLimits(random, nowMs);
  const removed = (['expiresAtMs', 'requestsPerSecond', 'characters', 'allowedAddresses', 'scopes'] as const).filter(() =>
    random.chance(0.25),
  );
  const limits: KeyLimitChange = { ...given, ...Object.fromEntries(removed.map((name) => [name, null])), ...windows };
  return {
    ...(random.chance(0.5) ? { disabled: random.chance(0.3) } : {}),
    ...(random.chance(0.8) ? { limits } : {}),
    ...(random.chance(0.2) ? { label: 'changed' } : {}),
  };
}
