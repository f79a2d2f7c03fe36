// Copies a store to another one, team by team, and compares the two.
import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { wholeObject } from '../domain/entries-text.ts';
import { RATE_WINDOW_MS } from '../domain/admission.ts';
import { answered, StoreError } from '../domain/store-unavailable.ts';
import type { NewBlob, RecordName } from '../ports/record-space.ts';
import type { EndedPeriod } from '../ports/usage-history.ts';
import type { StoreFinding, WholeAccount, WindowSlots } from '../ports/whole-accounts.ts';
import { UNMARKED } from './records/copy-mark.ts';
import { DOCUMENT_TOTALS } from './records/record-documents.ts';
import { GLOSSARIES, GLOSSARY_TOTALS, readTotals } from './records/record-glossaries.ts';
import { COPIED_SHARED_TABLES, isIndex, recordsOf } from './records/record-tables.ts';
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

/** Called with each account, the entries of its dictionaries, and how many teams there were so far. */
type OnTeam = (account: WholeAccount, attach: readonly NewBlob[], teams: number) => Promise<void>;

/**
 * The target is marked as half-written until the end. Rejects with a `StoreError` if the source has faults or the two differ: it then
 * stays so.
 */
export async function copyStore(source: WholeStore, target: WholeStore, { onProgress, stillAlone }: CopyWatch): Promise<StoreTally> {
  const expected = await tallied(source, async (account, attach, teams) => {
    answered(await target.store.accounts.change(account.team.teamId, () => ({ account, attach })));
    onProgress({ doing: 'copying', teams });
  });
  await copyShared(source, target);
  const got = await tallied(target, async (_account, _attach, teams) => onProgress({ doing: 'comparing', teams }));
  const differing = (Object.keys(expected) as (keyof StoreTally)[]).filter((name) => expected[name] !== got[name]);
  if (differing.length > 0) {
    const words = differing.map((name) => `${name} ${expected[name]} and ${got[name]}`).join(', ');
    throw new StoreError(
      `the copy is not equal to its source (${words}): it is left half-written; repeat it with --restart, and report this`,
    );
  }
  await stillAlone();
  await target.shared.write(UNMARKED);
  return expected;
}

/** What belongs to no team, and the audit. */
async function copyShared(source: WholeStore, target: WholeStore): Promise<void> {
  for (const table of COPIED_SHARED_TABLES) {
    if (isIndex(table)) for await (const id of source.ids(table)) await target.shared.write({ index: [{ index: table, id }] });
    else for (const [id, value] of await source.shared.list(table)) await target.shared.write({ put: [{ table, id, value }] });
  }
  for await (const entry of source.audit()) answered(await target.store.audit.restore([entry]));
}

/** Reads all that a copy has of a store. */
async function tallied(store: WholeStore, onTeam: OnTeam): Promise<StoreTally> {
  const counts = { ...NO_COUNTS };
  // Of two stores each has its own order.
  const print = Buffer.alloc(32);
  const fold = (one: Hash): void => one.digest().forEach((byte, i) => (print[i]! ^= byte));
  for await (const read of store.accounts(reject)) {
    const account = { ...read, records: read.records.filter(isCopied) };
    const attach = await entriesOf(store, account);
    count(account, counts);
    const digest = createHash('sha256').update(canonical(comparable(account)));
    for (const { blobId, pieces } of attach) {
      digest.update(blobId);
      for (const bytes of wholeObject(pieces)) digest.update(bytes);
    }
    fold(digest);
    await onTeam(account, attach, counts.teams);
  }
  for await (const entry of store.audit()) {
    counts.auditEntries++;
    fold(createHash('sha256').update(canonical(entry)));
  }
  const events = await store.shared.list('events');
  counts.events = events.size;
  for (const event of events) fold(createHash('sha256').update(canonical(event)));
  return { ...counts, fingerprint: print.toString('hex') };
}

function reject({ teamId, detail }: StoreFinding): never {
  const whose = teamId === undefined ? '' : `team ${teamId}: `;
  throw new StoreError(`the source has a fault (${whose}${detail}): run "lingate store check" on it, and copy a store without faults`);
}

/** Files of documents are not copied: they are gone after hours, and what is reserved for them with its lease. */
function isCopied({ table, id }: RecordName): boolean {
  return table !== 'documents' && !(table === DOCUMENT_TOTALS.table && id === DOCUMENT_TOTALS.id);
}

/** The entries of all dictionaries. */
async function entriesOf(store: WholeStore, account: WholeAccount): Promise<NewBlob[]> {
  const { teamId } = account.team;
  const blobs: NewBlob[] = [];
  for (const text of recordsOf(account, 'glossaries').values()) {
    for (const { dictionaryId: blobId } of GLOSSARIES.read(text).dictionaries) {
      const pieces = await store.entries(teamId, blobId);
      if (pieces === undefined) return reject({ what: 'dictionary', teamId, detail: `dictionary ${blobId} has no entries` });
      blobs.push({ blobId, pieces });
    }
  }
  return blobs;
}

function count(account: WholeAccount, counts: typeof NO_COUNTS): void {
  const { team, period, standing, keys, charges, requests } = account;
  if (period === undefined) {
    counts.usagesOnly++;
    return;
  }
  const sum = (name: 'characters' | 'ofAllowance'): number => charges.reduce((total, charge) => total + charge[name], 0);
  counts.teams++;
  counts.keys += keys.length;
  counts.glossaries += recordsOf(account, 'glossaries').size;
  counts.periods += usedPeriods(account).length;
  counts.days += daysOf(charges, []).length;
  counts.openReservations += requests.length;
  counts.characters += sum('characters');
  counts.allowanceUsed += sum('ofAllowance');
  counts.balanceMicro += team.balanceMicro;
  counts.heldCharacters += standing.heldCharacters;
  counts.glossaryBytes += readTotals(recordsOf(account, 'totals').get(GLOSSARY_TOTALS.id)).bytes;
}

/** Without what stores may keep differently: slots that are free again, periods without use, and remembered changes, which are forgotten. */
function comparable(account: WholeAccount): unknown {
  const { changes: _changes, ...rest } = account;
  const charges = sorted(account.charges, ({ keyId, day, period }) => `${keyId} ${day} ${period}`);
  const ended = usedPeriods(account);
  if (account.period === undefined) return { ...usageLeft(account), charges, ended };
  return {
    ...rest,
    window: lastSecond(account.window),
    windowCounts: sorted(account.windowCounts, ({ subject }) => subject),
    keys: account.keys.map((key) => ({ ...key, window: lastSecond(key.window) })),
    charges,
    ended,
    requests: sorted(account.requests, ({ requestId }) => requestId),
    records: sorted(account.records, ({ table, id }) => `${table} ${id}`),
  };
}

/** Of a deleted team, without names. */
function usageLeft({ team: { teamId, createdAtMs, plan, limits }, keys }: WholeAccount) {
  return { teamId, createdAtMs, plan, limits, keys: keys.map((key) => [key.keyId, key.mode, key.createdAtMs]) };
}

/** Without what has no use and no open reservation. */
function usedPeriods({ ended, charges, requests }: WholeAccount): EndedPeriod[] {
  const used = new Set([...charges.map(({ period }) => period), ...requests.map(({ periodNumber }) => periodNumber)]);
  return ended.filter(({ number, addedMicro, deductedMicro }) => addedMicro + deductedMicro > 0 || used.has(number));
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
