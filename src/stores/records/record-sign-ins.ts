// Which attempts to sign in have come back from a provider, as shared records, so that each counts once at all gateways.
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { usedStateId } from '../../domain/sign-in-attempt.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { SignInRecords } from '../../ports/identity-provider.ts';
import type { RecordName, RecordSpace } from '../../ports/record-space.ts';

/** Beyond this many, the oldest are deleted: the provider refuses a code twice as well. */
const USED_MAX = 200;

export class RecordSignIns implements SignInRecords {
  readonly #space: RecordSpace;

  constructor(space: RecordSpace) {
    this.#space = space;
  }

  /** A record's value is the time until when it is kept. */
  async use(state: string, keepMs: number): Promise<boolean | StoreUnavailable> {
    const known = await this.#space.list(SHARED_RECORDS, 'sign_ins');
    if (isUnavailable(known)) return known;
    const own: RecordName = { table: 'sign_ins', id: usedStateId(state) };
    const oldestFirst = [...known].toSorted(([, one], [, other]) => Number(one) - Number(other));
    const others = oldestFirst.filter(([id]) => id !== own.id).map(([id]): RecordName => ({ table: 'sign_ins', id }));
    const surplus = others.length + 1 - USED_MAX;
    const used = await this.#space.change(SHARED_RECORDS, [own, ...others], ([before, ...values], { nowMs }) => {
      const remove = others.filter((_, i) => values[i] !== undefined && (i < surplus || Number(values[i]) <= nowMs));
      if (before !== undefined) return { result: false, remove };
      return { result: true, remove, put: [{ ...own, value: String(nowMs + keepMs) }] };
    });
    return used ?? false;
  }
}
