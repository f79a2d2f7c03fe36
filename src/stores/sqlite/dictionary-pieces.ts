// The entries of dictionaries as rows of pieces: a large one is written, read and deleted over several transactions and turns.
import { nextTurn } from '../../core/turns.ts';
import { isLarge, ReadEntries } from '../../domain/entries-text.ts';
import type { EntryPieces } from '../../domain/entries-text.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreParts } from './group-commit.ts';
import { securely } from './open-database.ts';
import { NOT_ERASED } from './sqlite-schema.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import { looked } from './store-fault.ts';

/** Written or deleted in one transaction: some milliseconds, most of which is the wait for the disk. */
const PIECES_AT_ONCE = 2;
/** How long a dictionary may be written, and wait for the glossary that is to hold it. */
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

export class DictionaryPieces {
  readonly #parts: StoreParts;
  readonly #sql: Statements<typeof SQL>;
  #clearing: Promise<void> | undefined = undefined;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.#sql = prepared(parts.database, SQL);
  }

  /** Reads without a transaction: pieces never change, and in WAL mode readers wait for no writer. */
  async read(teamId: string, dictionaryId: string): Promise<ReadEntries | undefined | StoreUnavailable> {
    const counted = await this.#parts.group.run(() => this.#sql.count.get(teamId, dictionaryId));
    if (counted === undefined || isUnavailable(counted)) return counted;
    const [count] = counted;
    const pieces: Uint8Array[] = [];
    for (let place = 0; place < count; place++) {
      if (place > 0) await nextTurn();
      const row = looked(this.#parts.path, () => this.#sql.piece.get(dictionaryId, place));
      // The piece is gone, and the whole dictionary with it.
      if (row === undefined || isUnavailable(row)) return row;
      pieces.push(row[0]);
    }
    return new ReadEntries(pieces);
  }

  /** Writes a large dictionary, which no glossary holds yet; of a small one `hold` writes all. */
  async prepare(dictionaryId: string, pieces: EntryPieces): Promise<StoreUnavailable | undefined> {
    if (!isLarge(pieces)) return undefined;
    for (let first = 0; first < pieces.length; first += PIECES_AT_ONCE) {
      const done = await this.#parts.group.run(() => {
        this.#sql.announce.run(dictionaryId, this.#parts.clock.nowMs() + UNHELD_MS);
        for (const [i, piece] of pieces.slice(first, first + PIECES_AT_ONCE).entries()) this.#sql.add.run(dictionaryId, first + i, piece);
        return undefined;
      });
      if (isUnavailable(done)) return done;
      await nextTurn();
    }
    return undefined;
  }

  /** Whether what was prepared is still there; inside a transaction, before anything of it is written. */
  isPrepared(dictionaryId: string, pieces: EntryPieces): boolean {
    return !isLarge(pieces) || this.#sql.isAnnounced.get(dictionaryId, this.#parts.clock.nowMs()) !== undefined;
  }

  /** From now on it is a glossary's; inside a transaction. */
  hold(dictionaryId: string, pieces: EntryPieces): void {
    if (isLarge(pieces)) this.#sql.hold.run(dictionaryId);
    else for (const [place, piece] of pieces.entries()) this.#sql.add.run(dictionaryId, place, piece);
  }

  /** No glossary will hold what was prepared: it may be deleted at once. Inside a transaction. */
  abandon(dictionaryId: string): void {
    this.#sql.abandon.run(dictionaryId);
  }

  /** Whether there is something that `clear` would delete. */
  isDue(nowMs: number): boolean {
    return this.#sql.due.get(nowMs) !== undefined;
  }

  /**
   * Deletes what no glossary holds any more, in the background, and overwrites it in the file. What is left when the process ends
   * goes with a later change, or with the janitor.
   */
  clear(): Promise<void> {
    this.#clearing ??= this.#clear().finally(() => (this.#clearing = undefined));
    return this.#clearing;
  }

  async #clear(): Promise<void> {
    const { database, clock, group } = this.#parts;
    let more: boolean | StoreUnavailable = true;
    while (more === true) {
      more = await group.run(() => securely(database, () => this.#clearSome(clock.nowMs())));
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
