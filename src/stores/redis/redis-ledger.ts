// The ledger in Redis: an operation per admission, and one per resolution, for which nobody waits.
import type { Admission, AdmissionRequest, Ledger, Resolution, Verdict } from '../../ports/ledger.ts';
import type { RedisLink } from './redis-link.ts';

export class RedisLedger implements Ledger {
  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  admit(request: AdmissionRequest): Promise<Admission> {
    return new Promise((resolve) => this.#link.admit(request, resolve));
  }

  resolve(teamId: string, requestId: string, verdict: Verdict): Promise<Resolution> {
    return new Promise((resolve) => this.#link.resolve(teamId, requestId, verdict, resolve));
  }
}
