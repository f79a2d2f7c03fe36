// Dictionary entries as rows of pieces: large dictionaries are written, read and deleted over several transactions and turns.
import { nextTurn } from '../../core/turns.ts';
import { isLarge, ReadEntries } from '../../domain/entries-text.ts';
import type { EntryPieces } from '../../domain/entries-text.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { securely } from './open-database.ts';
import { NOT_ERASED } from './sqlite-schema.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import { looked } from './store-fault.ts';
import type { StoreParts } from './store-parts.ts';

type Parts = Pick<StoreParts, 'database' | 'path' | 'group'>;

/** Written or deleted per transaction: takes a few milliseconds, mostly waiting for the disk. */
const PIECES_AT_ONCE = 2;
/** Time limit for writing a dictionary and attaching it to its glossary. */
const UNHELD_MS = 60_000;

const SQL = {
  count: tuples<[pieces: number]>(`SELECT d.piece_count FROM dictionaries d JOIN glossaries g ON g.no = d.glossary
    JOIN teams t ON t.no = g.team WHERE t.team_id = ? AND t.erasure = ${NOT_ERASED} AND d.dictionary_id = ?`),
  piece: tuples<[Uint8Array<ArrayBuffer>]>('SELECT entries FROM pieces WHERE dictionary_id = ? AND place = ?'),
  add: 'INSERT INTO pieces (dictionary_id, place, entries) VALUES (?, ?, ?)',
  announce: 'INSERT OR REPLACE INTO unheld (dictionary_id, from_ms) VALUES (?, ?)',
  isAnnounced: 'SELECT 1 FROM unheld WHERE dictionary_id = ? AND from_ms > ?',
  hold: 'DELETE FROM unheld WHERE dictionary_id = ?',
  due: tuples<[dictionaryId: string]>('SELECT dictionary_id FROM unheld WHERE from_ms <= ? LIMIT 1'),
  delete: `DELETE FROM pieces WHERE no IN
    (SELECT no FROM pieces WHERE dictionary_id = ? ORDER BY place DESC LIMIT ${PIECES_AT_ONCE})`,
  abandon: 'UPDATE unheld SET from_ms = 0 WHERE dictionary_id = ?',
  forget: 'DELETE FROM unheld WHERE dictionary_id = ? AND from_ms <= ?',
};

/** The entries of a new dictionary. */
export interface NewPieces {
  readonly dictionaryId: string;
  readonly pieces: EntryPieces;
}

export class DictionaryPieces {
  readonly #parts: Parts;
  readonly #sql: Statements<typeof SQL>;
  #clearing: Promise<void> | undefined = undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sql = prepared(parts.database, SQL);
  }

  /** Reads without a transaction: pieces are immutable, and in WAL mode readers do not wait for writers. */
  async read(teamId: string, dictionaryId: string): Promise<ReadEntries | undefined | StoreUnavailable> {
    const counted = await this.#parts.group.run(() => this.#sql.count.get(teamId, dictionaryId));
    if (counted === undefined || isUnavailable(counted)) return counted;
    const [count] = counted;
    const pieces: Uint8Array[] = [];
    for (let place = 0; place < count; place++) {
      if (place > 0) await nextTurn();
      const row = looked(this.#parts.path, () => this.#sql.piece.get(dictionaryId, place));
      // The piece, and with it the whole dictionary, has been deleted.
      if (row === undefined || isUnavailable(row)) return row;
      pieces.push(row[0]);
    }
    return new ReadEntries(pieces);
  }

  /** Writes the large ones of new dictionaries before a glossary holds them; small ones are written by `hold`. */
  async prepare(dictionaries: readonly NewPieces[]): Promise<StoreUnavailable | undefined> {
    for (const { dictionaryId, pieces } of dictionaries) {
      for (let first = 0; isLarge(pieces) && first < pieces.length; first += PIECES_AT_ONCE) {
        const done = await this.#parts.group.run((nowMs) => {
          this.#sql.announce.run(dictionaryId, nowMs + UNHELD_MS);
          for (const [i, piece] of pieces.slice(first, first + PIECES_AT_ONCE).entries()) this.#sql.add.run(dictionaryId, first + i, piece);
          return undefined;
        });
        if (isUnavailable(done)) return done;
        await nextTurn();
      }
    }
    return undefined;
  }

  /** Whether all prepared pieces still exist. Call it within a transaction, before writing anything else. */
  arePrepared(dictionaries: readonly NewPieces[], nowMs: number): boolean {
    return dictionaries.every(
      ({ dictionaryId, pieces }) => !isLarge(pieces) || this.#sql.isAnnounced.get(dictionaryId, nowMs) !== undefined,
    );
  }

  /** Attaches the pieces to a glossary. Call it within a transaction. */
  hold(dictionaryId: string, pieces: EntryPieces): void {
    if (isLarge(pieces)) this.#sql.hold.run(dictionaryId);
    else for (const [place, piece] of pieces.entries()) this.#sql.add.run(dictionaryId, place, piece);
  }

  /** Marks prepared pieces that no glossary will use for deletion, by the janitor. Call it within a transaction. */
  abandon(dictionaries: readonly NewPieces[]): void {
    for (const { dictionaryId } of dictionaries) this.#sql.abandon.run(dictionaryId);
  }

  /** Whether `clear` has anything to delete. */
  isDue(nowMs: number): boolean {
    return this.#sql.due.get(nowMs) !== undefined;
  }

  /**
   * Deletes pieces that no glossary holds any more, in the background, and overwrites them in the file. If the process ends
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
    const [dictionaryId] = this.#sql.due.get(nowMs) ?? [];
    if (dictionaryId === undefined) return false;
    if (this.#sql.delete.run(dictionaryId).changes === 0) this.#sql.forget.run(dictionaryId, nowMs);
    return true;
  }
}
