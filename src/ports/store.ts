// A store: one backing service behind all of the ports that keep something.
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { GlossaryStore } from './glossary-store.ts';
import type { KeyDirectory } from './key-directory.ts';
import type { Ledger } from './ledger.ts';
import type { TeamRegistry } from './team-registry.ts';

export interface Store {
  readonly keys: KeyDirectory;
  readonly ledger: Ledger;
  readonly teams: TeamRegistry;
  readonly glossaries: GlossaryStore;
  /** `undefined` when the store answers. */
  ping(): Promise<StoreUnavailable | undefined>;
  /** Lets running operations end, then closes. */
  close(): Promise<void>;
}
