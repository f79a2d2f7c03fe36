// Glossaries over a record space: limits and revisions are exact, because each change names the records that it depends on.
import { glossaryRemoval } from '../../domain/audit-entry.ts';
import type { Audited } from '../../domain/audit-entry.ts';
import { isLarge, ReadEntries, writtenEntries } from '../../domain/entries-text.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type {
  BytesReached,
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
import type { GroupChange, GroupHead, NewBlob, RecordSpace } from '../../ports/record-space.ts';
import { glossaryName, glossaryRecords, readGlossary, readTotals, shownGlossary, TOTALS, totalsChange } from './glossary-record.ts';
import type { DictionaryContents, GlossaryTotals, KeptGlossary } from './glossary-record.ts';

/** From a glossary and its team's totals as they are. */
type Decide<Result> = (glossary: KeptGlossary | undefined, totals: GlossaryTotals, team: TeamHead) => GroupChange<Result>;
type TeamHead = GroupHead & { readonly limits: TeamLimits };

export class RecordGlossaries implements GlossaryStore {
  readonly #space: RecordSpace;

  constructor(space: RecordSpace) {
    this.#space = space;
  }

  async create(glossary: NewGlossary, teamBytesMax = Infinity): Promise<GlossaryCreation | StoreUnavailable> {
    const { glossaryId, teamId, name, dictionaries } = glossary;
    const added = newDictionaries(dictionaries);
    const held = heldBy(dictionaries, added, undefined);
    const judge = (totals: GlossaryTotals, { limits: { maxGlossaries } }: TeamHead): GlossaryCreation | undefined => {
      if (totals.count >= maxGlossaries) return { kind: 'limit_reached', maxGlossaries };
      return refusedBytes(totals.bytes, totals.bytes + sumOf(held), teamBytesMax, maxGlossaries);
    };
    if (added.some(({ blob }) => isLarge(blob.pieces))) {
      // Judged again below: here it avoids writing pieces for a glossary that will be refused anyway.
      const foreseen = await this.#decide<GlossaryCreation | 'room'>(teamId, glossaryId, (known, totals, group) => ({
        result: known === undefined ? (judge(totals, group) ?? 'room') : 'room',
      }));
      if (foreseen !== 'room') return foreseen ?? { kind: 'team_unknown' };
    }
    return this.#write<GlossaryCreation>(teamId, glossaryId, added, { kind: 'team_unknown' }, (known, totals, group) => {
      // The creation has been delivered twice.
      if (known !== undefined) return { result: { kind: 'created', glossary: shownGlossary(known) } };
      const refused = judge(totals, group);
      if (refused !== undefined) return { result: refused };
      // Not the number of glossaries: after a deletion two would get the same order.
      const order = totals.order + 1;
      const created = { glossaryId, name, revision: 1, createdAtMs: group.nowMs, order, dictionaries: held };
      const next = { count: totals.count + 1, bytes: totals.bytes + sumOf(held), order };
      return {
        result: { kind: 'created', glossary: shownGlossary(created) },
        put: [...glossaryRecords(created), ...totalsChange(next).put],
      };
    });
  }

  async list(teamId: string): Promise<readonly GlossaryRecord[] | StoreUnavailable> {
    const found = await this.#space.list(teamId, 'glossaries');
    if (isUnavailable(found)) return found;
    const glossaries = [...found].map(([id, text]) => readGlossary(id, text));
    return glossaries.toSorted((one, other) => one.order - other.order).map(shownGlossary);
  }

  async find(teamId: string, glossaryId: string): Promise<GlossaryRecord | undefined | StoreUnavailable> {
    const found = await this.#space.read(teamId, [glossaryName(glossaryId)]);
    if (isUnavailable(found)) return found;
    return found[0] === undefined ? undefined : shownGlossary(readGlossary(glossaryId, found[0]));
  }

  async entries(teamId: string, dictionaryId: string): Promise<FoundEntries | undefined | StoreUnavailable> {
    const pieces = await this.#space.readBlob(teamId, dictionaryId);
    return pieces === undefined || isUnavailable(pieces) ? pieces : new ReadEntries(pieces);
  }

  async change(change: GlossaryChange, teamBytesMax = Infinity): Promise<GlossaryChanged | StoreUnavailable> {
    const { teamId, glossaryId, name, revision, dictionaries } = change;
    const added = newDictionaries(dictionaries);
    return this.#write<GlossaryChanged>(teamId, glossaryId, added, { kind: 'missing' }, (known, totals, { limits }) => {
      if (known === undefined) return { result: { kind: 'missing' } };
      if (known.revision !== revision) return { result: { kind: 'outdated' } };
      const held = heldBy(dictionaries, added, known);
      const bytes = totals.bytes - sumOf(known.dictionaries) + sumOf(held);
      const refused = refusedBytes(totals.bytes, bytes, teamBytesMax, limits.maxGlossaries);
      if (refused !== undefined) return { result: refused };
      const changed = { ...known, name, revision: revision + 1, dictionaries: held };
      return {
        result: { kind: 'changed', glossary: shownGlossary(changed) },
        put: [...glossaryRecords(changed), ...totalsChange({ ...totals, bytes }).put],
        detach: known.dictionaries.filter((one) => !held.some((other) => other.dictionaryId === one.dictionaryId)).map(idOf),
      };
    });
  }

  ownerOf(glossaryId: string): Promise<string | undefined | StoreUnavailable> {
    return this.#space.groupOf(glossaryName(glossaryId));
  }

  async remove(teamId: string, glossaryId: string, by?: Audited): Promise<boolean | StoreUnavailable> {
    const removed = await this.#decide<boolean>(teamId, glossaryId, (known, totals) => {
      if (known === undefined) return { result: false };
      const { dictionaries } = known;
      const { put, remove } = totalsChange({ ...totals, count: totals.count - 1, bytes: totals.bytes - sumOf(dictionaries) });
      return {
        result: true,
        put,
        remove: [glossaryName(glossaryId), { table: 'pairs', id: glossaryId }, ...remove],
        detach: dictionaries.map(idOf),
        ...(by === undefined ? {} : { audit: { by, ...glossaryRemoval(known) } }),
      };
    });
    return removed ?? false;
  }

  /** `decide` with new dictionaries, which are prepared before, and attached if it writes anything. */
  async #write<Result extends GlossaryCreation | GlossaryChanged>(
    teamId: string,
    glossaryId: string,
    added: readonly AddedDictionary[],
    missing: Result,
    decide: Decide<Result>,
  ): Promise<Result | StoreUnavailable> {
    const blobs = added.map(({ blob }) => blob);
    const failed = await this.#space.prepare(teamId, blobs);
    if (failed !== undefined) return failed;
    const done = await this.#decide<Result>(teamId, glossaryId, (known, totals, group) => {
      const decided = decide(known, totals, group);
      return decided.put === undefined ? decided : { ...decided, attach: blobs };
    });
    const result = done ?? missing;
    if (result.kind === missing.kind) await this.#space.abandon(teamId, blobs);
    return result;
  }

  #decide<Result>(teamId: string, glossaryId: string, decide: Decide<Result>): Promise<Result | undefined | StoreUnavailable> {
    return this.#space.change(teamId, [glossaryName(glossaryId), TOTALS], ([glossary, totals], group) =>
      decide(glossary === undefined ? undefined : readGlossary(glossaryId, glossary), readTotals(totals), group as TeamHead),
    );
  }
}

