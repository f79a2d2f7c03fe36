// Copies of a SQLite store as a crash or a power cut leaves them: opened as a gateway would, and compared with the journal.
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Operation } from '../../support/history.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../../support/gateway.ts';
import { keepSqliteJournal, sqliteJournal } from './journal/sqlite-journal.ts';
import { accountFindings } from './invariants/accounts.ts';
import { dayFindings } from './invariants/days.ts';
import { accountOf, openWitness, watchedTeam } from './witness.ts';
import type { WatchedTeam } from './witness.ts';

const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** Where the frames of a WAL end, and which of them are commits: a transaction's last frame has the database's new size. */
export function framesOf(wal: Buffer): { readonly endsAt: number; readonly commits: boolean }[] {
  const frameBytes = FRAME_HEADER_BYTES + wal.readUInt32BE(8);
  const count = Math.floor((wal.length - WAL_HEADER_BYTES) / frameBytes);
  return Array.from({ length: count }, (_, index) => {
    const startsAt = WAL_HEADER_BYTES + index * frameBytes;
    return { endsAt: startsAt + frameBytes, commits: wal.readUInt32BE(startsAt + 4) !== 0 };
  });
}

/** A new store at this path with a team of each billing, and a journal of everything that follows. */
export async function journalledTeams(path: string): Promise<[quota: WatchedTeam, credit: WatchedTeam]> {
  const store = await openWitness(`sqlite:${path}`);
  keepSqliteJournal(path);
  const plan = { requests_per_second: 100_000, max_characters_per_request: 1000 };
  const quota = await watchedTeam(store, { ...QUOTA_PLAN, ...plan, characters: 100_000_000 });
  const credit = await watchedTeam(store, { ...CREDIT_PLAN, ...plan }, 1000);
  await store.close();
  return [quota, credit];
}

interface Opened {
  readonly operations: readonly Operation[];
  /** What is wrong with it; empty if it is intact and its accounts are the sums of its journal. */
  readonly faults: readonly string[];
}

/** Opens the database with this much of its WAL. The shared memory file does not survive a power cut. */
export async function openCut(database: string, wal: Uint8Array, teams: readonly WatchedTeam[]): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), 'lingate-cut-'));
  const path = join(folder, 'lingate.db');
  try {
    copyFileSync(database, path);
    writeFileSync(`${path}-wal`, wal);
    return await open(path, teams);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function open(path: string, teams: readonly WatchedTeam[]): Promise<Opened> {
  const store = await openWitness(`sqlite:${path}`);
  try {
    const operations = sqliteJournal(path);
    const faults = integrityFaults(path);
    for (const team of teams) {
      const own = operations.filter(({ teamId }) => teamId === team.teamId);
      const history = { teams: [await accountOf(store, team, () => Promise.resolve(0))], seen: [], operations: own, crashes: [] };
      // What is held at such a moment is held legitimately.
      const broken = [...accountFindings(history).filter(({ invariant }) => invariant === 'L3'), ...dayFindings(history)];
      faults.push(...broken.map(({ what }) => what));
    }
    return { operations, faults };
  } finally {
    await store.close();
  }
}

function integrityFaults(path: string): string[] {
  const database = new DatabaseSync(path, { timeout: 5000 });
  try {
    const integrity = database
      .prepare('PRAGMA integrity_check')
      .all()
      .map((row) => String(row['integrity_check']));
    const foreign = database
      .prepare('PRAGMA foreign_key_check')
      .all()
      .map((row) => JSON.stringify(row));
    return [...integrity.filter((line) => line !== 'ok'), ...foreign];
  } finally {
    database.close();
  }
}

/** What an acknowledgement implies for the journal: that it has this id, reserved or with this end. */
export function acknowledgedIn(operations: readonly Operation[]): ReadonlySet<string> {
  return new Set(
    operations.flatMap(({ reserved, ended }) => [
      ...reserved.map(({ requestId }) => `reserved ${requestId}`),
      ...ended.map(({ requestId, as }) => `${as} ${requestId}`),
    ]),
  );
}
