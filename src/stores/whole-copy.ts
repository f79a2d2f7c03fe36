// Copies a store into another one, and compares the complete contents of both at the end.
import { createHash } from 'node:crypto';
import { wholeObject } from '../domain/entries-text.ts';
import type { EntryPieces } from '../domain/entries-text.ts';
import { StoreError } from '../domain/store-unavailable.ts';
import type { LooseContents, ReportFinding, StoreReader, StoreWriter, TeamContents } from '../ports/store-contents.ts';

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
  digests: 0,
  auditEntries: 0,
  /** Deleted teams whose usage was kept. */
  keptUsages: 0,
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

/** Rejects with a `StoreError` if the source has faults or the two differ: the target then stays marked as half-written. */
export async function copyStore(source: StoreReader, target: StoreWriter, { onProgress, stillAlone }: CopyWatch): Promise<StoreTally> {
  const report: ReportFinding = ({ teamId, detail }) => {
    const whose = teamId === undefined ? '' : `team ${teamId}: `;
    throw new StoreError(`the source has a fault (${whose}${detail}): run "lingate store check" on it, and copy a store that is sound`);
  };
  const from = new Tally();
  for await (const read of source.teams(report)) {
    const { contents, entries } = await whole(source, read, report);
    await target.team(contents, entries);
    from.team(contents, entries);
    onProgress({ doing: 'copying', teams: from.counts.teams });
  }
  for await (const record of source.loose(report)) {
    await target.loose(record);
    from.loose(record);
  }
  const to = await tallyOf(target.reader(), report, (teams) => onProgress({ doing: 'comparing', teams }));
  const [wanted, got] = [from.result(), to];
  const differing = (Object.keys(wanted) as (keyof StoreTally)[]).filter((name) => wanted[name] !== got[name]);
  if (differing.length > 0) {
    const words = differing.map((name) => `${name} ${wanted[name]} and ${got[name]}`).join(', ');
    throw new StoreError(
      `the copy is not equal to its source (${words}): it is left half-written; repeat it with --restart, and report this`,
    );
  }
  await stillAlone();
  await target.finish();
  return wanted;
}

async function tallyOf(reader: StoreReader, report: ReportFinding, onTeam: (teams: number) => void): Promise<StoreTally> {
  const tally = new Tally();
  for await (const read of reader.teams(report)) {
    const { contents, entries } = await whole(reader, read, report);
    tally.team(contents, entries);
    onTeam(tally.counts.teams);
  }
  for await (const record of reader.loose(report)) tally.loose(record);
  return tally.result();
}

interface WholeTeam {
  readonly contents: TeamContents;
  readonly entries: ReadonlyMap<string, EntryPieces>;
}

/** Reads the entries. */
async function whole(reader: StoreReader, read: TeamContents, report: ReportFinding): Promise<WholeTeam> {
  const { team } = read;
  const entries = new Map<string, EntryPieces>();
  for (const { dictionaryId } of read.glossaries.flatMap(({ dictionaries }) => dictionaries)) {
    const pieces = await reader.entries(team.teamId, dictionaryId);
    if (pieces === undefined) report({ what: 'dictionary', teamId: team.teamId, detail: `dictionary ${dictionaryId} has no entries` });
    entries.set(dictionaryId, pieces ?? []);
  }
  return { contents: read, entries };
}

const FINGERPRINT_BYTES = 16;
const LOOSE = { digest: 'digests', audit: 'auditEntries', event: 'events', usage: 'keptUsages' } as const;

class Tally {
  readonly counts = { ...NO_COUNTS };
  readonly #teams = createHash('sha256');
  readonly #loose = Buffer.alloc(FINGERPRINT_BYTES);

  team(contents: TeamContents, entries: ReadonlyMap<string, EntryPieces>): void {
    const { counts } = this;
    counts.teams++;
    for (const name of ['keys', 'glossaries', 'periods', 'days'] as const) counts[name] += contents[name].length;
    counts.openReservations += contents.requests.length;
    counts.characters += contents.usedCharacters + contents.periods.reduce((sum, { characters }) => sum + characters, 0);
    counts.balanceMicro += contents.team.balanceMicro;
    counts.heldCharacters += contents.heldCharacters;
    counts.allowanceUsed += contents.allowanceUsed + contents.periods.reduce((sum, one) => sum + one.allowanceUsed, 0);
    counts.glossaryBytes += contents.glossaryBytes;
    // In the order of teams. Omits what stores may keep differently: the keys of past periods, and the requests of those that
    // are not closed.
    const { dayDone: _dayDone, ...rest } = contents;
    const keys = rest.keys.map(({ digest: _digest, ...key }) => key);
    const periods = rest.periods.map(({ keys: _keys, ...period }) => (period.closed ? period : { ...period, requests: undefined }));
    this.#teams.update(canonical({ ...rest, refusals: Object.fromEntries(rest.refusals), keys, periods }));
    for (const [dictionaryId, pieces] of entries) {
      this.#teams.update(dictionaryId);
      for (const bytes of wholeObject(pieces)) this.#teams.update(bytes);
    }
  }

  /** These arrive in any order, each once, so their hashes are XORed. Remembered changes and requests may be forgotten meanwhile: they are skipped. */
  loose(record: LooseContents): void {
    if (record.kind === 'change' || record.kind === 'record') return;
    this.counts[LOOSE[record.kind]]++;
    const hash = createHash('sha256').update(canonical(record)).digest();
    for (let i = 0; i < FINGERPRINT_BYTES; i++) this.#loose[i]! ^= hash[i]!;
  }

  result(): StoreTally {
    return { ...this.counts, fingerprint: this.#teams.copy().update(this.#loose).digest('hex') };
  }
}

/** JSON with sorted members. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}
