// Lists: a page with the cursor that continues it, all rows piece by piece, and how rows are read
// of records in order, or of teams.
import { hash } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { answered } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import type { Team, TeamPage } from '../ports/team-registry.ts';
import type { OperationContext } from './operation-context.ts';
import { RefusedError, refused, noSuch } from './operation.ts';
import type { AdminOperation, ListEntry, ListPiece } from './operation.ts';

export const PAGE_DEFAULT = 50;
export const PAGE_MAX = 200;
/** After so many records or teams, however few rows: most of 100,000 teams may have none. */
const CHECKED_MAX = 5000;
/** With a filter: how many are read together, which holds the event loop for some milliseconds. */
const FILTERED_TOGETHER = 50;

export interface ShownPage {
  readonly rows: readonly unknown[];
  /** The cursor of the next page. */
  readonly next: string | undefined;
  /** If so many were checked that the page ended: it may have fewer rows than asked, or none. */
  readonly checkedMax: number | undefined;
  /** Names of teams that this page is about and whose rows are still to come. */
  readonly missing: readonly string[];
}

/** The page at a cursor, which belongs to its question. */
export async function pageAt(
  one: AdminOperation,
  context: OperationContext,
  input: object,
  cursor: string | undefined,
  limit: number,
): Promise<ShownPage> {
  const digest = hash('sha256', JSON.stringify([one.id, input]), 'hex').slice(0, 12);
  const after = cursor === undefined ? undefined : placeIn(cursor, digest);
  const { next, ...page } = await pageOf(one.listing!.read(context, input as never, after, limit + 1), limit);
  return { ...page, next: next === undefined ? undefined : Buffer.from(JSON.stringify([digest, next])).toString('base64url') };
}

function placeIn(cursor: string, digest: string): unknown {
  try {
    const [of, after] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [string, unknown];
    if (of === digest) return after;
    if (/^[0-9a-f]{12}$/.test(of))
      throw new RefusedError(refused('cursor', 'belongs to another query; use the same one as for the previous page'));
  } catch (error) {
    if (error instanceof RefusedError) throw error;
  }
  throw new RefusedError(NO_CURSOR);
}

const NO_CURSOR = refused('cursor', 'must be the `next` of the previous page');

/** The first rows of a reading. Fewer than `limit` do not mean that this is the last page. */
async function pageOf(
  pieces: AsyncIterable<ListPiece<unknown>>,
  limit: number,
): Promise<Omit<ShownPage, 'next'> & { readonly next: unknown }> {
  const rows: unknown[] = [];
  const missing: string[] = [];
  let [checked, last, missingBefore]: [number, unknown, number] = [0, undefined, 0];
  for await (const { entries, end, checked: more } of pieces) {
    for (const entry of entries) {
      if ('missing' in entry) missing.push(entry.missing);
      else if (rows.length === limit) return { rows, missing: missing.slice(0, missingBefore), next: last, checkedMax: undefined };
      else {
        rows.push(entry.row);
        [last, missingBefore] = [entry.at, missing.length];
      }
    }
    checked += more;
    if (checked >= CHECKED_MAX) return { rows, missing, next: end, checkedMax: rows.length < limit ? CHECKED_MAX : undefined };
  }
  return { rows, missing, next: undefined, checkedMax: undefined };
}

/** Rows that were read together. */
export interface RowPart {
  readonly rows: readonly unknown[];
  /** How many teams, or records, have been read so far, including those without rows. */
  readonly checked: number;
  /** Names of teams among these whose rows are still to come. */
  readonly missing: readonly string[];
}

/**
 * After so much work an export rests: at most a sixth of its process, and callers wait for a piece
 * of it now and then, not for one after the other.
 */
const PIECE_MS = 0.5;
const REST = 5;
/** A process that stood still has not worked. */
const REST_MS_MAX = 50;

/** All rows, which are never in memory together. Throws as operations do. */
export async function* allRows({ listing }: AdminOperation, context: OperationContext, input: object): AsyncGenerator<RowPart, void, void> {
  let checked = 0;
  let before = performance.eventLoopUtilization();
  for await (const { entries, checked: more } of listing!.read(context, input as never, undefined, PAGE_MAX)) {
    checked += more;
    yield {
      rows: entries.flatMap((entry) => ('row' in entry ? [entry.row] : [])),
      checked,
      missing: entries.flatMap((entry) => ('missing' in entry ? [entry.missing] : [])),
    };
    const { active: workedMs } = performance.eventLoopUtilization(before);
    if (listing!.file === undefined || workedMs < PIECE_MS) continue;
    await sleep(Math.min(REST * workedMs, REST_MS_MAX));
    before = performance.eventLoopUtilization();
  }
}

/** Records in the order of their ids, page by page, from behind one. */
export async function* inOrder<Item>(
  read: (after: string | undefined, limit: number) => Promise<readonly Item[] | StoreUnavailable>,
  idOf: (item: Item) => string,
  limit: number,
  after?: string,
): AsyncGenerator<readonly Item[], void, void> {
  for (let last = after; ;) {
    const items: readonly Item[] = answered(await read(last, limit));
    if (items.length > 0) yield items;
    if (items.length < limit) return;
    last = idOf(items.at(-1)!);
    // A store that answers synchronously would let everyone else wait until all is read.
    await nextTurn();
  }
}

