// Adapts a plugin's store: converts its ledger's results, immediate or promised, to callbacks.
import type { Callbacks, Ledger } from '../ports/ledger.ts';
import type { PluginLedger, PluginStore } from '../ports/plugin.ts';
import type { Store } from '../ports/store.ts';

export function fromPlugin(store: PluginStore): Store {
  const { keys, teams, glossaries, gateways, history, audit, idempotency } = store;
  return {
    keys,
    ledger: withCallbacks(store.ledger),
    teams,
    glossaries,
    ...(gateways === undefined ? {} : { gateways }),
    ...(history === undefined ? {} : { history }),
    ...(audit === undefined ? {} : { audit }),
    ...(idempotency === undefined ? {} : { idempotency }),
    ping: () => store.ping(),
    close: () => store.close(),
  };
}

export function withCallbacks(ledger: PluginLedger): Ledger {
  return {
    admit: (asked) => answer(asked, () => ledger.admit(asked)),
    resolve: (asked) => answer(asked, () => ledger.resolve(asked.teamId, asked.requestId, asked.verdict, asked.characters)),
    ...(ledger.check === undefined ? {} : { check: (asked) => answer(asked, () => ledger.check!(asked)) }),
    chargesParts: ledger.chargesParts === true,
  };
}

/** Calls back in a later microtask, even for immediate results and throws. */
function answer<Answer>(asked: Callbacks<Answer>, run: () => Answer | Promise<Answer>): void {
  new Promise<Answer>((resolve) => resolve(run())).then(
    (returned) => asked.answered(returned),
    (error: unknown) => asked.failed(error),
  );
}
