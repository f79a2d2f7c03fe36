// Everywhere a secret could be left: the ops pages, every key and value of a Redis, every byte of a SQLite store.
import { everything } from '../../support/store-search.ts';

export interface Place {
  readonly name: string;
  readonly content: string | Uint8Array;
}

const OPS_PAGES = ['/livez', '/readyz', '/metrics', '/openapi.json', '/docs', '/docs/errors', '/no-such-page'];

export function opsPages(opsUrl: string): Promise<Place[]> {
  return Promise.all(OPS_PAGES.map(async (path) => ({ name: `ops ${path}`, content: await (await fetch(`${opsUrl}${path}`)).text() })));
}

/** `url` is a store's. */
export async function storedIn(url: string): Promise<Place[]> {
  return (await everything(url)).map(({ where, text }) => ({ name: where, content: text }));
}
