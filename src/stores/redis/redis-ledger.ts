// The ledger in Redis: an operation per admission, and one per resolution, for which nobody waits.
import type { Admission, AdmissionRequest, Ledger, Resolution, Verdict } from '../../ports/ledger.ts';
import { admissionText, readAdmission, readResolution, resolutionText } from './admission-codec.ts';
import type { OperationReply } from './admission-codec.ts';
import type { RedisLink } from './redis-link.ts';

export class RedisLedger implements Ledger {
  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  admit(request: AdmissionRequest): Promise<Admission> {
    return this.#operate(request.teamId, admissionText(request), true, (reply) => readAdmission(request, reply));
  }

  resolve(teamId: string, requestId: string, verdict: Verdict): Promise<Resolution> {
    return this.#operate(teamId, resolutionText(requestId, verdict), false, readResolution);
  }

  #operate<T>(teamId: string, text: string, hurried: boolean, read: (reply: OperationReply) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#link.operate(teamId, text, hurried, (reply) => {
        try {
          resolve(read(reply));
        } catch (error) {
          reject(error);
        }
      });
    });
  }
}
