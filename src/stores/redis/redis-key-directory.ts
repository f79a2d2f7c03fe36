// Finds a key's owner by its digest.
import type { KeyDigest, KeyOwner } from '../../domain/api-key.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { KeyDirectory } from '../../ports/key-directory.ts';
import { digestKey } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';

export class RedisKeyDirectory implements KeyDirectory {
  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  async find(digest: KeyDigest): Promise<KeyOwner | undefined | StoreUnavailable> {
    const json = await this.#link.ask(({ redis }) => redis.get(digestKey(digest)));
    if (isUnavailable(json)) return json;
    return json === null ? undefined : (JSON.parse(json) as KeyOwner);
  }
}
