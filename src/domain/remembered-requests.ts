// How long and how many requests are remembered so that they take effect once.
import { CHANGE_REMEMBERED_MS } from './reservation.ts';

/** Not longer than changes of teams are remembered, which a repetition relies on if an answer was never kept. */
export const REQUEST_REMEMBERED_MS = CHANGE_REMEMBERED_MS;
/** Some ten megabytes. */
export const REQUESTS_MAX = 10_000;
