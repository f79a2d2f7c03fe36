// Lists: a page with the cursor that continues it, all rows piece by piece, and how rows are read
// of records in order, or of teams.
import { hash } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { answered } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import type { TeamPage } from '../ports/team-registry.ts';
import type { OperationContext } from './operation-context.ts';
import { RefusedError, refused, noSuch } from './operation.ts';
import type { AdminOperation, ListEntry, ListedPage, ListPiece } from './operation.ts';

export const PAGE_DEFAULT = 50;
export const PAGE_MAX = 200;
/** After so many records or teams, however few rows: most of 100,000 teams may have none. */
const CHECKED_MAX = 5000;
/** With a filter: how many are read together, which holds the event loop for some milliseconds. */
const FILTERED_TOGETHER = 50;

export interface ShownPage extends ListedPage<unknown> {
  /** The cursor of the next page. */
  readonly next: string | undefined;
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
  const page = await pageOf(one.listing!.read(context, input as never, after, limit + 1), limit);
  return { ...page, next: page.next === undefined ? undefined : Buffer.from(JSON.stringify([digest, page.next])).toString('base64url') };
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
export async function pageOf<Row>(pieces: AsyncIterable<ListPiece<Row>>, limit: number): Promise<ListedPage<Row>> {
  const rows: Row[] = [];
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
  const limit = fits === undefined ? size : FILTERED_TOGETHER;
  for (let end: string | undefined = after; ;) {
    const items: readonly Item[] = answered(await read(end, limit));
    const fitting = fits === undefined ? items : items.filter(fits);
    end = items.length === 0 ? end : idOf(items.at(-1)!);
    const rows = await rowsOf(fitting);
    yield { entries: rows.map((row, index) => ({ row, at: idOf(fitting[index]!) })), end, checked: items.length };
    if (items.length < limit) return;
    // A store that answers synchronously would let everyone else wait until the page is full.
    await nextTurn();
  }
}

interface RowOfTeam<Row, At> {
  readonly row: Row;
  readonly at: At;
}

/** What is read of a team, and the rows that are made of it. */
interface OfTeams<Found, Row, At> {
  /** Read together at most: it is in memory at once, and a database may be busy for as long. */
  readonly atOnceMax: number;
  readonly find: (teamId: string) => Promise<Found | undefined | StoreUnavailable>;
  /** The next teams in the order of their ids; fewer than asked for only at the end. */
  readonly page: (page: TeamPage) => Promise<readonly Found[] | StoreUnavailable>;
  readonly teamIdOf: (found: Found) => string;
  /** In order, each with what tells it from the others of the team; may read more of the store. */
  readonly rowsOf: (found: Found) => readonly RowOfTeam<Row, At>[] | Promise<readonly RowOfTeam<Row, At>[]>;
  /** Of a team's rows, those after this one, which may have been deleted meanwhile. */
  readonly rowsAfter: (rows: readonly RowOfTeam<Row, At>[], at: At) => readonly RowOfTeam<Row, At>[];
  /** The name of a team whose rows are still to come. */
  readonly missingOf?: (found: Found) => string | undefined;
}

/** The last row that was read: those after it are the same whatever teams are created meanwhile. */
interface RowPlace<At> {
  readonly teamId: string;
  /** `undefined`: after all rows of the team. */
  readonly row?: At | undefined;
}

/** Rows of one team, or of all in their order. */
export async function* rowsOfTeams<Found, Row, At>(
  source: OfTeams<Found, Row, At>,
  teamId: string | undefined,
  after: unknown,
  size: number,
): AsyncGenerator<ListPiece<Row>, void, void> {
  // Callers can write a cursor themselves.
  if (after !== undefined && !isPlace<At>(after)) throw new RefusedError(NO_CURSOR);
  const { find, page, teamIdOf, atOnceMax } = source;
  const first = teamId ?? (after?.row === undefined ? undefined : after.teamId);
  if (first !== undefined) {
    const found = answered(await find(first));
    if (found === undefined && teamId !== undefined)
      throw new RefusedError({ ...refused('team', 'there is no team with this id'), named: noSuch('team', teamId).named });
    // A team that was deleted since the previous page has no rows left.
    if (found !== undefined) yield { entries: await entriesOf(source, found, after?.row), end: { teamId: first }, checked: 1 };
    if (teamId !== undefined) return;
  }
  const limit = Math.max(1, Math.min(size, atOnceMax));
  for (let last = after?.teamId; ;) {
    const found = answered(await page({ after: last, limit, search: undefined }));
    if (found.length === 0) return;
    last = teamIdOf(found.at(-1)!);
    const entries = await Promise.all(found.map((one) => entriesOf(source, one, undefined)));
    yield { entries: entries.flat(), end: { teamId: last }, checked: found.length };
    if (found.length < limit) return;
    await nextTurn();
  }
}

async function entriesOf<Found, Row, At>(
  { teamIdOf, rowsOf, rowsAfter, missingOf }: OfTeams<Found, Row, At>,
  found: Found,
  after: At | undefined,
): Promise<readonly ListEntry<Row>[]> {
  const teamId = teamIdOf(found);
  const all = await rowsOf(found);
  const rows = (after === undefined ? all : rowsAfter(all, after)).map(({ row, at }) => ({ row, at: { teamId, row: at } }));
  const name = after === undefined ? missingOf?.(found) : undefined;
  return name === undefined ? rows : [{ missing: name }, ...rows];
}

function isPlace<At>(place: unknown): place is RowPlace<At> {
  const { teamId, row = 0 } = (place ?? {}) as Readonly<Record<string, unknown>>;
  return typeof teamId === 'string' && canonicalUlid(teamId) === teamId && row !== null;
}
