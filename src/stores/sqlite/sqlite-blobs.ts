// Blobs of the record space as rows of pieces: large ones are written, read and deleted over several transactions and ticks.
import { nextTurn } from '../../core/turns.ts';
import { isLarge } from '../../domain/entries-text.ts';
import type { EntryPieces } from '../../domain/entries-text.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { NewBlob } from '../../ports/record-space.ts';
import { securely } from './open-database.ts';
import { prepared, tuples } from './statements.ts';
import { looked } from './store-fault.ts';
import type { SqliteParts } from './sqlite-parts.ts';

type Parts = Pick<SqliteParts, 'database' | 'path' | 'group' | 'numberOf'>;

/** Written or deleted per transaction: takes a few milliseconds, mostly waiting for the disk. */
const PIECES_AT_ONCE = 2;
/** Time limit for writing a blob and attaching it. */
const PREPARED_MS = 60_000;

const SQL = {
  count: tuples<[pieces: number]>('SELECT piece_count FROM blobs WHERE team = ? AND id = ? AND gone_ms IS NULL'),
  piece: tuples<[Uint8Array<ArrayBuffer>]>('SELECT piece FROM pieces WHERE team = ? AND blob = ? AND place = ?'),
  add: 'INSERT OR REPLACE INTO pieces (team, blob, place, piece) VALUES (?, ?, ?, ?)',
  announce: 'INSERT OR REPLACE INTO blobs (team, id, piece_count, gone_ms) VALUES (?, ?, ?, ?)',
  isAnnounced: 'SELECT 1 FROM blobs WHERE team = ? AND id = ? AND gone_ms > ?',
  drop: 'UPDATE blobs SET gone_ms = 0 WHERE team = ? AND id = ?',
  due: tuples<[team: number, id: string]>('SELECT team, id FROM blobs WHERE gone_ms <= ? LIMIT 1'),
  delete: `DELETE FROM pieces WHERE no IN
    (SELECT no FROM pieces WHERE team = ? AND blob = ? ORDER BY place DESC LIMIT ${PIECES_AT_ONCE})`,
  forget: 'DELETE FROM blobs WHERE team = ? AND id = ?',
};

export type SqliteBlobs = ReturnType<typeof sqliteBlobs>;

export function sqliteBlobs({ database, path, group, numberOf }: Parts) {
  const sql = prepared(database, SQL);
  let clearing: Promise<void> | undefined;

  const clearSome = (nowMs: number): boolean => {
    const [team, blobId] = sql.due.get(nowMs) ?? [];
    if (team === undefined || blobId === undefined) return false;
    if (sql.delete.run(team, blobId).changes === 0) sql.forget.run(team, blobId);
    return true;
  };

  const clearAll = async (): Promise<void> => {
    for (let more: boolean | StoreUnavailable = true; more === true;) {
      more = await group.run((nowMs) => securely(database, () => clearSome(nowMs)));
      await nextTurn();
    }
  };

  /** Call it within a transaction, and `clear` after it. */
  const detach = (team: number, blobIds: readonly string[]): void => {
    for (const blobId of blobIds) sql.drop.run(team, blobId);
  };

  return {
    detach,
    /** Reads without a transaction: pieces are immutable, and in WAL mode readers do not wait for writers. */
    async read(teamId: string, blobId: string): Promise<EntryPieces | undefined | StoreUnavailable> {
      const found = await group.run(() => {
        const team = numberOf(teamId);
        const count = team === undefined ? undefined : sql.count.get(team, blobId);
        return count && { team: team!, count: count[0] };
      });
      if (found === undefined || isUnavailable(found)) return found;
      const pieces: Uint8Array[] = [];
      for (let place = 0; place < found.count; place++) {
        if (place > 0) await nextTurn();
        const row = looked(path, () => sql.piece.get(found.team, blobId, place));
        // The piece, and with it the whole blob, has been deleted.
        if (row === undefined || isUnavailable(row)) return row;
        pieces.push(row[0]);
      }
      return pieces;
    },
    async prepare(teamId: string, blobs: readonly NewBlob[]): Promise<StoreUnavailable | undefined> {
      for (const { blobId, pieces } of blobs) {
        for (let first = 0; isLarge(pieces) && first < pieces.length; first += PIECES_AT_ONCE) {
          const done = await group.run((nowMs) => {
            const team = numberOf(teamId);
            if (team === undefined) return;
            sql.announce.run(team, blobId, pieces.length, nowMs + PREPARED_MS);
            for (const [i, piece] of pieces.slice(first, first + PIECES_AT_ONCE).entries()) sql.add.run(team, blobId, first + i, piece);
          });
          if (isUnavailable(done)) return done;
          await nextTurn();
        }
      }
      return undefined;
    },
    /** Whether all prepared pieces still exist. Call it within a transaction, before writing anything else. */
    arePrepared(team: number, blobs: readonly NewBlob[], nowMs: number): boolean {
      return blobs.every(({ blobId, pieces }) => !isLarge(pieces) || sql.isAnnounced.get(team, blobId, nowMs) !== undefined);
    },
    /** Call it within a transaction. With `all`, nothing was prepared, and an earlier blob may be there. */
    attach(team: number, blobs: readonly NewBlob[], all = false): void {
      for (const { blobId, pieces } of blobs) {
        sql.announce.run(team, blobId, pieces.length, null);
        if (all || !isLarge(pieces)) for (const [place, piece] of pieces.entries()) sql.add.run(team, blobId, place, piece);
      }
    },
    async abandon(teamId: string, blobs: readonly NewBlob[]): Promise<void> {
      const ids = blobs.filter(({ pieces }) => isLarge(pieces)).map(({ blobId }) => blobId);
      if (ids.length === 0) return;
      await group.run(() => {
        const team = numberOf(teamId);
        if (team !== undefined) detach(team, ids);
      });
    },
    /** Whether `clear` has anything to delete. */
    isDue: (nowMs: number): boolean => sql.due.get(nowMs) !== undefined,
    /**
     * Deletes blobs that are not attached any more, in the background, and overwrites them in the file. If the process ends
     * first, a later change or the janitor deletes the rest.
     */
    clear(): Promise<void> {
      clearing ??= clearAll().finally(() => (clearing = undefined));
      return clearing;
    },
  };
}
