// Blobs of the record space as rows of pieces: large ones are written, read and deleted over several transactions and ticks.
import { nextTurn } from '../../core/turns.ts';
import { isLarge } from '../../domain/entries-text.ts';
import type { EntryPieces } from '../../domain/entries-text.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { NewBlob } from '../../ports/record-space.ts';
import { securely } from './open-database.ts';
import { looked } from './store-fault.ts';
import type { SqliteParts } from './sqlite-records.ts';

/** Written or deleted per transaction: takes a few milliseconds, mostly waiting for the disk. */
const PIECES_AT_ONCE = 2;
/** Time limit for writing a blob and attaching it. */
const PREPARED_MS = 60_000;

export type SqliteBlobs = ReturnType<typeof sqliteBlobs>;

export function sqliteBlobs({ sql, path, group, accounts }: SqliteParts) {
  let clearing: Promise<void> | undefined;

  const announce = (team: number, { blobId, pieces }: NewBlob, goneMs: number | null): void =>
    sql.write('INSERT OR REPLACE INTO blobs VALUES (?, ?, ?, ?)', team, blobId, pieces.length, goneMs);

  const add = (team: number, { blobId, pieces }: NewBlob, first = 0, end = pieces.length): void => {
    for (let place = first; place < Math.min(end, pieces.length); place++)
      sql.write('INSERT OR REPLACE INTO pieces (team, blob, place, piece) VALUES (?, ?, ?, ?)', team, blobId, place, pieces[place]!);
  };

  const dueAt = (nowMs: number) => sql.row<[team: number, id: string]>('SELECT team, id FROM blobs WHERE gone_ms <= ? LIMIT 1', nowMs);

  const clearSome = (nowMs: number): boolean => {
    const blob = dueAt(nowMs);
    if (blob === undefined) return false;
    const some = `SELECT no FROM pieces WHERE team = ? AND blob = ? ORDER BY place DESC LIMIT ${PIECES_AT_ONCE}`;
    if (sql.changes(`DELETE FROM pieces WHERE no IN (${some})`, ...blob) === 0)
      sql.write('DELETE FROM blobs WHERE team = ? AND id = ?', ...blob);
    return true;
  };

  const clearAll = async (): Promise<void> => {
    for (let more: boolean | StoreUnavailable = true; more === true;) {
      more = await group.run((nowMs) => securely(sql, () => clearSome(nowMs)));
      await nextTurn();
    }
  };

  /** Call it within a transaction, and `clear` after it. */
  const detach = (team: number, blobIds: readonly string[]): void => {
    for (const blobId of blobIds) sql.write('UPDATE blobs SET gone_ms = 0 WHERE team = ? AND id = ?', team, blobId);
  };

  return {
    detach,
    /** Reads without a transaction: pieces are immutable, and in WAL mode readers do not wait for writers. */
    async read(teamId: string, blobId: string): Promise<EntryPieces | undefined | StoreUnavailable> {
      const found = await group.run(() => {
        const team = accounts.numberOf(teamId);
        const attached = 'SELECT team, piece_count FROM blobs WHERE team = ? AND id = ? AND gone_ms IS NULL';
        return team === undefined ? undefined : sql.row<[team: number, pieces: number]>(attached, team, blobId);
      });
      if (found === undefined || isUnavailable(found)) return found;
      const [team, count] = found;
      const pieces: Uint8Array[] = [];
      for (let place = 0; place < count; place++) {
        if (place > 0) await nextTurn();
        const one = 'SELECT piece FROM pieces WHERE team = ? AND blob = ? AND place = ?';
        const row = looked(path, () => sql.row<[Uint8Array<ArrayBuffer>]>(one, team, blobId, place));
        // The piece, and with it the whole blob, has been deleted.
        if (row === undefined || isUnavailable(row)) return row;
        pieces.push(row[0]);
      }
      return pieces;
    },
    async prepare(teamId: string, blobs: readonly NewBlob[]): Promise<StoreUnavailable | undefined> {
      for (const blob of blobs.filter(({ pieces }) => isLarge(pieces))) {
        for (let first = 0; first < blob.pieces.length; first += PIECES_AT_ONCE) {
          const done = await group.run((nowMs) => {
            const team = accounts.numberOf(teamId);
            if (team === undefined) return;
            announce(team, blob, nowMs + PREPARED_MS);
            add(team, blob, first, first + PIECES_AT_ONCE);
          });
          if (isUnavailable(done)) return done;
          await nextTurn();
        }
      }
      return undefined;
    },
    /** Whether all prepared pieces still exist. Call it within a transaction, before writing anything else. */
    arePrepared(team: number, blobs: readonly NewBlob[], nowMs: number): boolean {
      const announced = 'SELECT 1 FROM blobs WHERE team = ? AND id = ? AND gone_ms > ?';
      return blobs.every(({ blobId, pieces }) => !isLarge(pieces) || sql.row(announced, team, blobId, nowMs) !== undefined);
    },
    /** Call it within a transaction. With `all`, nothing was prepared, and an earlier blob may be there. */
    attach(team: number, blobs: readonly NewBlob[], all = false): void {
      for (const blob of blobs) {
        announce(team, blob, null);
        if (all || !isLarge(blob.pieces)) add(team, blob);
      }
    },
    async abandon(teamId: string, blobs: readonly NewBlob[]): Promise<void> {
      const ids = blobs.filter(({ pieces }) => isLarge(pieces)).map(({ blobId }) => blobId);
      if (ids.length === 0) return;
      await group.run(() => {
        const team = accounts.numberOf(teamId);
        if (team !== undefined) detach(team, ids);
      });
    },
    /** Whether `clear` has anything to delete. */
    isDue: (nowMs: number): boolean => dueAt(nowMs) !== undefined,
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
