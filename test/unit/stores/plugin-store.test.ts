// The boundary of a plugin's store: what its ledger returns, throws or rejects with is passed to the callback once, and never synchronously.
import { expect, test } from 'vitest';
import type { Callbacks, Resolution } from '../../../src/ports/ledger.ts';
import type { PluginLedger } from '../../../src/ports/plugin.ts';
import { withCallbacks } from '../../../src/stores/records/plugin-store.ts';

const COMMITTED: Resolution = { kind: 'committed' };
const BUG = new Error('a bug of the plugin');
const ASKED = { teamId: 'T', requestId: 'r1', verdict: 'commit' } as const;

async function answersOf(resolve: PluginLedger['resolve']): Promise<unknown[]> {
  const answers: unknown[] = [];
  const ledger = withCallbacks({ admit: () => expect.unreachable(), check: () => expect.unreachable(), resolve });
  const asked: Callbacks<Resolution> = {
    answered: (answer) => void answers.push(answer),
    failed: (error) => void answers.push(error),
  };
  ledger.resolve({ ...ASKED, ...asked });
  expect(answers).toEqual([]);
  await new Promise((later) => setImmediate(later));
  return answers;
}

test.each<[string, PluginLedger['resolve'], unknown]>([
  ['returns an answer', () => COMMITTED, COMMITTED],
  ['returns a promise', async () => COMMITTED, COMMITTED],
  ['rejects', () => Promise.reject(BUG), BUG],
  [
    'throws',
    () => {
      throw BUG;
    },
    BUG,
  ],
])('a ledger that %s', async (_what, resolve, answer) => {
  expect(await answersOf(resolve)).toEqual([answer]);
});

test.each([undefined, null, {}, { kind: 'done' }, { kind: 'admitted' }])('a ledger that returns %j has failed', async (answer) => {
  const [failed] = await answersOf(() => answer as unknown as Resolution);
  expect(failed).toEqual(new TypeError("resolve() of the plugin's ledger returned what is none of its results"));
});

test('it is called with the arguments of its interface, as a method', async () => {
  const seen: unknown[] = [];
  class Own implements PluginLedger {
    readonly name = 'own';
    admit() {
      return { kind: 'key_unknown' } as const;
    }
    check() {
      return { kind: 'key_revoked' } as const;
    }
    resolve(...asked: [string, string, string, number?]) {
      seen.push(this.name, ...asked);
      return COMMITTED;
    }
  }
  const ledger = withCallbacks(new Own());
  const { promise, resolve: answered, reject: failed } = Promise.withResolvers<Resolution>();
  ledger.resolve({ ...ASKED, answered, failed });
  expect(await promise).toEqual(COMMITTED);
  expect(seen).toEqual(['own', 'T', 'r1', 'commit', undefined]);
});
