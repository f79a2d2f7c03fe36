// Reads the complete contents of a plugin's store: its accounts, its records, its audit.
import { setTimeout as delay } from 'node:timers/promises';
import type { EntryPieces } from '../../domain/entries-text.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { answered, StoreError } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { WholePluginStore } from '../../ports/plugin.ts';
import type { RecordIndex, RecordTable } from '../../ports/record-space.ts';
import type { LooseContents, ReportFinding, StoreReader, TeamContents } from '../../ports/store-contents.ts';
import type { WholeAccount } from '../../ports/whole-accounts.ts';
import type { TeamPage } from '../../ports/team-registry.ts';
import { contentsOf, keptUsageOf } from './account-contents.ts';
import { dueEntry, eventContents, eventOfName, readEvent } from './event-record.ts';
import { COPIED_SHARED_TABLES, isIndex } from './record-tables.ts';
import { toldContents, toldNames } from './told-record.ts';

const PAGE = 500;
/** No day. */
const NONE = { from: 1, to: 0 };

/** What is wrong at first is looked at again after `settleMs`: gateways may be changing it. */
export type OwnCheck = (report: ReportFinding, settleMs: number) => void | Promise<void>;

export class RecordReader implements StoreReader {
  readonly #store: WholePluginStore;
  readonly #ownCheck: OwnCheck | undefined;

  constructor(store: WholePluginStore, ownCheck?: OwnCheck) {
    this.#store = store;
    this.#ownCheck = ownCheck;
  }

  async *teams(report: ReportFinding): AsyncGenerator<TeamContents> {
    for await (const { teamId } of this.#pages((page) => this.#store.teams.pageTeams(page))) {
      const contents = await this.team(teamId, report);
      if (contents !== undefined) yield contents;
    }
  }

  async team(teamId: string, report: ReportFinding): Promise<TeamContents | undefined> {
    try {
      const account = await this.#account(teamId);
      if (account === undefined) return undefined;
      await this.#judgeDigests(account, report);
      const told = answered(await this.#store.records.read(SHARED_RECORDS, toldNames(teamId)));
      return contentsOf(account, toldContents(told, await this.nowMs()), (what, detail) => report({ what, teamId, detail }));
    } catch (error) {
      if (error instanceof StoreError) throw error;
      report({ what: 'team', teamId, detail: `it cannot be read (${error instanceof Error ? error.name : 'unknown'})` });
      return undefined;
    }
  }

  async entries(teamId: string, dictionaryId: string): Promise<EntryPieces | undefined> {
    return answered(await this.#store.records.readBlob(teamId, dictionaryId));
  }

  async records(group: string, table: RecordTable): Promise<ReadonlyMap<string, string>> {
    return answered(await this.#store.records.list(group, table));
  }

  async *loose(): AsyncGenerator<LooseContents> {
    // Deleted teams are in the history only.
    const teams = this.#pages(async (page) => answered(await this.#store.history.pageDays(page, NONE)).map(({ team }) => team));
    for await (const { teamId } of teams) {
      const account = await this.#account(teamId);
      if (account?.period === undefined) {
        if (account !== undefined) yield keptUsageOf(account);
        continue;
      }
      for (const { keyId, digest, mode } of account.keys) if (digest !== undefined) yield { kind: 'digest', digest, keyId, teamId, mode };
      for (const change of account.changes) yield { kind: 'change', teamId, ...change };
    }
    for (const table of COPIED_SHARED_TABLES) yield* this.#shared(table);
    yield* this.#audit();
    for (const [id, value] of await this.records(SHARED_RECORDS, 'events')) yield eventContents(id, value);
  }

  async nowMs(): Promise<number> {
    return answered(await this.#store.records.change(SHARED_RECORDS, [], (_, { nowMs }) => ({ result: nowMs })))!;
  }

  /** Events that would never be sent. What is kept or removed meanwhile is looked for again. */
  async structure(report: ReportFinding, settleMs: number): Promise<void> {
    await this.#ownCheck?.(report, settleMs);
    let lost = await this.#eventsNotDue();
    if (lost.length === 0) return;
    await delay(settleMs);
    const again = new Set(await this.#eventsNotDue());
    lost = lost.filter((id) => again.has(id));
    for (const id of lost) {
      const event = eventOfName(id);
      report({ what: 'event', teamId: event.teamId, detail: `event ${event.id} is kept, but will never be sent` });
    }
  }

  async close(): Promise<void> {
    await this.#store.close();
  }

  async *#pages<Team extends { readonly teamId: string }>(
    read: (page: TeamPage) => Promise<readonly Team[] | StoreUnavailable>,
  ): AsyncGenerator<Team> {
    for (let after: string | undefined; ;) {
      const teams = answered(await read({ after, limit: PAGE, search: undefined }));
      yield* teams;
      if (teams.length < PAGE) return;
      after = teams.at(-1)!.teamId;
    }
  }

  async #account(teamId: string): Promise<WholeAccount | undefined> {
    let found: WholeAccount | undefined;
    answered(await this.#store.accounts.change(teamId, (account) => void (found = account)));
    return found;
  }

  /** Callers are found by digests. */
  async #judgeDigests({ team: { teamId }, keys }: WholeAccount, report: ReportFinding): Promise<void> {
    for (const { keyId, digest } of keys) {
      if (digest === undefined) continue;
      const owner = answered(await this.#store.keys.find(digest));
      if (owner?.keyId !== keyId || owner.teamId !== teamId)
        report({ what: 'digest', teamId, keyId, detail: 'its digest does not lead to it' });
    }
  }

  async *#shared(table: RecordTable | RecordIndex): AsyncGenerator<LooseContents> {
    if (!isIndex(table)) {
      for (const [id, value] of await this.records(SHARED_RECORDS, table)) yield { kind: 'record', table, id, value };
      return;
    }
    for await (const id of this.#ids(table)) yield { kind: 'record', table, id, value: '' };
  }

  /** Of an index of the shared records. */
  async *#ids(index: RecordIndex): AsyncGenerator<string> {
    for (let from = ''; ;) {
      const ids = answered(await this.#store.records.page(SHARED_RECORDS, { index, from, below: '~', limit: PAGE }));
      yield* ids;
      if (ids.length < PAGE) return;
      // The next id that there can be.
      from = `${ids.at(-1)!} `;
    }
  }

  async *#audit(): AsyncGenerator<LooseContents> {
    for (let after: string | undefined; ;) {
      const entries = answered(await this.#store.audit.page({ teamId: undefined, after, sinceMs: undefined, limit: PAGE }));
      for (const { id, atMs: _atMs, teamId, ...record } of entries) yield { kind: 'audit', id, teamId, record };
      if (entries.length < PAGE) return;
      after = entries.at(-1)!.id;
    }
  }

  /** The ids of their records. */
  async #eventsNotDue(): Promise<string[]> {
    const events = await this.records(SHARED_RECORDS, 'events');
    const listed = new Set<string>();
    for await (const id of this.#ids('events_by_due')) listed.add(id);
    return [...events].flatMap(([id, value]) => (listed.has(dueEntry({ table: 'events', id }, readEvent(value)).id) ? [] : [id]));
  }
}
