// The ledger in Redis: gives admissions and resolutions to the turns that send them.
import type { AskedAdmission, AskedCheck, AskedResolution, CheckedCaller, Ledger } from '../../ports/ledger.ts';
import { asAdmission } from './ledger-codec.ts';
import type { RedisLink } from './redis-link.ts';

export class RedisLedger implements Ledger {
  readonly chargesParts = true;
  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  admit(asked: AskedAdmission): void {
    this.#link.admit(asked);
  }

  resolve(asked: AskedResolution): void {
    this.#link.resolve(asked);
  }

  check(asked: AskedCheck): void {
    this.#link.admit({
      ...asAdmission(asked),
      // An admission that is marked is answered with the answers of a check.
      answered: (admission) => asked.answered(admission as CheckedCaller),
      failed: (error) => asked.failed(error),
    });
  }
}
