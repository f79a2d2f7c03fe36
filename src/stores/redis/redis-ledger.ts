// The ledger in Redis: gives admissions and resolutions to the turns that send them.
import type {
  Admission,
  AdmissionRequest,
  CallerCheck,
  CheckedCaller,
  DirectLedger,
  Ledger,
  Resolution,
  Verdict,
} from '../../ports/ledger.ts';
import { asAdmission } from './ledger-codec.ts';
import type { RedisLink } from './redis-link.ts';

export class RedisLedger implements Ledger {
  readonly direct: DirectLedger;

  constructor(link: RedisLink) {
    this.direct = link;
  }

  admit(request: AdmissionRequest): Promise<Admission> {
    return new Promise((answered, failed) => this.direct.admit({ ...request, answered, failed }));
  }

  check(check: CallerCheck): Promise<CheckedCaller> {
    // An admission that is marked is answered with the answers of a check.
    return this.admit(asAdmission(check)) as Promise<CheckedCaller>;
  }

  resolve(teamId: string, requestId: string, verdict: Verdict): Promise<Resolution> {
    return new Promise((answered, failed) => this.direct.resolve({ teamId, requestId, verdict, answered, failed }));
  }
}
