// Finds a key's owner by its digest.
import type { KeyDigest, KeyOwner } from '../../domain/api-key.ts';
import type { KeyDirectory, StoreUnavailable } from '../../ports/key-directory.ts';
import { digestKey } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';

export class RedisKeyDirectory implements KeyDirectory {
  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  async find(digest: KeyDigest): Promise<KeyOwner | undefined | StoreUnavailable> {
    const answer = await this.#link.guard(() => this.#link.redis.get(digestKey(digest)));
    if (answer.kind === 'unavailable') return answer;
    return answer.value === null ? undefined : (JSON.parse(answer.value) as KeyOwner);
  }
}
