// A store as a whole, over its accounts, records and audit: opened for the check, and as both ends of a copy.
import type { AuditEntry } from '../domain/audit-entry.ts';
import type { EntryPieces } from '../domain/entries-text.ts';
import { answered, halfWritten, NoStoreError, StoreError } from '../domain/store-unavailable.ts';
import type { WholeStoreParts } from '../ports/plugin.ts';
import type { RecordIndex } from '../ports/record-space.ts';
import type { TeamDays } from '../ports/usage-history.ts';
import type { ReportFinding, WholeAccount } from '../ports/whole-accounts.ts';
import { assertUnmarked, isMarked, MARKED } from './records/copy-mark.ts';
import { eventOfRecord, EVENTS } from './records/event-record.ts';
import { RecordGroup } from './records/json-table.ts';
import { COPIED_SHARED_TABLES, isIndex } from './records/record-tables.ts';

const PAGE = 500;
const NO_DAYS = { from: 1, to: 0 };
/** Gateways say more often that they run (app/parts.ts). */
const SERVED_WITHIN_MS = 60_000;

/** Of the store's kind, besides what is checked of every store. */
type OwnCheck = (report: ReportFinding) => void | Promise<void>;

export class WholeStore {
  readonly store: WholeStoreParts;
  readonly shared: RecordGroup;
  readonly #ownCheck: OwnCheck | undefined;
  /** Rejects with a `StoreError` if a gateway has started to serve from it since it was opened. */
  stillAlone = (): Promise<void> => Promise.resolve();

