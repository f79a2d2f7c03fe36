// A request's tag that has settings, as a ledger judges and counts it; the rules of what is used are in tag-uses.ts.
import type { TagSettings } from '../../domain/tag-settings.ts';
import type { CallerRefusal, QuotaExceeded, RateStanding } from '../../ports/ledger.ts';
import type { TagUses } from '../../ledger/tag-uses.ts';

export class TagInStore {
  readonly name: string;
  readonly settings: TagSettings;
  readonly uses: TagUses;
  #taken = 0;

  constructor(name: string, settings: TagSettings, uses: TagUses) {
    this.name = name;
    this.settings = settings;
    this.uses = uses;
  }

  get windows(): string | undefined {
    return this.settings.windows;
  }

  get counts(): TagUses['counts'] {
    return this.uses.counts;
  }

  /** `expiresAtMs`: the key's. Must be kept, whatever the answer: slots that moved with the clock must stay so. */
  rateRefusal(nowMs: number, expiresAtMs = Infinity): Extract<CallerRefusal, { kind: 'rate_limited' }> | undefined {
    const limit = this.settings.requestsPerSecond;
    const retryAfterMs = limit === undefined ? 0 : this.uses.waitMs(limit, nowMs);
    if (limit === undefined || retryAfterMs === 0) return undefined;
    const fullForMs = Math.max(0, Math.min(retryAfterMs, expiresAtMs - nowMs) - 1);
    return { kind: 'rate_limited', limit, retryAfterMs, fullForMs, of: 'tag' };
  }

  /** Of a request that was counted in its windows, with the characters that it reserves. */
  takePlace(characters: number, nowMs: number): void {
    this.uses.period.characters += characters;
    if (this.settings.requestsPerSecond !== undefined) {
      this.uses.take(nowMs);
      this.#taken = this.uses.taken;
    }
  }

  /** Judged after the characters of the key. */
  refusal(periodEndMs: number, characters: number): QuotaExceeded | undefined {
    const characterLimit = this.settings.characters;
    if (characterLimit === undefined || this.uses.period.characters + characters <= characterLimit) return undefined;
    return { kind: 'quota_exceeded', characterLimit, overageCapMinor: 0, periodEndMs, of: 'tag' };
  }

  /** The state of the tag's own rate, if it has fewer free slots. */
  nearer(rate: RateStanding): RateStanding {
    const limit = this.settings.requestsPerSecond;
    if (limit === undefined) return rate;
    const remaining = limit - this.#taken;
    return remaining < rate.remaining ? { limit, remaining, of: 'tag' } : rate;
  }
}
