// The keys of a run: created or planned by operators, and when they were created and revoked.
import { digestOf, displayOf, newKey } from '../../../src/domain/api-key.ts';
import type { KeyLimits } from '../../../src/domain/key-limits.ts';
import type { NewKey } from '../../../src/ports/team-registry.ts';
import type { Random } from './random.ts';

export interface SimulatedKey {
  readonly value: string;
  readonly record: NewKey;
  /** When the operator learned that it exists, or that it is revoked; in true time. */
  createdAtMs: number | undefined;
  revokedAtMs: number | undefined;
  /** From when the operator knew that it is disabled until it was to be enabled; in true time. */
  readonly disabled: { readonly fromMs: number; untilMs: number }[];
  /** How often it was to be enabled. */
  enabled: number;
  /** The operator's change may have been lost in a failover. */
  uncertain: boolean;
}

/** How often a key is tried that does not exist yet. */
export const BEFORE_CREATION_SHARE = 0.05;
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

export class KeyRing {
  readonly keys: SimulatedKey[] = [];

  /** Not in the store yet. */
  forge(random: Random, teamId: string, limits: KeyLimits): SimulatedKey {
    const value = newKey(random.pick(['live', 'test']), (size) => Uint8Array.from({ length: size }, () => random.int(0, 255)));
    const mode = value.startsWith('la_live_') ? 'live' : 'test';
    const shown = { display: displayOf(value), label: 'simulated', mode } as const;
    const record: NewKey = { keyId: ulidOf(random), teamId, digest: digestOf(value), ...shown, limits };
    const key = { value, record, createdAtMs: undefined, revokedAtMs: undefined, disabled: [], enabled: 0, uncertain: false };
    this.keys.push(key);
    return key;
  }

  draw(random: Random, beforeCreation: number): { readonly value: string; readonly keyId: string | undefined } {
    const shape = random.next();
    if (shape < 0.02) return { value: 'la_live_tooshort', keyId: undefined };
    if (shape < 0.05) return { value: `la_test_${'N'.repeat(40)}`, keyId: undefined };
    const future = shape < 0.05 + beforeCreation;
    const keys = this.keys.filter((key) => (key.createdAtMs === undefined) === future);
    const key = random.pick(keys.length === 0 ? this.keys : keys);
    return { value: key.value, keyId: key.record.keyId };
  }
}

export function ulidOf(random: Random): string {
  return random.word(CROCKFORD.slice(0, 8), 1) + random.word(CROCKFORD, 25);
}
