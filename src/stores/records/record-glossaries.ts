// Glossaries over a record space: limits and revisions are exact, because each change names the records that it depends on.
import { nextTurn } from '../../core/turns.ts';
import { glossaryRemoval } from '../../domain/audit-entry.ts';
import { isLarge, ReadEntries, writeEntries } from '../../domain/entries-text.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import { answered, answeringAll } from '../../domain/store-unavailable.ts';
import type {
  BytesReached,
  DictionaryRecord,
  GlossaryChanged,
  GlossaryCreation,
  GlossaryStore,
  NewDictionary,
} from '../../ports/glossary-store.ts';
import type { GroupHead, NewBlob, RecordSpace } from '../../ports/record-space.ts';
import { besideGlossary, bytesIn, GLOSSARIES, GLOSSARY_TOTALS, readTotals, shownGlossary } from './glossary-record.ts';
import type { GlossaryTotals, StoredDictionary, StoredGlossary } from './glossary-record.ts';
import { Group } from './json-table.ts';
import type { Decided } from './json-table.ts';

type TeamHead = GroupHead & { readonly limits: TeamLimits };

/** From a glossary and its team's totals as they are. */
type Decide<Result> = (known: StoredGlossary | undefined, totals: GlossaryTotals, team: TeamHead) => Decided<Result, StoredGlossary>;

export function recordGlossaries(space: RecordSpace): GlossaryStore {
  const change = <Result>(teamId: string, glossaryId: string, decide: Decide<Result>, attach: readonly NewBlob[] = []) =>
    GLOSSARIES.change<Result>(new Group(space, teamId), glossaryId, [GLOSSARY_TOTALS], (known, team, [sums]) => {
      const totals = readTotals(sums);
      const decided = decide(known, totals, team as TeamHead);
      if (decided.next === undefined) return decided;
      const detach = idsOf(known).filter((id) => !idsOf(decided.next).includes(id));
      return { ...decided, ...besideGlossary(totals, known, decided.next ?? undefined), attach, detach };
    });

  /** A change with new dictionaries, which are prepared before, and attached if it writes anything. */
  const write = async <Result extends GlossaryCreation | GlossaryChanged>(
    teamId: string,
    glossaryId: string,
    added: readonly AddedDictionary[],
    missing: Result,
    decide: Decide<Result>,
  ) => {
    const blobs = added.map(({ blob }) => blob);
    answered(await space.prepare(teamId, blobs));
    const result = (await change(teamId, glossaryId, decide, blobs)) ?? missing;
    if (result.kind === missing.kind) await space.abandon(teamId, blobs);
    return result;
  };

  return answeringAll<GlossaryStore>({
    async create({ glossaryId, teamId, name, dictionaries }, teamBytesMax = Infinity) {
      const added = await newDictionaries(dictionaries);
      const decide: Decide<GlossaryCreation> = (known, totals, { limits: { maxGlossaries }, nowMs }) => {
        // The creation has been delivered twice.
        if (known !== undefined) return { result: { kind: 'created', glossary: shownGlossary(known) } };
        if (totals.count >= maxGlossaries) return { result: { kind: 'limit_reached', maxGlossaries } };
        // Not the number of glossaries: after a deletion two would get the same order.
        const order = totals.order + 1;
        const next = { glossaryId, name, revision: 1, createdAtMs: nowMs, order, dictionaries: heldBy(dictionaries, added, undefined) };
        const refused = refusedBytes(totals, undefined, next, teamBytesMax, maxGlossaries);
        return refused ?? { result: { kind: 'created', glossary: shownGlossary(next) }, next };
      };
      if (added.some(({ blob }) => isLarge(blob.pieces))) {
        // Judged again below: here it avoids writing pieces for a glossary that will be refused anyway.
        const foreseen = await change<GlossaryCreation>(teamId, glossaryId, (...found) => ({ result: decide(...found).result }));
        if (foreseen?.kind !== 'created') return foreseen ?? { kind: 'team_unknown' };
      }
      return write(teamId, glossaryId, added, { kind: 'team_unknown' }, decide);
    },
    async list(teamId) {
      const found = await GLOSSARIES.list(new Group(space, teamId));
      const glossaries = found.map(([, glossary]) => glossary);
      return glossaries.toSorted((one, other) => one.order - other.order).map(shownGlossary);
    },
    async find(teamId, glossaryId) {
      const found = await GLOSSARIES.find(new Group(space, teamId), glossaryId);
      return found && shownGlossary(found);
    },
    async entries(teamId, dictionaryId) {
      const pieces = answered(await space.readBlob(teamId, dictionaryId));
      return pieces && new ReadEntries(pieces);
    },
    async change({ teamId, glossaryId, name, revision, dictionaries }, teamBytesMax = Infinity) {
      const added = await newDictionaries(dictionaries);
      return write<GlossaryChanged>(teamId, glossaryId, added, { kind: 'missing' }, (known, totals, { limits }) => {
        if (known === undefined) return { result: { kind: 'missing' } };
        if (known.revision !== revision) return { result: { kind: 'outdated' } };
        const next = { ...known, name, revision: revision + 1, dictionaries: heldBy(dictionaries, added, known) };
        const refused = refusedBytes(totals, known, next, teamBytesMax, limits.maxGlossaries);
        return refused ?? { result: { kind: 'changed', glossary: shownGlossary(next) }, next };
      });
    },
    ownerOf: (glossaryId) => space.groupOf(GLOSSARIES.name(glossaryId)),
    async remove(teamId, glossaryId, by) {
      const removed = await change<boolean>(teamId, glossaryId, (known) => {
        if (known === undefined) return { result: false };
        return { result: true, next: null, audit: by && { by, ...glossaryRemoval(known) } };
      });
      return removed ?? false;
    },
  });
}

