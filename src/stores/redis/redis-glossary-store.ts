// Glossaries in Redis: one function each creates, changes and removes them in the team's slot; plain commands read them.
import { nextTurn } from '../../core/turns.ts';
import { glossaryRemoval } from '../../domain/audit-entry.ts';
import type { Audited } from '../../domain/audit-entry.ts';
import { bytesOfEntry, eachEntry, isLarge, ReadEntries } from '../../domain/entries-text.ts';
import { answering, storeErrorOf } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type {
  FoundEntries,
  GlossaryChange,
  GlossaryChanged,
  GlossaryCreation,
  GlossaryRecord,
  GlossaryStore,
  NewGlossary,
} from '../../ports/glossary-store.ts';
import { heldBy, readGlossaryRecord, recordJson } from './glossary-record.ts';
import type { DictionaryText } from './dictionary-text.ts';
import { teamKeys } from './redis-keys.ts';
import { readPlan } from './team-layout.ts';
import type { RedisAuditLog } from './redis-audit-log.ts';
import type { RedisLink } from './redis-link.ts';
import type { TeamIndex } from './team-index.ts';
import type { FunctionAnswer, FunctionCall } from './function-caller.ts';

const LATE: StoreUnavailable = { kind: 'unavailable', cause: 'late' };
/** A change is given up if so many counts in a row were outdated when they arrived. */
const COUNTS_MAX = 10;
/** Teams searched at a time for a glossary. */
const TEAMS_PIECE = 100;

export interface RedisGlossaryParts {
  readonly link: RedisLink;
  readonly text: DictionaryText;
  readonly index: Pick<TeamIndex, 'pieces'>;
  readonly audit: Pick<RedisAuditLog, 'begin'>;
}

export class RedisGlossaryStore implements GlossaryStore {
  readonly #parts: RedisGlossaryParts;

  constructor(parts: RedisGlossaryParts) {
    this.#parts = parts;
  }

  create(wanted: NewGlossary, teamBytesMax?: number): Promise<GlossaryCreation | StoreUnavailable> {
    const { glossaryId, teamId, name, dictionaries } = wanted;
    return answering(async () => {
      const refused = await this.#foreseen(wanted, teamBytesMax);
      if (refused !== undefined) return refused;
      const written = await this.#parts.text.write(teamId, dictionaries);
      const args = [...recordWords(glossaryId, name, dictionaries), String(teamBytesMax ?? ''), ...written];
      const { word, values } = await this.#counted('create_glossary', teamId, glossaryId, args);
      const value = String(values[0]);
      if (word === 'none') {
        await this.#parts.text.drop(teamId, dictionaries);
        return { kind: 'team_unknown' };
      }
      if (word === 'limit') return { kind: 'limit_reached', maxGlossaries: Number(value) };
      if (word === 'bytes') return { kind: 'bytes_reached', maxGlossaries: Number(value) };
      return { kind: 'created', glossary: readGlossaryRecord(glossaryId, value).glossary };
    });
  }

