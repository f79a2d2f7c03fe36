// Our own stores in the form in which plugins write theirs: the ledger returns promises, which tests can await.
import type { Callbacks, Ledger } from '../../src/ports/ledger.ts';
import type { PluginLedger, PluginStore } from '../../src/ports/plugin.ts';
import type { Store } from '../../src/ports/store.ts';

export function promisedStore(store: Store): PluginStore {
  const { keys, teams, glossaries, records, gateways, history, audit, idempotency, secrets, engineUse, tags, tagSettings, outbox } = store;
  return {
    keys,
    ledger: promisedLedger(store.ledger),
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
    ping: () => store.ping(),
    close: () => store.close(),
  };
}

/** Each answer must come once, and not before the call has returned. */
export function promisedLedger(ledger: Ledger): PluginLedger {
  return {
    admit: (request) => promised((asked) => ledger.admit({ ...request, ...asked })),
    resolve: (teamId, requestId, verdict, characters) =>
      promised((asked) => ledger.resolve({ teamId, requestId, verdict, characters, ...asked })),
    check: (check) => promised((asked) => ledger.check({ ...check, ...asked })),
  };
}

function promised<Answer>(ask: (asked: Callbacks<Answer>) => void): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let state: 'asking' | 'asked' | 'answered' = 'asking';
    const once = (tell: () => void): void => {
      if (state === 'asked') tell();
      else reject(new Error(state === 'asking' ? 'an answer came before the call had returned' : 'a second answer came'));
      state = 'answered';
    };
    ask({ answered: (answer) => once(() => resolve(answer)), failed: (error) => once(() => reject(error)) });
    if (state === 'asking') state = 'asked';
  });
}
