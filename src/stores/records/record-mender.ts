// Undoes in a plugin's store what a wrong clock has begun: changes accounts, and what is kept and told of their events.
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { WholePluginStore } from '../../ports/plugin.ts';
import type { MendedTeam, MendTeam, StoreMender } from '../../ports/store-contents.ts';
import type { WholeAccount } from '../../ports/whole-accounts.ts';
import { contentsOf, mendedAccount } from './account-contents.ts';
import { dueEntry, eventOfName, readEvent } from './event-record.ts';
import { RecordReader } from './record-reader.ts';
import { toldContents, toldNames, toldRecords } from './told-record.ts';

export class RecordMender implements StoreMender {
  readonly #store: WholePluginStore;
  readonly reader: RecordReader;

  constructor(store: WholePluginStore) {
    this.#store = store;
    this.reader = new RecordReader(store);
  }

  /** What was told is undone before the account is: an interrupted repair finds it again. */
  async mend<Mended extends MendedTeam>(teamId: string, nowMs: number, mend: MendTeam<Mended>): Promise<Mended | undefined> {
    const { accounts, records } = this.#store;
    const told = toldContents(answered(await records.read(SHARED_RECORDS, toldNames(teamId))), nowMs);
    const mended = (account: WholeAccount | undefined): Mended | undefined => {
      const contents = account && contentsOf(account, told, () => undefined);
      return contents && mend(contents);
    };
    let planned: Mended | undefined;
    answered(await accounts.change(teamId, (account) => void (planned = mended(account))));
    if (planned === undefined) return undefined;
    await this.#untell(teamId, planned);
    let done: Mended | undefined;
    answered(
      await accounts.change(teamId, (account) => {
        done = mended(account);
        return done && { account: mendedAccount(account!, done.contents) };
      }),
    );
    // What a gateway that serves the store has told meanwhile.
    if (done !== undefined) await this.#untell(teamId, done);
    return done;
  }

  /** Nothing is remembered for too long: request ids are mended with their team. */
  finish(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #untell(teamId: string, mended: MendedTeam): Promise<void> {
    const ofTeam = [...(await this.reader.records(SHARED_RECORDS, 'events'))].filter(([id]) => eventOfName(id).teamId === teamId);
    const events = ofTeam.map(([id, value]) => {
      const [name, stored] = [{ table: 'events' as const, id }, readEvent(value)];
      return { name, stored, entry: dueEntry(name, stored) };
    });
    const undone = events.filter(({ stored }) => mended.isUndone(stored.facts));
    const [remove, unindex] = [undone.map(({ name }) => name), undone.map(({ entry }) => entry)];
    const put = toldRecords(mended.contents);
    answered(await this.#store.records.change(SHARED_RECORDS, [], () => ({ result: true, remove, unindex, put })));
  }
}
