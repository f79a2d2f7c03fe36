// Where a form was sent from, as the browser tells it: only from a page of this very listener may it change anything.
import type { OpsRequest } from '../ops/ops-request.ts';

/** Whether nothing says that the request comes from elsewhere. What is no browser sends neither field. */
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
