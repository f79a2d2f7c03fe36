// Glossaries as rows: every method is one operation of the group commit, so that limit and revision hold under any concurrency.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { glossaryRemoval } from '../../domain/audit-entry.ts';
import type { Audited } from '../../domain/audit-entry.ts';
import { isLarge, writtenEntries } from '../../domain/entries-text.ts';
import type { WrittenEntries } from '../../domain/entries-text.ts';
import type { Clock } from '../../ports/clock.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type {
  DictionaryRecord,
  FoundEntries,
  GlossaryChange,
  GlossaryChanged,
  GlossaryCreation,
  GlossaryRecord,
  GlossaryStore,
  NewDictionary,
  NewGlossary,
} from '../../ports/glossary-store.ts';
import type { AuditRows } from './audit-rows.ts';
import type { SqlRow } from './columns.ts';
import type { DictionaryPieces } from './dictionary-pieces.ts';
import type { GroupCommit } from './group-commit.ts';
import { NOT_ERASED } from './sqlite-schema.ts';
import { unavailable } from './store-fault.ts';

export interface GlossaryStoreParts {
  readonly database: DatabaseSync;
  readonly clock: Clock;
  readonly group: GroupCommit;
  /** The file, for messages to operators. */
  readonly path: string;
  readonly pieces: DictionaryPieces;
  readonly audit: AuditRows;
}

/** A dictionary as a row. */
interface DictionaryRow {
  readonly dictionary: DictionaryRecord | NewDictionary;
  /** Only for a new dictionary. */
  readonly written: WrittenEntries | undefined;
}

interface HasRoom {
  readonly kind: 'has_room';
  readonly team: number;
}

/** A row for each dictionary, and one for a glossary that has none. */
const RECORDS = `SELECT g.glossary_id, g.name, g.revision, g.created_at_ms, d.dictionary_id, d.source_lang, d.target_lang, d.entry_count
  FROM glossaries g JOIN teams t ON t.no = g.team LEFT JOIN dictionaries d ON d.glossary = g.no WHERE t.team_id = ? AND t.erasure = ${NOT_ERASED}`;
const ONE = `SELECT g.no, g.name, g.revision, g.team, t.max_glossaries FROM glossaries g JOIN teams t ON t.no = g.team
  WHERE t.team_id = ? AND t.erasure = ${NOT_ERASED} AND g.glossary_id = ?`;

export class SqliteGlossaryStore implements GlossaryStore {
  readonly #parts: GlossaryStoreParts;
  readonly #team: StatementSync;
  readonly #insert: StatementSync;
  readonly #insertDictionary: StatementSync;
  readonly #list: StatementSync;
  readonly #records: StatementSync;
  readonly #one: StatementSync;
  readonly #bytes: StatementSync;
  readonly #change: StatementSync;
  readonly #move: StatementSync;
  readonly #drop: StatementSync;
  readonly #dropped: StatementSync;
  readonly #remove: StatementSync;
  readonly #owner: StatementSync;

