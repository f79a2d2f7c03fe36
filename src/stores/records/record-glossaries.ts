// Glossaries over a record space: a record each, its language pairs as admissions read them, and a team's totals. Limits and revisions are
// exact, because each change names the records that it depends on.
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
  GlossaryRecord,
  GlossaryStore,
  NewDictionary,
} from '../../ports/glossary-store.ts';
import type { WholeAccount } from '../../ports/whole-accounts.ts';
import type { GroupHead, NewBlob, RecordName, RecordSpace } from '../../ports/record-space.ts';
import { RecordGroup, JsonTable } from './json-table.ts';
import { recordsOf } from './record-tables.ts';
import type { Decided, Writes } from './json-table.ts';

interface StoredDictionary extends DictionaryRecord {
  /** UTF-8 length of all terms and translations. */
  readonly bytes: number;
}

export interface StoredGlossary extends Omit<GlossaryRecord, 'dictionaries'> {
  readonly dictionaries: readonly StoredDictionary[];
  /** Its place among the team's glossaries: increases with each that the team creates. */
  readonly order: number;
}

/** Sums over a team's glossaries. */
interface GlossaryTotals {
  readonly count: number;
  /** UTF-8 bytes of all terms and translations. */
  readonly bytes: number;
  /** The highest `order` so far. */
  readonly order: number;
}

export const GLOSSARIES = new JsonTable<StoredGlossary>('glossaries');
/** Without glossaries there is none. */
export const GLOSSARY_TOTALS: RecordName = { table: 'totals', id: 'glossaries' };

type TeamHead = GroupHead & { readonly limits: TeamLimits };

/** From a glossary and its team's totals as they are. */
type Decide<Result> = (known: StoredGlossary | undefined, totals: GlossaryTotals, team: TeamHead) => Decided<Result, StoredGlossary>;

export function recordGlossaries(space: RecordSpace): GlossaryStore {
  const change = <Result>(teamId: string, glossaryId: string, decide: Decide<Result>, attach: readonly NewBlob[] = []) =>
    GLOSSARIES.change<Result>(new RecordGroup(space, teamId), glossaryId, [GLOSSARY_TOTALS], (known, team, [sums]) => {
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
      const found = await GLOSSARIES.list(new RecordGroup(space, teamId));
      const glossaries = found.map(([, glossary]) => glossary);
      return glossaries.toSorted((one, other) => one.order - other.order).map(shownGlossary);
    },
    async find(teamId, glossaryId) {
      const found = await GLOSSARIES.find(new RecordGroup(space, teamId), glossaryId);
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

export function readTotals(text: string | undefined): GlossaryTotals {
  return text === undefined ? { count: 0, bytes: 0, order: 0 } : (JSON.parse(text) as GlossaryTotals);
}

/** What is written with a glossary in place of what it was: its pairs, and the totals. */
function besideGlossary(totals: GlossaryTotals, before: StoredGlossary | undefined, after: StoredGlossary | undefined): Writes {
  const count = totals.count + (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
  const bytes = totals.bytes + bytesIn(after) - bytesIn(before);
  const sums = JSON.stringify({ count, bytes, order: Math.max(totals.order, after?.order ?? 0) } satisfies GlossaryTotals);
  const put = count === 0 ? [] : [{ ...GLOSSARY_TOTALS, value: sums }];
  const remove = count === 0 ? [GLOSSARY_TOTALS] : [];
  if (after === undefined) return { put, remove: [...remove, { table: 'pairs', id: before!.glossaryId }] };
  return { put: [...put, { table: 'pairs', id: after.glossaryId, value: pairsText(after) }], remove };
}

function bytesIn(glossary: Pick<StoredGlossary, 'dictionaries'> | undefined): number {
  return (glossary?.dictionaries ?? []).reduce((sum, { bytes }) => sum + bytes, 0);
}

/** With the pairs and the totals that follow from its glossaries. */
export function withGlossarySums(account: WholeAccount): WholeAccount {
  const all = [...recordsOf(account, 'glossaries').values()].map((text) => GLOSSARIES.read(text));
  const rest = account.records.filter(({ table, id }) => table !== 'pairs' && !(table === 'totals' && id === GLOSSARY_TOTALS.id));
  const sums = {
    count: all.length,
    bytes: bytesIn({ dictionaries: all.flatMap((one) => one.dictionaries) }),
    order: Math.max(0, ...all.map(({ order }) => order)),
  };
  const pairs = all.map((one) => ({ table: 'pairs', id: one.glossaryId, value: pairsText(one) }) as const);
  const totals = all.length === 0 ? [] : [{ ...GLOSSARY_TOTALS, value: JSON.stringify(sums satisfies GlossaryTotals) }];
  return { ...account, records: [...rest, ...pairs, ...totals] };
}

/** Without what is stored beside it. */
function shownGlossary({ order: _order, dictionaries, ...glossary }: StoredGlossary): GlossaryRecord {
  return { ...glossary, dictionaries: dictionaries.map(({ bytes: _bytes, ...dictionary }) => dictionary) };
}

/** What admissions need of a dictionary: a glossary's record in the table `pairs` is a list of them. */
type GlossaryPair = Pick<DictionaryRecord, 'sourceLang' | 'targetLang' | 'dictionaryId'>;

function pairsText({ dictionaries }: Pick<StoredGlossary, 'dictionaries'>): string {
  const pairs = dictionaries.map(({ sourceLang, targetLang, dictionaryId }): GlossaryPair => ({ sourceLang, targetLang, dictionaryId }));
  return JSON.stringify(pairs);
}

/** Of a glossary's record in the table `pairs`. */
export function readPairs(text: string): readonly GlossaryPair[] {
  return JSON.parse(text) as readonly GlossaryPair[];
}
