// Admissions wait for the look at a master that nobody has looked at yet, and are answered when it may not be asked.
import { expect, test } from 'vitest';
import type { StoreUnavailable } from '../../../../src/domain/store-unavailable.ts';
import type { Admission } from '../../../../src/ports/ledger.ts';
import { LedgerTurns } from '../../../../src/stores/redis/ledger-turns.ts';
import type { Masters } from '../../../../src/stores/redis/masters.ts';
import { StoreTime } from '../../../../src/stores/redis/store-round.ts';
import { asking } from './fixture.ts';

const TIMEOUT_MS = 5000;

/** One admission at a master that is not settled; the look ends with `fault`. */
async function admit(settle: () => Promise<StoreUnavailable | undefined>, timeoutMs = TIMEOUT_MS) {
  let asked = 0;
  const running: Promise<unknown>[] = [];
  const turns = new LedgerTurns({
    run: () => {
      asked++;
      return Promise.reject(new Error('Connection is closed.'));
    },
    time: new StoreTime(),
    nodeOf: () => 'a:1',
    timeoutMs,
    clock: undefined,
    causeOf: () => 'asked',
    clustered: true,
    masters: { isSettled: () => false, settle } as unknown as Masters,
    track: (one) => void running.push(one),
  });
  const { promise, resolve, reject } = Promise.withResolvers<Admission>();
  turns.admit({ ...asking('r1'), answered: resolve, failed: reject });
  return { promise, asked: () => asked };
}

test('nothing is sent before the look has ended', async () => {
  const look = Promise.withResolvers<undefined>();
  const { promise, asked } = await admit(() => look.promise);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(asked()).toBe(0);
  look.resolve(undefined);
  expect(await promise).toEqual({ kind: 'unavailable', cause: 'asked' });
  expect(asked()).toBe(1);
});

test('a master that may not be asked is not, and the answer says why', async () => {
  const { promise, asked } = await admit(() => Promise.resolve({ kind: 'unavailable', cause: 'readonly' }));
  expect(await promise).toEqual({ kind: 'unavailable', cause: 'readonly' });
  expect(asked()).toBe(0);
});

test('a look that takes too long is a timeout, within the time of the admission', async () => {
  const { promise, asked } = await admit(() => new Promise(() => undefined), 50);
  expect(await promise).toEqual({ kind: 'unavailable', cause: 'timeout' });
  expect(asked()).toBe(0);
});
