// Admissions wait until a new master has been checked, and are answered unavailable if it may not be used.
import { expect, test } from 'vitest';
import type { StoreUnavailable } from '../../../../src/domain/store-unavailable.ts';
import type { Admission } from '../../../../src/ports/ledger.ts';
import { LedgerTurns } from '../../../../src/stores/redis/ledger-turns.ts';
import type { Masters } from '../../../../src/stores/redis/masters.ts';
import { ServerClocks } from '../../../../src/stores/redis/server-clocks.ts';
import { asking } from './fixture.ts';

const TIMEOUT_MS = 5000;

/** One admission at a master that is not checked yet; `settle` is the check. */
async function admit(settle: () => Promise<StoreUnavailable | undefined>, timeoutMs = TIMEOUT_MS) {
  let asked = 0;
  const turns = new LedgerTurns({
    run: () => {
      asked++;
      return Promise.reject(new Error('Connection is closed.'));
    },
    time: new ServerClocks(),
    nodeOf: () => 'a:1',
    timeoutMs,
    causeOf: () => 'asked',
    clustered: true,
    masters: { settled: new Set(), settle } as unknown as Masters,
  });
  const { promise, resolve, reject } = Promise.withResolvers<Admission>();
  turns.admit({ ...asking('r1'), answered: resolve, failed: reject });
  return { promise, asked: () => asked };
}

test('nothing is sent before the check has ended', async () => {
  const look = Promise.withResolvers<undefined>();
  const { promise, asked } = await admit(() => look.promise);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(asked()).toBe(0);
  look.resolve(undefined);
  expect(await promise).toEqual({ kind: 'unavailable', cause: 'asked' });
  expect(asked()).toBe(1);
});

test('nothing is sent to a master that may not be used, and the answer says why', async () => {
  const { promise, asked } = await admit(() => Promise.resolve({ kind: 'unavailable', cause: 'readonly' }));
  expect(await promise).toEqual({ kind: 'unavailable', cause: 'readonly' });
  expect(asked()).toBe(0);
});

test('a check that takes too long is a timeout, within that of the admission', async () => {
  const { promise, asked } = await admit(() => new Promise(() => undefined), 50);
  expect(await promise).toEqual({ kind: 'unavailable', cause: 'timeout' });
  expect(asked()).toBe(0);
});