interface Ordered<Item, Row> {
  readonly read: (after: string | undefined, limit: number) => Promise<readonly Item[] | StoreUnavailable>;
  readonly idOf: (item: Item) => string;
  readonly fits?: ((item: Item) => boolean) | undefined;
  /** A row for each. */
  readonly rowsOf: (items: readonly Item[]) => readonly Row[] | Promise<readonly Row[]>;
}

/** Rows of records in the order of their ids, those that fit if there is a filter. */
export async function* rowsInOrder<Item, Row>(
  { read, idOf, fits, rowsOf }: Ordered<Item, Row>,
  after: unknown,
  size: number,
): AsyncGenerator<ListPiece<Row>, void, void> {
  if (after !== undefined && typeof after !== 'string') throw new RefusedError(NO_CURSOR);
  for await (const items of inOrder(read, idOf, fits === undefined ? size : FILTERED_TOGETHER, after)) {
    const fitting = fits === undefined ? items : items.filter(fits);
    const rows = await rowsOf(fitting);
    yield { entries: rows.map((row, index) => ({ row, at: idOf(fitting[index]!) })), end: idOf(items.at(-1)!), checked: items.length };
  }
}

/** What is read of a team, and the rows that are made of it. */
interface OfTeams<Found extends { readonly team: Pick<Team, 'teamId'> }, Row> {
  /** Read together at most: it is in memory at once, and a database may be busy for as long. */
  readonly atOnceMax: number;
  readonly find: (teamId: string) => Promise<Found | undefined | StoreUnavailable>;
  /** The next teams in the order of their ids; fewer than asked for only at the end. */
  readonly page: (page: TeamPage) => Promise<readonly Found[] | StoreUnavailable>;
  /** In the order of the team's rows; may read more of the store. */
  readonly rowsOf: (found: Found) => readonly RowOfTeam<Row>[] | Promise<readonly RowOfTeam<Row>[]>;
  /** The name of a team whose rows are still to come. */
  readonly missingOf?: (found: Found) => string | undefined;
}

interface RowOfTeam<Row> {
  readonly row: Row;
  readonly at: string | number;
}

/** The last row that was read: those after it are the same whatever is created or deleted meanwhile. */
interface RowPlace {
  readonly teamId: string;
  /** `undefined`: after all rows of the team. */
  readonly row?: string | number | undefined;
}

/** Rows of one team, or of all in their order. */
export async function* rowsOfTeams<Found extends { readonly team: Pick<Team, 'teamId'> }, Row>(
  source: OfTeams<Found, Row>,
  teamId: string | undefined,
  after: unknown,
  size: number,
): AsyncGenerator<ListPiece<Row>, void, void> {
  // Callers can write a cursor themselves.
  if (after !== undefined && !isPlace(after)) throw new RefusedError(NO_CURSOR);
  const first = teamId ?? (after?.row === undefined ? undefined : after.teamId);
  if (first !== undefined) {
    const found = answered(await source.find(first));
    if (found === undefined && teamId !== undefined)
      throw new RefusedError({ ...refused('team', 'there is no team with this id'), named: noSuch('team', teamId).named });
    // A team that was deleted since the previous page has no rows left.
    if (found !== undefined) yield { entries: await entriesOf(source, found, after?.row), end: { teamId: first }, checked: 1 };
    if (teamId !== undefined) return;
  }
  const read = (last: string | undefined, limit: number) => source.page({ after: last, limit, search: undefined });
  const limit = Math.max(1, Math.min(size, source.atOnceMax));
  for await (const teams of inOrder(read, ({ team }) => team.teamId, limit, after?.teamId)) {
    const entries = await Promise.all(teams.map((one) => entriesOf(source, one, undefined)));
    yield { entries: entries.flat(), end: { teamId: teams.at(-1)!.team.teamId }, checked: teams.length };
  }
}

async function entriesOf<Found extends { readonly team: Pick<Team, 'teamId'> }, Row>(
  { rowsOf, missingOf }: OfTeams<Found, Row>,
  found: Found,
  after: string | number | undefined,
): Promise<readonly ListEntry<Row>[]> {
  const { teamId } = found.team;
  const rows = (await rowsOf(found)).filter(({ at }) => after === undefined || at > after);
  const name = after === undefined ? missingOf?.(found) : undefined;
  return [...(name === undefined ? [] : [{ missing: name }]), ...rows.map(({ row, at }) => ({ row, at: { teamId, row: at } }))];
}

function isPlace(place: unknown): place is RowPlace {
  const { teamId, row = 0 } = (place ?? {}) as Readonly<Record<string, unknown>>;
  return typeof teamId === 'string' && canonicalUlid(teamId) === teamId && (typeof row === 'string' || typeof row === 'number');
}
