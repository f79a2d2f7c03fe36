// Everywhere a secret could be left: the ops pages, every key and value of a Redis, every byte of a SQLite store.
import { readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Redis } from 'ioredis';

export interface Place {
  readonly name: string;
  readonly content: string | Uint8Array;
}

const OPS_PAGES = ['/livez', '/readyz', '/metrics', '/openapi.json', '/docs', '/docs/errors', '/no-such-page'];

export function opsPages(opsUrl: string): Promise<Place[]> {
  return Promise.all(OPS_PAGES.map(async (path) => ({ name: `ops ${path}`, content: await (await fetch(`${opsUrl}${path}`)).text() })));
}

/** `url` is a store's. */
export function storedIn(url: string): Promise<Place[]> {
  return url.startsWith('sqlite:') ? Promise.resolve(filesOf(url.slice('sqlite:'.length))) : redisContent(url);
}

/** The database, its log of writes, and everything else that begins with its name. */
function filesOf(path: string): Place[] {
  const names = readdirSync(dirname(path)).filter((name) => name.startsWith(basename(path)));
  return names.map((name) => ({ name: `file ${name}`, content: readFileSync(join(dirname(path), name)) }));
}

async function redisContent(url: string): Promise<Place[]> {
  const client = new Redis(Number(new URL(url).port), '127.0.0.1', { protocol: 2 });
  try {
    const keys = await client.keys('*');
    const values = await Promise.all(
      // The dump compresses long values, so the values are read as well.
      keys.map(async (key) => [key, await client.dumpBuffer(key), JSON.stringify(await valueOf(client, key))] as const),
    );
    return values.flatMap(([key, dump, value]) => [
      { name: `Redis key ${key}`, content: key },
      { name: `Redis value of ${key}`, content: value },
      { name: `Redis dump of ${key}`, content: dump },
    ]);
  } finally {
    client.disconnect();
  }
}

async function valueOf(client: Redis, key: string): Promise<unknown> {
  const type = await client.type(key);
  switch (type) {
    case 'string':
      return client.get(key);
    case 'hash':
      return client.hgetall(key);
    case 'list':
      return client.lrange(key, 0, -1);
    case 'set':
      return client.smembers(key);
    case 'zset':
      return client.call('ZRANGE', key, '0', '-1', 'WITHSCORES');
    // Expired since it was listed.
    case 'none':
      return undefined;
    default:
      throw new Error(`what lies in a Redis ${type} is not known here`);
  }
}
