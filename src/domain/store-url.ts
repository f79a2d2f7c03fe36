// Store URLs: which kind of store a URL names, and how to show it without credentials.

type StoreKind = 'sqlite' | 'redis';

/** The accepted forms, for messages. */
export const STORE_URL_FORMS =
  'sqlite:PATH, redis://HOST:PORT, rediss://HOST:PORT, redis+cluster://HOST:PORT,HOST:PORT or redis+sentinel://HOST:PORT,HOST:PORT/NAME';

const SQLITE = /^sqlite:(?!\/\/)[^\0]+$/;
const REDIS = /^redis[a-z]*(?:\+[a-z]+)*:\/\/\S+$/;

/** The form of URLs for plugin stores. */
const OTHER = /^(?!sqlite:|redis)([a-z][a-z0-9-]*):\S+$/;

/** `undefined` if the kind is unknown. The store itself validates everything after the scheme. */
export function storeKindOf(url: string): StoreKind | undefined {
  if (SQLITE.test(url)) return 'sqlite';
  return REDIS.test(url) ? 'redis' : undefined;
}

/** The scheme of a URL that a plugin's store may claim; `undefined` if none may. */
export function otherSchemeOf(url: string): string | undefined {
  return OTHER.exec(url)?.[1];
}

/** The path of a `sqlite:PATH`. */
export function sqlitePathOf(url: string): string {
  return url.slice('sqlite:'.length);
}

/**
 * Without user, password and query, for logs and errors. Cuts at the last `@`, because a password
 * may have `@`, `/` and `?`. A file's path has none.
 */
export function withoutCredentials(url: string): string {
  if (SQLITE.test(url)) return url;
  const end = url.lastIndexOf('@');
  const [scheme = ''] = /^[^:]*:\/*/.exec(url) ?? [];
  const bare = end === -1 ? url : `${scheme.length > end ? '' : scheme}***${url.slice(end)}`;
  return bare.replace(/\?.*/s, '?***');
}
