// Attempts to sign in: what a browser keeps is enough to recognize one, and to make none.
import { beforeEach, describe, expect, test } from 'vitest';
import { ATTEMPT_MS, OidcAttempts } from '../../../src/console/oidc-attempts.ts';

const NOW = 1_800_000_000_000;
const DAY_MS = 86_400_000;

let nowMs: number | undefined;
let agreed: Map<string, Uint8Array>;
beforeEach(() => {
  nowMs = NOW;
  agreed = new Map();
});

/** Of one process of a store; others have the same secrets. */
function attempts({ secrets = agreed, provider = 'https://id.example.com\nconsole' } = {}): OidcAttempts {
  return new OidcAttempts({
    secrets: {
      nowMs: () => nowMs,
      agree(name, candidate) {
        if (!secrets.has(name)) secrets.set(name, candidate);
        return Promise.resolve(secrets.get(name)!);
      },
    },
    remember: () => Promise.resolve(true),
    provider: () => provider,
    now: () => 0,
  });
}

test('an attempt is recognized by every process; its parts differ from each other, from the seed, and from those of others', async () => {
  const attempt = await attempts().begin();
  expect(await attempts().resume(attempt.seed)).toEqual(attempt);
  const { state, nonce, verifier, seed } = attempt;
  const other = await attempts().begin();
  expect(new Set([state, nonce, verifier, other.state, other.nonce, other.verifier]).size).toBe(6);
  for (const part of [state, nonce, verifier]) {
    expect(part).toMatch(/^[\w-]{43}$/);
    expect(seed).not.toContain(part);
  }
});

test.each([
  ['secret', { secrets: new Map<string, Uint8Array>() }, (seed: string) => seed],
  ['provider', { provider: 'https://other.example.com\nconsole' }, (seed: string) => seed],
  ['time', {}, (seed: string) => seed.replace(String(NOW), String(NOW + 1))],
  ['random text', {}, (seed: string) => `${seed.slice(0, -1)}${seed.endsWith('A') ? 'B' : 'A'}`],
])('with another %s it shares nothing with it', async (_what, options, change) => {
  const one = await attempts().begin();
  const other = (await attempts(options).resume(change(one.seed)))!;
  expect([one.state === other.state, one.nonce === other.nonce, one.verifier === other.verifier]).toEqual([false, false, false]);
});

describe('an attempt is good', () => {
  test('for ten minutes, and a minute earlier for clocks that are behind', async () => {
    const { seed } = await attempts().begin();
    for (nowMs of [NOW - 60_000, NOW, NOW + ATTEMPT_MS - 1]) expect(await attempts().resume(seed)).toBeDefined();
    for (nowMs of [NOW - 60_001, NOW + ATTEMPT_MS, NOW + DAY_MS]) expect(await attempts().resume(seed)).toBeUndefined();
    nowMs = NOW;
    for (const none of ['', seed.slice(1), `${seed}x`, seed.replace('.', ':'), `9${seed}`])
      expect(await attempts().resume(none)).toBeUndefined();
  });

  test('also after midnight, when others have another secret', async () => {
    nowMs = DAY_MS * 20_000 - 1;
    const attempt = await attempts().begin();
    nowMs = DAY_MS * 20_000;
    const after = attempts();
    await after.begin();
    expect(await after.resume(attempt.seed)).toEqual(attempt);
    expect([...agreed.keys()]).toEqual(['sign-ins:19999', 'sign-ins:20000']);
  });

  test('only while the time is known', async () => {
    nowMs = undefined;
    await expect(attempts().resume('')).rejects.toThrow('the store did not answer');
    expect(() => attempts().begin()).toThrow('the store did not answer');
  });
});
