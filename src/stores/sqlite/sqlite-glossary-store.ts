// Glossaries as rows: every method is a group-commit operation, so that limits and revisions are exact under concurrency.
import { glossaryRemoval } from '../../domain/audit-entry.ts';
import type { Audited } from '../../domain/audit-entry.ts';
import { isLarge, writtenEntries } from '../../domain/entries-text.ts';
import type { WrittenEntries } from '../../domain/entries-text.ts';
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
import type { NewPieces } from './dictionary-pieces.ts';
import { NOT_ERASED } from './sqlite-schema.ts';
import { named, prepared, objects, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import { unavailable } from './store-fault.ts';
import type { StoreParts } from './store-parts.ts';

type Parts = Pick<StoreParts, 'database' | 'path' | 'group' | 'pieces' | 'audit'>;

/** A dictionary as a row. */
interface DictionaryRow {
  readonly dictionary: DictionaryRecord | NewDictionary;
  /** Only for a new dictionary. */
  readonly written: WrittenEntries | undefined;
}

/** One row per dictionary, or a single row with a null dictionary for a glossary without any. */
export type GlossaryRow<Dictionary = DictionaryRecord> = Omit<GlossaryRecord, 'dictionaries'> &
  (Dictionary | (Record<Exclude<keyof Dictionary, 'dictionaryId'>, null> & { readonly dictionaryId: null }));

export const GLOSSARY_COLUMNS = named('g', 'glossaryId', 'name', 'revision', 'createdAtMs');
export const DICTIONARY_COLUMNS = named('d', 'dictionaryId', 'sourceLang', 'targetLang', 'entryCount');

const RECORDS = `SELECT ${GLOSSARY_COLUMNS}, ${DICTIONARY_COLUMNS} FROM glossaries g JOIN teams t ON t.no = g.team
  LEFT JOIN dictionaries d ON d.glossary = g.no WHERE t.team_id = ? AND t.erasure = ${NOT_ERASED}`;
const OTHERS = 'FROM dictionaries WHERE glossary = ? AND dictionary_id NOT IN (SELECT value FROM json_each(?))';

const SQL = {
  team: tuples<[no: number, maxGlossaries: number, held: number]>(`SELECT no, max_glossaries,
      (SELECT count(*) FROM glossaries g WHERE g.team = t.no) FROM teams t WHERE team_id = ? AND erasure = ${NOT_ERASED}`),
  insert: 'INSERT INTO glossaries (glossary_id, team, name, created_at_ms) VALUES (?, ?, ?, ?)',
  insertDictionary: `INSERT INTO dictionaries (dictionary_id, glossary, place, source_lang, target_lang, entry_count, piece_count, bytes)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  list: objects<GlossaryRow>(`${RECORDS} ORDER BY g.no, d.place`),
  records: objects<GlossaryRow>(`${RECORDS} AND g.glossary_id = ? ORDER BY d.place`),
  one: objects<{ readonly no: number; readonly name: string; readonly revision: number; readonly team: number; readonly max: number }>(`
    SELECT g.no, g.name, g.revision, g.team, t.max_glossaries AS max FROM glossaries g JOIN teams t ON t.no = g.team
    WHERE t.team_id = ? AND t.erasure = ${NOT_ERASED} AND g.glossary_id = ?`),
  bytes: tuples<[number]>('SELECT bytes FROM glossary_bytes WHERE team = ?'),
  change: 'UPDATE glossaries SET name = ?, revision = revision + 1 WHERE no = ?',
  move: 'UPDATE dictionaries SET place = ? WHERE dictionary_id = ? AND glossary = ?',
  drop: `DELETE ${OTHERS}`,
  dropped: tuples<[bytes: number]>(`SELECT coalesce(sum(bytes), 0) ${OTHERS}`),
  remove: 'DELETE FROM glossaries WHERE no = ?',
  owner: tuples<[teamId: string]>(`SELECT t.team_id FROM glossaries g JOIN teams t ON t.no = g.team
    WHERE g.glossary_id = ? AND t.erasure = ${NOT_ERASED}`),
};

export class SqliteGlossaryStore implements GlossaryStore {
  readonly #parts: Parts;
  readonly #sql: Statements<typeof SQL>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sql = prepared(parts.database, SQL);
  }

  async create(
    { glossaryId, teamId, name, dictionaries }: NewGlossary,
    teamBytesMax = Infinity,
  ): Promise<GlossaryCreation | StoreUnavailable> {
    const rows = dictionaries.map(rowOf);
    const added = piecesOf(rows);
    if (added.some(({ pieces }) => isLarge(pieces))) {
      // Checked again below: here it avoids writing pieces for a request that will be refused anyway.
      const judged = await this.#parts.group.run(() => this.#judgeNew(teamId, rows, teamBytesMax));
      if (judged.kind !== 'has_room') return judged;
    }
    return (
      (await this.#parts.pieces.prepare(added)) ??
      this.#parts.group.run((nowMs): GlossaryCreation | StoreUnavailable => {
        const judged = this.#judgeNew(teamId, rows, teamBytesMax);
        if (judged.kind === 'team_unknown') this.#parts.pieces.abandon(added);
        if (judged.kind !== 'has_room') return judged;
        if (!this.#parts.pieces.arePrepared(added, nowMs)) return unavailable(this.#parts.path, 'busy');
        const { lastInsertRowid } = this.#sql.insert.run(glossaryId, judged.team, name, nowMs);
        this.#write(Number(lastInsertRowid), rows);
        return { kind: 'created', glossary: this.#record(teamId, glossaryId)! };
      })
    );
  }

  #judgeNew(teamId: string, rows: readonly DictionaryRow[], teamBytesMax: number): GlossaryCreation | { kind: 'has_room'; team: number } {
    const team = this.#sql.team.get(teamId);
    if (team === undefined) return { kind: 'team_unknown' };
    const [no, maxGlossaries, held] = team;
    if (held >= maxGlossaries) return { kind: 'limit_reached', maxGlossaries };
    if (this.#bytesOf(no) + sumOf(rows) > teamBytesMax) return { kind: 'bytes_reached', maxGlossaries };
    return { kind: 'has_room', team: no };
  }

  list(teamId: string): Promise<readonly GlossaryRecord[] | StoreUnavailable> {
    return this.#parts.group.run(() => glossariesOf(this.#sql.list.all(teamId)));
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
    const added = piecesOf(rows);
    const failed = await this.#parts.pieces.prepare(added);
    if (failed !== undefined) return failed;
    const changed = await this.#parts.group.run((nowMs): GlossaryChanged | StoreUnavailable => {
      const found = this.#sql.one.get(teamId, glossaryId);
      if (found === undefined) {
        this.#parts.pieces.abandon(added);
        return { kind: 'missing' };
      }
      if (found.revision !== revision) return { kind: 'outdated' };
      const { no, max: maxGlossaries } = found;
      const before = this.#bytesOf(found.team);
      const after = before - this.#sql.dropped.get(no, ids)![0] + sumOf(rows);
      if (after > teamBytesMax && after > before) return { kind: 'bytes_reached', maxGlossaries };
      if (!this.#parts.pieces.arePrepared(added, nowMs)) return unavailable(this.#parts.path, 'busy');
      this.#sql.change.run(name, no);
      this.#sql.drop.run(no, ids);
      this.#write(no, rows);
      return { kind: 'changed', glossary: this.#record(teamId, glossaryId)! };
    });
    void this.#parts.pieces.clear();
    return changed;
  }

  ownerOf(glossaryId: string): Promise<string | undefined | StoreUnavailable> {
    return this.#parts.group.run(() => this.#sql.owner.get(glossaryId)?.[0]);
  }

  async remove(teamId: string, glossaryId: string, by?: Audited): Promise<boolean | StoreUnavailable> {
    const removed = await this.#parts.group.run((nowMs) => {
      const found = this.#sql.one.get(teamId, glossaryId);
      if (found === undefined) return false;
      this.#sql.drop.run(found.no, '[]');
      this.#sql.remove.run(found.no);
      if (by !== undefined) this.#parts.audit.add(by, { teamId, ...glossaryRemoval({ glossaryId, name: found.name }) }, nowMs);
      return true;
    });
    void this.#parts.pieces.clear();
    return removed;
  }

  #bytesOf(team: number): number {
    return this.#sql.bytes.get(team)?.[0] ?? 0;
  }

  #record(teamId: string, glossaryId: string): GlossaryRecord | undefined {
    return glossariesOf(this.#sql.records.all(teamId, glossaryId))[0];
  }

  #write(no: number, rows: readonly DictionaryRow[]): void {
    for (const [place, { dictionary, written }] of rows.entries()) {
      const { dictionaryId, sourceLang, targetLang } = dictionary;
      if (written === undefined) this.#sql.move.run(place, dictionaryId, no);
      else {
        const { pieces, entryCount, bytes } = written;
        this.#sql.insertDictionary.run(dictionaryId, no, place, sourceLang, targetLang, entryCount, pieces.length, bytes);
        this.#parts.pieces.hold(dictionaryId, pieces);
      }
    }
  }
}

/** Serialized outside the transaction, which others wait for. */
function rowOf(dictionary: DictionaryRecord | NewDictionary): DictionaryRow {
  if (!('entries' in dictionary)) return { dictionary, written: undefined };
  return { dictionary, written: dictionary.written ?? writtenEntries(dictionary.entries) };
}

/** Of the new dictionaries among the rows. */
function piecesOf(rows: readonly DictionaryRow[]): NewPieces[] {
  return rows.flatMap(({ dictionary: { dictionaryId }, written }) =>
    written === undefined ? [] : { dictionaryId, pieces: written.pieces },
  );
}

function sumOf(rows: readonly DictionaryRow[]): number {
  return rows.reduce((sum, { written }) => sum + (written?.bytes ?? 0), 0);
}

/** Rows of one glossary must be consecutive. */
export function glossariesOf<Dictionary extends { readonly dictionaryId: string }>(found: readonly GlossaryRow<Dictionary>[]) {
  const glossaries = new Map<string, Omit<GlossaryRecord, 'dictionaries'> & { readonly dictionaries: Dictionary[] }>();
  for (const { glossaryId, name, revision, createdAtMs, ...dictionary } of found) {
    const glossary = glossaries.get(glossaryId) ?? { glossaryId, name, revision, dictionaries: [], createdAtMs };
    glossaries.set(glossaryId, glossary);
    if (dictionary.dictionaryId !== null) glossary.dictionaries.push(dictionary as unknown as Dictionary);
  }
  return [...glossaries.values()];
}
