// Where a form was sent from, as the browser says: only pages of this listener may change anything.
import type { OpsRequest } from '../ops/ops-request.ts';

/** False when `Sec-Fetch-Site` or `Origin` names another place. Programs that are no browsers send neither, and pass. */
export function isFromHere({ headers }: OpsRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  if (headers.origin === undefined) return true;
  const from = urlOf(headers.origin);
  // Default ports are left out by the browser in both.
  return from !== undefined && from.host === urlOf(`${from.protocol}//${headers.host ?? ''}`)?.host;
}

/** Whether the browser reached us over TLS, which a proxy in front of us has ended. */
export function isOverTls({ headers }: OpsRequest): boolean {
  return urlOf(headers.origin ?? '')?.protocol === 'https:';
}

function urlOf(text: string): URL | undefined {
  return URL.parse(text) ?? undefined;
}
