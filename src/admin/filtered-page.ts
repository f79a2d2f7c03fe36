// A page of what fits a filter, out of a list that is only read in order: pieces are read until the page is full, or enough was checked.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { done } from './admin-result.ts';
import type { AdminResult, Page } from './admin-result.ts';

interface Wanted<T, Asked> {
  readonly read: (piece: Asked) => Promise<readonly T[] | StoreUnavailable>;
  readonly idOf: (item: T) => string;
  readonly fits: (item: T) => boolean;
  /** How many items are read together. */
  readonly pieceSize: number;
  /** How many items a page checks at most: with few that fit, it ends there and has a next one. */
  readonly checkedMax: number;
}

export async function filteredPage<T, Asked extends { readonly limit: number; readonly after: string | undefined }>(
  page: Asked,
  { read, idOf, fits, pieceSize, checkedMax }: Wanted<T, Asked>,
): Promise<AdminResult<Page<T>>> {
  const items: T[] = [];
  let { after } = page;
  for (let checked = 0; checked < checkedMax;) {
    const limit = Math.min(pieceSize, checkedMax - checked);
    const piece = await read({ ...page, after, limit });
    if (isUnavailable(piece)) return piece;
    for (const item of piece) {
      if (fits(item)) {
        if (items.length === page.limit) return done({ items, next: after });
        items.push(item);
      }
      after = idOf(item);
    }
    if (piece.length < limit) return done({ items, next: undefined });
    checked += piece.length;
    // A store that answers synchronously would keep everyone else waiting until the page is full.
    await nextTurn();
  }
  return done({ items, next: after, ...(items.length < page.limit ? { checkedMax } : {}) });
}