interface AddedDictionary {
  readonly contents: StoredDictionary;
  readonly blob: NewBlob;
}

/** The new ones of a list, serialized before a change, which others wait for. */
async function newDictionaries(dictionaries: readonly (DictionaryRecord | NewDictionary)[]): Promise<readonly AddedDictionary[]> {
  const added: AddedDictionary[] = [];
  for (const one of dictionaries) {
    if (!('entries' in one)) continue;
    const { dictionaryId, sourceLang, targetLang } = one;
    const { pieces, entryCount, bytes } = one.written ?? (await writeEntries(one.entries, nextTurn));
    added.push({ contents: { dictionaryId, sourceLang, targetLang, entryCount, bytes }, blob: { blobId: dictionaryId, pieces } });
  }
  return added;
}

/** What a glossary holds from now on, in order: the new ones, and of the others those that it has. */
function heldBy(
  dictionaries: readonly { readonly dictionaryId: string }[],
  added: readonly AddedDictionary[],
  known: StoredGlossary | undefined,
): readonly StoredDictionary[] {
  const all = new Map([...(known?.dictionaries ?? []), ...added.map(({ contents }) => contents)].map((one) => [one.dictionaryId, one]));
  return dictionaries.flatMap(({ dictionaryId }) => all.get(dictionaryId) ?? []);
}

/** A change that does not increase them is never refused. */
function refusedBytes(
  { bytes }: GlossaryTotals,
  before: StoredGlossary | undefined,
  after: StoredGlossary,
  teamBytesMax: number,
  maxGlossaries: number,
): { readonly result: BytesReached } | undefined {
  const more = bytesIn(after) - bytesIn(before);
  return more > 0 && bytes + more > teamBytesMax ? { result: { kind: 'bytes_reached', maxGlossaries } } : undefined;
}

function idsOf(glossary: StoredGlossary | null | undefined): readonly string[] {
  return (glossary?.dictionaries ?? []).map(({ dictionaryId }) => dictionaryId);
}
