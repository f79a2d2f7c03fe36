// `RateLimit-Policy` and `RateLimit`: how the request rate is limited and how it stands, as structured fields (RFC 9651).
import type { HeaderList } from '../core/outcome.ts';
import { RATE_WINDOW_MS } from './reservation.ts';

/** The fields take whole seconds. Of a sliding window only this is sure: `remaining` requests within the next second. */
const WINDOW_SECONDS = RATE_WINDOW_MS / 1000;

/** By draft-ietf-httpapi-ratelimit-headers-11. `remaining` is what is left when the answered request has taken its place. */
export function rateLimitHeaders(limit: number, remaining: number): HeaderList {
  return [
    ['RateLimit-Policy', `"requests";q=${limit};w=${WINDOW_SECONDS}`],
    ['RateLimit', `"requests";r=${remaining};t=${WINDOW_SECONDS}`],
  ];
}