  /** Predicts the function's refusal if a dictionary is large, so that it is not written in chunks in vain. */
  async #foreseen({ teamId, dictionaries }: NewGlossary, teamBytesMax = Infinity): Promise<GlossaryCreation | undefined> {
    if (!dictionaries.some(({ written }) => written !== undefined && isLarge(written.pieces))) return undefined;
    const { team, glossaries } = teamKeys(teamId);
    const found = await this.#parts.link.ask(({ redis }) =>
      Promise.all([redis.hmgetBuffer(team, 'p', 'glossary_bytes'), redis.hlen(glossaries)]),
    );
    const [[plan, held], count] = found;
    if (plan === null || plan === undefined) return { kind: 'team_unknown' };
    const { maxGlossaries } = readPlan(plan);
    if (count >= maxGlossaries) return { kind: 'limit_reached', maxGlossaries };
    const added = dictionaries.reduce((sum, { written }) => sum + (written?.bytes ?? 0), 0);
    return Number(held ?? 0) + added > teamBytesMax ? { kind: 'bytes_reached', maxGlossaries } : undefined;
  }

  list(teamId: string): Promise<readonly GlossaryRecord[] | StoreUnavailable> {
    return answering(() => this.#list(teamId));
  }

  async #list(teamId: string): Promise<readonly GlossaryRecord[]> {
    const records = await this.#parts.link.ask(({ redis }) => redis.hgetall(teamKeys(teamId).glossaries));
    return Object.entries(records)
      .map(([glossaryId, record]) => readGlossaryRecord(glossaryId, record))
      .toSorted((a, b) => a.order - b.order)
      .map(({ glossary }) => glossary);
  }

  find(teamId: string, glossaryId: string): Promise<GlossaryRecord | undefined | StoreUnavailable> {
    return answering(() => this.#find(teamId, glossaryId));
  }

  async #find(teamId: string, glossaryId: string): Promise<GlossaryRecord | undefined> {
    const record = await this.#parts.link.ask(({ redis }) => redis.hget(teamKeys(teamId).glossaries, glossaryId));
    return record === null ? undefined : readGlossaryRecord(glossaryId, record).glossary;
  }

  entries(teamId: string, dictionaryId: string): Promise<FoundEntries | undefined | StoreUnavailable> {
    return answering(() => this.#entries(teamId, dictionaryId));
  }

  async #entries(teamId: string, dictionaryId: string): Promise<ReadEntries | undefined> {
    const pieces = await this.#parts.text.read(teamId, dictionaryId);
    return pieces && new ReadEntries(pieces);
  }

  change(
    { glossaryId, teamId, name, revision, dictionaries }: GlossaryChange,
    teamBytesMax?: number,
  ): Promise<GlossaryChanged | StoreUnavailable> {
    return answering(async () => {
      const written = await this.#parts.text.write(teamId, dictionaries);
      const args = [String(revision), ...recordWords(glossaryId, name, dictionaries), String(teamBytesMax ?? ''), ...written];
      const { word, values } = await this.#counted('change_glossary', teamId, glossaryId, args);
      if (word === 'none') {
        await this.#parts.text.drop(teamId, dictionaries);
        return { kind: 'missing' };
      }
      if (word === 'outdated') return { kind: 'outdated' };
      if (word === 'bytes') return { kind: 'bytes_reached', maxGlossaries: Number(values[0]) };
      return { kind: 'changed', glossary: readGlossaryRecord(glossaryId, String(values[0])).glossary };
    });
  }

  /** Operators rarely ask for this; an index would cost memory for every glossary to save about a second. */
  ownerOf(glossaryId: string): Promise<string | undefined | StoreUnavailable> {
    return answering(async () => {
      for await (const ids of this.#parts.index.pieces(TEAMS_PIECE)) {
        const found = await this.#parts.link.ask(({ redis }) =>
          Promise.all(ids.map((id) => redis.hexists(teamKeys(id).pairs, glossaryId))),
        );
        const at = found.indexOf(1);
        if (at !== -1) return ids[at];
      }
      return undefined;
    });
  }

  remove(teamId: string, glossaryId: string, by?: Audited): Promise<boolean | StoreUnavailable> {
    return answering(async () => {
      const glossary = by && (await this.#find(teamId, glossaryId));
      if (by !== undefined && glossary === undefined) return false;
      const audit = await this.#parts.audit.begin(teamId, by, glossary && glossaryRemoval(glossary));
      return (await this.#run('remove_glossary', teamId, glossaryId, audit)).word === 'removed';
    });
  }

  /** Has dictionaries counted first if an older version wrote them without counting. */
  async #counted(name: FunctionCall['name'], teamId: string, glossaryId: string, args: FunctionCall['args']): Promise<FunctionAnswer> {
    for (let count = 0; count < COUNTS_MAX; count++) {
      const reply = await this.#run(name, teamId, glossaryId, args);
      // What was written in chunks has expired: the server was unavailable, or the writes took far too long.
      if (reply.word === 'incomplete') break;
      if (reply.word !== 'uncounted') return reply;
      await this.#count(teamId);
    }
    throw storeErrorOf(LATE);
  }

  async #count(teamId: string): Promise<void> {
    const words: string[] = [];
    for (const { dictionaryId } of (await this.#list(teamId)).flatMap(({ dictionaries }) => dictionaries)) {
      const found = await this.#entries(teamId, dictionaryId);
      // It was dropped in the meantime; the next count sees its replacement.
      if (found === undefined) continue;
      let bytes = 0;
      await eachEntry(found, nextTurn, (term, translation) => (bytes += bytesOfEntry(term, translation)));
      words.push(dictionaryId, String(bytes));
    }
    const { team, glossaries: records, pairs } = teamKeys(teamId);
    const args = [String(words.length / 2), ...words];
    await this.#parts.link.call({ name: 'count_glossaries', teamId, keys: [team, records, pairs], args });
  }

  #run(name: FunctionCall['name'], teamId: string, glossaryId: string, args: FunctionCall['args']): Promise<FunctionAnswer> {
    const { team, glossaries, pairs } = teamKeys(teamId);
    return this.#parts.link.call({ name, teamId, keys: [team, glossaries, pairs], args: [glossaryId, ...args] });
  }
}

function recordWords(glossaryId: string, name: string, dictionaries: GlossaryChange['dictionaries']): readonly string[] {
  return [heldBy(glossaryId, dictionaries), recordJson(glossaryId, name, dictionaries)];
}
