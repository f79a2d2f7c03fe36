// Adapts a plugin's store: converts its ledger's results, immediate or promised, to callbacks, has its clock judged, and finds
// what is to be reported of its teams' usage.
import { ADMISSION_KINDS, CHECK_KINDS } from '../../domain/admission-kinds.ts';
import { setTimeout as delay } from 'node:timers/promises';
import type { EventRules } from '../../domain/event-rules.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Admission, Callbacks, CheckedCaller, Ledger, Resolution } from '../../ports/ledger.ts';
import type { Outbox } from '../../ports/outbox.ts';
import type { PluginLedger, PluginStore } from '../../ports/plugin.ts';
import type { Store } from '../../ports/store.ts';
import { LimitEvents } from './limit-events.ts';
import { storeClock } from './record-clock.ts';
import { UsageEvents } from './usage-events.ts';

/**
 * `clock` is the one that the store was given. `events`: the rules of a process that sends them. `ledger`: with callbacks, if the store
 * has one, which saves a promise for each operation.
 */
export function fromPlugin(store: PluginStore, clock: Clock, events: EventRules | undefined, ledger = withCallbacks(store.ledger)): Store {
  const { keys, teams, glossaries, records, gateways, history, audit, idempotency, secrets, engineUse, tags, tagSettings } = store;
  const { outbox, watched } = eventsByGateway(store, events, () => clock.nowMs());
  return {
    keys,
    ledger: watched(ledger),
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
    outbox,
    clock: storeClock(records, clock),
    ping: () => store.ping(),
    close: () => store.close(),
  };
}

/** Events that are due do not wait longer for refusals that are being reported. */
const REPORTED_WITHIN_MS = 1000;

type EventSources = Pick<PluginStore, 'outbox' | 'teams' | 'history' | 'records'>;

interface EventsByGateway {
  readonly outbox: Outbox;
  /** Notices the refusals that a ledger answers, and whom it charges. */
  readonly watched: (ledger: Ledger) => Ledger;
}

/**
 * The events of a store that keeps none about usage: refusals and charges are noticed as they are answered, and what usage has come to
 * otherwise is looked for before the events that are due. Nothing without `rules`.
 */
export function eventsByGateway(
  { outbox, teams, history, records }: EventSources,
  rules: EventRules | undefined,
  nowMs: () => number | undefined,
): EventsByGateway {
  if (rules === undefined) return { outbox, watched: (ledger) => ledger };
  const parts = { teams, history, records, nowMs: () => nowMs() ?? Date.now() };
  const [limits, usage] = [new LimitEvents(parts), new UsageEvents({ ...parts, rules })];
  const withUsage: Outbox = {
    pending: () => outbox.pending(),
    async due(limit) {
      await Promise.race([limits.idle(), delay(REPORTED_WITHIN_MS, undefined, { ref: false })]);
      await usage.look();
      return outbox.due(limit);
    },
    read: (event) => outbox.read(event),
    remove: (event) => outbox.remove(event),
    postpone: (event, delayMs) => outbox.postpone(event, delayMs),
    lease: (holder, forMs) => outbox.lease(holder, forMs),
    release: (holder) => outbox.release(holder),
  };
  const watched = (ledger: Ledger): Ledger => ({
    admit: (asked) => ledger.admit({ ...asked, ...limits.watching(asked) }),
    resolve: (asked) => ledger.resolve({ ...asked, ...usage.watching(asked) }),
    check: (asked) => ledger.check({ ...asked, ...limits.watching(asked) }),
  });
  return { outbox: withUsage, watched };
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

/** The other way round. */
export function withPromises(ledger: Ledger): PluginLedger {
  return {
    admit: (request) => new Promise((answered, failed) => ledger.admit({ ...request, answered, failed })),
    resolve: (teamId, requestId, verdict, characters) =>
      new Promise((answered, failed) => ledger.resolve({ teamId, requestId, verdict, characters, answered, failed })),
    check: (check) => new Promise((answered, failed) => ledger.check({ ...check, answered, failed })),
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
