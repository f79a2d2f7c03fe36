// Rows in pages: the cursor that continues them, a page out of a list that is only read in order, and all rows one piece after the other.
import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { done, refused } from './operation.ts';
import type { Listing, ListedPage, AdminOperation, OperationRefusal, Result, RowPart } from './operation.ts';
import type { OperationContext } from './operation-context.ts';

export const PAGE_DEFAULT = 50;
export const PAGE_MAX = 200;

export interface ShownPage {
  readonly rows: readonly unknown[];
  /** The cursor of the next page. */
  readonly next: string | undefined;
  readonly checkedMax: number | undefined;
  /** Names of teams whose rows are still to come. */
  readonly missing: readonly string[];
}

/** The page at a cursor, which belongs to its question. */
export async function pageAt(
  one: AdminOperation,
  context: OperationContext,
  input: object,
  cursor: string | undefined,
  limit: number,
): Promise<Result<ShownPage>> {
  const digest = hash('sha256', JSON.stringify([one.id, input]), 'hex').slice(0, 12);
  const place = cursor === undefined ? undefined : placeIn(cursor, digest);
  if (place !== undefined && 'kind' in place) return place;
  const found = await one.listing!.page(context, input as never, place?.after, limit);
  if (found.kind !== 'done') return found;
  const { rows, next, checkedMax, missing = [] } = found.value;
  return done({
    rows,
    missing,
    next: next === undefined ? undefined : Buffer.from(JSON.stringify([digest, next])).toString('base64url'),
    checkedMax,
  });
}

function placeIn(cursor: string, digest: string): { readonly after: unknown } | OperationRefusal {
  try {
    const [of, after] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [string, unknown];
    if (of === digest) return { after };
    if (/^[0-9a-f]{12}$/.test(of)) return refused('cursor', 'belongs to another query; use the same one as for the previous page');
  } catch {
    // Not one of ours.
  }
  return refused('cursor', 'must be the `next` of the previous page');
}

/** All rows, in pieces; ends after the first refusal. */
export async function* allRows(
  { page, pieceSize }: Listing<never, never>,
  context: OperationContext,
  input: object,
): AsyncGenerator<Result<RowPart<unknown>>, void, void> {
  let after: unknown;
  do {
    const found: Result<ListedPage<unknown>> = await page(context, input as never, after, pieceSize);
    if (found.kind !== 'done') return yield found;
    if (found.value.rows.length > 0) yield done({ rows: found.value.rows, teams: 0 });
    after = found.value.next;
  } while (after !== undefined);
}

interface OrderedPage<T> extends ListedPage<T> {
  readonly next: string | undefined;
}

interface Ordered<T> {
  readonly read: (after: string | undefined, limit: number) => Promise<readonly T[] | StoreUnavailable>;
  readonly idOf: (item: T) => string;
  readonly fits?: ((item: T) => boolean) | undefined;
  /** How many items are read together. */
  readonly pieceSize: number;
  /** How many a page checks at most: with few that fit, it ends there and has a next one. */
  readonly checkedMax: number;
}

/** The next rows of a list in order, those that fit if there is a filter. */
export async function orderedPage<T>(
  { read, idOf, fits, pieceSize, checkedMax }: Ordered<T>,
  place: unknown,
  limit: number,
): Promise<{ readonly kind: 'done'; readonly value: OrderedPage<T> } | StoreUnavailable> {
  let after = place as string | undefined;
  if (fits === undefined) {
    // One more than the page has, to find out whether there is a next one.
    const found = await read(after, limit + 1);
    if (isUnavailable(found)) return found;
    const rows = found.slice(0, limit);
    const last = rows.at(-1);
    return pageWith(rows, last !== undefined && found.length > limit ? idOf(last) : undefined);
  }
  const rows: T[] = [];
  for (let checked = 0; checked < checkedMax;) {
    const size = Math.min(pieceSize, checkedMax - checked);
    const piece = await read(after, size);
    if (isUnavailable(piece)) return piece;
    for (const item of piece) {
      if (fits(item)) {
        if (rows.length === limit) return pageWith(rows, after);
        rows.push(item);
      }
      after = idOf(item);
    }
    if (piece.length < size) return pageWith(rows, undefined);
    checked += piece.length;
    // A store that answers synchronously would keep everyone else waiting until the page is full.
    await nextTurn();
  }
  return pageWith(rows, after, rows.length < limit ? checkedMax : undefined);
}

function pageWith<T>(
  rows: readonly T[],
  next: string | undefined,
  checkedMax?: number,
): { readonly kind: 'done'; readonly value: OrderedPage<T> } {
  return { kind: 'done', value: { rows, next, checkedMax } };
}
