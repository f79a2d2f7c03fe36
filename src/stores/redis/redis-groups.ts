// Groups in Redis, which are teams and the shared records: what is read of one, what is to become of it, and how that is written as if
// nothing else happened in between. Of its own hash a field is named as it is, of another one behind what that one's name ends with:
// `:glossaries ID`.
import { storeErrorOf } from '../../domain/store-unavailable.ts';
import type { Postbox } from './postbox.ts';
import { groupKey, OF_TEAM } from './redis-keys.ts';
import { unavailable } from './redis-link.ts';
import type { Comparison, RedisLink, Write } from './redis-link.ts';

/** What is read for a decision must still be so when it is written. */
export class HashDraft implements Comparison {
  read: ReadonlyMap<string, string>;
  readonly #deleted: Write[] = [];
  readonly #expected = new Map<string, string | undefined>();
  readonly #written = new Map<string, string | undefined>();
  /** Of keys that are no hashes, and of numbers that are added. */
  readonly further: Write[] = [];
  readonly present: string[] = [];
  readonly sizes: (readonly [suffix: string, size: number])[] = [];
  frees = true;

  constructor(read: ReadonlyMap<string, string> = new Map()) {
    this.read = read;
  }

  get(field: string): string | undefined {
    if (!this.#expected.has(field)) this.#expected.set(field, this.read.get(field));
    return this.peek(field);
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

  /** Nothing of these hashes may have changed, and nothing of them stays. */
  replace(hashes: ReadonlyMap<string, ReadonlyMap<string, string>>): void {
    for (const [suffix, fields] of hashes) {
      for (const [field, text] of fields) this.#expected.set(suffix === '' ? field : `${suffix} ${field}`, text);
      this.sizes.push([suffix, fields.size]);
      this.#deleted.push(['DEL', suffix]);
    }
    this.read = new Map();
  }

  get isChanged(): boolean {
    return this.#written.size > 0 || this.further.length > 0;
  }

  get fields(): Comparison['fields'] {
    return [...this.#expected].map(([field, text]) => [...placeOf(field), text] as const);
  }

  get write(): readonly Write[] {
    const writes = [...this.#deleted];
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

/** Lua passes some thousands of arguments at most. */
const ARGUMENTS_MAX = 1000;

/** One command in as many as its arguments need. */
export function manyWrites(command: string, suffix: string, args: readonly string[]): Write[] {
  const writes: Write[] = [];
  for (let at = 0; at < args.length; at += ARGUMENTS_MAX) writes.push([command, suffix, ...args.slice(at, at + ARGUMENTS_MAX)]);
  return writes;
}

/** How often a change is decided again because something else has changed the group meanwhile. */
const DECISIONS_MAX = 1000;

export class RedisGroups {
  readonly link: RedisLink;
  readonly #postbox: Postbox;

  constructor(link: RedisLink, postbox: Postbox) {
    this.link = link;
    this.#postbox = postbox;
  }

  /** A hash of a group; `suffix` as in `OF_TEAM`. */
  async hash(group: string, suffix = ''): Promise<Map<string, string>> {
    return new Map(Object.entries(await this.link.ask((redis) => redis.hgetall(groupKey(group) + suffix))));
  }

  /** These fields of a group, all at one moment. */
  async fields(group: string, fields: readonly string[]): Promise<Map<string, string>> {
    if (fields.length === 0) return new Map();
    const asked = fields.flatMap(placeOf);
    const found = (await this.link.ask(() => this.link.functions.run('read', [groupKey(group)], asked))) as readonly (string | null)[];
    return new Map(fields.flatMap((field, i) => (found[i] === null ? [] : [[field, found[i]!] as const])));
  }

  /** Decides on what is read of a group, and writes what was decided if that is still so; else decides again. */
  async decide<T>(group: string, read: () => Promise<HashDraft>, decide: (draft: HashDraft, nowMs: number) => T | Promise<T>): Promise<T> {
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions++) {
      const draft = await read();
      const result = await decide(draft, await this.link.time(group));
      if (!draft.isChanged) return result;
      const answer = await this.link.compare(group, draft);
      // What was prepared has expired: the server was unavailable, or the writes took far too long.
      if (answer === 'incomplete') throw storeErrorOf(unavailable('overdue'));
      if (answer === 'outdated') continue;
      if (draft.further.some(([, suffix]) => suffix === OF_TEAM.outgoing)) await this.#postbox.empty(group);
      return result;
    }
    throw storeErrorOf(unavailable('unsettled'));
  }
}
