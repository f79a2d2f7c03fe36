// What was done to a team's account, in the order of the store, with what was answered and when.
import type { KeyMode } from '../../../src/domain/api-key.ts';
import type { KeyLimits } from '../../../src/domain/key-limits.ts';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import type { TagSettings } from '../../../src/domain/request-tag.ts';
import type { Admission, AdmissionRequest, Resolution, Verdict } from '../../../src/ports/ledger.ts';
import type { KeyChange } from '../../../src/ports/team-registry.ts';

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

/** When it was done: in true time, and by the store's clock. */
export interface Moment {
  readonly atMs: number;
  readonly storeMs: number;
}

/** Reports a violated guarantee: its name, and what was seen. */
export type Violate = (rule: string, seen: string) => void;