  constructor(parts: GlossaryStoreParts) {
    this.#parts = parts;
    const { database } = parts;
    this.#team = database.prepare(`SELECT no, max_glossaries, (SELECT count(*) FROM glossaries g WHERE g.team = t.no) AS held
      FROM teams t WHERE team_id = ? AND erasure = ${NOT_ERASED}`);
    this.#insert = database.prepare('INSERT INTO glossaries (glossary_id, team, name, created_at_ms) VALUES (?, ?, ?, ?)');
    this.#insertDictionary = database.prepare(`INSERT INTO dictionaries
      (dictionary_id, glossary, place, source_lang, target_lang, entry_count, piece_count, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#list = database.prepare(`${RECORDS} ORDER BY g.no, d.place`);
    this.#records = database.prepare(`${RECORDS} AND g.glossary_id = ? ORDER BY d.place`);
    this.#one = database.prepare(ONE);
    this.#bytes = database.prepare('SELECT bytes FROM glossary_bytes WHERE team = ?');
    this.#change = database.prepare('UPDATE glossaries SET name = ?, revision = revision + 1 WHERE no = ?');
    this.#move = database.prepare('UPDATE dictionaries SET place = ? WHERE dictionary_id = ? AND glossary = ?');
    const others = 'FROM dictionaries WHERE glossary = ? AND dictionary_id NOT IN (SELECT value FROM json_each(?))';
    this.#drop = database.prepare(`DELETE ${others}`);
    this.#dropped = database.prepare(`SELECT coalesce(sum(bytes), 0) AS bytes ${others}`);
    this.#owner = database.prepare(`SELECT t.team_id FROM glossaries g JOIN teams t ON t.no = g.team
      WHERE g.glossary_id = ? AND t.erasure = ${NOT_ERASED}`);
    this.#remove = database.prepare('DELETE FROM glossaries WHERE no = ?');
  }

  async create(
    { glossaryId, teamId, name, dictionaries }: NewGlossary,
    teamBytesMax = Infinity,
  ): Promise<GlossaryCreation | StoreUnavailable> {
    const rows = dictionaries.map(rowOf);
    if (rows.some(isLargeRow)) {
      // Judged once more below: what is refused anyway is not written piece by piece first.
      const judged = await this.#parts.group.run(() => this.#judgeNew(teamId, rows, teamBytesMax));
      if (judged.kind !== 'has_room') return judged;
    }
    return (
      (await this.#prepare(rows)) ??
      this.#parts.group.run((): GlossaryCreation | StoreUnavailable => {
        const judged = this.#judgeNew(teamId, rows, teamBytesMax);
        if (judged.kind === 'team_unknown') this.#abandon(rows);
        if (judged.kind !== 'has_room') return judged;
        if (!this.#isPrepared(rows)) return unavailable(this.#parts.path, 'busy');
        const { lastInsertRowid } = this.#insert.run(glossaryId, judged.team, name, this.#parts.clock.nowMs());
        this.#write(Number(lastInsertRowid), rows);
        return { kind: 'created', glossary: this.#record(teamId, glossaryId)! };
      })
    );
  }

  #judgeNew(teamId: string, rows: readonly DictionaryRow[], teamBytesMax: number): GlossaryCreation | HasRoom {
    const team = this.#team.get(teamId);
    if (team === undefined) return { kind: 'team_unknown' };
    const [no, maxGlossaries] = [Number(team['no']), Number(team['max_glossaries'])];
    if (Number(team['held']) >= maxGlossaries) return { kind: 'limit_reached', maxGlossaries };
    if (this.#bytesOf(no) + sumOf(rows) > teamBytesMax) return { kind: 'bytes_reached', maxGlossaries };
    return { kind: 'has_room', team: no };
  }

  list(teamId: string): Promise<readonly GlossaryRecord[] | StoreUnavailable> {
    return this.#parts.group.run(() => recordsOf(this.#list.all(teamId)));
  }

  find(teamId: string, glossaryId: string): Promise<GlossaryRecord | undefined | StoreUnavailable> {
    return this.#parts.group.run(() => this.#record(teamId, glossaryId));
  }

  entries(teamId: string, dictionaryId: string): Promise<FoundEntries | undefined | StoreUnavailable> {
    return this.#parts.pieces.read(teamId, dictionaryId);
  }

  async change(
    { teamId, glossaryId, name, revision, dictionaries }: GlossaryChange,
    teamBytesMax = Infinity,
  ): Promise<GlossaryChanged | StoreUnavailable> {
    const rows = dictionaries.map(rowOf);
    const ids = JSON.stringify(dictionaries.map(({ dictionaryId }) => dictionaryId));
    const failed = await this.#prepare(rows);
    if (failed !== undefined) return failed;
    const changed = await this.#parts.group.run((): GlossaryChanged | StoreUnavailable => {
      const found = this.#one.get(teamId, glossaryId);
      if (found === undefined) {
        this.#abandon(rows);
        return { kind: 'missing' };
      }
      if (Number(found['revision']) !== revision) return { kind: 'outdated' };
      const no = Number(found['no']);
      const before = this.#bytesOf(Number(found['team']));
      const after = before - Number(this.#dropped.get(no, ids)?.['bytes']) + sumOf(rows);
      if (after > teamBytesMax && after > before) return { kind: 'bytes_reached', maxGlossaries: Number(found['max_glossaries']) };
      if (!this.#isPrepared(rows)) return unavailable(this.#parts.path, 'busy');
      this.#change.run(name, no);
      this.#drop.run(no, ids);
      this.#write(no, rows);
      return { kind: 'changed', glossary: this.#record(teamId, glossaryId)! };
    });
    void this.#parts.pieces.clear();
    return changed;
  }

  ownerOf(glossaryId: string): Promise<string | undefined | StoreUnavailable> {
    return this.#parts.group.run(() => this.#owner.get(glossaryId)?.['team_id'] as string | undefined);
  }

  async remove(teamId: string, glossaryId: string, by?: Audited): Promise<boolean | StoreUnavailable> {
    const removed = await this.#parts.group.run(() => {
      const found = this.#one.get(teamId, glossaryId);
      if (found === undefined) return false;
      this.#drop.run(found['no']!, '[]');
      this.#remove.run(found['no']!);
      const { audit, clock } = this.#parts;
      if (by !== undefined) audit.add(by, { teamId, ...glossaryRemoval({ glossaryId, name: String(found['name']) }) }, clock.nowMs());
      return true;
    });
    void this.#parts.pieces.clear();
    return removed;
  }

  async #prepare(rows: readonly DictionaryRow[]): Promise<StoreUnavailable | undefined> {
    for (const { dictionary, written } of rows) {
      const failed = written && (await this.#parts.pieces.prepare(dictionary.dictionaryId, written.pieces));
      if (failed !== undefined) return failed;
    }
    return undefined;
  }

  /** The janitor deletes them soon. */
  #abandon(rows: readonly DictionaryRow[]): void {
    for (const { dictionary, written } of rows) if (written !== undefined) this.#parts.pieces.abandon(dictionary.dictionaryId);
  }

  #isPrepared(rows: readonly DictionaryRow[]): boolean {
    return rows.every(
      ({ dictionary, written }) => written === undefined || this.#parts.pieces.isPrepared(dictionary.dictionaryId, written.pieces),
    );
  }

  #bytesOf(team: number): number {
    return Number(this.#bytes.get(team)?.['bytes'] ?? 0);
  }

  #record(teamId: string, glossaryId: string): GlossaryRecord | undefined {
    return recordsOf(this.#records.all(teamId, glossaryId))[0];
  }

  #write(no: number, rows: readonly DictionaryRow[]): void {
    for (const [place, { dictionary, written }] of rows.entries()) {
      const { dictionaryId, sourceLang, targetLang } = dictionary;
      if (written === undefined) this.#move.run(place, dictionaryId, no);
      else {
        const { pieces, entryCount, bytes } = written;
        this.#insertDictionary.run(dictionaryId, no, place, sourceLang, targetLang, entryCount, pieces.length, bytes);
        this.#parts.pieces.hold(dictionaryId, pieces);
      }
    }
  }
}

function isLargeRow({ written }: DictionaryRow): boolean {
  return written !== undefined && isLarge(written.pieces);
}

/** Written outside of the transaction, which others wait for. */
function rowOf(dictionary: DictionaryRecord | NewDictionary): DictionaryRow {
  if (!('entries' in dictionary)) return { dictionary, written: undefined };
  return { dictionary, written: dictionary.written ?? writtenEntries(dictionary.entries) };
}

function sumOf(rows: readonly DictionaryRow[]): number {
  return rows.reduce((sum, { written }) => sum + (written?.bytes ?? 0), 0);
}

/** Rows of one glossary follow each other. */
function recordsOf(rows: readonly SqlRow[]): readonly GlossaryRecord[] {
  const records = new Map<string, GlossaryRecord & { readonly dictionaries: DictionaryRecord[] }>();
  for (const row of rows) {
    const glossaryId = String(row['glossary_id']);
    const record = records.get(glossaryId) ?? {
      glossaryId,
      name: String(row['name']),
      revision: Number(row['revision']),
      dictionaries: [],
      createdAtMs: Number(row['created_at_ms']),
    };
    records.set(glossaryId, record);
    if (row['dictionary_id'] !== null) record.dictionaries.push(dictionaryOf(row));
  }
  return [...records.values()];
}

function dictionaryOf(row: SqlRow): DictionaryRecord {
  return {
    dictionaryId: String(row['dictionary_id']),
    sourceLang: String(row['source_lang']),
    targetLang: String(row['target_lang']),
    entryCount: Number(row['entry_count']),
  };
}
