// The ledger in Redis: one script call per admission and per resolution.
import type { Admission, AdmissionRequest, Ledger, Resolution, Verdict } from '../../ports/ledger.ts';
import { admissionCall, readAdmission, readResolution, resolutionCall } from './admission-codec.ts';
import type { RedisLink } from './redis-link.ts';

export class RedisLedger implements Ledger {
  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  async admit(request: AdmissionRequest): Promise<Admission> {
    return readAdmission(request, await this.#link.call(admissionCall(request)));
  }

  async resolve(teamId: string, requestId: string, verdict: Verdict): Promise<Resolution> {
    return readResolution(await this.#link.call(resolutionCall(teamId, requestId, verdict)));
  }
}
