// Copies a store to another one, team by team, and compares the two.
import { createHash } from 'node:crypto';
import { wholeObject } from '../domain/entries-text.ts';
import { RATE_WINDOW_MS } from '../domain/reservation.ts';
import { SHARED_RECORDS } from '../domain/shared-records.ts';
import { answered, StoreError } from '../domain/store-unavailable.ts';
import type { NewBlob } from '../ports/record-space.ts';
import type { EndedPeriod } from '../ports/usage-history.ts';
import type { ReportFinding, WholeAccount, WindowSlots } from '../ports/whole-accounts.ts';
import { UNMARKED } from './records/copy-mark.ts';
import { DOCUMENT_TOTALS } from './records/document-record.ts';
import { GLOSSARIES, GLOSSARY_TOTALS, readTotals } from './records/glossary-record.ts';
import { COPIED_SHARED_TABLES, isIndex } from './records/record-tables.ts';
import { daysOf } from './records/usage-rows.ts';
import type { WholeStore } from './whole-store.ts';

const NO_COUNTS = {
  teams: 0,
  keys: 0,
  glossaries: 0,
  periods: 0,
  days: 0,
  openReservations: 0,
  /** In current and past periods. */
  characters: 0,
  balanceMicro: 0,
  heldCharacters: 0,
  allowanceUsed: 0,
  glossaryBytes: 0,
  auditEntries: 0,
  /** Deleted teams of which usage is left. */
  usagesOnly: 0,
  events: 0,
};

/** Counts and sums over the contents of a store. */
export interface StoreTally extends Readonly<typeof NO_COUNTS> {
  /** A digest of everything, independent of the order of unordered data. */
  readonly fingerprint: string;
}

export interface CopyProgress {
  readonly doing: 'copying' | 'comparing';
  readonly teams: number;
}

interface CopyWatch {
  readonly onProgress: (progress: CopyProgress) => void;
  /** Rejects if a gateway has started to serve from the source. */
  readonly stillAlone: () => Promise<void>;
}

/**
 * The target is marked as half-written until the end. Rejects with a `StoreError` if the source has faults or the two differ: it then
 * stays so.
 */
export async function copyStore(source: WholeStore, target: WholeStore, { onProgress, stillAlone }: CopyWatch): Promise<StoreTally> {
  const report: ReportFinding = ({ teamId, detail }) => {
    const whose = teamId === undefined ? '' : `team ${teamId}: `;
    throw new StoreError(`the source has a fault (${whose}${detail}): run "lingate store check" on it, and copy a store without faults`);
  };
  const from = new Tally();
  await from.read(source, report, async (read, attach, teams) => {
    const account = { ...read, records: copiedRecords(read) };
    answered(await target.store.accounts.change(read.team.teamId, () => ({ account, attach })));
    onProgress({ doing: 'copying', teams });
  });
  await copyShared(source, target);
  const to = new Tally();
  await to.read(target, report, async (_account, _attach, teams) => onProgress({ doing: 'comparing', teams }));
  const [expected, got] = [from.result(), to.result()];
  const differing = (Object.keys(expected) as (keyof StoreTally)[]).filter((name) => expected[name] !== got[name]);
  if (differing.length > 0) {
    const words = differing.map((name) => `${name} ${expected[name]} and ${got[name]}`).join(', ');
    throw new StoreError(
      `the copy is not equal to its source (${words}): it is left half-written; repeat it with --restart, and report this`,
    );
  }
  await stillAlone();
  await target.share(UNMARKED);
  return expected;
}

/** What belongs to no team, and the audit. */
async function copyShared(source: WholeStore, target: WholeStore): Promise<void> {
  for (const table of COPIED_SHARED_TABLES) {
    if (isIndex(table)) for await (const id of source.ids(table)) await target.share({ index: [{ index: table, id }] });
    else for (const [id, value] of await source.records(SHARED_RECORDS, table)) await target.share({ put: [{ table, id, value }] });
  }
  for await (const entry of source.audit()) answered(await target.store.audit.restore([entry]));
}

/** Files of documents are not copied: they are gone after hours, and what is reserved for them with its lease. */
function copiedRecords({ records }: WholeAccount): WholeAccount['records'] {
  return records.filter(({ table, id }) => table !== 'documents' && !(table === DOCUMENT_TOTALS.table && id === DOCUMENT_TOTALS.id));
}

/** The entries of all dictionaries. */
async function entriesOf(store: WholeStore, { team: { teamId }, records }: WholeAccount, report: ReportFinding): Promise<NewBlob[]> {
  const blobs: NewBlob[] = [];
  for (const { value } of records.filter(({ table }) => table === 'glossaries')) {
    for (const { dictionaryId: blobId } of GLOSSARIES.read(value).dictionaries) {
      const pieces = await store.entries(teamId, blobId);
      if (pieces === undefined) report({ what: 'dictionary', teamId, detail: `dictionary ${blobId} has no entries` });
      else blobs.push({ blobId, pieces });
    }
  }
  return blobs;
}

