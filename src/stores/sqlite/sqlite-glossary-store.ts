// Glossaries as rows: every method is one operation of the group commit, so that limit and revision hold under any concurrency.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Clock } from '../../ports/clock.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type {
  DictionaryRecord,
  FoundEntries,
  GlossaryChange,
  GlossaryChanged,
  GlossaryCreation,
  GlossaryEntries,
  GlossaryRecord,
  GlossaryStore,
  NewDictionary,
  NewGlossary,
} from '../../ports/glossary-store.ts';
import type { SqlRow } from './columns.ts';
import type { GroupCommit } from './group-commit.ts';

export interface GlossaryStoreParts {
  readonly database: DatabaseSync;
  readonly clock: Clock;
  readonly group: GroupCommit;
}

/** A dictionary as a row. */
interface DictionaryRow {
  readonly dictionary: DictionaryRecord | NewDictionary;
  /** Only for a new dictionary. */
  readonly written: { readonly entryCount: number; readonly json: string } | undefined;
}

/** All but the entries, which may fill many pages; a row for each dictionary, and one for a glossary that has none. */
const RECORDS = `SELECT g.glossary_id, g.name, g.revision, g.created_at_ms, d.dictionary_id, d.source_lang, d.target_lang, d.entry_count
  FROM glossaries g JOIN teams t ON t.no = g.team LEFT JOIN dictionaries d ON d.glossary = g.no WHERE t.team_id = ?`;
const ONE = 'SELECT g.no, g.revision FROM glossaries g JOIN teams t ON t.no = g.team WHERE t.team_id = ? AND g.glossary_id = ?';

export class SqliteGlossaryStore implements GlossaryStore {
  readonly #parts: GlossaryStoreParts;
  readonly #team: StatementSync;
  readonly #insert: StatementSync;
  readonly #insertDictionary: StatementSync;
  readonly #list: StatementSync;
  readonly #records: StatementSync;
  readonly #one: StatementSync;
  readonly #entries: StatementSync;
  readonly #change: StatementSync;
  readonly #move: StatementSync;
  readonly #drop: StatementSync;
  readonly #remove: StatementSync;

  constructor(parts: GlossaryStoreParts) {
    this.#parts = parts;
    const { database } = parts;
    this.#team = database.prepare(`SELECT no, max_glossaries, (SELECT count(*) FROM glossaries g WHERE g.team = t.no) AS held
      FROM teams t WHERE team_id = ?`);
    this.#insert = database.prepare('INSERT INTO glossaries (glossary_id, team, name, created_at_ms) VALUES (?, ?, ?, ?)');
    this.#insertDictionary = database.prepare(`INSERT INTO dictionaries
      (dictionary_id, glossary, place, source_lang, target_lang, entry_count, entries) VALUES (?, ?, ?, ?, ?, ?, ?)`);
    this.#list = database.prepare(`${RECORDS} ORDER BY g.no, d.place`);
    this.#records = database.prepare(`${RECORDS} AND g.glossary_id = ? ORDER BY d.place`);
    this.#one = database.prepare(ONE);
    this.#entries =
      database.prepare(`SELECT d.entries FROM dictionaries d JOIN glossaries g ON g.no = d.glossary JOIN teams t ON t.no = g.team
      WHERE t.team_id = ? AND d.dictionary_id = ?`);
    this.#change = database.prepare('UPDATE glossaries SET name = ?, revision = revision + 1 WHERE no = ?');
    this.#move = database.prepare('UPDATE dictionaries SET place = ? WHERE dictionary_id = ? AND glossary = ?');
    this.#drop = database.prepare('DELETE FROM dictionaries WHERE glossary = ? AND dictionary_id NOT IN (SELECT value FROM json_each(?))');
    this.#remove = database.prepare('DELETE FROM glossaries WHERE no = ?');
  }

  create({ glossaryId, teamId, name, dictionaries }: NewGlossary): Promise<GlossaryCreation | StoreUnavailable> {
    const rows = dictionaries.map(rowOf);
    return this.#parts.group.run((): GlossaryCreation => {
      const team = this.#team.get(teamId);
      if (team === undefined) return { kind: 'team_unknown' };
      const maxGlossaries = Number(team['max_glossaries']);
      if (Number(team['held']) >= maxGlossaries) return { kind: 'limit_reached', maxGlossaries };
      const { lastInsertRowid } = this.#insert.run(glossaryId, Number(team['no']), name, this.#parts.clock.nowMs());
      this.#write(Number(lastInsertRowid), rows);
      return { kind: 'created', glossary: this.#record(teamId, glossaryId)! };
    });
  }

  list(teamId: string): Promise<readonly GlossaryRecord[] | StoreUnavailable> {
    return this.#parts.group.run(() => recordsOf(this.#list.all(teamId)));
  }

  find(teamId: string, glossaryId: string): Promise<GlossaryRecord | undefined | StoreUnavailable> {
    return this.#parts.group.run(() => this.#record(teamId, glossaryId));
  }

  async entries(teamId: string, dictionaryId: string): Promise<FoundEntries | undefined | StoreUnavailable> {
    const columns = await this.#parts.group.run(() => this.#entries.get(teamId, dictionaryId));
    if (columns === undefined || isUnavailable(columns)) return columns;
    // Parsed outside of the transaction, which others wait for.
    return { entries: JSON.parse(String(columns['entries'])) as GlossaryEntries };
  }

  change({ teamId, glossaryId, name, revision, dictionaries }: GlossaryChange): Promise<GlossaryChanged | StoreUnavailable> {
    const rows = dictionaries.map(rowOf);
    const ids = JSON.stringify(dictionaries.map(({ dictionaryId }) => dictionaryId));
    return this.#parts.group.run((): GlossaryChanged => {
      const found = this.#one.get(teamId, glossaryId);
      if (found === undefined) return { kind: 'missing' };
      if (Number(found['revision']) !== revision) return { kind: 'outdated' };
      const no = Number(found['no']);
      this.#change.run(name, no);
      this.#drop.run(no, ids);
      this.#write(no, rows);
      return { kind: 'changed', glossary: this.#record(teamId, glossaryId)! };
    });
  }

  remove(teamId: string, glossaryId: string): Promise<boolean | StoreUnavailable> {
    return this.#parts.group.run(() => {
      const found = this.#one.get(teamId, glossaryId);
      if (found === undefined) return false;
      this.#drop.run(found['no']!, '[]');
      return this.#remove.run(found['no']!).changes > 0;
    });
  }

  #record(teamId: string, glossaryId: string): GlossaryRecord | undefined {
    return recordsOf(this.#records.all(teamId, glossaryId))[0];
  }

  #write(no: number, rows: readonly DictionaryRow[]): void {
    for (const [place, { dictionary, written }] of rows.entries()) {
      const { dictionaryId, sourceLang, targetLang } = dictionary;
      if (written === undefined) this.#move.run(place, dictionaryId, no);
      else this.#insertDictionary.run(dictionaryId, no, place, sourceLang, targetLang, written.entryCount, written.json);
    }
  }
}

/** Made outside of the transaction, which others wait for. */
function rowOf(dictionary: DictionaryRecord | NewDictionary): DictionaryRow {
  if (!('entries' in dictionary)) return { dictionary, written: undefined };
  return { dictionary, written: { entryCount: Object.keys(dictionary.entries).length, json: JSON.stringify(dictionary.entries) } };
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
