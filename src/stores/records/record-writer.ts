// Writes the complete contents of another store to a plugin's store, which is marked as half-written until it is complete.
import type { EntryPieces } from '../../domain/entries-text.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { momentOf } from '../../domain/audit-entry.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { WholePluginStore } from '../../ports/plugin.ts';
import type { GroupChange } from '../../ports/record-space.ts';
import type { LooseContents, StoreReader, StoreWriter, TeamContents } from '../../ports/store-contents.ts';
import type { WholeAccount } from '../../ports/whole-accounts.ts';
import { accountOf, accountOfKept } from './account-contents.ts';
import { MARKED, UNMARKED } from './copy-mark.ts';
import { eventRecords } from './event-record.ts';
import { RecordReader } from './record-reader.ts';
import { isIndex } from './record-tables.ts';
import { toldRecords } from './told-record.ts';

export class RecordWriter implements StoreWriter {
  readonly #store: WholePluginStore;
  /** Keys that were written without their digests. */
  readonly #undigested = new Set<string>();

  private constructor(store: WholePluginStore) {
    this.#store = store;
  }

  /** Clears the store and marks it. */
  static async begin(store: WholePluginStore): Promise<RecordWriter> {
    answered(await store.accounts.clear());
    const writer = new RecordWriter(store);
    await writer.#share(MARKED);
    return writer;
  }

  async team(contents: TeamContents, entries: ReadonlyMap<string, EntryPieces>): Promise<void> {
    const attach = [...entries].map(([blobId, pieces]) => ({ blobId, pieces }));
    answered(await this.#store.accounts.change(contents.team.teamId, () => ({ account: accountOf(contents), attach })));
    for (const { keyId, digest } of contents.keys) if (digest === undefined) this.#undigested.add(keyId);
    await this.#share({ put: toldRecords(contents) });
  }

  async loose(record: LooseContents): Promise<void> {
    switch (record.kind) {
      case 'digest': {
        const { keyId, digest } = record;
        if (!this.#undigested.has(keyId)) return;
        return this.#again(record.teamId, ({ keys }) => ({ keys: keys.map((key) => (key.keyId === keyId ? { ...key, digest } : key)) }));
      }
      case 'change': {
        const { kind: _kind, teamId, ...change } = record;
        return this.#again(teamId, ({ changes }) => ({ changes: [...changes, change] }));
      }
      case 'record': {
        const { table, id, value } = record;
        return this.#share(isIndex(table) ? { index: [{ index: table, id }] } : { put: [{ table, id, value }] });
      }
      case 'usage':
        answered(await this.#store.accounts.change(record.teamId, () => ({ account: accountOfKept(record) })));
        return;
      case 'audit': {
        const { id, teamId, record: entry } = record;
        answered(await this.#store.audit.restore([{ id, atMs: momentOf(id), teamId, ...entry }]));
        return;
      }
      case 'event':
        return this.#share(eventRecords(record));
    }
  }

  reader(): StoreReader {
    return new RecordReader(this.#store);
  }

  async finish(): Promise<void> {
    await this.#share(UNMARKED);
  }

  async close(): Promise<void> {
    await this.#store.close();
  }

  /** Changes an account that was written. */
  async #again(teamId: string, change: (account: WholeAccount) => Partial<WholeAccount>): Promise<void> {
    answered(await this.#store.accounts.change(teamId, (account) => account && { account: { ...account, ...change(account) } }));
  }

  async #share(change: Omit<GroupChange<void>, 'result'>): Promise<void> {
    answered(await this.#store.records.change(SHARED_RECORDS, [], () => ({ ...change, result: undefined })));
  }
}
