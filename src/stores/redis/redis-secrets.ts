// Shared secrets in Redis: a key each, which is set if there is none, and expires.
import { answering } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { SharedSecrets } from '../../ports/shared-secrets.ts';
import { secretKey } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';
import type { ServerClocks } from './server-clocks.ts';

export class RedisSecrets implements SharedSecrets {
  readonly #link: RedisLink;
  readonly #clocks: ServerClocks;

  constructor(link: RedisLink, clocks: ServerClocks) {
    this.#link = link;
    this.#clocks = clocks;
  }

  nowMs(): number | undefined {
    const nowMs = this.#clocks.now();
    return nowMs === undefined ? undefined : Math.floor(nowMs);
  }

  agree(name: string, candidate: Uint8Array, keepMs: number): Promise<Uint8Array | StoreUnavailable> {
    return answering(async () => {
      const text = Buffer.from(candidate).toString('base64url');
      // Sets it if there is none, and returns what was there: one command, so that all processes agree.
      const found = await this.#link.ask(({ redis }) => redis.set(secretKey(name), text, 'PX', keepMs, 'NX', 'GET'));
      return found === null ? candidate : Buffer.from(found, 'base64url');
    });
  }
}
