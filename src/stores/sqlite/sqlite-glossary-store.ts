// Glossaries as rows: every method is one operation of the group commit, so that the count limit holds under any concurrency.
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { Clock } from '../../ports/clock.ts';
import type { GlossaryCreation, GlossaryEntries, GlossaryRecord, GlossaryStore, NewGlossary } from '../../ports/glossary-store.ts';
import type { GroupCommit } from './group-commit.ts';
import { storeFault } from './store-fault.ts';

export interface GlossaryStoreParts {
  readonly database: DatabaseSync;
  readonly path: string;
  readonly clock: Clock;
  readonly group: GroupCommit;
}

type Columns = Record<string, SQLOutputValue>;

/** All but the entries, which may fill many pages. */
const RECORD = 'g.glossary_id, g.name, g.source_lang, g.target_lang, g.entry_count, g.created_at_ms';
const OF_TEAM = 'FROM glossaries g JOIN teams t ON t.no = g.team WHERE t.team_id = ?';

export class SqliteGlossaryStore implements GlossaryStore {
  readonly #parts: GlossaryStoreParts;
  readonly #team: StatementSync;
  readonly #insert: StatementSync;
  readonly #list: StatementSync;
  readonly #one: StatementSync;
  readonly #entries: StatementSync;
  readonly #remove: StatementSync;

  constructor(parts: GlossaryStoreParts) {
    this.#parts = parts;
    const { database } = parts;
    this.#team = database.prepare(`SELECT no, max_glossaries, (SELECT count(*) FROM glossaries g WHERE g.team = t.no) AS held
      FROM teams t WHERE team_id = ?`);
    this.#insert = database.prepare(`INSERT INTO glossaries
      (glossary_id, team, name, source_lang, target_lang, entry_count, created_at_ms, entries) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#list = database.prepare(`SELECT ${RECORD} ${OF_TEAM} ORDER BY g.no`);
    this.#one = database.prepare(`SELECT ${RECORD} ${OF_TEAM} AND g.glossary_id = ?`);
    this.#entries = database.prepare(`SELECT g.entries ${OF_TEAM} AND g.glossary_id = ?`);
    this.#remove = database.prepare('DELETE FROM glossaries WHERE glossary_id = ? AND team = (SELECT no FROM teams WHERE team_id = ?)');
  }

  create(glossary: NewGlossary): Promise<GlossaryCreation> {
    const { teamId, entries, ...named } = glossary;
    const { glossaryId, name, sourceLang, targetLang } = named;
    const entryCount = Object.keys(entries).length;
    const json = JSON.stringify(entries);
    return this.#run((): GlossaryCreation => {
      const team = this.#team.get(teamId);
      if (team === undefined) return { kind: 'team_unknown' };
      const maxGlossaries = Number(team['max_glossaries']);
      if (Number(team['held']) >= maxGlossaries) return { kind: 'limit_reached', maxGlossaries };
      const createdAtMs = this.#parts.clock.nowMs();
      this.#insert.run(glossaryId, Number(team['no']), name, sourceLang, targetLang, entryCount, createdAtMs, json);
      return { kind: 'created', glossary: { ...named, entryCount, createdAtMs } };
    });
  }

  list(teamId: string): Promise<readonly GlossaryRecord[]> {
    return this.#run(() => this.#list.all(teamId).map(recordOf));
  }

  find(teamId: string, glossaryId: string): Promise<GlossaryRecord | undefined> {
    return this.#run(() => {
      const columns = this.#one.get(teamId, glossaryId);
      return columns === undefined ? undefined : recordOf(columns);
    });
  }

  async entries(teamId: string, glossaryId: string): Promise<GlossaryEntries | undefined> {
    const columns = await this.#run(() => this.#entries.get(teamId, glossaryId));
    // Parsed outside of the transaction, which others wait for.
    return columns === undefined ? undefined : (JSON.parse(String(columns['entries'])) as GlossaryEntries);
  }

  remove(teamId: string, glossaryId: string): Promise<boolean> {
    return this.#run(() => this.#remove.run(glossaryId, teamId).changes > 0);
  }

  #run<T>(work: () => T): Promise<T> {
    return this.#parts.group.run(work, (cause) => {
      throw storeFault(this.#parts.path, cause);
    });
  }
}

function recordOf(columns: Columns): GlossaryRecord {
  return {
    glossaryId: String(columns['glossary_id']),
    name: String(columns['name']),
    sourceLang: String(columns['source_lang']),
    targetLang: String(columns['target_lang']),
    entryCount: Number(columns['entry_count']),
    createdAtMs: Number(columns['created_at_ms']),
  };
}
