// A store: one backing service that implements all persistent ports.
import type { EventRules } from '../domain/event-rules.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { AuditLog } from './audit-log.ts';
import type { StoreClock } from './clock.ts';
import type { EngineUse } from './engine-use.ts';
import type { GlossaryStore } from './glossary-store.ts';
import type { IdempotencyRecords } from './idempotency-records.ts';
import type { KeyDirectory } from './key-directory.ts';
import type { Ledger } from './ledger.ts';
import type { Log } from './log.ts';
import type { Outbox } from './outbox.ts';
import type { RecordSpace } from './record-space.ts';
import type { TagHistory, TagRegistry } from './tag-registry.ts';
import type { TeamRegistry } from './team-registry.ts';
import type { UsageHistory } from './usage-history.ts';

/** Secrets that the processes of a store share: whoever needs one first makes it. */
export interface SharedSecrets {
  /**
   * The store's believed time as far as known, in whole milliseconds; `undefined` if the store has
   * not been met yet.
   */
  nowMs(): number | undefined;
  /**
   * The secret in the store, or `candidate`, which becomes it: every process gets the same. It
   * stays for at least `keepMs` by the store's clock. Names: 1 to 64 of `a-z0-9:-`.
   */
  agree(name: string, candidate: Uint8Array, keepMs: number): Promise<Uint8Array | StoreUnavailable>;
}

/** One per host and configuration file: a restart replaces it. */
export interface GatewayRecord {
  readonly host: string;
  /** Absolute path of the configuration file. */
  readonly file: string;
}

/** Of gateways about themselves, so that no command takes a store away from them. */
export interface GatewayRecords {
  /** The record of this host and file, with the store's time. Deletes those older than a day. */
  leave(record: GatewayRecord): Promise<StoreUnavailable | undefined>;
  /** Those of the last `withinMs` by the store's clock, ordered by host and file. */
  recent(withinMs: number): Promise<readonly GatewayRecord[] | StoreUnavailable>;
}

/** What prevents a store, or a part of it, from serving. */
export interface StoreFault extends StoreUnavailable {
  /** Some of its servers still accept writes: their teams are served. */
  readonly partly?: boolean;
  /** The affected server, if the store has several. */
  readonly server?: string;
}

/** How to handle a location that holds no data of ours. */
export interface StoreCreation {
  /** `false`: opening fails with a `NoStoreError`. By default the store is created. */
  readonly mayCreate?: boolean;
  /** By the one process that created it, with its location as people find it. */
  readonly onCreated?: ((place: string) => void) | undefined;
}

/** With what a store of any kind is opened. */
export interface StoreOpening extends StoreCreation {
  readonly log: Log;
  /** How long an operation may take, with all waiting, before it is answered `unavailable`; by default the store's own. */
  readonly commandTimeoutMs?: number | undefined;
  /** How many days usage and audit entries are retained. */
  readonly historyDays?: number | undefined;
  /** The rules of a process that sends events. */
  readonly events?: EventRules | undefined;
}

export interface Store {
  readonly keys: KeyDirectory;
  readonly ledger: Ledger;
  readonly teams: TeamRegistry;
  readonly records: RecordSpace;
  /** These are written over the record space (stores/records/over-records.ts). */
  readonly glossaries: GlossaryStore;
  readonly gateways: GatewayRecords;
  readonly idempotency: IdempotencyRecords;
  readonly secrets: SharedSecrets;
  readonly engineUse: EngineUse;
  readonly tags: TagHistory;
  readonly tagSettings: TagRegistry;
  readonly history: UsageHistory;
  readonly outbox: Outbox;
  readonly audit: AuditLog;
  readonly clock: StoreClock;
  /** A small write to every server that takes admissions: a read would not prove it. */
  ping(): Promise<StoreFault | undefined>;
  /** Waits for running operations, then closes. */
  close(): Promise<void>;
}
