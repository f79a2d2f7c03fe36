// Waiting for a store, on a virtual clock: how long, what is logged, and which errors are not waited for.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openAwaited } from '../../../src/app/configured-store.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { StoreAwayError, StoreError } from '../../../src/domain/store-unavailable.ts';

const AWAY = new StoreAwayError('the store redis://there cannot be used (ECONNREFUSED): start it');

let lines: unknown[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
  lines = [];
});

afterEach(() => {
  vi.useRealTimers();
});

async function wait(waitSeconds: number, open: () => Promise<string>, passMs: number): Promise<unknown> {
  const config = loadConfig({ env: {}, flags: {} });
  const log = (_text: string, members?: unknown) => void lines.push(members);
  const awaited = openAwaited(
    { ...config, store: 'redis://user:secret@there', store_options: { ...config.store_options, wait_seconds: waitSeconds } },
    { info: log, warn: log, error: log },
    open,
  ).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(passMs);
  return awaited;
}

describe('an unreachable store', () => {
  test('is not waited for by default', async () => {
    expect(await wait(0, () => Promise.reject(AWAY), 0)).toBe(AWAY);
  });

  test('is waited for with a log line at once and every five seconds, without credentials, and opened when it answers', async () => {
    let tries = 0;
    const open = () => (performance.now() < 12_000 ? (tries++, Promise.reject(AWAY)) : Promise.resolve('open'));
    expect(await wait(60, open, 13_000)).toBe('open');
    const said = { store: 'redis://***@there', wait_seconds: 60, reason: AWAY.message };
    expect(lines).toEqual([0, 5, 10].map((waited) => ({ ...said, waited_seconds: waited })));
    expect(tries).toBeGreaterThan(20);
  });

  test('that never answers is one clear error', async () => {
    const error = await wait(3, () => Promise.reject(AWAY), 4000);
    expect(error).toBeInstanceOf(StoreError);
    expect((error as Error).message).toBe(`${AWAY.message}; it did not answer within the 3 s of store_options.wait_seconds`);
  });
});

test('an error that waiting cannot mend is thrown at once', async () => {
  const wrong = new StoreError('put the right user and password');
  expect(await wait(60, () => Promise.reject(wrong), 0)).toBe(wrong);
  expect(lines).toEqual([]);
});
