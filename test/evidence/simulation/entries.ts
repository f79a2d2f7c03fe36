// What the store did, in its own order: one entry per operation that was really run.
import type { KeyMode } from '../../../src/domain/api-key.ts';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import type { KeyLimits } from '../../../src/domain/key-limits.ts';
import type { TagSettings } from '../../../src/domain/tag-settings.ts';
import type { RefusedCaller } from '../../../src/ports/full-windows.ts';
import type { KeyChange } from '../../../src/ports/team-registry.ts';
import type { Process } from './virtual-time.ts';
import type { Admission, AdmissionRequest, RateLimited, Resolution, Verdict } from '../../../src/ports/ledger.ts';

export type Action =
  | { readonly kind: 'admit'; readonly request: AdmissionRequest; readonly answer: Admission }
  | {
      readonly kind: 'resolve';
      readonly requestId: string;
      readonly verdict: Verdict;
      /** How many characters a commit charges; all if undefined. */
      readonly characters: number | undefined;
      readonly answer: Resolution;
    }
  | { readonly kind: 'team'; readonly limits: TeamLimits; readonly addMicro: number }
  | { readonly kind: 'create_key'; readonly keyId: string; readonly mode: KeyMode; readonly limits: KeyLimits }
  | { readonly kind: 'update_key'; readonly keyId: string; readonly change: KeyChange }
  | { readonly kind: 'revoke_key'; readonly keyId: string }
  | { readonly kind: 'set_tag'; readonly tag: string; readonly settings: TagSettings | null };

export interface Entry {
  /** True time. */
  readonly atMs: number;
  /** The store's clock. */
  readonly storeMs: number;
  readonly teamId: string;
  readonly action: Action;
}

/** When a slot of a rate was taken. */
export type Place = Pick<Entry, 'atMs' | 'storeMs'>;

/** A refusal that a gateway repeated without asking the store. */
export interface Repeated extends RefusedCaller {
  readonly gateway: Process;
  readonly refused: RateLimited;
}

/** Reports a violated guarantee: its name, and what was seen. */
export type Violate = (rule: string, seen: string) => void;
