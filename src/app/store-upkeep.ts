// Operations on a whole store, of ours or of a plugin, for the command line.
import { SECOND_MS } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import { UNCOUNTED_LEASE_MS } from '../domain/document-states.ts';
import type { ReportFinding, WholeAccount } from '../ports/whole-accounts.ts';
import type { Store } from '../ports/store.ts';
import { StoreError } from '../domain/store-unavailable.ts';
import { withoutCredentials, storeKindOf } from '../domain/store-url.ts';
import { mendDocuments } from '../stores/document-check.ts';
import type { CheckedFault, DocumentCheck, DocumentMend } from '../stores/document-check.ts';
import { DirectoryOfDocuments } from '../stores/document-folder.ts';
import { recordDocuments } from '../stores/records/record-documents.ts';
import { isSameStore, openWhole } from '../stores/open-reader.ts';
import type { OtherStores } from '../stores/open-reader.ts';
import type { WholeStore } from '../stores/whole-store.ts';
import { copyStore } from '../stores/whole-copy.ts';
import type { CopyProgress, StoreTally } from '../stores/whole-copy.ts';
import { checkStore, isDerived, recountAccount } from '../stores/store-check.ts';
import type { CheckCounts } from '../stores/store-check.ts';
import { stepText } from '../domain/clock-judge.ts';
import { dayOf } from '../domain/period.ts';
import type { OpenPluginStore } from '../ports/plugin.ts';
import { beginClock, openMachineClock } from '../stores/records/store-clock.ts';
import { SILENT } from './configured-store.ts';

export type { CopyProgress } from '../stores/whole-copy.ts';
export { backUpStore } from '../stores/open-reader.ts';

/** Rejects with a `StoreError` if the store cannot be read. */
export async function checkStoreAt(config: Config, report: ReportFinding, onTeam: (teams: number) => void): Promise<CheckCounts> {
  return withReader(config, (reader) => checkStore(reader, report, { onTeam, documents: documentCheckOf(config) }));
}

/** All that the store has of a team, and what is wrong with it. Rejects with a `StoreError`. */
export async function accountAt(config: Config, teamId: string, report: ReportFinding): Promise<WholeAccount | undefined> {
  return withReader(config, (reader) =>
    reader.account(teamId, (finding) => {
      if (finding.what === 'team') throw new StoreError(`team ${teamId}: ${finding.detail}; run "lingate store check"`);
      report(finding);
    }),
  );
}

function withReader<T>(config: Config, use: (reader: WholeStore) => Promise<T>): Promise<T> {
  return withWholeStores(
    [config.store],
    () => Promise.resolve(config),
    async (others) => {
      const reader = await openWhole(config.store, 'read', others);
      try {
        return await use(reader);
      } finally {
        await reader.close();
      }
    },
  );
}

/** Without their configuration, nobody knows where files are: documents are not checked. */
function documentCheckOf({ documents, limits }: Config): DocumentCheck | undefined {
  if (documents === undefined) return undefined;
  const folder = documents.folder === undefined ? undefined : new DirectoryOfDocuments(documents.folder);
  return { folder, leaseMsMax: Math.max(limits.reservation_seconds * SECOND_MS, UNCOUNTED_LEASE_MS) };
}

/** What a repair mends, a line for each thing. */
export interface Repairs {
  readonly documents: readonly string[];
  readonly teams: readonly string[];
}

/**
 * Mends what is wrong with documents, and with what follows from the rest of an account, if `confirm`
 * agrees. Rejects with a `StoreError`.
 */
export async function repairStore(
  config: Config,
  { records, ledger }: Pick<Store, 'records' | 'ledger'>,
  nowMs: () => number,
  confirm: (lines: readonly string[]) => Promise<void>,
): Promise<Repairs> {
  const documents = documentCheckOf(config);
  return withReader(config, async (reader) => {
    const mends: DocumentMend[] = [];
    const teams = new Set<string>();
    const note = (fault: CheckedFault): void => {
      if (fault.mend !== undefined) mends.push(fault.mend);
      else if (isDerived(fault)) teams.add(fault.teamId!);
    };
    await checkStore(reader, note, { documents });
    const repairs = {
      documents: mends.map(({ line }) => line),
      teams: [...teams].map((teamId) => `team ${teamId}: its sums and indexes are written again, as its records say`),
    };
    const lines = [...repairs.documents, ...repairs.teams];
    if (lines.length > 0) await confirm(lines);
    const { folder } = documents ?? {};
    await mendDocuments(mends, { documents: recordDocuments(records, nowMs, folder), ledger, folder });
    for (const teamId of teams) await recountAccount(reader, teamId);
    return repairs;
  });
}

interface CopyRequest {
  readonly from: string;
  readonly to: string;
  /** Clears what an incomplete copy has left in the target. */
  readonly restart: boolean;
  readonly onProgress: (progress: CopyProgress) => void;
  /** Those of plugins. */
  readonly others?: OtherStores;
}

/** Rejects with a `StoreError`; once the copy has begun, the target is marked as incomplete. */
export async function copyStoreTo({ from, to, restart, onProgress, others }: CopyRequest): Promise<StoreTally> {
  if (isSameStore(from, to))
    throw new StoreError(`--from and --to are the same store, ${withoutCredentials(from)}: name another one for --to`);
  const source = await openWhole(from, 'copy from', others);
  try {
    const writer = await openWhole(to, 'copy to', others, restart);
    try {
      return await copyStore(source, writer, { onProgress, stillAlone: source.stillAlone });
    } finally {
      await writer.close();
    }
  } finally {
    await source.close();
  }
}

/**
 * Calls `use` with plugins' stores; plugins are loaded if one of `urls` is not of ours, and closed
 * afterwards. Rejects with a `ConfigError`.
 */
export async function withWholeStores<T>(
  urls: readonly string[],
  config: () => Promise<Pick<Config, 'plugins'>>,
  use: (others: OtherStores) => Promise<T>,
): Promise<T> {
  if (urls.every((url) => storeKindOf(url) !== undefined)) return use(new Map());
  const { withPlugins } = await import('../config/plugins.ts');
  const { plugins } = await config();
  return withPlugins(plugins, ({ stores }) => use(new Map([...stores].map(([scheme, open]) => [scheme, opener(open)]))));
}

/** With a clock, which each store judges, as nothing could be said of what has ended. */
function opener(open: OpenPluginStore): (url: string, mayCreate: boolean) => ReturnType<OpenPluginStore> {
  return async (url, mayCreate) => {
    const clock = openMachineClock();
    // Nothing in the audit is too old to be copied.
    const store = await open(url, { log: SILENT, clock, historyDays: dayOf(clock.nowMs()), mayCreate });
    try {
      await beginClock(store.records, clock, SILENT);
      if (clock.stepMs !== 0) throw wrongClock(url, clock.stepMs);
      return store;
    } catch (error) {
      await store.close();
      throw error;
    }
  };
}

function wrongClock(url: string, byMs: number): StoreError {
  return new StoreError(
    `this machine's clock is ${stepText(byMs)} the latest time of the store ${withoutCredentials(url)}: set it right, or if it is, run "lingate store check --accept-clock"`,
  );
}
