// Attempts to sign in: what a browser keeps is enough to recognize one, and to make none.
import { describe, expect, test } from 'vitest';
import { ATTEMPT_MS, attemptOf, attemptSecretName, seedTimeMs, newSeed } from '../../../src/domain/sign-in-attempt.ts';

const NOW = 1_800_000_000_000;
const SECRET = new Uint8Array(32).fill(1);
const PROVIDER = 'https://id.example.com\nconsole';
const seed = newSeed(NOW, (size) => new Uint8Array(size).fill(2));

describe('an attempt', () => {
  test('is the same for everyone who has the secret, and its parts differ from each other and from the seed', () => {
    const attempt = attemptOf(seed, SECRET, PROVIDER, NOW);
    expect(attemptOf(seed, SECRET, PROVIDER, NOW)).toEqual(attempt);
    const { state, nonce, verifier } = attempt;
    expect(new Set([state, nonce, verifier]).size).toBe(3);
    for (const part of [state, nonce, verifier]) {
      expect(part).toMatch(/^[\w-]{43}$/);
      expect(seed).not.toContain(part);
    }
  });

  test.each([
    ['seed', newSeed(NOW, (size) => new Uint8Array(size).fill(3)), SECRET, PROVIDER],
    ['time', newSeed(NOW + 1, (size) => new Uint8Array(size).fill(2)), SECRET, PROVIDER],
    ['secret', seed, new Uint8Array(32).fill(4), PROVIDER],
    ['provider', seed, SECRET, 'https://other.example.com\nconsole'],
  ])('with another %s shares nothing with it', (_what, otherKept, secret, provider) => {
    const [one, other] = [attemptOf(seed, SECRET, PROVIDER, NOW), attemptOf(otherKept, secret, provider, NOW)];
    expect([one.state === other.state, one.nonce === other.nonce, one.verifier === other.verifier]).toEqual([false, false, false]);
  });

  test('is good for ten minutes, and a minute earlier for clocks that are behind', () => {
    for (const nowMs of [NOW - 60_000, NOW, NOW + ATTEMPT_MS - 1]) expect(seedTimeMs(seed, nowMs)).toBe(NOW);
    for (const nowMs of [NOW - 60_001, NOW + ATTEMPT_MS, NOW + 86_400_000]) expect(seedTimeMs(seed, nowMs)).toBeUndefined();
    for (const none of ['', seed.slice(1), `${seed}x`, seed.replace('.', ':'), `9${seed}`]) expect(seedTimeMs(none, NOW)).toBeUndefined();
  });

  test('has the secret of the day on which it was begun, also after midnight', () => {
    const midnight = 86_400_000 * 20_000;
    expect(attemptSecretName(midnight - 1)).not.toBe(attemptSecretName(midnight));
    expect(attemptSecretName(midnight)).toBe('sign-ins:20000');
  });
});
