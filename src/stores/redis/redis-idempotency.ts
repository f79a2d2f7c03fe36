// Remembered requests in Redis: functions on records that share one cluster slot (lua/requests.lua).
import { REQUEST_REMEMBERED_MS, REQUESTS_MAX } from '../../domain/reservation.ts';
import { answering } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Claimed, HeldRequest, IdempotencyRecords, RequestClaim } from '../../ports/idempotency-records.ts';
import type { FunctionName } from './functions.ts';
import { REQUEST_KEYS, teamKey } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';

export class RedisIdempotency implements IdempotencyRecords {
  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  claim({ id, request, recordId, teamId = '', holder, leaseMs }: RequestClaim): Promise<Claimed | StoreUnavailable> {
    return answering(async (): Promise<Claimed> => {
      const numbers = [leaseMs, REQUEST_REMEMBERED_MS, REQUESTS_MAX].map(String);
      const [word, value] = await this.#run('claim_request', this.#link.clockWord, id, request, recordId, teamId, holder, ...numbers);
      switch (word) {
        case 'other':
          return { kind: 'other_request' };
        case 'running':
          return { kind: 'running' };
        case 'answered':
          return { kind: 'answered', answer: value };
        default:
          return { kind: 'claimed', recordId: value };
      }
    });
  }

  finish({ id, holder }: HeldRequest, answer: string, teamId: string | undefined): Promise<StoreUnavailable | undefined> {
    return answering(async () => {
      await this.#run('finish_request', id, holder, answer, teamId ?? '');
      // Its team lies in another slot: a deletion either finds the answer, or is seen here.
      const isThere = teamId === undefined || (await this.#link.ask(({ redis }) => redis.hexists(teamKey(teamId), 'b'))) === 1;
      if (!isThere) await this.#run('release_request', id, '', 'forget');
      return undefined;
    });
  }

  release({ id, holder }: HeldRequest, next: 'forget' | 'repeat'): Promise<StoreUnavailable | undefined> {
    return answering(async () => {
      await this.#run('release_request', id, holder, next);
      return undefined;
    });
  }

  /** For a team that was deleted. */
  async forgetTeam(teamId: string): Promise<void> {
    while ((await this.#run('forget_requests', teamId))[0] === 'more');
  }

  /** Forgets those whose time is over. */
  async sweep(): Promise<void> {
    while ((await this.#run('sweep_requests', this.#link.clockWord))[0] === 'more');
  }

  async #run(name: FunctionName, ...args: string[]): Promise<readonly [word: string, value: string]> {
    const reply = await this.#link.ask(({ run }) => run(name, { keys: REQUEST_KEYS, args }));
    const [, word, value = ''] = reply as readonly unknown[];
    return [String(word), String(value)];
  }
}
