// Adapts a plugin's store: converts its ledger's results, immediate or promised, to callbacks, and has its clock judged.
import { JudgedClock, unjudgedClock } from '../domain/judged-clock.ts';
import type { Clock } from '../ports/clock.ts';
import type { Admission, Callbacks, CheckedCaller, Ledger, Resolution } from '../ports/ledger.ts';
import type { PluginLedger, PluginStore } from '../ports/plugin.ts';
import type { Store } from '../ports/store.ts';
import { RecordClock } from './records/record-clock.ts';

/** `clock` is the one that the store was given. */
export function fromPlugin(store: PluginStore, clock: Clock): Store {
  const { keys, teams, glossaries, records, gateways, history, audit, idempotency, secrets, engineUse, tags, tagSettings } = store;
  return {
    keys,
    ledger: withCallbacks(store.ledger),
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
    clock: clock instanceof JudgedClock ? new RecordClock(records, clock) : unjudgedClock(clock),
    ping: () => store.ping(),
    close: () => store.close(),
  };
}

const OF_CALLERS = [
  'key_unknown',
  'key_revoked',
  'address_wanted',
  'address_refused',
  'scope_wanted',
  'scope_missing',
  'tag_disabled',
  'rate_limited',
  'admitted',
  'unavailable',
] as const;
/** The results of each method, by kind. */
const KINDS = {
  admit: new Set<Admission['kind']>([
    ...OF_CALLERS,
    'repeated',
    'text_too_long',
    'glossary_missing',
    'glossary_mismatch',
    'quota_exceeded',
    'credit_exhausted',
  ]),
  resolve: new Set<Resolution['kind']>(['committed', 'released', 'expired', 'absent', 'unavailable']),
  check: new Set<CheckedCaller['kind']>(OF_CALLERS),
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
      if (KINDS[method].has((returned as Answer | undefined | null)?.kind as never)) asked.answered(returned);
      else asked.failed(new TypeError(`${method}() of the plugin's ledger returned what is none of its results`));
    },
    (error: unknown) => asked.failed(error),
  );
}
