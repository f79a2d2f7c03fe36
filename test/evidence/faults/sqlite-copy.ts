// Copies of a SQLite store as a crash or a power cut leaves them: opened as a gateway would, and compared with what was acknowledged.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { answered } from '../../../src/index.ts';
import type { Store } from '../../../src/ports/store.ts';
import { checkedStore } from '../../support/checked-store.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../../support/gateway.ts';
import { promisedLedger } from '../../support/promised-store.ts';
import { openWitness, watchedTeam } from './witness.ts';
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

/** A new store at this path with a team of each billing. */
export async function teamsIn(path: string): Promise<[quota: WatchedTeam, credit: WatchedTeam]> {
  const store = await openWitness(`sqlite:${path}`);
  const plan = { requests_per_second: 100_000, max_characters_per_request: 1000 };
  const quota = await watchedTeam(store, { ...QUOTA_PLAN, ...plan, characters: 100_000_000 });
  const credit = await watchedTeam(store, { ...CREDIT_PLAN, ...plan }, 1000);
  await store.close();
  return [quota, credit];
}

/** A reservation whose admission was acknowledged, and what has become of it since. */
export interface Acknowledged {
  readonly teamId: string;
  readonly requestId: string;
  readonly characters: number;
  /** How it was to end, once that was asked. */
  readonly asked?: 'commit' | 'release';
  /** Whether that was acknowledged too. */
  readonly isEnded: boolean;
  /** Acknowledged only after the database was copied: it may be in it or not. */
  readonly isLater?: boolean;
}

interface Opened {
  /** All that is stored. */
  readonly content: string;
  /** What is wrong with it; empty if it is intact, its accounts add up, and it has exactly what was acknowledged. */
  readonly faults: readonly string[];
}

/**
 * Opens the database with this much of its WAL. The shared memory file does not survive a power cut.
 *
 * @param known - Contents that were judged already, against the same acknowledgements.
 */
export async function openCut(
  database: string,
  wal: Uint8Array,
  teams: readonly WatchedTeam[],
  acknowledged: readonly Acknowledged[],
  known?: string,
): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), 'lingate-cut-'));
  const path = join(folder, 'lingate.db');
  try {
    copyFileSync(database, path);
    writeFileSync(`${path}-wal`, wal);
    const { content, faults } = read(path);
    if (content === known) return { content, faults };
    const { findings } = await checkedStore(`sqlite:${path}`);
    const store = await openWitness(`sqlite:${path}`);
    try {
      const wrong = await Promise.all(teams.map((team) => lost(store, team.teamId, acknowledged)));
      return { content, faults: [...faults, ...findings.map((finding) => JSON.stringify(finding)), ...wrong.flat()] };
    } finally {
      await store.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Releases what is open: what is not must have ended as it was asked to, and is charged exactly if that was a commit. */
async function lost(store: Store, teamId: string, acknowledged: readonly Acknowledged[]): Promise<string[]> {
  const ledger = promisedLedger(store.ledger);
  const { usedCharacters: used } = answered(await store.teams.standing(teamId))!;
  const faults: string[] = [];
  let [charged, perhaps] = [0, 0];
  for (const { requestId, characters, asked, isEnded, isLater = false } of acknowledged.filter((one) => one.teamId === teamId)) {
    const { kind } = await ledger.resolve(teamId, requestId, 'release');
    if (isLater) {
      if (kind === 'absent') perhaps += characters;
      continue;
    }
    if (kind === 'released' && isEnded) faults.push(`the end of ${requestId} is lost`);
    if (kind === 'absent' && asked === undefined) faults.push(`${requestId} is lost`);
    if (kind === 'absent' && asked === 'commit') charged += characters;
  }
  const isRight = used >= charged && used <= charged + perhaps;
  return isRight ? faults : [...faults, `${used} characters are charged, of ${charged}, and perhaps ${perhaps} more`];
}

function read(path: string): Opened {
  const database = new DatabaseSync(path, { timeout: 5000 });
  const rows = (sql: string): string[] =>
    database
      .prepare(sql)
      .all()
      .map((row) => JSON.stringify(row));
  try {
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
    const content = createHash('sha256');
    for (const { name } of tables) for (const row of rows(`SELECT * FROM "${String(name)}"`)) content.update(`${row}\n`);
    const integrity = rows('PRAGMA integrity_check').filter((row) => row !== '{"integrity_check":"ok"}');
    return { content: content.digest('hex'), faults: [...integrity, ...rows('PRAGMA foreign_key_check')] };
  } finally {
    database.close();
  }
}
