// Searches everything that a store keeps, whatever its name: for tests of what must no longer be in it.
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';

/** A place in the store, and the text there. */
interface StoredText {
  readonly where: string;
  readonly text: string;
}

/** Whatever contains one of `words`, in any case, each with the word. */
export async function locationsOf(url: string, words: readonly string[]): Promise<string[]> {
  const all = await everything(url);
  const found = words.flatMap((word) => {
    const sought = word.toLowerCase();
    return all.filter(({ text }) => text.toLowerCase().includes(sought)).map(({ where }) => `${word} in ${where}`);
  });
  return [...new Set(found)];
}

/** Bytes are read as Latin-1, and again as UTF-8. */
export function everything(url: string): Promise<readonly StoredText[]> {
  return url.startsWith('sqlite:') ? Promise.resolve(rowsAndBytes(url.slice('sqlite:'.length))) : keysAndValues(url);
}

/** Every row of every table, and the bytes of the file and its WAL, free pages included. */
function rowsAndBytes(path: string): StoredText[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const found: StoredText[] = [];
  try {
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    for (const { name } of tables) {
      for (const row of database.prepare(`SELECT * FROM "${String(name)}"`).all()) {
        const kind = typeof row['kind'] === 'string' ? ` (${row['kind']})` : '';
        found.push({ where: `table ${String(name)}${kind}`, text: Object.values(row).map(textOf).join(' ') });
      }
    }
  } finally {
    database.close();
  }
  for (const file of [path, `${path}-wal`])
    found.push({ where: `the bytes of ${file.slice(file.lastIndexOf('/') + 1)}`, text: bytesOf(file) });
  return found;
}

function bytesOf(file: string): string {
  try {
    return textOf(readFileSync(file));
  } catch {
    return '';
  }
}

async function keysAndValues(url: string): Promise<StoredText[]> {
  const redis = new Redis(url);
  try {
    const names = await redis.keys('*');
    return await Promise.all(names.map(async (name) => ({ where: `key ${name}`, text: `${name} ${await valueOf(redis, name)}` })));
  } finally {
    redis.disconnect();
  }
}

async function valueOf(redis: Redis, name: string): Promise<string> {
  switch (await redis.type(name)) {
    case 'string':
      return textOf(await redis.getBuffer(name));
    case 'hash':
      return textsOf(await redis.callBuffer('HGETALL', name));
    case 'list':
      return textsOf(await redis.lrangeBuffer(name, 0, -1));
    case 'set':
      return textsOf(await redis.smembersBuffer(name));
    case 'zset':
      return textsOf(await redis.callBuffer('ZRANGE', name, '0', '-1', 'WITHSCORES'));
    case 'stream':
      return JSON.stringify(await redis.xrange(name, '-', '+'));
    case 'none':
      return '';
    default:
      throw new Error(`${name} has a type that this search does not know`);
  }
}

function textsOf(values: unknown): string {
  return (values as readonly unknown[]).map(textOf).join(' ');
}

function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return `${Buffer.from(value).toString('latin1')} ${Buffer.from(value).toString('utf8')}`;
  return String(value);
}
