// What a group has in Redis as it was read, and what is to become of it. Of its own hash a field is named as it is, of another one behind
// what that one's name ends with: `:glossaries ID`.
import { groupKey } from './redis-keys.ts';
import type { RedisLink, Write } from './redis-link.ts';

/** What is read for a decision must still be so when it is written. */
export class HashDraft {
  read: ReadonlyMap<string, string>;
  readonly #expected = new Map<string, string | undefined>();
  readonly #written = new Map<string, string | undefined>();
  /** Of keys that are no hashes. */
  readonly further: Write[] = [];

  constructor(read: ReadonlyMap<string, string>) {
    this.read = read;
  }

  get(field: string): string | undefined {
    this.#expected.set(field, this.read.get(field));
    return this.peek(field);
  }

  /** Further fields, which were read later. */
  know(fields: ReadonlyMap<string, string>): void {
    this.read = new Map([...fields, ...this.read]);
  }

  /** Without depending on it. */
  peek(field: string): string | undefined {
    return this.#written.has(field) ? this.#written.get(field) : this.read.get(field);
  }

  put(field: string, text: string): void {
    if (this.peek(field) === text) return;
    this.get(field);
    this.#written.set(field, text);
  }

  remove(field: string): void {
    if (this.peek(field) === undefined) return;
    this.get(field);
    this.#written.set(field, undefined);
  }

  /** Whatever was there; `undefined` removes it. */
  set(field: string, text: string | undefined): void {
    this.#written.set(field, text);
  }

  get isChanged(): boolean {
    return this.#written.size > 0 || this.further.length > 0;
  }

  get expected(): readonly (readonly [suffix: string, field: string, text: string | undefined])[] {
    return [...this.#expected].map(([field, text]) => [...placeOf(field), text] as const);
  }

  get writes(): readonly Write[] {
    const writes: Write[] = [];
    for (const [suffix, fields] of Map.groupBy(this.#written, ([field]) => placeOf(field)[0])) {
      const put = fields.flatMap(([field, text]) => (text === undefined ? [] : [placeOf(field)[1], text]));
      const gone = fields.flatMap(([field, text]) => (text === undefined ? [placeOf(field)[1]] : []));
      writes.push(...manyWrites('HDEL', suffix, gone), ...manyWrites('HSET', suffix, put));
    }
    return [...writes, ...this.further];
  }
}

function placeOf(field: string): readonly [suffix: string, field: string] {
  if (!field.startsWith(':')) return ['', field];
  const space = field.indexOf(' ');
  return [field.slice(0, space), field.slice(space + 1)];
}

/** These fields of a group, all at one moment. */
export async function readFields(link: RedisLink, group: string, fields: readonly string[]): Promise<Map<string, string>> {
  if (fields.length === 0) return new Map();
  const found = (await link.ask(() => link.run('read', [groupKey(group)], fields.flatMap(placeOf)))) as readonly (string | null)[];
  return new Map(fields.flatMap((field, i) => (found[i] === null ? [] : [[field, found[i]!] as const])));
}

/** Lua passes some thousands of arguments at most. */
const ARGUMENTS_MAX = 1000;

/** One command in as many as its arguments need. */
export function manyWrites(command: string, suffix: string, args: readonly string[]): Write[] {
  const writes: Write[] = [];
  for (let at = 0; at < args.length; at += ARGUMENTS_MAX) writes.push([command, suffix, ...args.slice(at, at + ARGUMENTS_MAX)]);
  return writes;
}
