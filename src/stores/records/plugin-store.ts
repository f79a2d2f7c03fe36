// Opens a plugin's store to serve: converts its ledger's results, immediate or promised, to callbacks, has its clock judged, and finds
// what is to be reported of its teams' usage.
import { ADMISSION_KINDS, CHECK_KINDS } from '../../domain/admission.ts';
import type { EventRules } from '../../domain/event-rules.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Admission, Callbacks, CheckedCaller, Ledger, Resolution } from '../../ports/ledger.ts';
import type { PluginLedger, WholeStoreParts } from '../../ports/plugin.ts';
import type { Log } from '../../ports/log.ts';
import type { Store } from '../../ports/store.ts';
import { beginClock, storeClock } from './store-clock.ts';
import { assertComplete } from './copy-mark.ts';
import { UsageEvents } from './usage-events.ts';

interface ServedWith {
  /** The one that the store was given. */
  readonly clock: Clock;
  readonly log: Log;
  /** The rules of a process that sends them. */
  readonly events: EventRules | undefined;
}

/** A store that is about to serve; it is closed if it must not. `shown` contains no credentials. */
export async function toServe(opened: WholeStoreParts, ledger: Ledger, shown: string, { clock, log, events }: ServedWith): Promise<Store> {
  try {
    await assertComplete(opened.records, shown);
    await beginClock(opened.records, clock, log);
    // From now on its operations store events.
    if (events !== undefined) await opened.outbox.lease('', 0);
    return fromPlugin(opened, ledger, clock, events);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

export function fromPlugin(store: Omit<WholeStoreParts, 'accounts'>, ledger: Ledger, clock: Clock, events: EventRules | undefined): Store {
  const { keys, teams, glossaries, records, gateways, history, audit, idempotency, secrets, engineUse, tags, tagSettings } = store;
  const usage = events && new UsageEvents({ teams, history, records, rules: events, nowMs: () => clock.nowMs() });
  return {
    keys,
    ledger: usage?.watched(ledger) ?? ledger,
    teams,
    glossaries,
    records,
    gateways,
    idempotency,
    secrets,
    engineUse,
    tags,
    tagSettings,
    history,
    audit,
    outbox: usage?.before(store.outbox) ?? store.outbox,
    clock: storeClock(records, clock),
    ping: () => store.ping(),
    close: () => store.close(),
  };
}

const OF_RESOLUTION = {
  committed: true,
  released: true,
  absent: true,
  unavailable: true,
} satisfies Readonly<Record<Resolution['kind'], true>>;
/** The results of each method, by kind. */
const KINDS: Readonly<Record<'admit' | 'resolve' | 'check', ReadonlySet<string>>> = {
  admit: new Set(Object.keys(ADMISSION_KINDS satisfies Readonly<Record<Admission['kind'], true>>)),
  resolve: new Set(Object.keys(OF_RESOLUTION)),
  check: new Set(Object.keys(CHECK_KINDS satisfies Readonly<Record<CheckedCaller['kind'], true>>)),
};

export function withCallbacks(ledger: PluginLedger): Ledger {
  return {
    admit: (asked) => answer(asked, 'admit', () => ledger.admit(asked)),
    resolve: (asked) => answer(asked, 'resolve', () => ledger.resolve(asked.teamId, asked.requestId, asked.verdict, asked.characters)),
    check: (asked) => answer(asked, 'check', () => ledger.check(asked)),
  };
}

/** Calls back in a later microtask, even for immediate results and throws. */
function answer<Answer extends { readonly kind: string }>(
  asked: Callbacks<Answer>,
  method: keyof typeof KINDS,
  run: () => Answer | Promise<Answer>,
): void {
  new Promise<Answer>((resolve) => resolve(run())).then(
    (returned) => {
      // Anything else would let a request go on as if it had been admitted.
      if (KINDS[method].has((returned as Answer | undefined | null)?.kind as string)) asked.answered(returned);
      else asked.failed(new TypeError(`${method}() of the plugin's ledger returned what is none of its results`));
    },
    (error: unknown) => asked.failed(error),
  );
}