  constructor(store: WholeStoreParts, ownCheck?: OwnCheck) {
    [this.store, this.shared, this.#ownCheck] = [store, new RecordGroup(store.records), ownCheck];
  }

  /** In order of creation, also deleted teams of which usage is left. One that cannot be read is reported and skipped. */
  async *accounts(report: ReportFinding): AsyncGenerator<WholeAccount> {
    // Only the history has those that are deleted.
    const page = (after?: string) => this.store.history.pageDays({ after, limit: PAGE, search: undefined }, NO_DAYS);
    for await (const { team } of paged<TeamDays>(async (last) => answered(await page(last?.team.teamId)))) {
      const account = await this.account(team.teamId, report);
      if (account !== undefined) yield account;
    }
  }

  /** `undefined` if it is gone, or cannot be read, which is reported. */
  async account(teamId: string, report: ReportFinding): Promise<WholeAccount | undefined> {
    try {
      let account: WholeAccount | undefined;
      answered(await this.store.accounts.change(teamId, (found) => void (account = found)));
      for (const { keyId, digest } of account?.keys ?? []) {
        // Callers are found by digests; a deletion that was interrupted begins with them.
        if (digest === undefined || account?.period === undefined) continue;
        const owner = answered(await this.store.keys.find(digest));
        if (owner?.keyId !== keyId || owner.teamId !== teamId)
          report({ what: 'digest', teamId, keyId, detail: 'its digest does not lead to it' });
      }
      return account;
    } catch (error) {
      if (error instanceof StoreError) throw error;
      report({ what: 'team', teamId, detail: `it cannot be read (${error instanceof Error ? error.name : 'unknown'})` });
      return undefined;
    }
  }

  /** The entries of a dictionary; `undefined` if it is gone. */
  async entries(teamId: string, dictionaryId: string): Promise<EntryPieces | undefined> {
    return answered(await this.store.records.readBlob(teamId, dictionaryId));
  }

  /** Of an index of the shared records. */
  ids(index: RecordIndex): AsyncGenerator<string> {
    // From the next id that there can be.
    return paged((last) => this.shared.page({ index, from: last === undefined ? '' : `${last} `, below: '~', limit: PAGE }));
  }

  audit(): AsyncGenerator<AuditEntry> {
    const page = (after?: string) => this.store.audit.page({ teamId: undefined, after, sinceMs: undefined, limit: PAGE });
    return paged(async (last) => answered(await page(last?.id)));
  }

  /** The store's present time. */
  async nowMs(): Promise<number> {
    return (await this.shared.head())!.nowMs;
  }

  /** What is specific to the store's kind, and events that would never be sent. */
  async structure(report: ReportFinding): Promise<void> {
    await this.#ownCheck?.(report);
    const events = await EVENTS.list(this.shared);
    const due = new Set<string>();
    for await (const id of this.ids('events_by_due')) due.add(id);
    for (const [name, event] of events) {
      const { id, teamId } = eventOfRecord(name);
      if (!EVENTS.entries(name, event).every((one) => due.has(one.id)))
        report({ what: 'event', teamId, detail: `event ${id} is stored, but will never be sent` });
    }
  }

  async close(): Promise<void> {
    await this.store.close();
  }
}

/** All of a list, of which `read` has the page after an entry. */
async function* paged<T>(read: (last: T | undefined) => Promise<readonly T[]>): AsyncGenerator<T> {
  for (let last: T | undefined, isMore = true; isMore;) {
    const page = await read(last);
    yield* page;
    [last, isMore] = [page.at(-1), page.length === PAGE];
  }
}

/** What a store is opened for, with all of it. */
export type WholeUse = 'read' | 'copy from' | 'copy to';

export interface OpenedWhole {
  readonly store: WholeStoreParts;
  /** Its name for messages, without credentials. */
  readonly shown: string;
  readonly ownCheck?: OwnCheck;
  /** Nobody else can use it. */
  readonly isLocked?: boolean;
}

/**
 * Closes the store, and rejects with a `StoreError`, if it cannot be used so: the source of a copy must not be empty nor in use; the
 * target must be empty, or half-written if `restart` is set, and not in use.
 */
export async function openedFor(use: WholeUse, { store, shown, ownCheck, isLocked }: OpenedWhole, restart: boolean): Promise<WholeStore> {
  try {
    const whole = new WholeStore(store, ownCheck);
    const isHalf = use === 'copy to' && (await isMarked(store.records));
    if (isHalf && !restart) throw halfWritten(shown);
    if (use !== 'copy to') await assertUnmarked(store.records, shown);
    if (use === 'read') return whole;
    const beganMs = await whole.nowMs();
    const content = isHalf ? undefined : await contentOf(store);
    if (isLocked !== true) {
      if (use === 'copy from' && content === undefined) throw new NoStoreError(shown);
      await assertAlone(store, shown);
      // Also none that has served and stopped meanwhile.
      whole.stillAlone = async () => assertAlone(store, shown, (await whole.nowMs()) - beganMs);
    }
    if (use === 'copy from') return whole;
    if (content !== undefined) throw new StoreError(`the store ${shown} is not empty (it has ${content}): choose an empty store`);
    return await beginCopy(store);
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Clears the store and marks it as half-written. */
export async function beginCopy(store: WholeStoreParts): Promise<WholeStore> {
  answered(await store.accounts.clear());
  const target = new WholeStore(store);
  await target.shared.write(MARKED);
  return target;
}

/** `sinceMs`: how long the copy has taken. */
async function assertAlone({ gateways }: WholeStoreParts, shown: string, sinceMs = 0): Promise<void> {
  const [last] = answered(await gateways.recent(sinceMs + SERVED_WITHIN_MS));
  if (last === undefined) return;
  throw new StoreError(
    `the store ${shown} was in use by a gateway ${sinceMs === 0 ? 'within the last minute' : 'during the copy or the minute before it'} (it runs on ${last.host} with ${last.file}): stop the gateways that use it, and try again a minute later`,
  );
}

/** What it has besides what gateways keep about themselves; `undefined` for nothing. */
async function contentOf({ history, audit, records }: WholeStoreParts): Promise<string | undefined> {
  if (answered(await history.pageDays({ after: undefined, limit: 1, search: undefined }, NO_DAYS)).length > 0) return 'teams';
  if (answered(await audit.page({ teamId: undefined, after: undefined, sinceMs: undefined, limit: 1 })).length > 0) return 'an audit';
  const shared = new RecordGroup(records);
  for (const table of COPIED_SHARED_TABLES) if (!isIndex(table) && (await shared.list(table)).size > 0) return `records of ${table}`;
  return undefined;
}
