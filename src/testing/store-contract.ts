// The guarantees of every store, as cases for any test runner: pass a function that opens your store.
import type { Clock } from '../ports/clock.ts';
import type { PluginStore } from '../ports/plugin.ts';
import { collector } from './cases.ts';
import type { ContractCase } from './cases.ts';
import { MovableClock, START_MS } from './movable-clock.ts';
import { admissionContract, checkContract } from './store/admission-contract.ts';
import { auditContract } from './store/audit-contract.ts';

import { concurrencyContract } from './store/concurrency-contract.ts';
import { eventsContract } from './store/events-contract.ts';
import { erasureContract } from './store/erasure-contract.ts';
import { dictionaryConcurrencyContract, dictionaryContract, glossaryBytesContract, glossaryContract } from './store/glossary-contract.ts';
import { keyLimitsContract } from './store/key-limits-contract.ts';
import { limitOrderContract } from './store/limit-order-contract.ts';
import { limitsContract } from './store/limits-contract.ts';
import { keysContract } from './store/keys-contract.ts';
import { calendarContract, periodContract } from './store/period-contract.ts';
import { nextPlanContract } from './store/next-plan-contract.ts';
import { planChangeContract } from './store/plan-change-contract.ts';
import { creditContract, quotaContract } from './store/quota-contract.ts';
import { clockContract, rateContract, reportContract } from './store/rate-contract.ts';
import { recordAuditContract, recordSpaceContract } from './store/record-space-contract.ts';
import { openIdsContract, partContract, resolutionContract } from './store/settlement-contract.ts';
import { invoiceContract, periodUseContract } from './store/period-use-contract.ts';
import { engineUseContract, gatewaysContract, idempotencyContract, secretsContract } from './store/shared-contract.ts';
import { tagLimitsContract } from './store/tag-limits-contract.ts';
import { teamsContract } from './store/teams-contract.ts';
import { testKeysContract } from './store/test-keys-contract.ts';
import { tagContract, usageDaysContract } from './store/usage-days-contract.ts';
import { withTeams } from './store/team-under-test.ts';
import type { AddStoreCase, Subject } from './store/team-under-test.ts';

/** Opens the store under test with the given clock. */
export type OpenStore = (clock: Clock) => Promise<PluginStore>;

export interface StoreContract {
  /** Run them one after another: they move a shared clock. Every case creates its own team. */
  readonly cases: readonly ContractCase[];
  /** Closes everything that the cases opened. */
  close(): Promise<void>;
}

interface Part {
  readonly title: string;
  readonly part: (it: AddStoreCase, subject: Subject) => void;
}

const PARTS: readonly Part[] = [
  { title: 'admission: order of checks', part: admissionContract },
  { title: 'key and rate before a long body', part: checkContract },
  { title: 'request rate', part: rateContract },
  { title: 'the reported rate and plan', part: reportContract },
  { title: 'a clock that steps back', part: clockContract },
  { title: 'quota', part: quotaContract },
  { title: 'credit', part: creditContract },
  { title: 'settlement of reservations', part: resolutionContract },
  { title: 'partial charges', part: partContract },
  { title: 'open ids', part: openIdsContract },
  { title: 'periods', part: periodContract },
  { title: 'periods by the calendar', part: calendarContract },
  { title: 'plan changes', part: planChangeContract },
  { title: 'plan changes at the end of the period', part: nextPlanContract },
  { title: 'keys', part: keysContract },
  { title: 'keys with limits', part: keyLimitsContract },
  { title: 'free characters of test keys', part: testKeysContract },
  { title: 'limits', part: limitsContract },
  { title: 'limits: order of checks', part: limitOrderContract },
  { title: 'teams', part: teamsContract },
  { title: 'usage by day', part: usageDaysContract },
  { title: 'usage by tag', part: tagContract },
  { title: 'settings of tags', part: tagLimitsContract },
  { title: 'usage by period', part: periodUseContract },
  { title: 'what invoices need of periods', part: invoiceContract },
  { title: 'audit', part: auditContract },
  { title: 'records of gateways', part: gatewaysContract },
  { title: 'what engines with a limit have used', part: engineUseContract },
  { title: 'requests that take effect once', part: idempotencyContract },
  { title: 'shared secrets', part: secretsContract },
  { title: 'record space', part: recordSpaceContract },
  { title: 'record space: audit', part: recordAuditContract },
  { title: 'glossaries', part: glossaryContract },
  { title: 'dictionaries of glossaries', part: dictionaryContract },
  { title: 'dictionaries of glossaries, changed concurrently', part: dictionaryConcurrencyContract },
  { title: 'bytes of glossaries', part: glossaryBytesContract },
  { title: 'deletion of teams', part: erasureContract },
  { title: 'concurrency and further instances', part: concurrencyContract },
  // Last: from then on a store may keep events in all other cases as well.
  { title: 'events', part: eventsContract },
];

/**
 * `openAgain` opens a second instance on the same backing as the first; by default it is opened the same way. Nothing is opened
 * before the first case runs.
 *
 * @example
 * const contract = storeContract((clock) => openMyStore(file, clock));
 * for (const { name, run } of contract.cases) test(name, run);
 * after(() => contract.close());
 */
export function storeContract(open: OpenStore, openAgain: OpenStore = open): StoreContract {
  const cases: ContractCase[] = [];
  // The parts only read it inside their cases, when both instances are open.
  const subject = { clock: new MovableClock(), open: () => open(subject.clock) } as Subject;
  let opening: Promise<void> | undefined;
  const openBoth = async (): Promise<void> => {
    subject.store = await open(subject.clock);
    subject.again = await openAgain(subject.clock);
  };
  const begin = async (): Promise<void> => {
    await (opening ??= openBoth());
    subject.clock.set(START_MS);
  };
  for (const { title, part } of PARTS) {
    part(withTeams(collector(cases, title, subject, begin)), subject);
  }
  return {
    cases,
    async close() {
      if (opening === undefined) return;
      await opening;
      await subject.again.close();
      await subject.store.close();
    },
  };
}