const FINGERPRINT_BYTES = 16;

class Tally {
  readonly #counts = { ...NO_COUNTS };
  readonly #teams = createHash('sha256');
  readonly #others = Buffer.alloc(FINGERPRINT_BYTES);

  /** `onTeam` is called with each team, those that are deleted at the end, and with how many there were. */
  async read(
    store: WholeStore,
    report: ReportFinding,
    onTeam: (account: WholeAccount, attach: readonly NewBlob[], teams: number) => Promise<void>,
  ): Promise<void> {
    for await (const account of store.accounts(report)) {
      const attach = await entriesOf(store, account, report);
      this.#team(account, attach);
      await onTeam(account, attach, this.#counts.teams);
    }
    for await (const account of store.deleted()) {
      this.#counts.usagesOnly++;
      this.#other(usageLeft(account));
      await onTeam(account, [], this.#counts.teams);
    }
    for await (const entry of store.audit()) {
      this.#counts.auditEntries++;
      this.#other(entry);
    }
    for (const event of await store.records(SHARED_RECORDS, 'events')) {
      this.#counts.events++;
      this.#other(event);
    }
  }

  #team(account: WholeAccount, attach: readonly NewBlob[]): void {
    const counts = this.#counts;
    const { team, standing, keys, charges, requests, records } = account;
    counts.teams++;
    counts.keys += keys.length;
    counts.glossaries += records.filter(({ table }) => table === 'glossaries').length;
    counts.periods += usedPeriods(account).length;
    counts.days += daysOf(charges, []).length;
    counts.openReservations += requests.length;
    for (const { characters, ofAllowance } of charges) {
      counts.characters += characters;
      counts.allowanceUsed += ofAllowance;
    }
    counts.balanceMicro += team.balanceMicro;
    counts.heldCharacters += standing.heldCharacters;
    counts.glossaryBytes += readTotals(
      records.find(({ table, id }) => table === GLOSSARY_TOTALS.table && id === GLOSSARY_TOTALS.id)?.value,
    ).bytes;
    // In the order of teams.
    this.#teams.update(canonical(comparable(account)));
    for (const { blobId, pieces } of attach) {
      this.#teams.update(blobId);
      for (const bytes of wholeObject(pieces)) this.#teams.update(bytes);
    }
  }

  /** These arrive in any order, each once, so their hashes are XORed. */
  #other(value: unknown): void {
    const hash = createHash('sha256').update(canonical(value)).digest();
    for (let i = 0; i < FINGERPRINT_BYTES; i++) this.#others[i]! ^= hash[i]!;
  }

  result(): StoreTally {
    return { ...this.#counts, fingerprint: this.#teams.copy().update(this.#others).digest('hex') };
  }
}

/** Without what stores may keep differently: slots that are free again, periods without use, and remembered changes, which are forgotten. */
function comparable(account: WholeAccount): unknown {
  const { changes: _changes, ...rest } = account;
  return {
    ...rest,
    window: lastSecond(account.window),
    windowCounts: sorted(account.windowCounts, ({ subject }) => subject),
    keys: account.keys.map((key) => ({ ...key, window: lastSecond(key.window) })),
    charges: sortedCharges(account),
    ended: usedPeriods(account),
    requests: sorted(account.requests, ({ requestId }) => requestId),
    records: sorted(copiedRecords(account), ({ table, id }) => `${table} ${id}`),
  };
}

/** Of a deleted team: its charges and periods, without names. */
function usageLeft(account: WholeAccount): unknown {
  const { teamId, createdAtMs, plan, limits } = account.team;
  const keys = account.keys.map(({ keyId, mode, createdAtMs: madeAtMs }) => ({ keyId, mode, madeAtMs }));
  return { teamId, createdAtMs, plan, limits, keys, charges: sortedCharges(account), ended: usedPeriods(account) };
}

/** Without what has no use and no open reservation. */
function usedPeriods({ ended, charges, requests }: WholeAccount): EndedPeriod[] {
  const isUsed = ({ number, addedMicro, deductedMicro }: EndedPeriod): boolean =>
    addedMicro + deductedMicro > 0 ||
    charges.some(({ period }) => period === number) ||
    requests.some(({ periodNumber }) => periodNumber === number);
  return ended.filter(isUsed);
}

function sortedCharges({ charges }: WholeAccount): WholeAccount['charges'] {
  return sorted(charges, ({ keyId, day, period }) => `${keyId} ${day} ${period}`);
}

function lastSecond(window: readonly WindowSlots[]): readonly WindowSlots[] {
  const newestMs = window.at(-1)?.atMs ?? 0;
  return window.filter(({ atMs }) => newestMs - atMs < RATE_WINDOW_MS);
}

function sorted<T>(values: readonly T[], by: (value: T) => string): readonly T[] {
  return values.toSorted((one, other) => (by(one) < by(other) ? -1 : 1));
}

/** JSON with sorted members. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}
