// Store URLs: which kind of store one names, and how one is shown without its credentials.

export type StoreKind = 'sqlite' | 'redis';

/** What an operator may write, for messages. */
export const STORE_URL_FORMS =
  'sqlite:PATH, redis://HOST:PORT, rediss://HOST:PORT, redis+cluster://HOST:PORT,HOST:PORT or redis+sentinel://HOST:PORT,HOST:PORT/NAME';

const SQLITE = /^sqlite:(?!\/\/)[^\0]+$/;
const REDIS = /^redis[a-z]*(?:\+[a-z]+)*:\/\/\S+$/;

/** What a plugin's store may be named by. */
const OTHER = /^(?!sqlite:|redis)([a-z][a-z0-9-]*):\S+$/;

/** `undefined` when the URL is of no known kind. What stands behind the scheme is judged by the store itself. */
export function storeKindOf(url: string): StoreKind | undefined {
  if (SQLITE.test(url)) return 'sqlite';
  return REDIS.test(url) ? 'redis' : undefined;
}

/** The scheme of a URL that some plugin's store may have; `undefined` for what can be none. */
export function otherSchemeOf(url: string): string | undefined {
  return OTHER.exec(url)?.[1];
}

/** The path of a `sqlite:PATH`. */
export function sqlitePathOf(url: string): string {
  return url.slice('sqlite:'.length);
}

/** A URL as it may stand in a log or an error: user, password and query are gone. Up to the last `@`: a password may hold `@`, `/` and `?`. */
export function withoutCredentials(url: string): string {
  const start = url.indexOf('//');
  const end = url.lastIndexOf('@');
  const bare = start === -1 || end < start ? url : `${url.slice(0, start)}//***${url.slice(end)}`;
  const query = bare.indexOf('?');
  return query === -1 || !bare.includes('://') ? bare : `${bare.slice(0, query)}?***`;
}