interface AddedDictionary {
  readonly contents: DictionaryContents;
  readonly blob: NewBlob;
}

/** The new ones of a list, serialized before a change, which others wait for. */
function newDictionaries(dictionaries: readonly (DictionaryRecord | NewDictionary)[]): readonly AddedDictionary[] {
  return dictionaries
    .filter((one) => 'entries' in one)
    .map(({ dictionaryId, sourceLang, targetLang, entries, written = writtenEntries(entries) }) => {
      const { pieces, entryCount, bytes } = written;
      return { contents: { dictionaryId, sourceLang, targetLang, entryCount, bytes }, blob: { blobId: dictionaryId, pieces } };
    });
}

/** What a glossary holds from now on, in order: the new ones, and of the others those that it has. */
function heldBy(
  dictionaries: readonly { readonly dictionaryId: string }[],
  added: readonly AddedDictionary[],
  known: KeptGlossary | undefined,
): readonly DictionaryContents[] {
  const all = new Map([...(known?.dictionaries ?? []), ...added.map(({ contents }) => contents)].map((one) => [one.dictionaryId, one]));
  return dictionaries.flatMap(({ dictionaryId }) => all.get(dictionaryId) ?? []);
}

/** A change that does not increase them is never refused. */
function refusedBytes(before: number, after: number, teamBytesMax: number, maxGlossaries: number): BytesReached | undefined {
  return after > teamBytesMax && after > before ? { kind: 'bytes_reached', maxGlossaries } : undefined;
}

function sumOf(dictionaries: readonly DictionaryContents[]): number {
  return dictionaries.reduce((sum, { bytes }) => sum + bytes, 0);
}

function idOf({ dictionaryId }: DictionaryContents): string {
  return dictionaryId;
}
