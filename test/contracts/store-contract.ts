// What every store guarantees, as tests: run it against a store of your own by naming it and saying how it is opened.
import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import type { Clock } from '../../src/ports/clock.ts';
import type { Store } from '../../src/ports/store.ts';
import { admissionContract } from './admission-contract.ts';
import { clockContract } from './clock-contract.ts';
import { concurrencyContract } from './concurrency-contract.ts';
import { creditContract } from './credit-contract.ts';
import { glossaryContract } from './glossary-contract.ts';
import { keysContract } from './keys-contract.ts';
import { MovableClock, START_MS } from './movable-clock.ts';
import { periodContract } from './period-contract.ts';
import { planChangeContract } from './plan-change-contract.ts';
import { quotaContract } from './quota-contract.ts';
import { rateContract } from './rate-contract.ts';
import { rateReportContract } from './rate-report-contract.ts';
import { remembranceContract } from './remembrance-contract.ts';
import { resolutionContract } from './resolution-contract.ts';
import { teamsContract } from './teams-contract.ts';

/** Opens the store under test with the given clock as its own. */
export type OpenStore = (clock: Clock) => Promise<Store>;

/** What the parts of the suite work on. Filled before the first test. */
export interface Subject {
  store: Store;
  /** A second instance on the same backing. */
  again: Store;
  readonly clock: MovableClock;
}

const PARTS: readonly { title: string; part: (subject: Subject) => void }[] = [
  { title: 'admission: order of checks', part: admissionContract },
  { title: 'request rate', part: rateContract },
  { title: 'the request rate as it is reported', part: rateReportContract },
  { title: 'a clock that steps back', part: clockContract },
  { title: 'quota', part: quotaContract },
  { title: 'credit', part: creditContract },
  { title: 'resolution of reservations', part: resolutionContract },
  { title: 'remembrance of ids', part: remembranceContract },
  { title: 'periods', part: periodContract },
  { title: 'plan changes', part: planChangeContract },
  { title: 'keys', part: keysContract },
  { title: 'teams', part: teamsContract },
  { title: 'glossaries', part: glossaryContract },
  { title: 'concurrency and further instances', part: concurrencyContract },
];

/** `openAgain` opens a second instance on the backing of the first. Every test makes a team of its own. */
export function storeContract(name: string, open: OpenStore, openAgain: OpenStore): void {
  describe(`the store contract, kept by ${name}`, () => {
    // The parts read it only inside their tests, when both instances are open.
    const subject = { clock: new MovableClock() } as Subject;
    beforeAll(async () => {
      subject.store = await open(subject.clock);
      subject.again = await openAgain(subject.clock);
    });
    afterAll(async () => {
      await subject.again.close();
      await subject.store.close();
    });
    beforeEach(() => subject.clock.set(START_MS));
    describe.each(PARTS)('$title', ({ part }) => {
      part(subject);
    });
  });
}
