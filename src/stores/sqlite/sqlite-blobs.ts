// Blobs of the record space as rows of pieces: large ones are written, read and deleted over several transactions and ticks.
import { nextTurn } from '../../core/turns.ts';
import { isLarge } from '../../domain/entries-text.ts';
import type { EntryPieces } from '../../domain/entries-text.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { NewBlob } from '../../ports/record-space.ts';
import { securely } from './open-database.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
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
  add: 'INSERT INTO pieces (team, blob, place, piece) VALUES (?, ?, ?, ?)',
  replace: 'INSERT OR REPLACE INTO pieces (team, blob, place, piece) VALUES (?, ?, ?, ?)',
  announce: 'INSERT OR REPLACE INTO blobs (team, id, piece_count, gone_ms) VALUES (?, ?, ?, ?)',
  isAnnounced: 'SELECT 1 FROM blobs WHERE team = ? AND id = ? AND gone_ms > ?',
  drop: 'UPDATE blobs SET gone_ms = 0 WHERE team = ? AND id = ?',
  due: tuples<[team: number, id: string]>('SELECT team, id FROM blobs WHERE gone_ms <= ? LIMIT 1'),
  delete: `DELETE FROM pieces WHERE no IN
    (SELECT no FROM pieces WHERE team = ? AND blob = ? ORDER BY place DESC LIMIT ${PIECES_AT_ONCE})`,
  forget: 'DELETE FROM blobs WHERE team = ? AND id = ?',
};

export class SqliteBlobs {
  readonly #parts: Parts;
  readonly #sql: Statements<typeof SQL>;
  #clearing: Promise<void> | undefined = undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sql = prepared(parts.database, SQL);
  }

  /** Reads without a transaction: pieces are immutable, and in WAL mode readers do not wait for writers. */
  async read(group: string, blobId: string): Promise<EntryPieces | undefined | StoreUnavailable> {
    const found = await this.#parts.group.run(() => {
      const team = this.#parts.numberOf(group);
      const count = team === undefined ? undefined : this.#sql.count.get(team, blobId);
      return count && { team: team!, count: count[0] };
    });
    if (found === undefined || isUnavailable(found)) return found;
    const pieces: Uint8Array[] = [];
    for (let place = 0; place < found.count; place++) {
      if (place > 0) await nextTurn();
      const row = looked(this.#parts.path, () => this.#sql.piece.get(found.team, blobId, place));
      // The piece, and with it the whole blob, has been deleted.
      if (row === undefined || isUnavailable(row)) return row;
      pieces.push(row[0]);
    }
    return pieces;
  }

  async prepare(group: string, blobs: readonly NewBlob[]): Promise<StoreUnavailable | undefined> {
    for (const { blobId, pieces } of blobs) {
      for (let first = 0; isLarge(pieces) && first < pieces.length; first += PIECES_AT_ONCE) {
        const done = await this.#parts.group.run((nowMs) => {
          const team = this.#parts.numberOf(group);
          if (team === undefined) return undefined;
          this.#sql.announce.run(team, blobId, pieces.length, nowMs + PREPARED_MS);
          for (const [i, piece] of pieces.slice(first, first + PIECES_AT_ONCE).entries()) this.#sql.add.run(team, blobId, first + i, piece);
          return undefined;
        });
        if (isUnavailable(done)) return done;
        await nextTurn();
      }
    }
    return undefined;
  }

  /** Whether all prepared pieces still exist. Call it within a transaction, before writing anything else. */
  arePrepared(team: number, blobs: readonly NewBlob[], nowMs: number): boolean {
    return blobs.every(({ blobId, pieces }) => !isLarge(pieces) || this.#sql.isAnnounced.get(team, blobId, nowMs) !== undefined);
  }

  /** Call it within a transaction. */
  attach(team: number, blobs: readonly NewBlob[]): void {
    for (const { blobId, pieces } of blobs) {
      this.#sql.announce.run(team, blobId, pieces.length, null);
      if (!isLarge(pieces)) for (const [place, piece] of pieces.entries()) this.#sql.add.run(team, blobId, place, piece);
    }
  }

  /** All pieces of a blob at once, in place of an earlier one. Call it within a transaction. */
  write(team: number, blobId: string, pieces: EntryPieces): void {
    this.#sql.announce.run(team, blobId, pieces.length, null);
    for (const [place, piece] of pieces.entries()) this.#sql.replace.run(team, blobId, place, piece);
  }

  /** Call it within a transaction, and `clear` after it. */
  detach(team: number, blobIds: readonly string[]): void {
    for (const blobId of blobIds) this.#sql.drop.run(team, blobId);
  }

  async abandon(group: string, blobs: readonly NewBlob[]): Promise<void> {
    if (!blobs.some(({ pieces }) => isLarge(pieces))) return;
    await this.#parts.group.run(() => {
      const team = this.#parts.numberOf(group);
      if (team !== undefined) {
        this.detach(
          team,
          blobs.map(({ blobId }) => blobId),
        );
      }
      return undefined;
    });
  }

  /** Whether `clear` has anything to delete. */
  isDue(nowMs: number): boolean {
    return this.#sql.due.get(nowMs) !== undefined;
  }

  /**
   * Deletes blobs that are not attached any more, in the background, and overwrites them in the file. If the process ends
   * first, a later change or the janitor deletes the rest.
   */
  clear(): Promise<void> {
    this.#clearing ??= this.#clear().finally(() => (this.#clearing = undefined));
    return this.#clearing;
  }

  async #clear(): Promise<void> {
    const { database, group } = this.#parts;
    let more: boolean | StoreUnavailable = true;
    while (more === true) {
      more = await group.run((nowMs) => securely(database, () => this.#clearSome(nowMs)));
      await nextTurn();
    }
  }

  #clearSome(nowMs: number): boolean {
    const [team, blobId] = this.#sql.due.get(nowMs) ?? [];
    if (team === undefined || blobId === undefined) return false;
    if (this.#sql.delete.run(team, blobId).changes === 0) this.#sql.forget.run(team, blobId);
    return true;
  }
}
