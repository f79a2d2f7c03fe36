// The entries of dictionaries as rows of pieces: a large one is written, read and deleted over several transactions and turns.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { nextTurn } from '../../core/turns.ts';
import { isLarge, ReadEntries } from '../../domain/entries-text.ts';
import type { EntryPieces } from '../../domain/entries-text.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Clock } from '../../ports/clock.ts';
import { databaseFaultOf, unavailable } from './store-fault.ts';
import type { GroupCommit } from './group-commit.ts';
import { securely } from './open-database.ts';
import { NOT_ERASED } from './sqlite-schema.ts';

export interface DictionaryPiecesParts {
  readonly database: DatabaseSync;
  /** The file, for messages to operators. */
  readonly path: string;
  readonly clock: Clock;
  readonly group: GroupCommit;
}

/** Written or deleted in one transaction: some milliseconds, most of which is the wait for the disk. */
const PIECES_AT_ONCE = 2;
/** How long a dictionary may be written, and wait for the glossary that is to hold it. */
const UNHELD_MS = 60_000;

export class DictionaryPieces {
  readonly #parts: DictionaryPiecesParts;
  readonly #count: StatementSync;
  readonly #piece: StatementSync;
  readonly #add: StatementSync;
  readonly #announce: StatementSync;
  readonly #isAnnounced: StatementSync;
  readonly #hold: StatementSync;
  readonly #due: StatementSync;
  readonly #delete: StatementSync;
  readonly #forget: StatementSync;
  readonly #abandon: StatementSync;
  #clearing: Promise<void> | undefined = undefined;

  constructor(parts: DictionaryPiecesParts) {
    this.#parts = parts;
    const { database } = parts;
    this.#count = database.prepare(`SELECT d.piece_count FROM dictionaries d JOIN glossaries g ON g.no = d.glossary
      JOIN teams t ON t.no = g.team WHERE t.team_id = ? AND t.erasure = ${NOT_ERASED} AND d.dictionary_id = ?`);
    this.#piece = database.prepare('SELECT entries FROM pieces WHERE dictionary_id = ? AND place = ?');
    this.#add = database.prepare('INSERT INTO pieces (dictionary_id, place, entries) VALUES (?, ?, ?)');
    this.#announce = database.prepare('INSERT OR REPLACE INTO unheld (dictionary_id, from_ms) VALUES (?, ?)');
    this.#isAnnounced = database.prepare('SELECT 1 FROM unheld WHERE dictionary_id = ? AND from_ms > ?');
    this.#hold = database.prepare('DELETE FROM unheld WHERE dictionary_id = ?');
    this.#due = database.prepare('SELECT dictionary_id FROM unheld WHERE from_ms <= ? LIMIT 1');
    this.#delete = database.prepare(`DELETE FROM pieces WHERE no IN
      (SELECT no FROM pieces WHERE dictionary_id = ? ORDER BY place DESC LIMIT ${PIECES_AT_ONCE})`);
    this.#abandon = database.prepare('UPDATE unheld SET from_ms = 0 WHERE dictionary_id = ?');
    this.#forget = database.prepare('DELETE FROM unheld WHERE dictionary_id = ? AND from_ms <= ?');
  }

  /** Reads without a transaction: pieces never change, and in WAL mode readers wait for no writer. */
  async read(teamId: string, dictionaryId: string): Promise<ReadEntries | undefined | StoreUnavailable> {
    const row = await this.#parts.group.run(() => this.#count.get(teamId, dictionaryId));
    if (row === undefined || isUnavailable(row)) return row;
    const pieces: Uint8Array[] = [];
    for (let place = 0; place < Number(row['piece_count']); place++) {
      if (place > 0) await nextTurn();
      const piece = this.#read(dictionaryId, place);
      if (!(piece instanceof Uint8Array)) return piece;
      pieces.push(piece);
    }
    return new ReadEntries(pieces);
  }

  /** `undefined` for a piece that is gone, and the whole dictionary with it. */
  #read(dictionaryId: string, place: number): Uint8Array | undefined | StoreUnavailable {
    try {
      return this.#piece.get(dictionaryId, place)?.['entries'] as Uint8Array | undefined;
    } catch (error) {
      return unavailable(this.#parts.path, databaseFaultOf(error) ?? 'closed');
    }
  }

  /** Writes a large dictionary, which no glossary holds yet; of a small one `hold` writes all. */
  async prepare(dictionaryId: string, pieces: EntryPieces): Promise<StoreUnavailable | undefined> {
    if (!isLarge(pieces)) return undefined;
    for (let first = 0; first < pieces.length; first += PIECES_AT_ONCE) {
      const done = await this.#parts.group.run(() => {
        this.#announce.run(dictionaryId, this.#parts.clock.nowMs() + UNHELD_MS);
        for (const [i, piece] of pieces.slice(first, first + PIECES_AT_ONCE).entries()) this.#add.run(dictionaryId, first + i, piece);
        return undefined;
      });
      if (isUnavailable(done)) return done;
      await nextTurn();
    }
    return undefined;
  }

  /** Whether what was prepared is still there; inside a transaction, before anything of it is written. */
  isPrepared(dictionaryId: string, pieces: EntryPieces): boolean {
    return !isLarge(pieces) || this.#isAnnounced.get(dictionaryId, this.#parts.clock.nowMs()) !== undefined;
  }

  /** From now on it is a glossary's; inside a transaction. */
  hold(dictionaryId: string, pieces: EntryPieces): void {
    if (isLarge(pieces)) this.#hold.run(dictionaryId);
    else for (const [place, piece] of pieces.entries()) this.#add.run(dictionaryId, place, piece);
  }

  /** No glossary will hold what was prepared: it may be deleted at once. Inside a transaction. */
  abandon(dictionaryId: string): void {
    this.#abandon.run(dictionaryId);
  }

  /** Whether there is something that `clear` would delete. */
  isDue(nowMs: number): boolean {
    return this.#due.get(nowMs) !== undefined;
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
    const row = this.#due.get(nowMs);
    if (row === undefined) return false;
    const dictionaryId = String(row['dictionary_id']);
    if (this.#delete.run(dictionaryId).changes === 0) this.#forget.run(dictionaryId, nowMs);
    return true;
  }
}
