// Secrets on which processes agree, as shared records.
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { RecordName, RecordSpace } from '../../ports/record-space.ts';
import type { SharedSecrets } from '../../ports/shared-secrets.ts';

interface KeptSecret {
  /** In base64url. */
  readonly secret: string;
  /** From when on it is deleted, together with the next change. */
  readonly untilMs: number;
}

export class RecordSecrets implements SharedSecrets {
  readonly #space: RecordSpace;
  readonly nowMs: () => number | undefined;

  /** `nowMs`: the store's time, as far as it is known without asking. */
  constructor(space: RecordSpace, nowMs: () => number | undefined) {
    this.#space = space;
    this.nowMs = nowMs;
  }

  async agree(name: string, candidate: Uint8Array, keepMs: number): Promise<Uint8Array | StoreUnavailable> {
    const known = await this.#space.list(SHARED_RECORDS, 'secrets');
    if (isUnavailable(known)) return known;
    const names = [...new Set([name, ...known.keys()])].map((id): RecordName => ({ table: 'secrets', id }));
    const agreed = await this.#space.change(SHARED_RECORDS, names, (values, { nowMs }) => {
      const kept = values.map((value) => (value === undefined ? undefined : (JSON.parse(value) as KeptSecret)));
      const remove = names.filter((_, i) => i > 0 && kept[i] !== undefined && kept[i].untilMs <= nowMs);
      if (kept[0] !== undefined) return { result: kept[0].secret, remove };
      const secret = Buffer.from(candidate).toString('base64url');
      const added: KeptSecret = { secret, untilMs: nowMs + keepMs };
      return { result: secret, remove, put: [{ ...names[0]!, value: JSON.stringify(added) }] };
    });
    return agreed === undefined || isUnavailable(agreed) ? agreed! : Buffer.from(agreed, 'base64url');
  }
}
